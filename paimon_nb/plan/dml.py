"""Changes of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from paimon_nb.plan.query import Query, TableRef
from paimon_nb.plan.statement import Span, Statement


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal as written. `kind`: 'null', 'boolean', 'number', 'text', 'date', 'timestamp', 'default', or 'parameter' (its name)."""

    kind: str
    text: str = ""


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
    rows: tuple[tuple[Constant, ...], ...] | None = None
    """The source once more, if it is VALUES of plain constants: such rows need no Spark."""


@dataclass(frozen=True, slots=True)
class RowChange(Statement):
    """What UPDATE, DELETE and MERGE share. Their expressions are spans of the whole text, evaluated by Spark."""

    target: TableRef | None = None
    """`filter`: conjuncts that surely concern only the target, for skipping files."""
    tables: tuple[TableRef, ...] = ()
    """Other tables named: in subqueries of the expressions, as the source of a MERGE."""
    edits: tuple[tuple[Span, str], ...] = ()
    """Replacements that turn Flink text into Spark text, as in `Query`."""
    parameters: tuple[str, ...] = ()


Assignment = tuple[tuple[str, ...], Span]
"""`a = expr`, `t.a = expr`, `t.a.field = expr`: the name as written and the place of the expression."""


@dataclass(frozen=True, slots=True)
class Update(RowChange):
    """UPDATE t SET c = expr [WHERE cond]."""

    assignments: tuple[Assignment, ...] = ()
    where: Span | None = None


@dataclass(frozen=True, slots=True)
class Delete(RowChange):
    """DELETE FROM t [WHERE cond]."""

    where: Span | None = None


@dataclass(frozen=True, slots=True)
class MergeClause:
    """One WHEN of a MERGE. `on`: 'matched', 'not matched', 'not matched by source'. `action`: 'update', 'delete', 'insert'."""

    on: str
    action: str
    condition: Span | None = None
    assignments: tuple[Assignment, ...] = ()
    star: bool = False


@dataclass(frozen=True, slots=True)
class Merge(RowChange):
    """MERGE INTO t USING source ON cond WHEN ..."""

    source: Span | None = None
    """The source as it would stand in FROM: a table with its time travel and alias, or a subquery."""
    source_alias: str | None = None
    """By which name the expressions call the source; None: a subquery without alias."""
    condition: Span | None = None
    clauses: tuple[MergeClause, ...] = ()
    evolve: bool = False
    """WITH SCHEMA EVOLUTION: columns of the source that the clauses name come into the target."""


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """EXECUTE STATEMENT SET BEGIN ... END."""

    inserts: tuple[Insert, ...] = ()
