"""The tree of a statement's text: expressions and queries as frozen data, each part with its span in the text.

Only the parser makes nodes, from tokens. A node says what is written; it knows no tables, types or values.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Span:
    """Character offsets into the user's whole text; `stop` is exclusive."""

    start: int
    stop: int


@dataclass(frozen=True, slots=True)
class Node:
    """A part of the text."""

    span: Span


# -- expressions


@dataclass(frozen=True, slots=True)
class Column(Node):
    """A dotted name as an operand: a column, a field of one, or the parameter of a lambda."""

    parts: tuple[str, ...]
    """Without quotes."""


@dataclass(frozen=True, slots=True)
class Star(Node):
    """`*` or `t.*`."""

    qualifier: tuple[str, ...]
    changed: bool
    """Whether EXCEPT or REPLACE follows."""
    excluded: tuple[str, ...] = ()
    """The columns of EXCEPT; () if they have dots, or REPLACE follows too."""


@dataclass(frozen=True, slots=True)
class Literal(Node):
    """A constant."""

    kind: str
    """string, number, parameter, TRUE, FALSE, NULL, INTERVAL, or the type of a typed string: DATE, TIMESTAMP, TIME, X ..."""
    text: str
    """As written: of a string with its quotes, of a typed string the string only."""


@dataclass(frozen=True, slots=True)
class Unary(Node):
    """`op operand`; op: NOT, -, +, ~."""

    op: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary(Node):
    """`left op right`: comparison, arithmetic, concatenation."""

    op: str
    left: Node
    right: Node
    op_span: Span


@dataclass(frozen=True, slots=True)
class Logical(Node):
    """`part AND part ...` or `part OR part ...`, at least two parts."""

    op: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Between(Node):
    """`operand [NOT] BETWEEN [SYMMETRIC] low AND high`."""

    operand: Node
    low: Node
    high: Node
    negated: bool
    symmetric: bool


@dataclass(frozen=True, slots=True)
class In(Node):
    """`operand [NOT] IN (items)`; a subquery is the only item."""

    operand: Node
    items: tuple[Node, ...]
    negated: bool


@dataclass(frozen=True, slots=True)
class Like(Node):
    """`operand [NOT] LIKE pattern`, and ILIKE, RLIKE, REGEXP, SIMILAR TO."""

    op: str
    operand: Node
    pattern: Node
    negated: bool
    escape: Node | None


@dataclass(frozen=True, slots=True)
class Is(Node):
    """`operand IS [NOT] what`; what: NULL, TRUE, FALSE, UNKNOWN, JSON ..., DISTINCT FROM (with `other`)."""

    operand: Node
    what: str
    negated: bool
    other: Node | None


@dataclass(frozen=True, slots=True)
class Call(Node):
    """`name(arguments)` with its clauses: WITHIN GROUP and ORDER BY, FILTER, OVER."""

    name: tuple[str, ...]
    arguments: tuple[Node, ...]
    distinct: bool
    order: tuple[Ordering, ...]
    condition: Node | None
    """Of FILTER (WHERE ...)."""
    window: Window | None

    @property
    def function(self) -> str:
        """The name's last part, upper case."""
        return self.name[-1].upper()


@dataclass(frozen=True, slots=True)
class Window(Node):
    """What follows OVER: a name, or the parts of a window in brackets."""

    base: str | None
    """The name of a window of the WINDOW clause, alone or before more parts in brackets."""
    partition: tuple[Node, ...] = ()
    order: tuple[Ordering, ...] = ()
    frame: tuple[str, ...] = ()
    """The tokens from ROWS or RANGE on, upper case."""


@dataclass(frozen=True, slots=True)
class Cast(Node):
    """`CAST(operand AS type)`, TRY_CAST, `operand::type`."""

    operand: Node
    type: str
    """As written, upper case, with single spaces."""
    form: str = "CAST"
    """CAST, TRY_CAST or `::`."""


@dataclass(frozen=True, slots=True)
class Brackets(Node):
    """One expression in brackets."""

    inner: Node


