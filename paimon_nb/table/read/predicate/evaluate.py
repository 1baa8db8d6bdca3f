"""Binds predicates to a schema, and evaluates bound predicates on Arrow tables.

Binding checks names and converts literals to the column's type. A literal that the type cannot hold exactly is rounded
together with its operator: `int_column > 1.5` is `int_column > 1`, `int_column = 1.5` is false. So a bound predicate is
exactly equivalent to the unbound one.

Evaluation follows SQL's three-valued logic. Numbers compare as Spark compares them: NaN equals NaN and is larger than every
number, -0.0 equals 0.0, FLOAT is widened to DOUBLE before the comparison.
"""

from __future__ import annotations

import datetime as dt
import decimal
import math
import re
from functools import reduce
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base.errors import ColumnNotFound, SqlAnalysisError
from paimon_nb.base.registry import did_you_mean
from paimon_nb.base.scalars import to_python
from paimon_nb.format.data import RowFilter
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.row import Instant, from_python, to_scalar
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import (
    Array,
    Char,
    DataField,
    DataType,
    Decimal,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Time,
    Timestamp,
    VarChar,
    is_opaque,
)
from paimon_nb.format.types.arrow_builders import arrow_column as column_of
from paimon_nb.format.types.arrow_builders import scalar
from paimon_nb.table.read.predicate.key_rows import rows_among
from paimon_nb.table.read.predicate.model import (
    And,
    Compare,
    Computed,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Known,
    Leaf,
    Like,
    Not,
    Or,
    Predicate,
    RowIn,
    StartsWith,
    conjuncts,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.data.pushdown import Span

_INTEGER = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}
_EXACT = decimal.Context(prec=120)
_TIMESTAMP = re.compile(
    r"(\d{1,5})-(\d{1,2})-(\d{1,2})(?:[ T](\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?)?(Z|[+-]\d\d:?\d\d)?"
)
_TIME = re.compile(r"(\d{1,2}):(\d{2})(?::(\d{2})(?:\.(\d{1,9}))?)?")


def bind_literals(predicate: Predicate, fields: Sequence[DataField]) -> Predicate:
    """The same condition with every literal in the in-row form of its column.

    Raises: ColumnNotFound: with the nearest name. SqlAnalysisError: a literal that cannot be compared with the column.
    """
    by_name = {f.name: f for f in fields}
    folded = {f.name.lower(): f for f in fields}

    def bind_node(node: Predicate) -> Predicate:
        match node:
            case And(parts):
                return And(tuple(bind_node(p) for p in parts))
            case Or(parts):
                return Or(tuple(bind_node(p) for p in parts))
            case Not(part):
                return bind_node(part).negate()
            case Leaf():
                field = by_name.get(node.column) or folded.get(node.column.lower())
                if field is None:
                    raise ColumnNotFound(
                        f"no column {node.column!r}",
                        hint=did_you_mean(node.column, by_name) or f"columns: {', '.join(by_name)}",
                        column=node.column,
                    )
                return _bind_leaf(node, field)
        return node

    return bind_node(predicate)


def _bind_leaf(node: Leaf, field: DataField) -> Predicate:
    name, t = field.name, field.type
    match node:
        case Compare(_, op, literal):
            return _bind_comparison(name, t, op, literal)
        case In(_, literals):
            found = [_bind_comparison(name, t, "=", v) for v in literals]
            exact = tuple(p.literal for p in found if isinstance(p, Compare))
            parts: list[Predicate] = [In(name, exact)] if exact else [Known(name, False)]
            if any(isinstance(p, Constant) for p in found):
                parts.append(Constant(None))
            return parts[0] if len(parts) == 1 else Or(tuple(parts))
        case IsNull():
            return IsNull(name)
        case IsNotNull():
            return IsNotNull(name)
        case StartsWith(_, prefix):
            return StartsWith(name, _require_text_column(prefix, field))
        case Like(_, pattern):
            _require_text_column(pattern, field)
            prefix, rest = like_prefix(pattern)
            if rest == "":
                return _bind_comparison(name, t, "=", prefix)
            return StartsWith(name, prefix) if rest == "%" else Like(name, pattern)
        case Known(_, value):
            return Known(name, value)
    raise TypeError(f"unknown predicate {node!r}")


