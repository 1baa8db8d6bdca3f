# ruff: noqa: N802, N803  the names are Spark's
"""`wb.spark` over a session of Spark Connect: the same methods, on Spark's classes for Connect.

What needs the driver in this process is refused: a streaming write into a Paimon table, whose commits are ours, and
`mergeInto`, whose columns are rendered as SQL by the JVM.
"""

from __future__ import annotations

from inspect import getattr_static
from typing import TYPE_CHECKING, Any

from pyspark.sql.connect.dataframe import DataFrame as ConnectFrame
from pyspark.sql.connect.readwriter import DataFrameReader, DataFrameWriter, DataFrameWriterV2
from pyspark.sql.connect.session import SparkSession
from pyspark.sql.connect.streaming.readwriter import DataStreamReader, DataStreamWriter

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.identifier import split_name
from paimon_nb.spark.api.reader_options import WriterOptionsMixin
from paimon_nb.spark.api.session_methods import ReaderMethods, SessionMethods, WriterMethods, WriterV2Methods
from paimon_nb.spark.api.stream_session import StreamReaderMethods
from paimon_nb.spark.streaming.start import check_commits_here

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame


class ConnectPaimonSession(SessionMethods, SparkSession):  # type: ignore[misc]
    """A session of Spark Connect whose `sql`, `table`, `read` and DataFrame writers know Paimon tables."""

    def _sql_of_template(
        self, text: str, args: dict[str, Any] | list[Any] | None, named: Mapping[str, Any]
    ) -> DataFrame:
        del text, args, named
        raise UnsupportedOperation(
            "sql() with {name} in the text needs a Spark session in this process",
            hint="with Spark Connect, use frame.createOrReplaceTempView(name), or args= for values",
        )

    @property
    def read(self) -> ConnectReader:
        return ConnectReader(self)

    @property
    def readStream(self) -> ConnectStreamReader:
        return ConnectStreamReader(self)

    def __del__(self) -> None:
        """Leaves the connection to the session that it belongs to."""


class ConnectReader(ReaderMethods, DataFrameReader):  # type: ignore[misc]
    """`spark.read`."""


class ConnectStreamReader(StreamReaderMethods, DataStreamReader):  # type: ignore[misc]
    """`spark.readStream`."""


class ConnectWriter(WriterMethods, DataFrameWriter):
    """`df.write`."""


class ConnectWriterV2(WriterV2Methods, DataFrameWriterV2):
    """`df.writeTo`."""


class ConnectStreamWriter(WriterOptionsMixin, DataStreamWriter):
    """`df.writeStream`: refuses Paimon tables, into which only a driver in this process commits."""

    def __init__(self, frame: Any, session: SessionMethods) -> None:
        super().__init__(frame._plan, session._plain)
        self._paimon = session

    def start(self, path: str | None = None, format: str | None = None, **more: Any) -> Any:  # type: ignore[override]
        """Start a stream into a sink of Spark."""
        if format is not None:
            self.format(format)
        if self._is_paimon:
            check_commits_here(self._paimon._plain)
        return super().start(path, **more)

    def toTable(self, tableName: str, format: str | None = None, **more: Any) -> Any:  # type: ignore[override]
        """Start a stream into a table of Spark."""
        if format is not None:
            self.format(format)
        if not self._is_foreign and self._paimon._resolver.table(split_name(tableName), {}) is not None:
            check_commits_here(self._paimon._plain)
        return super().toTable(tableName, **more)


def hook_connect_writers() -> None:
    """Replace the writers of the DataFrames of Spark Connect, as `paimon_session` does those of classic ones. Idempotent."""
    if getattr(ConnectFrame, "_paimon_hook", False):
        return
    plain = {name: getattr_static(ConnectFrame, name) for name in ("write", "writeStream", "writeTo", "mergeInto")}

    def write(self: Any) -> Any:
        session = self.sparkSession
        if isinstance(session, ConnectPaimonSession):
            return ConnectWriter(self, session, self._plan, session._plain)
        return plain["write"].__get__(self)

    def write_stream(self: Any) -> Any:
        session = self.sparkSession
        if isinstance(session, ConnectPaimonSession):
            return ConnectStreamWriter(self, session)
        return plain["writeStream"].__get__(self)

    def write_to(self: Any, table: str) -> Any:
        session = self.sparkSession
        if isinstance(session, ConnectPaimonSession):
            return ConnectWriterV2(self, table, session, self._plan, session._plain, table)
        return plain["writeTo"](self, table)

    def merge_into(self: Any, table: str, condition: Any) -> Any:
        session = self.sparkSession
        if isinstance(session, ConnectPaimonSession) and session._resolver.table(split_name(table), {}) is not None:
            raise UnsupportedOperation(
                "mergeInto needs a Spark session in this process",
                hint=f"with Spark Connect, use frame.createOrReplaceTempView('x') and MERGE INTO {table} USING x",
            )
        return plain["mergeInto"](self, table, condition)

    hooked = {
        "write": property(write),
        "writeStream": property(write_stream),
        "writeTo": write_to,
        "mergeInto": merge_into,
    }
    for name, member in hooked.items():
        member.__doc__ = plain[name].__doc__
        setattr(ConnectFrame, name, member)
    ConnectFrame._paimon_hook = True  # type: ignore[attr-defined]
