"""Session, metadata and administration statements."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.statements.statement import Parts, Span, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.statements.query import TableRef


@dataclass(frozen=True, slots=True)
class Call(Statement):
    """CALL [catalog.][sys.]procedure(...). Values: str, int, float, bool, None, list, dict for map(...), `Constant` for `:name`."""

    procedure: str = ""
    catalog: str | None = None
    positional: tuple[object, ...] = ()
    named: Mapping[str, object] = field(default_factory=dict)
    argument_spans: tuple[Span, ...] = ()
    parameters: tuple[str, ...] = ()
    flink_form: bool = False
    """Whether it is written as only Flink needs it: arguments by position, or a name in backquotes such as `table`."""


@dataclass(frozen=True, slots=True)
class Use(Statement):
    """USE CATALOG c | USE [c.]db. `kind`: 'catalog', 'database' or 'either' (Spark's bare USE x)."""

    name: Parts = ()
    kind: str = "either"


@dataclass(frozen=True, slots=True)
class SetOption(Statement):
    """SET 'k' = 'v', SET k=v; without value shows it; without key shows all."""

    key: str | None = None
    value: str | None = None


@dataclass(frozen=True, slots=True)
class ResetOption(Statement):
    """RESET ['k']; without key resets all settings."""

    key: str | None = None


@dataclass(frozen=True, slots=True)
class StopJob(Statement):
    """STOP JOB '<id>' [WITH SAVEPOINT] [WITH DRAIN]. `job`: an id, the beginning of one, or a name."""

    job: str = ""
    savepoint: bool = False


@dataclass(frozen=True, slots=True)
class Show(Statement):
    """SHOW CATALOGS|DATABASES|TABLES|VIEWS|COLUMNS|PARTITIONS|TAGS|BRANCHES|PROCEDURES|FUNCTIONS|JOBS|CURRENT CATALOG|...

    `what` is lower case: 'catalogs', 'databases', 'tables', 'current catalog', 'table extended' ...
    """

    what: str = ""
    name: Parts = ()
    like: str | None = None
    partition: Mapping[str, str | None] = field(default_factory=dict)
    negated: bool = False
    """NOT LIKE."""
    key: str | None = None
    """The key of SHOW TBLPROPERTIES t ('key')."""


@dataclass(frozen=True, slots=True)
class ShowCreate(Statement):
    """SHOW CREATE TABLE|VIEW|DATABASE|CATALOG. `what`: 'table', 'view', 'database', 'catalog'."""

    what: str = "table"
    name: Parts = ()


@dataclass(frozen=True, slots=True)
class Describe(Statement):
    """DESCRIBE [EXTENDED] t | DATABASE d | CATALOG c | FUNCTION f | QUERY ... | t column."""

    what: str = "table"
    name: Parts = ()
    extended: bool = False
    column: str | None = None
    file: TableRef | None = None
    """A data file in place of a table."""
    partition: Mapping[str, str | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Summarize(Statement):
    """SUMMARIZE t | 'file' | SELECT ...: statistics of each column."""

    query: str = ""
    """A query whose rows are summarized."""


@dataclass(frozen=True, slots=True)
class Explain(Statement):
    """EXPLAIN [PLAN FOR | EXTENDED | FORMATTED ...] statement; with the mode QUERY: DESCRIBE [QUERY] of a query, its names and types."""

    statement: Statement | None = None
    mode: str = ""


@dataclass(frozen=True, slots=True)
class ExecuteImmediate(Statement):
    """EXECUTE IMMEDIATE 'text' [USING value [AS name], ...]: the statement of a text."""

    sql: str = ""
    values: tuple[tuple[str, Span], ...] = ()
    """Name, '' for a `?`, and the expression."""


@dataclass(frozen=True, slots=True)
class Analyze(Statement):
    """ANALYZE TABLE t [PARTITION (..)] COMPUTE STATISTICS [NOSCAN | FOR COLUMNS a, b | FOR ALL COLUMNS]. `columns` () = none, None = all."""

    name: Parts = ()
    columns: tuple[str, ...] | None = ()
    partition: Mapping[str, str | None] | None = None
    """Column -> the text of its literal; None for a column without a value. None: no PARTITION."""
    noscan: Span | None = None
    """Where NOSCAN is."""


@dataclass(frozen=True, slots=True)
class NothingToDo(Statement):
    """A Spark statement without effect on a Paimon table; Spark runs it for other tables."""

    name: Parts = ()
    why: str = ""
    if_exists: bool = False
    repairs: str = ""
    """MSCK: ADD, DROP or SYNC partitions."""


@dataclass(frozen=True, slots=True)
class SparkCommand(Statement):
    """Text that Spark runs unchanged (CACHE, ADD JAR, CREATE FUNCTION, ...), except for Paimon table names."""

    tables: tuple[TableRef, ...] = ()
