"""What syncs of databases share: which source tables there are, the shapes they have, and targets that can hold them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.cdc.job import SyncJob, SyncOptions
from paimon_nb.connectors.cdc.target import SourceSchema, Target, ToColumn, merged
from paimon_nb.format.types import DataType

PAUSE_S = 0.5
"""Between two tries to reach a server that went away."""
_NAMED = 5


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
    """A source table, and how its values become columns."""

    def __init__(self, table: T, target: Target, to_column: Any) -> None:
        """`to_column`: values, Paimon type and source type (None: not known) to Arrow."""
        self.target = target
        self._to_column = to_column
        self._types: dict[str, Any] = {}
        self.reshape(table)

    def reshape(self, table: T) -> None:
        """Take the columns that the source has now; those it had stay known, for rows of that time."""
        self.table = table
        self._names = [c.name for c in table.columns]
        types = self._types = {**self._types, **{c.name: c.type for c in table.columns}}

        def columns(name: str, values: Sequence[Any], t: DataType) -> pa.Array:
            return self._to_column(values, t, types.get(name))

        self.columns: ToColumn = columns

    def row(self, values: Sequence[Any]) -> dict[str, Any]:
        """A row of the table as it is now, by name."""
        return dict(zip(self._names, values, strict=True))


class DatabaseSync(SyncJob, Generic[T]):
    """A sync whose source has tables with columns and keys."""

    def __init__(self, catalog: Catalog, options: SyncOptions, source: str) -> None:
        super().__init__(catalog, options, source)
        self.sources: dict[tuple[str, str], Source[T]] = {}

    @abstractmethod
    def source_of(self, table: T, target: Target) -> Source[T]:
        """A source table that is new."""

    @abstractmethod
    def column_type(self, source_type: Any, *, nullable: bool) -> DataType:
        """The Paimon type of a source's column. Raises UnsupportedOperation."""

    def adopt(self, tables: Sequence[T], *, first: bool) -> None:
        """Know these source tables, and let their targets hold what they hold.

        Raises: SchemaChangeError, UnsupportedOperation, where the options do not let them be left out. BadOptionValue: none is left.
        """
        groups: dict[str, list[T]] = {}
        for table in tables:
            target = self.options.naming.of(table.schema, table.name)
            if target is not None:
                groups.setdefault(target, []).append(table)
        for name, sources in groups.items():
            try:
                self.adopt_group(name, sources, first=first)
            except PaimonError as error:
                self.leave_out(names(sources), error)
        if first and not self.targets:
            raise BadOptionValue("no table is left to sync", hint="; ".join(self.notes) or "check including_tables")

    def adopt_group(self, name: str, sources: Sequence[T], *, first: bool) -> Target:
        """The same for the source tables of one target."""
        target = self.open(name, merged([self._is_selected(s) for s in sources]))
        for table in sources:
            known = self.sources.get((table.schema, table.name))
            if known is None:
                self.sources[table.schema, table.name] = self.source_of(table, target)
            else:
                known.reshape(table)
        return target

    def _is_selected(self, table: T) -> SourceSchema:
        keys = table.primary_keys
        columns = {
            c.name: (self.column_type(c.type, nullable=c.nullable and c.name not in keys), c.comment)
            for c in table.columns
        }
        return SourceSchema(columns, keys, table.comment)


def names(tables: Sequence[SourceTable]) -> str:
    """For messages."""
    return ", ".join(f"{t.schema}.{t.name}" for t in tables[:_NAMED]) + (" ..." if len(tables) > _NAMED else "")
