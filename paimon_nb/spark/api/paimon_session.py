# ruff: noqa: N802  the names are Spark's
"""`wb.spark`: a SparkSession that knows Paimon tables. A resolver finds the tables; this module only extends Spark's API.

`PaimonSession` is a subclass of SparkSession over an existing session, so all its DataFrames refer to it. `DataFrame.write`,
`writeStream`, `writeTo` and `mergeInto` are members of Spark's class. `_hook_writers` replaces them once: they return Paimon
writers for the DataFrames of a `PaimonSession`, and Spark's own for all others.
"""

from __future__ import annotations

from inspect import getattr_static
from typing import TYPE_CHECKING, cast

from pyspark.sql.readwriter import DataFrameReader, DataFrameWriter, DataFrameWriterV2

from paimon_nb.base.identifier import split_name
from paimon_nb.spark.api.base_session import Resolver, ResolvingSession
from paimon_nb.spark.api.session_methods import ReaderMethods, SessionMethods, WriterMethods, WriterV2Methods
from paimon_nb.spark.runtime.jvm_bridge import default_session, has_bridge, plain_session, set_default_session

if TYPE_CHECKING:
    from collections.abc import Callable

    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.merge import MergeIntoWriter
    from pyspark.sql.streaming.readwriter import DataStreamWriter

    from paimon_nb.spark.api.stream_session import PaimonStreamReader


def paimon_session(plain: SparkSession, resolver: Resolver) -> PaimonSession:
    """The session of a resolver's workbench over `plain`; the same object in each call.

    `SparkSession.builder.getOrCreate()` and `SparkSession.active()` return it from now on.
    """
    plain = plain_session(plain)
    known: dict[int, PaimonSession] = plain.__dict__.setdefault("_paimon_sessions", {})
    workbench = getattr(resolver, "session", resolver)
    session = known.get(id(workbench))
    if session is not None and not has_bridge(plain):
        return session
    if session is None:
        session = _session_class(plain)(plain, resolver, workbench)
        known[id(workbench)] = session
    if not has_bridge(plain):
        return session
    current = default_session()
    if current is None or current.sparkContext is plain.sparkContext:
        set_default_session(session)
    _hook_writers()
    return session


def _session_class(plain: SparkSession) -> type[PaimonSession]:
    """The class of a session over `plain`: its base is Spark's class of that kind of session."""
    if has_bridge(plain):
        return PaimonSession
    from paimon_nb.spark.api.connect_session import ConnectPaimonSession, hook_connect_writers

    hook_connect_writers()
    return cast("type[PaimonSession]", ConnectPaimonSession)


class PaimonSession(SessionMethods, ResolvingSession):
    """A SparkSession whose `sql`, `table`, `read` and DataFrame writers know Paimon tables."""

    @property
    def read(self) -> PaimonReader:
        return PaimonReader(self)

    @property
    def readStream(self) -> PaimonStreamReader:
        from paimon_nb.spark.api.stream_session import PaimonStreamReader

        return PaimonStreamReader(self)


class PaimonReader(ReaderMethods, DataFrameReader):
    """`spark.read`: knows `format("paimon")` and Paimon tables in `table`."""


class PaimonWriter(WriterMethods, DataFrameWriter):
    """`df.write`: knows `format("paimon")`; without a format, table names are Paimon's."""


class PaimonWriterV2(WriterV2Methods, DataFrameWriterV2):
    """`df.writeTo(name)`: a Paimon table unless `using` sets another provider."""


def _hook_writers() -> None:
    """Replace the writers of Spark's DataFrame class, see the module. Idempotent."""
    from pyspark.sql.classic.dataframe import DataFrame as ClassicFrame

    if getattr(ClassicFrame, "_paimon_hook", False):
        return
    plain_write: property = getattr_static(ClassicFrame, "write")
    plain_stream: property = getattr_static(ClassicFrame, "writeStream")
    plain_write_to: Callable[[DataFrame, str], DataFrameWriterV2] = getattr_static(ClassicFrame, "writeTo")
    plain_merge: Callable[[DataFrame, str, Column], MergeIntoWriter] = getattr_static(ClassicFrame, "mergeInto")

    def write(self: DataFrame) -> DataFrameWriter:
        session = self.sparkSession
        if isinstance(session, PaimonSession):
            return PaimonWriter(self, session, self)
        return cast("DataFrameWriter", plain_write.__get__(self))

    def write_to(self: DataFrame, table: str) -> DataFrameWriterV2:
        session = self.sparkSession
        return (
            PaimonWriterV2(self, table, session, self, table)
            if isinstance(session, PaimonSession)
            else plain_write_to(self, table)
        )

    def write_stream(self: DataFrame) -> DataStreamWriter:
        session = self.sparkSession
        if not isinstance(session, PaimonSession):
            return cast("DataStreamWriter", plain_stream.__get__(self))
        from paimon_nb.spark.api.stream_session import PaimonStreamWriter

        return PaimonStreamWriter(self, session)

    def merge_into(self: DataFrame, table: str, condition: Column) -> MergeIntoWriter:
        session = self.sparkSession
        if not isinstance(session, PaimonSession) or session._resolver.table(split_name(table), {}) is None:
            return plain_merge(self, table, condition)
        from paimon_nb.spark.api.merge_writer import classic_merge

        return cast("MergeIntoWriter", classic_merge(self, table, condition, session))

    write.__doc__, write_to.__doc__, write_stream.__doc__ = (
        plain_write.__doc__,
        plain_write_to.__doc__,
        plain_stream.__doc__,
    )
    hooked = {
        "write": property(write),
        "writeTo": write_to,
        "writeStream": property(write_stream),
        "mergeInto": merge_into,
        "_paimon_hook": True,
    }
    for name, member in hooked.items():
        setattr(ClassicFrame, name, member)
