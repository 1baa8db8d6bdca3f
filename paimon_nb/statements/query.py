"""A query: the user's text and its table references."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.statements.statement import Parts, Span, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.syntax.tree import QueryTree
    from paimon_nb.table.read.predicate.model import Predicate

FILE_PATH = "__paimon_file_path"
ROW_INDEX = "__paimon_row_index"
PARTITION = "__paimon_partition"
BUCKET = "__paimon_bucket"
"""Metadata columns that a query may use: where a row is stored. The names are those of paimon-spark."""


@dataclass(frozen=True, slots=True)
class VersionAsOf:
    """VERSION AS OF 3 | 'tag' | 'watermark-1'. The text decides: tag, watermark or snapshot id."""

    version: str


@dataclass(frozen=True, slots=True)
class TimestampAsOf:
    """TIMESTAMP AS OF, FOR SYSTEM_TIME AS OF TIMESTAMP: the expression's text, evaluated by Spark in the session zone."""

    expression: str


@dataclass(frozen=True, slots=True)
class TableFunction:
    """A Paimon table-valued function in FROM: `paimon_incremental_query('t', 1, 5)`, `db.incremental_t(start_snapshot => 1, ...)`."""

    name: Parts
    positional: tuple[object, ...]
    named: Mapping[str, object]
    outer: OuterVector | None = None
    """Set if the vector of a search is an expression over the tables to the left of LATERAL."""


@dataclass(frozen=True, slots=True)
class OuterVector:
    """`q.embedding` in `FROM t AS q, LATERAL (SELECT ... FROM vector_search('s', 'v', q.embedding, 5))`."""

    expression: str
    left: str
    """What is to the left of LATERAL in FROM."""
    definitions: str
    """The common table expressions before it: `a AS (...), b AS (...)`, or ''."""


@dataclass(frozen=True, slots=True)
class TableRef:
    """One table named in FROM, JOIN, USING and the like."""

    parts: Parts
    span: Span
    """The span to replace: the name with its time travel clause and OPTIONS hint, without the alias."""
    options: Mapping[str, str] = field(default_factory=dict)
    """The OPTIONS hint after the table."""
    travel: VersionAsOf | TimestampAsOf | None = None
    alias: str | None = None
    """The user's alias, outside `span`; None: the replacement adds `AS` and the name's last part."""
    lookup: bool = False
    """FOR SYSTEM_TIME AS OF <column>: the latest row at processing time."""
    function: TableFunction | None = None
    filter: Predicate | None = None
    """Conjuncts of WHERE that concern only this reference. For file pruning; Spark filters again."""
    columns: tuple[str, ...] | None = None
    """Columns that the query may need; None: all."""
    metadata_columns: tuple[str, ...] = ()
    """The metadata columns that the query uses."""
    has_schema_of_start: bool = False
    """Whether a stream of the table has the schema of the time from which it starts."""
    file: bool = False
    """Whether the only part is the path of a data file: FROM 'sales.csv'."""


@dataclass(frozen=True, slots=True)
class Query(Statement):
    """A query that Spark runs after each table name is replaced."""

    tables: tuple[TableRef, ...] = ()
    edits: tuple[tuple[Span, str], ...] = ()
    """Other replacements that turn Flink text into Spark text: functions, `db.t.col` qualifiers."""
    parameters: tuple[str, ...] = ()
    """Names of `:name` markers in the text, bound by Spark."""
    flink_edits: tuple[tuple[Span, str], ...] = ()
    """Replacements for Flink's semantics where the dialects conflict: `a[1]` is the first element."""
    unnested: tuple[Span, ...] = ()
    """The spans of `UNNEST`; `edits` make it `explode`, which is right unless the elements are rows."""
    tree: QueryTree | None = field(default=None, compare=False, repr=False)
    """The tree of the user's text; its tables are numbered as in `tables`. None: the text is long, or Spark alone can parse it."""
