"""Statements about materialized tables: tables that a query fills, and that are refreshed when its inputs change."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.statements.ddl import Change, TableDef
from paimon_nb.statements.statement import Parts, Statement

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.statements.query import Query


@dataclass(frozen=True, slots=True)
class Freshness:
    """FRESHNESS = INTERVAL '<amount>' <unit>: the content may lag this far behind its inputs."""

    amount: int
    unit: str
    """SECOND, MINUTE, HOUR or DAY."""

    def __str__(self) -> str:
        return f"INTERVAL '{self.amount}' {self.unit}"


@dataclass(frozen=True, slots=True)
class CreateMaterializedTable(Statement):
    """CREATE [OR ALTER] MATERIALIZED TABLE t (...) ... AS query, and Spark's CREATE MATERIALIZED VIEW v AS query."""

    name: Parts = ()
    definition: TableDef = TableDef()
    """Columns with types, keys, options and comment."""
    columns: tuple[str, ...] = ()
    """Columns that are named without types: those of the query, in this order; of a view: new names by position."""
    query: Query | None = None
    freshness: Freshness | None = None
    refresh_mode: str | None = None
    """CONTINUOUS or FULL; None: it follows from the freshness."""
    start_mode: str | None = None
    """The words of START_MODE, such as RESUME_OR_FROM_BEGINNING, without the value in brackets."""
    or_alter: bool = False
    if_not_exists: bool = False
    is_view: bool = False
    """Whether it is written in Spark's words."""


@dataclass(frozen=True, slots=True)
class Suspend(Change):
    """SUSPEND: no refresh until RESUME."""


@dataclass(frozen=True, slots=True)
class Resume(Change):
    """RESUME [WITH (...)]. The options concern the refreshing job only and are not stored."""

    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refresh(Change):
    """REFRESH [PARTITION (...)]: refresh now. `full` computes the result from its inputs again (Spark's FULL)."""

    partition: Mapping[str, str | None] = field(default_factory=dict)
    full: bool = False


@dataclass(frozen=True, slots=True)
class SetFreshness(Change):
    """SET FRESHNESS = INTERVAL ..."""

    freshness: Freshness


@dataclass(frozen=True, slots=True)
class SetRefreshMode(Change):
    """SET REFRESH_MODE = CONTINUOUS | FULL."""

    mode: str


@dataclass(frozen=True, slots=True)
class SetQuery(Change):
    """AS query: another definition."""

    query: Query


@dataclass(frozen=True, slots=True)
class AlterMaterializedTable(Statement):
    """ALTER MATERIALIZED TABLE t <one change>; also Spark's REFRESH MATERIALIZED VIEW v."""

    name: Parts = ()
    change: Change = field(default_factory=Suspend)


@dataclass(frozen=True, slots=True)
class DropMaterializedTable(Statement):
    """DROP MATERIALIZED TABLE | VIEW [IF EXISTS] t."""

    name: Parts = ()
    if_exists: bool = False
