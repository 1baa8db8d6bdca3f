"""Base class of database syncs: source tables, their schemas, and their target tables."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.connectors.cdc.job import SyncJob, SyncOptions
from paimon_nb.connectors.cdc.metadata import MetadataColumns, time_of_ms
from paimon_nb.connectors.cdc.mysql_types import to_column as column_of_values
from paimon_nb.connectors.cdc.target import SourceSchema, Target, ToColumn, merge_schemas

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.types import DataType

RETRY_INTERVAL_S = 0.5
"""Time between two attempts to reach an unreachable server."""
_MAX_NAMES = 5


class SourceColumn(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def type(self) -> Any: ...
    @property
    def nullable(self) -> bool: ...
    @property
    def comment(self) -> str | None: ...


class SourceTable(Protocol):
    @property
    def schema(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def columns(self) -> Sequence[SourceColumn]: ...
    @property
    def primary_keys(self) -> tuple[str, ...]: ...
    @property
    def comment(self) -> str | None: ...


T = TypeVar("T", bound=SourceTable)


class Source(Generic[T]):
    """A source table and the conversion of its values to columns."""

    def __init__(self, table: T, target: Target, to_column: Any, metadata: MetadataColumns) -> None:
        """`to_column` converts values, Paimon type and source type (None: unknown) to Arrow."""
        self.target, self._metadata = target, metadata
        self._to_column = to_column
        self._types: dict[str, Any] = {}
        self.update_columns(table)

    def update_columns(self, table: T) -> None:
        """Use the current columns of the source. Types of earlier columns are kept, for rows from that time."""
        self.table = table
        self._names = [c.name for c in table.columns]
        types = self._types = {**self._types, **{c.name: c.type for c in table.columns}}

        def to_arrow_column(name: str, values: Sequence[Any], t: DataType) -> pa.Array:
            if name in self._metadata.types:
                return column_of_values(values, t, None)
            return self._to_column(values, t, types.get(name))

        self.columns: ToColumn = to_arrow_column

    def at(self, position: str) -> str:
        """A position with the source table, for messages about values."""
        return f"{position}/{self.table.schema}.{self.table.name}"

    def row(self, values: Sequence[Any]) -> Mapping[str, Any]:
        """A row of a snapshot of the current table as column name -> value."""
        return self.change(dict(zip(self._names, values, strict=True)), 0)

    def change(self, values: Mapping[str, Any], time_ms: int) -> Mapping[str, Any]:
        """The row of a change with its metadata. `time_ms`: when it was made; 0 in a snapshot, as in Java's sync."""
        if not self._metadata.keys:
            return values
        table = self.table
        database = getattr(table, "database", table.schema)
        names = {"database_name": database, "schema_name": table.schema, "table_name": table.name}
        return self._metadata.row(values, {**names, "op_ts": time_of_ms(time_ms)})


class DatabaseSync(SyncJob, Generic[T]):
    """A sync of database tables."""

    def __init__(self, catalog: Catalog, options: SyncOptions, source: str) -> None:
        super().__init__(catalog, options, source)
        self.sources: dict[tuple[str, str], Source[T]] = {}

    @abstractmethod
    def source_of(self, table: T, target: Target) -> Source[T]:
        """Create the `Source` of a new source table."""

    @abstractmethod
    def column_type(self, source_type: Any, *, nullable: bool) -> DataType:
        """The Paimon type of a source column. Raises UnsupportedOperation."""

    def register_tables(self, tables: Sequence[T], *, first: bool) -> None:
        """Register source tables, and create their targets or evolve the schemas of the targets.

        Raises:
            SchemaChangeError, UnsupportedOperation: a table does not fit and the options do not allow to skip it.
            BadOptionValue: no table remains.
        """
        groups: dict[str, list[T]] = {}
        for table in tables:
            target = self.options.naming.of(table.schema, table.name)
            if target is not None:
                groups.setdefault(target, []).append(table)
        for name, sources in groups.items():
            try:
                self.register_target(name, sources, first=first)
            except PaimonError as error:
                self.skip_tables(names(sources), error)
        if first and not self.targets:
            raise BadOptionValue("no table remains to sync", hint="; ".join(self.notes) or "check including_tables")

    def register_target(self, name: str, sources: Sequence[T], *, first: bool) -> Target:  # noqa: ARG002  for subclasses
        """Register the source tables of one target. `first`: at the start of the job."""
        target = self.open(name, merge_schemas([self._source_schema(s) for s in sources]))
        for table in sources:
            known = self.sources.get((table.schema, table.name))
            if known is None:
                self.sources[table.schema, table.name] = self.source_of(table, target)
            else:
                known.update_columns(table)
        return target

    def _source_schema(self, table: T) -> SourceSchema:
        keys = table.primary_keys
        columns = {
            c.name: (self.column_type(c.type, nullable=c.nullable and c.name not in keys), c.comment)
            for c in table.columns
        }
        return SourceSchema(self.metadata.add_to(columns), keys, table.comment)


def names(tables: Sequence[SourceTable]) -> str:
    """Table names for messages."""
    return ", ".join(f"{t.schema}.{t.name}" for t in tables[:_MAX_NAMES]) + (" ..." if len(tables) > _MAX_NAMES else "")
