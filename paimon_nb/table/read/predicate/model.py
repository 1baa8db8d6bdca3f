"""Predicates as data: conditions on columns, and pushing negation inwards; reads no rows.

Literals are everyday Python values (int, str, Decimal, date, datetime, bytes ...) or values in the in-row form; `bind`
(evaluate.py) converts them to the column's type. SQL's three-valued logic holds: a comparison with NULL is unknown.
"""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.sql_quoting import text_literal

if TYPE_CHECKING:
    from paimon_nb.table.read.sql_session import SqlSession

_NEGATED = {"=": "<>", "<>": "=", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
FLIPPED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}
"""The operator with its operands swapped."""


@dataclass(frozen=True, slots=True)
class Predicate:
    """Base of all conditions. `str(p)` is SQL."""

    def columns(self) -> frozenset[str]:
        """Names of the columns it uses."""
        match self:
            case And(parts) | Or(parts):
                return frozenset[str]().union(*(p.columns() for p in parts))
            case Not(part):
                return part.columns()
        return frozenset()

    def negate(self) -> Predicate:
        """The condition that is true where this one is false, and unknown where this one is unknown."""
        return Not(self)

    def __and__(self, other: Predicate) -> Predicate:
        return conjunction_of([self, other])

    def __or__(self, other: Predicate) -> Predicate:
        return Or((self, other))

    def __invert__(self) -> Predicate:
        return self.negate()


@dataclass(frozen=True, slots=True)
class Leaf(Predicate):
    """A condition on one column."""

    column: str

    def columns(self) -> frozenset[str]:
        return frozenset((self.column,))


@dataclass(frozen=True, slots=True)
class Compare(Leaf):
    """column op literal; op is one of = <> < <= > >=."""

    op: str
    literal: Any

    def negate(self) -> Predicate:
        return Compare(self.column, _NEGATED[self.op], self.literal)

    def __str__(self) -> str:
        return f"{self.column} {self.op} {_literal_sql(self.literal)}"


@dataclass(frozen=True, slots=True)
class In(Leaf):
    """column IN (literals); with a NULL among them a non-match is unknown, as in SQL."""

    literals: tuple[Any, ...]

    def __str__(self) -> str:
        return f"{self.column} IN ({', '.join(map(_literal_sql, self.literals))})"


@dataclass(frozen=True, slots=True)
class IsNull(Leaf):
    """column IS NULL: never unknown."""

    def negate(self) -> Predicate:
        return IsNotNull(self.column)

    def __str__(self) -> str:
        return f"{self.column} IS NULL"


@dataclass(frozen=True, slots=True)
class IsNotNull(Leaf):
    """column IS NOT NULL: never unknown."""

    def negate(self) -> Predicate:
        return IsNull(self.column)

    def __str__(self) -> str:
        return f"{self.column} IS NOT NULL"


@dataclass(frozen=True, slots=True)
class StartsWith(Leaf):
    """column LIKE 'prefix%'; the prefix is plain text."""

    prefix: str

    def __str__(self) -> str:
        return f"{self.column} LIKE {_literal_sql(self.prefix + '%')}"


@dataclass(frozen=True, slots=True)
class Like(Leaf):
    """column LIKE pattern: % any text, _ one character, backslash escapes the next one."""

    pattern: str

    def __str__(self) -> str:
        return f"{self.column} LIKE {_literal_sql(self.pattern)}"


@dataclass(frozen=True, slots=True)
class Known(Leaf):
    """`value` where the column is not null, else unknown: the result of comparing with an out-of-range literal."""

    value: bool

    def negate(self) -> Predicate:
        return Known(self.column, not self.value)

    def __str__(self) -> str:
        return f"{self.column} = {self.column}" if self.value else f"{self.column} <> {self.column}"


@dataclass(frozen=True, slots=True)
class Constant(Predicate):
    """True, false or (None) unknown for every row."""

    value: bool | None

    def negate(self) -> Predicate:
        return Constant(None if self.value is None else not self.value)

    def __str__(self) -> str:
        return {True: "TRUE", False: "FALSE", None: "NULL"}[self.value]


@dataclass(frozen=True, slots=True)
class And(Predicate):
    """All parts are true."""

    parts: tuple[Predicate, ...]

    def negate(self) -> Predicate:
        return Or(tuple(p.negate() for p in self.parts))

    def __str__(self) -> str:
        return " AND ".join(f"({p})" if isinstance(p, Or) else str(p) for p in self.parts) or "TRUE"


@dataclass(frozen=True, slots=True)
class Or(Predicate):
    """At least one part is true."""

    parts: tuple[Predicate, ...]

    def negate(self) -> Predicate:
        return And(tuple(p.negate() for p in self.parts))

    def __str__(self) -> str:
        return " OR ".join(f"({p})" if isinstance(p, And) else str(p) for p in self.parts) or "FALSE"


@dataclass(frozen=True, slots=True)
class Not(Predicate):
    """The part is not true; for conditions without a negated form."""

    part: Predicate

    def negate(self) -> Predicate:
        return self.part

    def __str__(self) -> str:
        return f"NOT ({self.part})"


@dataclass(frozen=True, slots=True)
class RowIn(Predicate):
    """The row's values of some columns are a row of a table: a semi join. Never unknown. For many keys, where `In` would be a list of Python values."""

    names: tuple[str, ...]
    rows: Any
    """An Arrow table with these columns, in the types of the table that is read. Neither NULL nor floating-point numbers, which have several forms."""

    def columns(self) -> frozenset[str]:
        return frozenset(self.names)

    def __str__(self) -> str:
        return f"({', '.join(self.names)}) IN ({self.rows.num_rows:,} rows)"


@dataclass(frozen=True, slots=True)
class Computed(Predicate):
    """A condition on computed values: fields of ROW columns, functions, arithmetic. No file is left out by it."""

    text: str
    """As written."""
    inputs: tuple[tuple[str, tuple[str, ...]], ...]
    """The values that it uses: their names in `condition`, and for each the column and the fields below it."""
    condition: Predicate | str
    """On the inputs; text is computed by the session."""
    session: SqlSession | None = field(default=None, compare=False, repr=False)

    def columns(self) -> frozenset[str]:
        return frozenset(path[0] for _, path in self.inputs)

    def __str__(self) -> str:
        return self.text


def conjuncts(predicate: Predicate | None) -> list[Predicate]:
    """The parts that must all be true; [] for no condition."""
    match predicate:
        case None:
            return []
        case And(parts):
            return [c for part in parts for c in conjuncts(part)]
    return [predicate]


def conjunction_of(parts: list[Predicate]) -> Predicate:
    """The conjunction, flat."""
    flat = [c for part in parts for c in conjuncts(part)]
    return flat[0] if len(flat) == 1 else And(tuple(flat))


def conjuncts_on(predicate: Predicate | None, columns: frozenset[str] | set[str]) -> Predicate | None:
    """The conjuncts that use only these columns; None if there are none."""
    selected = [c for c in conjuncts(predicate) if c.columns() <= columns]
    return conjunction_of(selected) if selected else None


def _literal_sql(value: Any) -> str:
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return text_literal(value)
        case bytes():
            return f"X'{value.hex().upper()}'"
    return str(value)
