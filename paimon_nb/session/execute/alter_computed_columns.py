"""ALTER TABLE with computed columns, as changes of stored columns and of the options that define computed columns.

Like Flink, each ALTER rewrites the positions and types of all computed columns.
Source: Flink `AlterTableConverter`, `SchemaReferencesManager`; compared with Flink 1.20 and Paimon 1.3.1.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import ColumnNotFound, SchemaChangeError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.alter import apply_changes, is_schema_change
from paimon_nb.session.query.computed_columns import computed_columns, computed_options, is_computed_column_key
from paimon_nb.sql import tokens
from paimon_nb.statements import (
    AddColumn,
    AlterColumn,
    Change,
    ColumnDef,
    DropColumn,
    RenameColumn,
    ResetOptions,
    SetComputed,
    SetOptions,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from pyspark.sql import SparkSession

    from paimon_nb.format.schema import TableSchema

_Placed = TypeVar("_Placed", AddColumn, AlterColumn)


def as_stored_changes(
    changes: Sequence[Change], schema: TableSchema, spark: Callable[[], SparkSession]
) -> tuple[list[Change], dict[str, str]]:
    """`changes` as changes of stored columns and options, and the types of the remaining computed columns by name.

    Raises:
        SchemaChangeError, ColumnNotFound: an invalid change.
        SqlAnalysisError: Spark cannot compute an expression.
    """
    if not computed_columns(schema.options) and not any(isinstance(c, SetComputed) for c in changes):
        return list(changes), {}
    if not any(isinstance(c, AddColumn | DropColumn | RenameColumn | AlterColumn | SetComputed) for c in changes):
        return list(changes), {c.name: c.type for c in computed_columns(schema.options)}
    layout = _Layout(schema)
    stored = [stored_change for change in changes for stored_change in layout.change(change)]
    layout.check_references()
    before = [c for c in stored if is_schema_change(c)]
    fields = apply_changes(schema, before, has_data=False, now_ms=0).fields
    options = computed_options(spark, layout.columns, fields)
    current = {k: v for k, v in schema.options.items() if is_computed_column_key(k)}
    removed_keys = tuple(k for k in current if k not in options)
    changed = {k: v for k, v in options.items() if current.get(k) != v}
    types = {c.name: c.type for c in computed_columns(options)}
    return [
        *stored,
        *([ResetOptions(removed_keys)] if removed_keys else []),
        *([SetOptions(changed)] if changed else []),
    ], types


class _Layout:
    """A table's columns in order while ALTER changes them; a column without an expression is stored."""

    def __init__(self, schema: TableSchema) -> None:
        self.columns = [ColumnDef(f.name, str(f.type)) for f in schema.fields]
        for c in computed_columns(schema.options):
            self.columns.insert(c.position, c.column_definition)
        self.removed: dict[str, str] = {}
        """Removed names of stored columns -> 'dropped' or 'renamed'."""

    def change(self, change: Change) -> list[Change]:
        """Apply a change; returns the part that affects stored columns."""
        match change:
            case SetComputed():
                self.set_computed(change)
                return []
            case AddColumn(path=(name,)):
                return self.add(change, name)
            case DropColumn(path=(name,)) if self.has(name):
                at = self.index(name)
                physical = self.columns.pop(at).is_physical
                if physical:
                    self.removed[name] = "dropped"
                return [change] if physical else []
            case RenameColumn(path=(name,)) if self.has(name):
                at = self.index(name)
                if self.has(change.new_name):
                    raise _column_exists(change.new_name)
                physical = self.columns[at].is_physical
                self.columns[at] = replace(self.columns[at], name=change.new_name)
                if physical:
                    self.removed[name] = "renamed"
                return [change] if physical else []
            case AlterColumn(path=(name,)) if self.has(name):
                return self.alter(change, name)
        return [change]

    def set_computed(self, change: SetComputed) -> None:
        name = change.column.name
        if change.how == "add":
            if self.has(name):
                raise _column_exists(name)
            self.columns.append(change.column)
        else:
            at = self.index(name)
            if self.columns[at].is_physical:
                raise SchemaChangeError(
                    f"stored column {name!r} cannot become a computed column",
                    hint="add a computed column with another name, or drop this column first",
                )
            self.columns[at] = change.column
        self.move(name, change.first, change.after)

    def add(self, change: AddColumn, name: str) -> list[Change]:
        if self.has(name):
            if change.if_not_exists:
                return []
            raise _column_exists(name)
        self.columns.append(ColumnDef(name, change.type))
        self.move(name, change.first, change.after)
        return [self.relative_to_stored(change)]

    def alter(self, change: AlterColumn, name: str) -> list[Change]:
        at = self.index(name)
        if not self.columns[at].is_physical:
            if change.type is not None or change.default is not None or change.drop_default:
                raise SchemaChangeError(
                    f"column {name!r} is {'computed' if self.columns[at].computed else 'METADATA'}",
                    hint=f"ALTER TABLE ... MODIFY {name} AS <expression>, or DROP it first",
                )
            if change.comment is not None:
                self.columns[at] = replace(self.columns[at], comment=change.comment or None)
        self.move(name, change.first, change.after)
        return [self.relative_to_stored(change)] if self.columns[self.index(name)].is_physical else []

    def move(self, name: str, first: bool, after: str | None) -> None:
        if not first and after is None:
            return
        column = self.columns.pop(self.index(name))
        self.columns.insert(0 if after is None else self.index(after) + 1, column)

    def relative_to_stored(self, change: _Placed) -> _Placed:
        """The change with a position relative to stored columns only, since AFTER may name a computed column."""
        if change.after is None:
            return change
        at = self.index(change.path[0])
        before = [c.name for c in self.columns[:at] if c.is_physical]
        return replace(change, first=not before, after=before[-1] if before else None)

    def has(self, name: str) -> bool:
        return any(c.name == name for c in self.columns)

    def index(self, name: str) -> int:
        for at, column in enumerate(self.columns):
            if column.name == name:
                return at
        names = [c.name for c in self.columns]
        near = did_you_mean(name, names) or f"the table has {', '.join(names)}"
        raise ColumnNotFound(f"no column {name!r}", hint=near, column=name)

    def check_references(self) -> None:
        """Raises SchemaChangeError if a computed column uses a removed column."""
        for column in self.columns:
            for name in columns_used_by(column.computed or "", self.removed):
                if not self.has(name):
                    raise SchemaChangeError(
                        f"column {name!r} cannot be {self.removed[name]}: {column.name!r} is computed from it",
                        hint=f"ALTER TABLE ... DROP {column.name} first",
                    )


def columns_used_by(expression: str, names: Mapping[str, object]) -> list[str]:
    """The names of `names` that an expression uses."""
    read = tokens(expression)
    return [t.name for t in read if t.is_name and t.name in names]


def _column_exists(name: str) -> SchemaChangeError:
    return SchemaChangeError(f"column {name!r} exists already", hint="choose another name")
