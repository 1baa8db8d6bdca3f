"""What an ALTER does to computed columns, said as changes of stored columns and of the options that keep the others.

After each ALTER the positions and types of all computed columns are told anew, as Flink tells them.
Source: Flink `AlterTableConverter`, `SchemaReferencesManager`; asked of Flink 1.20 with Paimon 1.3.1.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import ColumnNotFound, SchemaChangeError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.alter import apply_changes, is_schema_change
from paimon_nb.plan import (
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
from paimon_nb.session.query.computed_columns import computed_columns, computed_options, is_computed_column_key
from paimon_nb.sql import tokens

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimon_nb.format.schema import TableSchema

_Placed = TypeVar("_Placed", AddColumn, AlterColumn)


def as_stored_changes(
    changes: Sequence[Change], schema: TableSchema, spark: Callable[[], SparkSession]
) -> tuple[list[Change], dict[str, str]]:
    """`changes` as those of stored columns and of options, and the types of computed columns that they leave, by name.

    Raises: SchemaChangeError, ColumnNotFound, and what an expression raises that Spark cannot compute.
    """
    if not computed_columns(schema.options) and not any(isinstance(c, SetComputed) for c in changes):
        return list(changes), {}
    if not any(isinstance(c, AddColumn | DropColumn | RenameColumn | AlterColumn | SetComputed) for c in changes):
        return list(changes), {c.name: c.type for c in computed_columns(schema.options)}
    layout = _Layout(schema)
    stored = [kept for change in changes for kept in layout.change(change)]
    layout.refuse_missing()
    before = [c for c in stored if is_schema_change(c)]
    fields = apply_changes(schema, before, has_data=False, now_ms=0).fields
    options = computed_options(spark(), layout.columns, fields)
    told = {k: v for k, v in schema.options.items() if is_computed_column_key(k)}
    gone = tuple(k for k in told if k not in options)
    new = {k: v for k, v in options.items() if told.get(k) != v}
    types = {c.name: c.type for c in computed_columns(options)}
    return [*stored, *([ResetOptions(gone)] if gone else []), *([SetOptions(new)] if new else [])], types


class _Layout:
    """A table's columns in their order while an ALTER changes them; those without an expression are stored."""

    def __init__(self, schema: TableSchema) -> None:
        self.columns = [ColumnDef(f.name, str(f.type)) for f in schema.fields]
        for c in computed_columns(schema.options):
            self.columns.insert(c.position, ColumnDef(c.name, None, c.comment, computed=c.expression))
        self.gone: dict[str, str] = {}
        """Names that stored columns had, and how they lost them."""

    def change(self, change: Change) -> list[Change]:
        """What is left of a change for the stored columns."""
        match change:
            case SetComputed():
                self.compute(change)
                return []
            case AddColumn(path=(name,)):
                return self.add(change, name)
            case DropColumn(path=(name,)) if self.has(name):
                at = self.index(name)
                computed = self.columns.pop(at).computed
                if computed is None:
                    self.gone[name] = "dropped"
                return [change] if computed is None else []
            case RenameColumn(path=(name,)) if self.has(name):
                at = self.index(name)
                if self.has(change.new_name):
                    raise _exists(change.new_name)
                computed = self.columns[at].computed
                self.columns[at] = replace(self.columns[at], name=change.new_name)
                if computed is None:
                    self.gone[name] = "renamed"
                return [change] if computed is None else []
            case AlterColumn(path=(name,)) if self.has(name):
                return self.alter(change, name)
        return [change]

    def compute(self, change: SetComputed) -> None:
        column = ColumnDef(change.name, None, change.comment, computed=change.expression)
        if change.how == "add":
            if self.has(change.name):
                raise _exists(change.name)
            self.columns.append(column)
        else:
            at = self.index(change.name)
            if self.columns[at].computed is None:
                raise SchemaChangeError(
                    f"column {change.name!r} is stored and stays so",
                    hint="ADD a computed column of another name, or DROP this one first",
                )
            self.columns[at] = column
        self.move(change.name, change.first, change.after)

    def add(self, change: AddColumn, name: str) -> list[Change]:
        if self.has(name):
            if change.if_not_exists:
                return []
            raise _exists(name)
        self.columns.append(ColumnDef(name, change.type))
        self.move(name, change.first, change.after)
        return [self.among_stored(change)]

    def alter(self, change: AlterColumn, name: str) -> list[Change]:
        at = self.index(name)
        if self.columns[at].computed is not None:
            if change.type is not None or change.default is not None or change.drop_default:
                raise SchemaChangeError(
                    f"column {name!r} is computed", hint=f"ALTER TABLE ... MODIFY {name} AS <expression>"
                )
            if change.comment is not None:
                self.columns[at] = replace(self.columns[at], comment=change.comment or None)
        self.move(name, change.first, change.after)
        return [] if self.columns[self.index(name)].computed is not None else [self.among_stored(change)]

    def move(self, name: str, first: bool, after: str | None) -> None:
        if not first and after is None:
            return
        column = self.columns.pop(self.index(name))
        self.columns.insert(0 if after is None else self.index(after) + 1, column)

    def among_stored(self, change: _Placed) -> _Placed:
        """The change with its place told by stored columns alone, for AFTER may name a computed one."""
        if change.after is None:
            return change
        at = self.index(change.path[0])
        before = [c.name for c in self.columns[:at] if c.computed is None]
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

    def refuse_missing(self) -> None:
        """Raise `SchemaChangeError` if a column that is left is computed from one that is not."""
        for column in self.columns:
            for name in used(column.computed or "", self.gone):
                if not self.has(name):
                    raise SchemaChangeError(
                        f"column {name!r} cannot be {self.gone[name]}: {column.name!r} is computed from it",
                        hint=f"ALTER TABLE ... DROP {column.name} first",
                    )


def used(expression: str, names: Mapping[str, object]) -> list[str]:
    """Those of `names` that an expression names."""
    read = tokens(expression)
    return [t.name for t in read if t.is_name and t.name in names]


def _exists(name: str) -> SchemaChangeError:
    return SchemaChangeError(f"column {name!r} exists already", hint="choose another name")