def like_prefix(pattern: str) -> tuple[str, str]:
    """The literal prefix of a LIKE pattern, and the rest of the pattern."""
    text, i = "", 0
    while i < len(pattern) and pattern[i] not in "%_":
        if pattern[i] == "\\" and i + 1 < len(pattern):
            i += 1
        text += pattern[i]
        i += 1
    rest = pattern[i:]
    return text, "%" if rest and set(rest) == {"%"} else rest


def _require_text_column(value: str, field: DataField) -> str:
    if field.type.root not in ("CHAR", "VARCHAR"):
        raise SqlAnalysisError(
            f"LIKE needs a text column; {field.name} is {field.type.bare()}", hint="use a comparison"
        )
    return value


def _bind_comparison(name: str, t: DataType, op: str, literal: Any) -> Predicate:
    literal = literal if type(literal) in (bool, int, float, str) else to_python(literal)
    if literal is None:
        return Constant(None)
    if (
        isinstance(t, Array | Map | Multiset | Row)
        or t.root in ("VARIANT", "BLOB", "GEOMETRY", "GEOGRAPHY")
        or is_opaque(t)
    ):
        raise SqlAnalysisError(
            f"column {name} of type {t.bare()} cannot be compared", hint="only IS NULL and IS NOT NULL work on it"
        )
    try:
        value, beyond = _convert_literal(t, literal)
    except (ValueError, ArithmeticError, TypeError, SqlAnalysisError):
        raise SqlAnalysisError(
            f"{literal!r} cannot be compared with column {name} of type {t.bare()}",
            hint="write a literal of the column's type",
            column=name,
        ) from None
    return _rounded_comparison(name, op, value, beyond)


def _rounded_comparison(name: str, op: str, value: Any, beyond: int) -> Predicate:
    """`beyond`: 0 exact, 1 the literal is above `value` (the nearest below), -1 below everything (value None)."""
    if beyond == 0:
        return Compare(name, op, value)
    if op in ("=", "<>"):
        return Known(name, op == "<>")
    above = op in (">", ">=")
    if value is None or beyond == 2:  # outside the type's range: -1 below, 2 above
        return Known(name, above == (beyond < 0))
    return Compare(name, ">" if above else "<=", value)