@dataclass(frozen=True, slots=True)
class Lambda(Node):
    """`x -> body` or `(x, y) -> body`."""

    parameters: tuple[str, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Field(Node):
    """`operand.name` where the operand is not a name: `a[0].b`, `f(x).b`."""

    operand: Node
    name: str


@dataclass(frozen=True, slots=True)
class Composite(Node):
    """Every other expression of parts: CASE, rows, ARRAY[...], elements."""

    kind: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Alias(Node):
    """`expression AS name`."""

    expression: Node
    name: str
    """'' for several names."""


@dataclass(frozen=True, slots=True)
class Subquery(Node):
    """A query in brackets as an operand, or after EXISTS."""

    query: QueryTree
    exists: bool


@dataclass(frozen=True, slots=True)
class Ordering(Node):
    """One item of ORDER BY."""

    expression: Node
    descending: bool
    nulls_first: bool


# -- sources of a SELECT


@dataclass(frozen=True, slots=True)
class Table(Node):
    """A table by name, or one of the statement's table references."""

    number: int | None
    """The position in the statement's table references."""
    name: str
    """The last part."""
    alias: str | None
    columns: tuple[str, ...]
    """The names after the alias: `t AS x (a, b)`."""
    sampled: bool

    @property
    def qualifier(self) -> str:
        """The name that qualifies its columns."""
        return self.alias or self.name


@dataclass(frozen=True, slots=True)
class DerivedTable(Node):
    """A query in FROM."""

    query: QueryTree
    alias: str | None
    lateral: bool
    columns: tuple[str, ...] = ()
    sampled: bool = False


@dataclass(frozen=True, slots=True)
class FunctionTable(Node):
    """A table function of Spark, UNNEST or VALUES in FROM."""

    parts: tuple[Node, ...]
    alias: str | None
    lateral: bool
    columns: tuple[str, ...] = ()
    form: str = ""
    """VALUES, VIEW (of LATERAL VIEW), OUTER VIEW, ORDINALITY, or ''."""


@dataclass(frozen=True, slots=True)
class WindowTable(Node):
    """Flink's `TABLE(TUMBLE(TABLE t, ...))`."""

    kind: str
    """TUMBLE, HOP, CUMULATE or SESSION."""
    table: Node
    alias: str | None


@dataclass(frozen=True, slots=True)
class NestedJoin(Node):
    """Joins in brackets."""

    source: Node
    joins: tuple[Join, ...]


@dataclass(frozen=True, slots=True)
class Pivoted(Node):
    """`source PIVOT (...)` or UNPIVOT; what is in the brackets is not read."""

    source: Node


@dataclass(frozen=True, slots=True)
class Join(Node):
    """`[NATURAL] [side] [kind] JOIN source [ON condition | USING (names)]`, or `, source`."""

    natural: bool
    side: str
    """LEFT, RIGHT, FULL or ''."""
    kind: str
    """INNER, CROSS, SEMI, ANTI, ',' or ''."""
    source: Node
    condition: Node | None
    using: tuple[str, ...]


# -- queries


@dataclass(frozen=True, slots=True)
class CommonTable(Node):
    """`name AS (query)` of WITH."""

    name: str
    query: QueryTree
    columns: tuple[str, ...] = ()
    """The names in brackets after the name."""
    recursive: bool = False
    """Whether RECURSIVE follows WITH."""


@dataclass(frozen=True, slots=True)
class NamedWindow(Node):
    """`name AS (window)` of a WINDOW clause."""

    name: str
    window: Window


@dataclass(frozen=True, slots=True)
class QueryTail(Node):
    """The clauses at the end of a query."""

    order: tuple[Ordering, ...] = ()
    limit: Node | None = None
    """Of LIMIT or FETCH."""
    offset: Node | None = None
    other: tuple[Node, ...] = ()
    """The expressions of SORT BY, CLUSTER BY, DISTRIBUTE BY, WINDOW and QUALIFY."""
    has_other: bool = False
    """Whether it has one of those."""


@dataclass(frozen=True, slots=True)
class GroupingItem:
    """An item of GROUP BY, over positions in its keys. Not a node: the keys are walked once."""

    kind: str
    """KEY, ROW (keys in brackets), ROLLUP, CUBE or GROUPING SETS."""
    members: tuple[GroupingItem | int, ...]


@dataclass(frozen=True, slots=True)
class GroupBy(Node):
    """GROUP BY."""

    keys: tuple[Node, ...]
    is_plain: bool
    """Without ROLLUP, CUBE, GROUPING SETS and ALL."""
    words_span: Span
    """Of the words GROUP BY."""
    items: tuple[GroupingItem, ...] = ()
    """The structure over `keys`, if it is not plain; () for ALL."""


@dataclass(frozen=True, slots=True)
class Select(Node):
    """SELECT ... FROM ... with all its clauses."""

    common: tuple[CommonTable, ...]
    distinct: bool
    items: tuple[Node, ...]
    source: Node | None
    from_span: Span
    """Of the word FROM."""
    joins: tuple[Join, ...]
    lateral_views: tuple[Node, ...]
    where: Node | None
    group: GroupBy | None
    having: Node | None
    tail: QueryTail


@dataclass(frozen=True, slots=True)
class SetOperation(Node):
    """UNION, INTERSECT, EXCEPT or MINUS of two queries."""

    common: tuple[CommonTable, ...]
    left: QueryTree
    right: QueryTree
    tail: QueryTail
    op: str = "UNION"
    """UNION, INTERSECT or EXCEPT (also for MINUS)."""
    keeps_duplicates: bool = False
    """Whether ALL follows."""


@dataclass(frozen=True, slots=True)
class Values(Node):
    """VALUES as a query."""

    common: tuple[CommonTable, ...]
    rows: tuple[Node, ...]
    tail: QueryTail


@dataclass(frozen=True, slots=True)
class Bracketed(Node):
    """A query in brackets as a query, or as a part of UNION."""

    common: tuple[CommonTable, ...]
    query: QueryTree
    tail: QueryTail


QueryTree: TypeAlias = Select | SetOperation | Values | Bracketed


# -- walking


def children(node: Node) -> Iterator[Node]:
    """The parts of a node, in the order of its fields."""
    for name in type(node).__match_args__:
        value = getattr(node, name)
        if isinstance(value, Node):
            yield value
        elif isinstance(value, tuple):
            yield from (part for part in value if isinstance(part, Node))


def walk(node: Node) -> Iterator[Node]:
    """A node and everything in it, subqueries included."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        waiting += reversed([*children(found)])


def walk_expression(node: Node) -> Iterator[Node]:
    """A node and everything in it, without the inside of subqueries."""
    waiting = [node]
    while waiting:
        found = waiting.pop()
        yield found
        if not isinstance(found, Subquery):
            waiting += reversed([*children(found)])


def same_expression(a: Node, b: Node) -> bool:
    """Whether two expressions are written alike, apart from spaces, comments and the case of words."""
    if type(a) is not type(b):
        return False
    fields = type(a).__match_args__
    return all(_same_value(getattr(a, name), getattr(b, name)) for name in fields)


def _same_value(a: object, b: object) -> bool:
    if isinstance(a, Span):
        return True
    if isinstance(a, Node) and isinstance(b, Node):
        return same_expression(a, b)
    if isinstance(a, tuple) and isinstance(b, tuple):
        return len(a) == len(b) and all(map(_same_value, a, b))
    return a.lower() == b.lower() if isinstance(a, str) and isinstance(b, str) else a == b


def without_brackets(node: Node) -> Node:
    """The expression inside all its brackets."""
    while isinstance(node, Brackets):
        node = node.inner
    return node


def conjuncts(condition: Node) -> list[Node]:
    """The parts of a condition that must all be true, without brackets."""
    node = without_brackets(condition)
    if isinstance(node, Logical) and node.op == "AND":
        return [part for inner in node.parts for part in conjuncts(inner)]
    return [node]
