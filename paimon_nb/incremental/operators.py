"""The operators of an incremental query: a tree of plain data, built from the text and evaluated on signed changes."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, TypeAlias

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.values import BIGINT, engine_type, quote_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.types import DataType
    from paimon_nb.statements import TableRef
    from paimon_nb.table.tables.table import Table

WEIGHT = "w_"
"""The column of a signed relation that counts its rows: positive for added rows, negative for removed ones."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of an operator's rows."""

    id: str
    """Its name in the engine, unique in the plan."""
    type: DataType
    name: str
    """The name in the text, for state tables."""


ARRIVAL = Column("n_arrival_", BIGINT, "arrival")
"""The number of a row in its group, in the order in which rows arrived."""


@dataclass(slots=True)
class Source:
    """A Paimon table that the query reads. Its first reads of columns decide which ones are read."""

    ref: TableRef
    table: Table
    prefix: str
    used: dict[str, Column] = field(default_factory=dict)
    """By the table's column."""
    number: int = 0
    """The position among the inputs."""

    def use(self, name: str, t: DataType) -> Column:
        """The column of the plan for a column of the table."""
        if name not in self.used:
            self.used[name] = Column(f"{self.prefix}_{len(self.used)}", t, name)
        return self.used[name]

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(self.used.values())

    @property
    def key(self) -> tuple[str, ...] | None:
        keys = self.table.primary_keys
        return tuple(self.used[k].id for k in keys) if keys and all(k in self.used for k in keys) else None

    @property
    def is_append_only(self) -> bool:
        return not self.table.primary_keys

    @property
    def select_list(self) -> str:
        return "".join(f"CAST({quote_name(n)} AS {engine_type(c.type)}) AS {c.id}, " for n, c in self.used.items())


def _key_in(items: Sequence[tuple[str, Column]], child: Operator) -> tuple[str, ...] | None:
    """The key of an operator that passes on rows of its child; None if a column of the child's key is left out."""
    passed = {sql: c.id for sql, c in items}
    below = child.key
    return tuple(passed[k] for k in below) if below is not None and all(k in passed for k in below) else None


@dataclass(frozen=True, slots=True)
class Project:
    """Expressions of each row. Without state."""

    child: Operator
    items: tuple[tuple[str, Column], ...]
    """SQL over the child's columns, and the column that it makes."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(c for _, c in self.items)

    @property
    def key(self) -> tuple[str, ...] | None:
        return _key_in(self.items, self.child)


@dataclass(frozen=True, slots=True)
class Filter:
    """The rows for which a condition is true. Without state."""

    child: Operator
    condition: str

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.child.columns

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.child.key


@dataclass(frozen=True, slots=True)
class FixedWindow:
    """What the values of a list are, if they are windows of time."""

    time: str
    """SQL of the time of a row."""
    end: str
    """SQL of the end of its window, over the rows with windows."""
    slide_us: int
    offset_us: int


@dataclass(frozen=True, slots=True)
class Unnest:
    """Each row once for each value of a list: windows that overlap, sets of grouping keys. Without state."""

    child: Operator
    values: str
    """SQL of the list over the child's columns; its values are different."""
    column: Column
    """The value."""
    what: str
    window: FixedWindow | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.child.columns, self.column)

    @property
    def key(self) -> tuple[str, ...] | None:
        return None if self.child.key is None else (*self.child.key, self.column.id)


@dataclass(frozen=True, slots=True)
class Join:
    """Rows of two inputs. Each side's rows are passed in a state table by the join key."""

    kind: str
    """INNER, LEFT, FULL, SEMI or ANTI."""
    left: Operator
    right: Operator
    equalities: tuple[tuple[str, str], ...]
    """Keys of the left and the right side, in SQL with a common type."""
    condition: str
    """The whole condition, over the columns of both."""
    null_safe: bool = False
    """Whether a NULL key may match."""

    @property
    def columns(self) -> tuple[Column, ...]:
        return self.left.columns if self.kind in ("SEMI", "ANTI") else (*self.left.columns, *self.right.columns)

    @property
    def key(self) -> tuple[str, ...] | None:
        left, right = self.left.key, self.right.key
        if self.kind in ("SEMI", "ANTI"):
            return left
        if left is None or right is None:
            return None
        matched = {r for _, r in self.equalities}
        return left if set(right) <= matched and self.kind != "FULL" else (*left, *right)


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate function of a group."""

    function: str
    operand: Column | None
    """The column of its input rows; None: COUNT(*)."""
    distinct: bool
    result: Column
    sql: str
    """The function in the engine's SQL over rows of the group, not signed."""
    flink: bool
    of_no_rows: str = ""
    """SQL of its value of no rows; '' for NULL."""
    by_arrival: bool = False
    """Whether it depends on the order of the rows."""
    others: tuple[Column, ...] = ()
    """More columns that it reads."""
    condition: Column | None = None
    """The one of them that FILTER requires, if it depends on the order."""

    @property
    def is_linear(self) -> bool:
        """Whether the result of a group follows from sums that a removed row leaves exactly."""
        if self.distinct and self.function not in ("MIN", "MAX"):
            return False
        if self.function == "COUNT":
            return True
        return (
            self.function in ("SUM", "AVG")
            and self.operand is not None
            and self.operand.type.root not in ("FLOAT", "DOUBLE")
        )


