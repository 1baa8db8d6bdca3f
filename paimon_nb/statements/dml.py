"""DML statements."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.statements.statement import Span, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.statements.query import Query, TableRef


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal as written. `kind`: 'null', 'boolean', 'number', 'text', 'date', 'timestamp', 'default', or 'parameter' (its name)."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Insert(Statement):
    """INSERT INTO / OVERWRITE ... VALUES or SELECT."""

    target: TableRef | None = None
    query: Query | None = None
    """The source; None if it is VALUES of plain literals, see `rows`. `sql.source_query` makes a query of those, too."""
    source: Span = field(kw_only=True)
    """The source's text."""
    columns: tuple[str, ...] | None = None
    by_name: bool = False
    overwrite: bool = False
    partition: Mapping[str, str | None] = field(default_factory=dict)
    """PARTITION (dt = 'x', hh): column -> SQL literal text, None for a dynamic one."""
    rows: tuple[tuple[Constant, ...], ...] | None = None
    """The source's rows if it is VALUES of plain literals, which need no Spark."""
    parameters: tuple[str, ...] = ()
    """The names of the `:name` markers in the source."""


@dataclass(frozen=True, slots=True)
class RowChange(Statement):
    """The base of UPDATE, DELETE and MERGE. Expressions are spans of the whole text; Spark evaluates them."""

    target: TableRef | None = None
    """`filter`: conjuncts that concern only the target, for file pruning."""
    tables: tuple[TableRef, ...] = ()
    """Other tables: in subqueries of the expressions, and the source of MERGE."""
    edits: tuple[tuple[Span, str], ...] = ()
    """Replacements that turn Flink text into Spark text, as in `Query`."""
    parameters: tuple[str, ...] = ()
    flink_edits: tuple[tuple[Span, str], ...] = field(default=(), kw_only=True)
    """Replacements for Flink's semantics where the dialects conflict, as in `Query`."""


Assignment = tuple[tuple[str, ...], Span]
"""`a = expr`, `t.a = expr`, `t.a.field = expr`: the name as written and the span of the expression."""


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
    """The source as in FROM: a table with time travel and alias, or a subquery."""
    source_alias: str | None = None
    """The name of the source in expressions; None: a subquery without alias."""
    condition: Span | None = None
    clauses: tuple[MergeClause, ...] = ()
    evolve: bool = False
    """WITH SCHEMA EVOLUTION: source columns that the clauses use are added to the target."""
    takes_any_match: bool = False
    """A target row that matches several source rows takes one of them; False: an error."""


@dataclass(frozen=True, slots=True)
class StatementSet(Statement):
    """EXECUTE STATEMENT SET BEGIN ... END."""

    inserts: tuple[Insert, ...] = ()

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the `:name` markers in the sources."""
        return tuple(dict.fromkeys(name for i in self.inserts for name in i.parameters))


@dataclass(frozen=True, slots=True)
class CopyFormat:
    """FILE_FORMAT of COPY INTO, with names that are valid for its direction."""

    type: str
    """'csv', 'json' or 'parquet'."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Upper-case name -> value; switches are 'TRUE' or 'FALSE'."""
    null_if: tuple[str, ...] = ()
    """Texts that mean NULL."""
    file_options: Mapping[str, str] = field(default_factory=dict)
    """Options of `files/options.py` by name, which the readers of Spark do not have."""


@dataclass(frozen=True, slots=True)
class CopyIntoTable(Statement):
    """COPY INTO t FROM 'path': append the rows of files."""

    target: TableRef
    columns: tuple[str, ...] | None
    path: str
    path_span: Span
    format: CopyFormat
    pattern: str | None
    """A Java regular expression that is searched in the names of the files; None: all files."""
    pattern_span: Span | None
    force: bool
    """Also load files that were loaded before."""
    on_error: str
    """'ABORT_STATEMENT', 'CONTINUE' (leave bad rows out) or 'SKIP_FILE' (leave files with bad rows out)."""


@dataclass(frozen=True, slots=True)
class CopyIntoLocation(Statement):
    """COPY INTO 'path' FROM t or FROM (query): write rows to files."""

    path: str
    path_span: Span
    table: TableRef | None
    query: Query | None
    """The source if it is not a table."""
    format: CopyFormat
    overwrite: bool

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the `:name` markers in the query."""
        return () if self.query is None else self.query.parameters
