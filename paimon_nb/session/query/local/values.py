"""Values of the local engine: their SQL text, their type in Spark, and how Spark widens types."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import (
    Array,
    Atomic,
    Binary,
    Char,
    DataField,
    DataType,
    Decimal,
    Geography,
    Geometry,
    LocalZonedTimestamp,
    Map,
    Row,
    Timestamp,
    VarBinary,
    VarChar,
    Vector,
    is_nano,
)
from paimon_nb.format.types.types import MAX_LENGTH
from paimon_nb.session.query.local.not_local import NotLocal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

Build: TypeAlias = "Callable[[bool, list[Value]], Value]"
"""Computes a value from operands; the first argument: whether in Flink's dialect."""

BOOLEAN, INT, BIGINT, DOUBLE, FLOAT, DATE = (Atomic(n) for n in ("BOOLEAN", "INT", "BIGINT", "DOUBLE", "FLOAT", "DATE"))
NULL = Atomic("NULL")
"""The type of the literal NULL."""
STRING, BYTES, TIMESTAMP = VarChar(MAX_LENGTH), VarBinary(MAX_LENGTH), Timestamp(6)
INSTANT = LocalZonedTimestamp(6)
"""A time with the session's time zone."""
IN_ZONE, TO_INSTANT = "paimon_in_zone", "paimon_to_instant"
"""Functions of the engine that `engine.py` adds: the local time of an instant in the session's time zone, and back."""
MAX_PRECISION = 38
_MIN_ADJUSTED_SCALE = 6
EXACT_DIGITS = 15
"""Decimals of so many digits become a DOUBLE by one rounding, in every engine."""
_INTEGER_DIGITS = {"TINYINT": 3, "SMALLINT": 5, "INT": 10, "BIGINT": 20}
INTEGERS = tuple(_INTEGER_DIGITS)
_ENGINE_NAMES = {
    "INT": "INTEGER",
    "NULL": "INTEGER",
    "VARCHAR": "VARCHAR",
    "VARBINARY": "BLOB",
    "TIMESTAMP": "TIMESTAMP",
}
LEAVE = "(CASE WHEN CAST('left to Spark' AS BOOLEAN) THEN NULL END)"
"""Raises an error in the engine. Its function error() is volatile, which ORDER BY of a window refuses."""
_SAME_NAMES = frozenset({"BOOLEAN", "TINYINT", "SMALLINT", "BIGINT", "FLOAT", "DOUBLE", "DATE"})


@dataclass(frozen=True, slots=True)
class Value:
    """An expression in the engine's SQL, with its type in Spark."""

    sql: str
    type: DataType
    name: str | None = None
    """The name that Spark gives to a result column without an alias; None: not known here."""
    literal: int | None = None
    """The value of an integer literal: its digits decide the precision beside decimals."""
    text: str | None = None
    """The value of a literal text."""
    raises: bool = False
    """Whether Spark raises an error for some values of its operands: an overflow, a zero divisor, a text that is not a number."""
    is_constant: bool = False
    """Whether it depends on no row: Spark computes it while it plans the query."""
    is_outer: bool = False
    """Whether it depends on a row of the query around a subquery."""
    origin: Origin | None = None
    """What it is computed from; None: literals and columns of tables."""
    char: int | None = None
    """The length of a CHAR column, which is compared with padded texts."""

    def cast(self, t: DataType) -> Value:
        """The value in a type that holds it without loss."""
        if self.type == t:
            return self
        if t == INSTANT and self.type in (TIMESTAMP, DATE):
            text = f"{TO_INSTANT}({self.cast(TIMESTAMP).sql})"
            return replace(self, sql=text, type=t, literal=None, text=None)
        return replace(self, sql=f"CAST({self.sql} AS {engine_type(t)})", type=t, literal=None, text=None)


@dataclass(frozen=True, slots=True)
class Origin:
    """How a value is computed: by an operator from operands, or as a column of a subquery."""

    operator: str
    operands: tuple[Value, ...]
    apply: Callable[[Sequence[Value]], Value] | None = None
    """Computes it from other operands; None: it is a column."""
    alternatives: tuple[Value, ...] = ()
    """Of a column of a subquery: what it is in each branch of UNION ALL."""
    source: str = ""
    """Of such a column: the name of the subquery in the engine."""


def embedded_engine_type(t: DataType) -> DataType | None:
    """The type that a column has in the engine; None: its values are left to Spark."""
    t = t.with_nullable(True)
    match t:
        case Atomic():
            return t if t.name in _SAME_NAMES or t.name == "INT" else None
        case Decimal():
            return t
        case VarChar():
            return STRING
        case Binary() | VarBinary() | Geometry() | Geography():
            return BYTES
        case Timestamp():
            return None if is_nano(t) else TIMESTAMP
    return None


def displayed_type(t: DataType) -> DataType | None:
    """As `embedded_engine_type`, with the types that a displayed query may have, too: instants, arrays, maps and rows."""
    found = embedded_engine_type(t)
    if found is not None:
        return found
    match t:
        case LocalZonedTimestamp():
            return None if is_nano(t) else INSTANT
        case Char():
            return STRING
        case Vector():
            return None
        case Array():
            element = _part_type(t.element)
            return None if element is None else Array(element)
        case Map():
            key, value = _part_type(t.key), _part_type(t.value)
            return None if key is None or value is None else Map(key, value)
        case Row():
            parts = [(f, _part_type(f.type)) for f in t.fields]
            names = {f.name.lower() for f in t.fields}
            if not parts or len(names) < len(parts) or any(part is None for _, part in parts):
                return None
            return row_type((f.name, part) for f, part in parts if part is not None)
    return None


