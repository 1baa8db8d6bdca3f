"""A query in the engine's SQL: its tables, its named queries, its columns."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.constants import Checks

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.session.query.local.values import Value
    from paimon_nb.statements import TableRef


@dataclass(slots=True)
class Scan:
    """A table in the query: its columns, and those that the query uses."""

    table: TableRef
    fields: Sequence[DataField]
    name: str
    """The name of its rows in the engine."""
    used: dict[str, DataType] = field(default_factory=dict)
    """The columns that the query needs, with their types in the engine."""


@dataclass(slots=True)
class NamedQuery:
    """A query that the engine's WITH names."""

    name: str
    sql: str
    is_materialized: bool = False
    """Whether all its rows are computed, so that errors of rows that a join leaves out are raised."""


@dataclass(frozen=True, slots=True)
class Output:
    """A column of a result."""

    name: str | None
    """None: Spark's name is not known here."""
    type: DataType


@dataclass(frozen=True, slots=True)
class Translation:
    """A query in the engine's SQL. Its columns are o0, o1, ..."""

    sql: str
    outputs: tuple[Output, ...]
    is_small_result: bool
    """Whether the result is small whatever the tables hold: groups, or a LIMIT."""
    limit: int | None
    branches: tuple[tuple[Value, ...], ...] = ()
    """What the columns are, in each branch of UNION ALL."""
    raises: bool = False
    """Whether some rows may raise an error."""
    is_one_row: bool = False
    """Whether it has exactly one row: aggregates without groups."""
    correlation: str = ""
    """Of a subquery: '' if it depends on no outer row, 'equalities', or 'other'."""
    is_filtered: bool = False
    """Whether conditions or joins leave out rows."""


@dataclass(slots=True)
class Parts:
    """What the parts of a query share while they are translated."""

    fields_of: Callable[[TableRef], Sequence[DataField]]
    view_of: Callable[[TableRef], Any] = lambda _: None
    """The view that a reference names; None if it is not one."""
    flink: bool = False
    zone: str | None = None
    """The session's time zone; None: times with a zone are not known."""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    scans: list[Scan] = field(default_factory=list)
    queries: list[NamedQuery] = field(default_factory=list)
    variables: list[tuple[str, str]] = field(default_factory=list)
    """Names and queries of the subqueries whose value is computed first, as Spark does."""
    checks: Checks = field(default_factory=Checks)
    has_unequal_join: bool = False
    """Whether each row of a table is compared with each of another."""
    may_raise: bool = False
    """Whether Spark may raise an error for some row: the engine must not leave out what is computed."""
    number: int = 0

    def new_name(self, letter: str) -> str:
        self.number += 1
        return f"{letter}{self.number}"