@dataclass(frozen=True, slots=True)
class Aggregate:
    """GROUP BY and DISTINCT: a row for each group that has rows; without keys always one row."""

    child: Operator
    keys: tuple[Column, ...]
    """Columns of the child."""
    calls: tuple[AggregateCall, ...]
    is_distinct: bool = False

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.keys, *(c.result for c in self.calls))

    @property
    def key(self) -> tuple[str, ...] | None:
        return tuple(c.id for c in self.keys)

    @property
    def rows_needed(self) -> tuple[Column, ...]:
        """The operands of the functions that need the values of the whole group."""
        needed = [c for c in self.calls if not c.is_linear and c.operand is not None]
        return tuple({o.id: o for c in needed for o in (c.operand, *c.others) if o is not None}.values())

    @property
    def by_arrival(self) -> bool:
        """Whether a function depends on the order of the rows."""
        return any(c.by_arrival for c in self.calls)


@dataclass(frozen=True, slots=True)
class Partitioned:
    """A query over all rows with the same partition key, such as ROW_NUMBER or LIMIT: changed partitions are computed again."""

    child: Operator
    partition: tuple[str, ...]
    """SQL over the child's columns."""
    items: tuple[tuple[str, Column], ...]
    ending: str
    """ORDER BY, LIMIT and OFFSET of each partition's rows."""
    what: str

    @property
    def columns(self) -> tuple[Column, ...]:
        return tuple(c for _, c in self.items)

    @property
    def key(self) -> tuple[str, ...] | None:
        return _key_in(self.items, self.child)


@dataclass(frozen=True, slots=True)
class Sessions:
    """Rows with the session that they are in: changed partitions are computed again."""

    child: Operator
    partition: tuple[str, ...]
    """SQL over the child's columns."""
    time: str
    gap_us: int
    start: Column
    end: Column

    @property
    def columns(self) -> tuple[Column, ...]:
        return (*self.child.columns, self.start, self.end)

    @property
    def key(self) -> tuple[str, ...] | None:
        return self.child.key


@dataclass(frozen=True, slots=True)
class UnionAll:
    """The rows of several inputs, whose columns have the same types."""

    children: tuple[Operator, ...]
    columns: tuple[Column, ...]

    @property
    def key(self) -> tuple[str, ...] | None:
        return None


@dataclass(frozen=True, slots=True)
class Constant:
    """Rows that no table has: VALUES, or a SELECT without FROM."""

    sql: str
    columns: tuple[Column, ...]

    @property
    def key(self) -> tuple[str, ...] | None:
        return None


Operator: TypeAlias = (
    Source | Project | Filter | Unnest | Join | Aggregate | Partitioned | Sessions | UnionAll | Constant
)


def inputs_of(op: Operator) -> Sequence[Operator]:
    """The operators whose rows an operator reads."""
    match op:
        case Project() | Filter() | Unnest() | Aggregate() | Partitioned() | Sessions():
            return (op.child,)
        case Join():
            return (op.left, op.right)
        case UnionAll():
            return op.children
    return ()


def postorder(op: Operator) -> Iterator[Operator]:
    """The operators of a tree, each once, inputs before what reads them."""
    seen: set[int] = set()

    def visit(node: Operator) -> Iterator[Operator]:
        if id(node) in seen:
            return
        seen.add(id(node))
        for child in inputs_of(node):
            yield from visit(child)
        yield node

    yield from visit(op)


def is_append_only(op: Operator) -> bool:
    """Whether no row of the result is ever removed while the inputs only grow."""
    match op:
        case Source():
            return op.is_append_only
        case Join(kind="INNER"):
            return is_append_only(op.left) and is_append_only(op.right)
        case Aggregate():
            return op.is_distinct and not op.calls and is_append_only(op.child)
        case Project() | Filter() | Unnest() | UnionAll():
            return all(map(is_append_only, inputs_of(op)))
        case Constant():
            return True
    return False
