"""Changes of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paimon_nb.plan.query import Query, TableRef
from paimon_nb.plan.statement import Span, Statement


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """INSERT INTO / OVERWRITE ... VALUES or SELECT. `query` is the source; VALUES is a query, too."""

    target: TableRef | None = None
    query: Query | None = None
    columns: tuple[str, ...] | None = None
    by_name: bool = False
    overwrite: bool = False
    partition: Mapping[str, str | None] = field(default_factory=dict)
    """PARTITION (dt = 'x', hh): column -> SQL literal text, None for a dynamic one."""


@dataclass(frozen=True, slots=True)
class Update(Statement):
    """UPDATE t SET c = expr [WHERE cond]. Expressions are spans of the whole text, evaluated by Spark."""

    target: TableRef | None = None
    assignments: tuple[tuple[tuple[str, ...], Span], ...] = ()
    where: Span | None = None
    tables: tuple[TableRef, ...] = ()
    """Tables in subqueries of the expressions."""


@dataclass(frozen=True, slots=True)
class Delete(Statement):
    target: TableRef | None = None
    where: Span | None = None
    tables: tuple[TableRef, ...] = ()


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN of a MERGE. `on`: 'matched', 'not matched', 'not matched by source'. `action`: 'update', 'delete', 'insert'."""

    on: str
    action: str
    condition: Span | None = None
    assignments: tuple[tuple[tuple[str, ...], Span], ...] = ()
    star: bool = False


@dataclass(frozen=True, slots=True)
class Merge(Statement):
    target: TableRef | None = None
    source: TableRef | None = None
    """The source table; None when it is a subquery."""
    source_query: Query | None = None
    source_alias: str | None = None
    condition: Span | None = None
    clauses: tuple[MergeClause, ...] = ()
    tables: tuple[TableRef, ...] = ()


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """EXECUTE STATEMENT SET BEGIN ... END."""

    inserts: tuple[Insert, ...] = ()