def _convert_literal(t: DataType, literal: Any) -> tuple[Any, int]:
    """(value in the in-row form, position of the literal relative to it); see `_rounded_comparison`."""
    root = t.root
    if root in _INTEGER:
        return _floor_of_literal_in_range(
            _literal_number(literal), -(1 << (_INTEGER[root] - 1)), (1 << (_INTEGER[root] - 1)) - 1
        )
    if isinstance(t, Decimal):
        bound = 10**t.precision - 1
        scaled = _scale_number(_literal_number(literal), t.scale)
        value, beyond = _floor_of_literal_in_range(scaled, -bound, bound)
        return (None if value is None else decimal.Decimal(value).scaleb(-t.scale, _EXACT)), beyond
    if root in ("FLOAT", "DOUBLE"):
        number = _literal_number(literal)
        return float(number), 0
    if root == "BOOLEAN":
        return _literal_boolean(literal), 0
    if root in ("CHAR", "VARCHAR"):
        if not isinstance(literal, str):
            raise TypeError("no text")
        return (literal.ljust(t.length) if isinstance(t, Char) else literal), 0
    if root in ("BINARY", "VARBINARY"):
        return (literal.encode() if isinstance(literal, str) else bytes(literal)), 0
    if isinstance(t, Timestamp | LocalZonedTimestamp):
        unit = 10 ** (9 - (3 if t.precision <= 3 else 6 if t.precision <= 6 else 9))
        nanos = parse_nanos(literal)
        low = nanos // unit * unit
        return Instant(low // 1_000_000, low % 1_000_000), int(low != nanos)
    if root == "DATE":
        if isinstance(literal, int) and not isinstance(literal, bool):
            return literal, 0
        if isinstance(literal, dt.date) and not isinstance(literal, dt.datetime):
            return (literal - dt.date(1970, 1, 1)).days, 0
        days, rest = divmod(parse_nanos(literal), 86_400_000_000_000)
        return days, int(rest != 0)
    if isinstance(t, Time):
        return _literal_time_of_day_ms(literal)
    return from_python(t, literal), 0


def _literal_number(literal: Any) -> decimal.Decimal | float:
    if isinstance(literal, bool):
        raise TypeError("no number")
    if isinstance(literal, float):
        return literal if math.isnan(literal) or math.isinf(literal) else decimal.Decimal(repr(literal))
    return decimal.Decimal(literal.strip() if isinstance(literal, str) else literal)


def _scale_number(number: decimal.Decimal | float, scale: int) -> decimal.Decimal | float:
    return number.scaleb(scale, _EXACT) if isinstance(number, decimal.Decimal) and number.is_finite() else number


def _floor_of_literal_in_range(number: decimal.Decimal | float, low: int, high: int) -> tuple[int | None, int]:
    if math.isnan(number) or number > high:
        return None, 2  # NaN is larger than every number, as in Spark
    if number < low:
        return None, -1
    floor = math.floor(number)
    return floor, int(floor != number)


def _literal_boolean(literal: Any) -> bool:
    if isinstance(literal, str) and literal.lower() in ("true", "false"):
        return literal.lower() == "true"
    if not isinstance(literal, bool):
        raise TypeError("no boolean")
    return literal


def parse_nanos(literal: Any) -> int:
    """Nanoseconds since the epoch; text without a zone is UTC or wall clock, depending on the column."""
    if isinstance(literal, Instant):
        return literal.ms * 1_000_000 + literal.nanos
    if isinstance(literal, dt.datetime):
        instant = literal if literal.tzinfo else literal.replace(tzinfo=dt.UTC)
        delta = instant - dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
        return (delta.days * 86_400_000_000 + delta.seconds * 1_000_000 + delta.microseconds) * 1000
    if isinstance(literal, dt.date):
        return (literal - dt.date(1970, 1, 1)).days * 86_400_000_000_000
    match = _TIMESTAMP.fullmatch(literal.strip()) if isinstance(literal, str) else None
    if match is None:
        raise ValueError("not a time")
    year, month, day, hour, minute, second, fraction, zone = match.groups()
    days = (dt.date(int(year), int(month), int(day)) - dt.date(1970, 1, 1)).days
    hours, minutes, seconds = int(hour or 0), int(minute or 0), int(second or 0)
    if hours > 23 or minutes > 59 or seconds > 59:
        raise ValueError("not a time")
    nanos = ((days * 24 + hours) * 60 + minutes) * 60 + seconds
    if zone and zone != "Z":
        shift = (int(zone[1:3]) * 60 + int(zone[-2:])) * 60
        nanos -= shift if zone[0] == "+" else -shift
    return nanos * 1_000_000_000 + int((fraction or "").ljust(9, "0"))


def with_instants(predicate: Predicate, zone: dt.tzinfo) -> Predicate:
    """The condition on a TIMESTAMP_LTZ column, with times without a zone as instants in this zone.

    As in Java, a time that the zone skips is later by the gap, and of a time that occurs twice the first one is meant.
    """
    match predicate:
        case Compare(name, op, literal):
            return Compare(name, op, _instant_in_zone(literal, zone))
        case In(name, literals):
            return In(name, tuple(_instant_in_zone(v, zone) for v in literals))
        case And(parts):
            return And(tuple(with_instants(p, zone) for p in parts))
        case Or(parts):
            return Or(tuple(with_instants(p, zone) for p in parts))
        case Not(part):
            return Not(with_instants(part, zone))
    return predicate


def _instant_in_zone(literal: Any, zone: dt.tzinfo) -> Any:
    if isinstance(literal, str):
        found = _TIMESTAMP.fullmatch(literal.strip())
        if found is None or found.groups()[-1]:
            return literal
    elif not isinstance(literal, dt.date) or getattr(literal, "tzinfo", None) is not None:
        return literal
    try:
        nanos = parse_nanos(literal)
        wall = dt.datetime(1970, 1, 1) + dt.timedelta(seconds=nanos // 1_000_000_000)
        offset = zone.utcoffset(wall)
    except (ValueError, OverflowError):
        return literal
    assert offset is not None
    nanos -= (offset.days * 86_400 + offset.seconds) * 1_000_000_000
    return Instant(nanos // 1_000_000, nanos % 1_000_000)


def _literal_time_of_day_ms(literal: Any) -> tuple[int, int]:
    if isinstance(literal, int) and not isinstance(literal, bool):
        return literal, 0
    if isinstance(literal, dt.time):
        ns = (((literal.hour * 60 + literal.minute) * 60 + literal.second) * 1_000_000 + literal.microsecond) * 1000
    else:
        match = _TIME.fullmatch(literal.strip()) if isinstance(literal, str) else None
        if match is None:
            raise ValueError("not a time of day")
        hour, minute, second, fraction = match.groups()
        ns = ((int(hour) * 60 + int(minute)) * 60 + int(second or 0)) * 10**9 + int((fraction or "").ljust(9, "0"))
    return ns // 1_000_000, int(ns % 1_000_000 != 0)


NO_SESSION = "compare a column with literals, or open the table with paimon_nb.connect(...).table(...), whose session computes other conditions"
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal, "<>": pc.not_equal, "<": pc.less, "<=": pc.less_equal, ">": pc.greater, ">=": pc.greater_equal,
}  # fmt: skip
_NAN_WINS = {"=": False, "<>": True, "<": False, "<=": False, ">": True, ">=": True}
"""NaN op number."""
_UNKNOWN = scalar(None, pa.bool_())


def evaluate(predicate: Predicate, table: pa.Table, fields: Sequence[DataField]) -> pa.ChunkedArray | pa.Array:
    """One boolean per row: true, false or null (unknown).

    Args:
        table: contains every column of the predicate, with the types of `fields`.
    """
    types = {f.name: f.type for f in fields}
    return _evaluate_node(bind_literals(predicate, fields), table, types)


def filter_rows(predicate: Predicate | None, table: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """The rows for which the predicate is true."""
    if predicate is None or table.num_rows == 0:
        return table
    return table.filter(evaluate(predicate, table, fields), null_selection_behavior="drop")


def _evaluate_node(node: Predicate, table: pa.Table, types: Mapping[str, DataType]) -> Any:
    match node:
        case And(parts):
            return reduce(
                pc.and_kleene, (_evaluate_node(p, table, types) for p in parts), _constant_column(table, True)
            )
        case Or(parts):
            return reduce(
                pc.or_kleene, (_evaluate_node(p, table, types) for p in parts), _constant_column(table, False)
            )
        case Not(part):
            return pc.invert(_evaluate_node(part, table, types))
        case Constant(value):
            return _constant_column(table, value)
        case Compare(column, op, literal):
            return _compare_column(padded(table.column(column), types[column]), types[column], op, literal)
        case In(column, literals):
            return _evaluate_in(padded(table.column(column), types[column]), types[column], literals)
        case IsNull(column):
            return pc.is_null(table.column(column))
        case IsNotNull(column):
            return pc.is_valid(table.column(column))
        case Known(column, value):
            valid = pc.is_valid(table.column(column))
            return pc.if_else(valid, scalar(value, pa.bool_()), _UNKNOWN)
        case StartsWith(column, prefix):
            return pc.starts_with(padded(table.column(column), types[column]), prefix)
        case Like(column, pattern):
            return pc.match_substring_regex(padded(table.column(column), types[column]), like_regex(pattern))
        case RowIn(names, rows):
            return rows_among(table.select(list(names)), rows)
        case Computed():
            return _evaluate_computed(node, table, types)
    raise TypeError(f"unknown predicate {node!r}")


def _evaluate_computed(node: Computed, table: pa.Table, types: Mapping[str, DataType]) -> Any:
    columns, fields = [], []
    for number, (name, path) in enumerate(node.inputs):
        column, t = table.column(path[0]), types[path[0]]
        for part in path[1:]:
            column, t = pc.struct_field(column, part), row_field(t, part).type
        columns.append(column)
        fields.append(DataField(number, name, t))
    rows = pa.table(columns, names=[f.name for f in fields]) if columns else without_columns(table.num_rows)
    if isinstance(node.condition, Predicate):
        return evaluate(node.condition, rows, fields)
    if node.session is None:
        raise SqlAnalysisError(f"{node.text}: there is no session here that computes it", hint=NO_SESSION)
    return node.session.compute(node.condition, rows)


def row_field(t: DataType, name: str) -> DataField:
    """The field of a ROW. Raises ColumnNotFound."""
    for inner in t.fields if isinstance(t, Row) else ():
        if inner.name == name:
            return inner
    raise ColumnNotFound(f"{t.bare()} has no field {name!r}", hint="DESCRIBE shows the fields", column=name)


def padded(column: Any, t: DataType) -> Any:
    """CHAR(n) values padded to n characters: some formats store them without trailing spaces."""
    return pc.utf8_rpad(column, t.length, " ") if isinstance(t, Char) else column


def _constant_column(table: pa.Table, value: bool | None) -> pa.Array:
    return pa.repeat(scalar(value, pa.bool_()), table.num_rows)


def _compare_column(column: Any, t: DataType, op: str, literal: Any) -> Any:
    if t.root == "BOOLEAN":  # Arrow does not order booleans
        return _COMPARE[op](column.cast(pa.int8()), scalar(int(literal), pa.int8()))
    if t.root not in ("FLOAT", "DOUBLE"):
        return _COMPARE[op](column, to_scalar(t, literal))
    wide = column.cast(pa.float64())
    nan = pc.is_nan(wide)
    if math.isnan(literal):
        if op in ("=", ">="):
            return nan
        return pc.invert(nan) if op in ("<>", "<") else _value_where_valid(nan, op == "<=")
    return pc.if_else(nan, scalar(_NAN_WINS[op], pa.bool_()), _COMPARE[op](wide, scalar(literal, pa.float64())))


def _value_where_valid(like: Any, value: bool) -> Any:
    """`value` wherever `like` is not null."""
    return pc.if_else(pc.is_valid(like), scalar(value, pa.bool_()), _UNKNOWN)


def _evaluate_in(column: Any, t: DataType, literals: Sequence[Any]) -> Any:
    if t.root in ("FLOAT", "DOUBLE") or not literals:
        parts = [_compare_column(column, t, "=", v) for v in literals]
        return reduce(pc.or_kleene, parts, _value_where_valid(pc.is_null(column), False))
    values = column_of([to_arrow_value(t, v) for v in literals], column.type)
    return pc.if_else(pc.is_valid(column), pc.is_in(column, value_set=values), _UNKNOWN)


def like_regex(pattern: str) -> str:
    """A LIKE pattern as an RE2 expression that matches the whole text."""
    out, quoted = [], False
    for char in pattern:
        if quoted or char not in "%_\\":
            out.append(re.escape(char) if ord(char) < 128 else char)
            quoted = False
        elif char == "\\":
            quoted = True
        else:
            out.append(".*" if char == "%" else ".")
    return "(?s)^" + "".join(out) + "$"


# -- conditions that a file can answer alone

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})


def filter_on_file_columns(
    condition: Predicate, fields: Sequence[DataField], stored: Sequence[DataField], keys: Sequence[str] = ()
) -> RowFilter | None:
    """The condition on a file's own columns; None if the file lacks some of them or stores them in another type.

    Args:
        condition: bound to `fields`. fields: columns of the current schema. stored: those that will be read from the
            file.
            keys: what the file is sorted by.
    """
    in_file = {f.id: f for f in stored}
    used = [f for f in fields if f.name in condition.columns()]
    names: dict[str, str] = {}
    for f in used:
        old = in_file.get(f.id)
        if old is None or old.type.with_nullable(True) != f.type.with_nullable(True):
            return None
        names[f.name] = old.name
    if not names:
        return None

    def mask(rows: pa.Table) -> Any:
        return evaluate(condition, rows.rename_columns(list(names)), used)

    bounds = {names[c]: s for c, s in spans_of_matching_values(condition, used).items()}
    sorted_by = names.get(keys[0]) if keys else None
    return RowFilter(tuple(names.values()), mask, bounds, _is_one_value_per_field(condition, used), sorted_by)


def _is_one_value_per_field(condition: Predicate, fields: Sequence[DataField]) -> bool:
    """Whether the condition is exactly one integer per field: then the spans are exact."""
    parts, roots = conjuncts(condition), {f.name: f.type.root for f in fields}
    return len(parts) == len(fields) and all(
        isinstance(p, Compare) and p.op == "=" and type(p.literal) is int and roots[p.column] in _WHOLE for p in parts
    )


def spans_of_matching_values(condition: Predicate, fields: Sequence[DataField]) -> dict[str, Span]:
    """Bounds of the matching values of integer and text columns; equal to the conjuncts, or wider."""
    types = {f.name: f.type for f in fields}
    out: dict[str, Span] = {}
    for part in conjuncts(condition):
        match part:
            case Compare(column, op, literal) if op != "<>":
                values = [literal]
            case In(column, literals) if literals:
                op, values = "=", list(literals)
            case RowIn(names, rows) if rows.num_rows:
                column, op = names[0], "="
                values = [rows.column(0)[i].as_py() for i in (0, -1)]
            case _:
                continue
        kind = int if types[column].root in _WHOLE else str if isinstance(types[column], VarChar) else None
        if kind is None or any(not isinstance(v, kind) or isinstance(v, bool) for v in values):
            continue
        low, high = out.get(column, (None, None))
        if op in ("=", ">", ">="):
            low = min(values) if low is None else max(low, min(values))
        if op in ("=", "<", "<="):
            high = max(values) if high is None else min(high, max(values))
        out[column] = (low, high)
    return out