def _part_type(t: DataType) -> DataType | None:
    """The type of a part of a nested value; None: a CHAR there keeps its padding in some engines only."""
    return None if isinstance(t, Char) else displayed_type(t)


def row_type(fields: Iterable[tuple[str, DataType]]) -> Row:
    """ROW with these fields."""
    return Row(tuple(DataField(i, name, t) for i, (name, t) in enumerate(fields)))


def engine_type(t: DataType) -> str:
    """The engine's name of a type."""
    match t:
        case Decimal():
            return f"DECIMAL({t.precision},{t.scale})"
        case Array():
            return f"{engine_type(t.element)}[]"
        case Map():
            return f"MAP({engine_type(t.key)}, {engine_type(t.value)})"
        case Row():
            return f"STRUCT({', '.join(f'{quote_name(f.name)} {engine_type(f.type)}' for f in t.fields)})"
        case LocalZonedTimestamp():
            return "TIMESTAMPTZ"
    return _ENGINE_NAMES.get(t.root, t.root)


def is_integer(t: DataType) -> bool:
    return t.root in _INTEGER_DIGITS


def is_floating(t: DataType) -> bool:
    return t.root in ("FLOAT", "DOUBLE")


def is_number(t: DataType) -> bool:
    return is_integer(t) or is_floating(t) or isinstance(t, Decimal)


def as_decimal(value: Value, *, as_literal: bool = True) -> Decimal:
    """The DECIMAL type of an integer beside decimals; a literal has only its own digits."""
    if isinstance(value.type, Decimal):
        return value.type
    if value.literal is not None and as_literal:
        return Decimal(len(str(abs(value.literal))), 0)
    return Decimal(_INTEGER_DIGITS[value.type.root], 0)


def spark_decimal_result(precision: int, scale: int) -> Decimal:
    """Spark's result type of an operation whose exact result has this precision: the scale shrinks beyond 38 digits."""
    if precision <= MAX_PRECISION:
        return Decimal(precision, scale)
    digits = precision - scale
    return Decimal(MAX_PRECISION, max(MAX_PRECISION - digits, min(scale, _MIN_ADJUSTED_SCALE)))


def wider_decimal(a: Decimal, b: Decimal) -> Decimal:
    """The type that holds both."""
    scale = max(a.scale, b.scale)
    precision = max(a.precision - a.scale, b.precision - b.scale) + scale
    if precision > MAX_PRECISION:
        raise NotLocal("decimals have no common type without rounding")
    return Decimal(precision, scale)


def to_double(value: Value) -> Value:
    """A number as DOUBLE, where each engine rounds alike."""
    if isinstance(value.type, Decimal) and value.type.precision > EXACT_DIGITS:
        raise NotLocal(f"{value.type.bare()} as DOUBLE may round otherwise")
    return value.cast(DOUBLE)


_TIME_ORDER = (DATE, TIMESTAMP, INSTANT)
"""Of two of these, the later one is the common type."""


def common_type(a: Value, b: Value, *, as_literal: bool = False) -> DataType:
    """The type to which Spark (in ANSI mode) widens two values.

    Args:
        as_literal: an integer literal beside a decimal has only its own digits, as in operators.
    """
    s, t = a.type, b.type
    if s == t or t == NULL:
        return s
    if s == NULL:
        return t
    if is_integer(s) and is_integer(t):
        return max(s, t, key=lambda x: INTEGERS.index(x.root))
    if is_number(s) and is_number(t) and "FLOAT" not in (s.root, t.root):
        if DOUBLE in (s, t):
            for value in (a, b):
                to_double(value)
            return DOUBLE
        return wider_decimal(as_decimal(a, as_literal=as_literal), as_decimal(b, as_literal=as_literal))
    if s in _TIME_ORDER and t in _TIME_ORDER:
        return max(s, t, key=_TIME_ORDER.index)
    raise NotLocal(f"{s.bare()} beside {t.bare()} is left to Spark")


def cast_to_common_type(values: list[Value]) -> tuple[list[Value], DataType]:
    """The values in their common type, and that type."""
    t = values[0]
    for value in values[1:]:
        t = Value("", common_type(t, value))
    return [v.cast(t.type) for v in values], t.type


def called(function: str, values: Sequence[Value]) -> str | None:
    """Spark's name of a column that is a call; None: that of an argument is not known."""
    return None if any(v.name is None for v in values) else f"{function}({', '.join(str(v.name) for v in values)})"


def positive_zero(sql: str, t: DataType) -> str:
    """A floating-point number whose -0.0 is 0.0. Not a sum with 0, which the engine leaves out."""
    return f"(CASE WHEN {sql} = 0 THEN CAST(0 AS {engine_type(t)}) ELSE {sql} END)"


def with_positive_zero(value: Value) -> Value:
    """The value as Spark groups it: -0.0 is 0.0."""
    if not is_floating(value.type):
        return value
    return replace(value, sql=positive_zero(value.sql, value.type))


def orderable(value: Value) -> bool:
    """Whether both engines order the values alike."""
    return value.type in (STRING, BYTES, TIMESTAMP, INSTANT, DATE, BOOLEAN) or is_number(value.type)


def quote_text(text: str) -> str:
    """A text as a literal of the engine."""
    return "'" + text.replace("'", "''") + "'"


def quote_name(name: str) -> str:
    """A name as an identifier of the engine."""
    return '"' + name.replace('"', '""') + '"'
