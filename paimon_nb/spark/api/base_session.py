# ruff: noqa: N802  the names are Spark's
"""A SparkSession over another one, with a resolver of Paimon names: what readers and writers need of `wb.spark`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, Self

from pyspark.sql import DataFrame, SparkSession

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.runtime.jvm_bridge import plain_session, with_session

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql._typing import ColumnOrName
    from pyspark.sql.catalog import Catalog

    from paimon_nb.spark.streaming.sink import TableSink


@dataclass(frozen=True, slots=True)
class WriteRequest:
    """What a writer was asked to do with its rows."""

    target: tuple[str, ...] | str
    """The parts of the table's name, or its path."""
    mode: str
    """'append', 'error', 'ignore', 'overwrite' (all rows, unless Spark's setting or the option `partitionOverwriteMode` is
    'dynamic'), 'partitions' (only the partitions that get rows), or 'replace' (the table)."""
    options: Mapping[str, str]
    """The writer's options."""
    partition_by: Sequence[str] = ()
    """Partition columns of a new table."""
    create: bool = True
    """Create a missing table."""
    by_name: bool = False
    """Match columns by name, else by position."""
    where: ColumnOrName | None = None
    """The partitions to overwrite, see `spark.write.overwrite_filter`."""


@dataclass(frozen=True, slots=True)
class StreamWriteRequest:
    """What a stream's writer was asked to do."""

    target: tuple[str, ...] | str
    """The parts of the table's name, or its path."""
    mode: str
    """'append', 'complete', or 'update', which needs a table with primary keys: without keys, each new version of a result
    would be one more row."""
    options: Mapping[str, str]
    """The writer's options."""
    checkpoint: str | None
    """Checkpoint location; None: Spark chooses a temporary one."""
    partition_by: Sequence[str] = ()
    """Partition columns of a new table."""
    ends: bool = False
    """The trigger ends the query when all available data is processed."""


class Resolver(Protocol):
    """Finds Paimon tables for a session. It implements what the session's methods do with them."""

    def table(self, parts: tuple[str, ...], options: Mapping[str, str]) -> DataFrame | None:
        """The rows of a named table; None if the name belongs to Spark."""

    def path(self, path: str, options: Mapping[str, str]) -> DataFrame:
        """The rows of the table at a path."""

    def sql(self, text: str, args: dict[str, Any] | list[Any] | None, kwargs: Mapping[str, Any]) -> DataFrame:
        """The last statement's result."""

    def write(self, frame: DataFrame, request: WriteRequest) -> None:
        """Write rows into a table."""

    def over_session(self, plain: SparkSession) -> Resolver:
        """A resolver of the same tables whose statements run in another Spark session and see its temporary views."""

    def names(self, session: ResolvingSession) -> Catalog:
        """The session's `spark.catalog`."""

    def stream(self, target: tuple[str, ...] | str, options: Mapping[str, str]) -> DataFrame | None:
        """The stream of a named table or of the table at a path; None if the name belongs to Spark."""

    def sink(self, frame: DataFrame, request: StreamWriteRequest) -> tuple[DataFrame, TableSink]:
        """Prepare a streaming write. Creates a missing table.

        Returns:
            The stream with the table's columns, and the sink of each micro-batch.
        """


SparkClass: Any = object
"""Stands for the class of Spark that a subclass for each kind of session adds."""


class ResolvingMethods(SparkClass):  # type: ignore[misc]
    """What a session over a classic one and a session over one of Spark Connect have in common.

    It shares settings and temporary views of the other session.

    Args:
        plain: the other session.
        resolver: finds Paimon tables.
        workbench: the owner of the tables. Sessions of one workbench over one plain session are the same object.
    """

    def __init__(self, plain: SparkSession, resolver: Resolver, workbench: object) -> None:
        # SparkSession.__init__ would register a new Python session for the JVM session.
        self.__dict__.update({k: v for k, v in plain.__dict__.items() if k != "_paimon_sessions"})
        self._plain = plain
        self._resolver = resolver
        self._workbench = workbench  # a reference, so that its id is not reused

    def over_session(self, plain: SparkSession) -> Self:
        """The same session over another Spark session: each streaming query runs its micro-batches in a session of its own."""
        plain = plain_session(plain)
        return type(self)(plain, self._resolver.over_session(plain), self._workbench)

    def bind_to_session(self, frame: DataFrame) -> DataFrame:
        """The same DataFrame as one of this session."""
        return bind_to_session(frame, self)

    def newSession(self) -> SparkSession:
        return type(self)(self._plain.newSession(), self._resolver, self._workbench)


class ResolvingSession(ResolvingMethods, SparkSession):
    """A session that shares the JVM session, settings and temporary views of another one."""


def bind_to_session(frame: DataFrame, session: SparkSession) -> DataFrame:
    """The same DataFrame with another `sparkSession`, so that its `write` knows Paimon tables."""
    adopted = with_session(frame, session)
    if "schema" in frame.__dict__:
        adopted.__dict__["schema"] = frame.__dict__["schema"]
    return adopted
