# ruff: noqa: N802  the names are Spark's
"""`wb.spark` over a session of Spark Connect: the same methods, on Spark's classes for Connect.

What needs a JVM that this process talks to is refused.
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
from paimon_nb.spark.api.connect_columns import SqlRenderer, source_alias
from paimon_nb.spark.api.merge_writer import PaimonMerge
from paimon_nb.spark.api.session_methods import ReaderMethods, SessionMethods, WriterMethods, WriterV2Methods
from paimon_nb.spark.api.stream_session import StreamReaderMethods, StreamWriterMethods
from paimon_nb.spark.streaming.connect_sink import check_commits_in_server, sink_with_package

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.spark.streaming.sink import TableSink


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


class ConnectStreamWriter(StreamWriterMethods, DataStreamWriter):  # type: ignore[misc]
    """`df.writeStream`: the server writes and commits the micro-batches."""

    def __init__(self, frame: Any, session: SessionMethods) -> None:
        super().__init__(frame, session, frame._plan, session._plain)

    def _spark_writer(self, frame: Any) -> DataStreamWriter:
        return DataStreamWriter(frame._plan, self._paimon._plain)  # type: ignore[arg-type]

    def _start_with_sink(self, writer: Any, sink: TableSink) -> Any:
        check_commits_in_server(sink.table.store, ends=sink.ends)
        return self._start_with_trigger(writer.foreachBatch(sink_with_package(sink)).start)


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
        if not isinstance(session, ConnectPaimonSession) or session._resolver.table(split_name(table), {}) is None:
            return plain["mergeInto"](self, table, condition)
        alias = source_alias(self._plan)
        return PaimonMerge(self, alias, table, condition, session, SqlRenderer(self._plan, alias))

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
