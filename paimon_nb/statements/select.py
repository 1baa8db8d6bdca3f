"""The structure of a SELECT whose every part is known: what a local engine needs to answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from paimon_nb.statements.query import TableRef


@dataclass(frozen=True, slots=True)
class Column:
    """A column: `name`, or `qualifier.name`."""

    name: str
    qualifier: str | None = None


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant."""

    kind: str
    """INT, BIGINT, DECIMAL, DOUBLE, STRING, DATE, BOOLEAN or NULL."""
    text: str
    """As written, without quotes and without a sign."""


@dataclass(frozen=True, slots=True)
class Call:
    """A function or an operator with its operands."""

    name: str
    """Upper case: 'SUM', '+', 'AND', 'IS NULL', ..."""
    operands: tuple[Expression, ...]
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """CASE WHEN condition THEN value ... ELSE otherwise END; CASE x WHEN y is `x = y`."""

    branches: tuple[tuple[Expression, Expression], ...]
    otherwise: Expression | None


@dataclass(frozen=True, slots=True)
class Cast:
    """CAST(operand AS type)."""

    operand: Expression
    type: str
    """INT, DECIMAL(10, 2), ... in upper case."""


Expression: TypeAlias = Column | Literal | Call | Case | Cast


@dataclass(frozen=True, slots=True)
class Star:
    """`*`, or `qualifier.*`."""

    qualifier: str | None = None


@dataclass(frozen=True, slots=True)
class Item:
    """An item of the SELECT list."""

    expression: Expression | Star
    alias: str | None = None


@dataclass(frozen=True, slots=True)
class OrderItem:
    """An item of ORDER BY."""

    expression: Expression
    descending: bool
    nulls_first: bool


@dataclass(frozen=True, slots=True)
class TableSource:
    """A table in FROM."""

    table: TableRef
    alias: str


@dataclass(frozen=True, slots=True)
class Subquery:
    """A query in FROM, or one that WITH names."""

    query: SelectTree
    alias: str


@dataclass(frozen=True, slots=True)
class Join:
    """A source that is joined to those before it."""

    kind: str
    """INNER, LEFT, RIGHT, FULL, CROSS, LEFT SEMI or LEFT ANTI."""
    source: TableSource | Subquery
    condition: Expression | None
    using: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Select:
    """One SELECT."""

    items: tuple[Item, ...]
    source: TableSource | Subquery
    joins: tuple[Join, ...] = ()
    where: Expression | None = None
    group: tuple[Expression, ...] = ()
    having: Expression | None = None
    distinct: bool = False


@dataclass(frozen=True, slots=True)
class SelectTree:
    """SELECTs that UNION ALL combines, with the ORDER BY and LIMIT of the whole."""

    branches: tuple[Select | SelectTree, ...]
    order: tuple[OrderItem, ...] = ()
    limit: int | None = None
    offset: int = 0
