"""Functions in the engine's SQL, each for the types where its result is Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataType, Decimal
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.operators import case_when, operands_of_comparison
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INT,
    LEAVE,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    Build,
    Value,
    cast_to_common_type,
    common_type,
    engine_type,
    is_integer,
    is_number,
    orderable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


_MAX_ROUNDED = 1e9
"""Scaled numbers below this differ from ties by more than the error of scaling them."""
_MANY = 99
_DAY_LIMIT = 10_000_000
_LONGEST = 10_000
"""Characters to which a text is repeated or padded here."""


@dataclass(frozen=True, slots=True)
class Function:
    """A function that is translated."""

    build: Build
    at_least: int = 1
    """Of its arguments."""
    at_most: int = 1


def _function_name(name: str, values: list[Value]) -> str | None:
    names = [v.name for v in values]
    return None if None in names else f"{name}({', '.join(n for n in names if n is not None)})"


def _coalesce(_flink: bool, values: list[Value]) -> Value:
    cast, t = cast_to_common_type(values)
    if t == NULL:
        raise NotLocal("COALESCE has no type")
    return Value(f"coalesce({', '.join(v.sql for v in cast)})", t, _function_name("coalesce", values))


def _nullif(_flink: bool, values: list[Value]) -> Value:
    a, b = operands_of_comparison(*values)
    if a.type == NULL:
        raise NotLocal("NULLIF has no type")
    return Value(
        f"(CASE WHEN {a.sql} = {b.sql} THEN NULL ELSE {values[0].sql} END)",
        values[0].type,
        _function_name("nullif", values),
    )


def _abs(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if not is_number(a.type) or a.type.root == "FLOAT":
        raise NotLocal(f"ABS of {a.type.bare()} is left to Spark")
    text = f"CAST(abs({a.sql}) AS {engine_type(a.type)})"
    return Value(text, a.type, _function_name("abs", values), raises=is_integer(a.type))


def _round(_flink: bool, values: list[Value]) -> Value:
    digits = 0 if len(values) == 1 else values[1].literal
    a = values[0]
    if digits is None or not 0 <= digits <= 9:
        raise NotLocal("ROUND to these digits is left to Spark")
    name = _function_name("round", values if len(values) == 2 else [*values, Value("", INT, "0")])
    if isinstance(a.type, Decimal):
        scale = min(a.type.scale, digits)
        t = Decimal(min(a.type.precision - a.type.scale + 1 + scale, MAX_PRECISION), scale)
        text = a.sql if scale == a.type.scale else f"round({a.sql}, {scale})"
        return Value(f"CAST({text} AS {engine_type(t)})", t, name, raises=a.type.precision >= MAX_PRECISION)
    if a.type != DOUBLE:
        raise NotLocal(f"ROUND of {a.type.bare()} is left to Spark")
    return Value(_round_double_as_spark(a.sql, digits), DOUBLE, name)


def _round_double_as_spark(x: str, digits: int) -> str:
    """ROUND of a DOUBLE as Spark: of its shortest decimal digits, half up.

    Far from a tie, rounding the scaled number is the same; near to it the digits themselves are rounded.
    """
    scaled = f"({x} * 1e{digits})"
    near = f"abs(abs({scaled}) - floor(abs({scaled})) - 0.5) < 1e-6"
    by_digits = f"CAST(CAST(CAST({x} AS VARCHAR) AS DECIMAL(38,{digits})) AS DOUBLE)"
    return (
        f"(CASE WHEN {x} IS NULL THEN NULL WHEN NOT abs({scaled}) < {_MAX_ROUNDED} THEN {LEAVE} "
        f"WHEN {near} THEN {by_digits} WHEN round({scaled}) = 0 THEN 0e0 ELSE round({scaled}) / 1e{digits} END)"
    )


def _floor_or_ceil(word: str) -> Build:
    def floor_or_ceil_sql(flink: bool, values: list[Value]) -> Value:
        (a,) = values
        if a.type != DOUBLE or flink:
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        return Value(f"CAST({word}({a.sql}) AS BIGINT)", BIGINT, _function_name(word.upper(), values))

    return floor_or_ceil_sql


def _case_conversion(word: str) -> Build:
    def case_conversion_sql(_flink: bool, values: list[Value]) -> Value:
        (a,) = values
        if a.type != STRING:
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        text = f"(CASE WHEN strlen({a.sql}) > length({a.sql}) THEN {LEAVE} ELSE {word}({a.sql}) END)"
        return Value(text, STRING, _function_name(word, values))

    return case_conversion_sql


def _length(_flink: bool, values: list[Value]) -> Value:
    if values[0].type != STRING:
        raise NotLocal(f"LENGTH of {values[0].type.bare()} is left to Spark")
    return Value(f"CAST(length({values[0].sql}) AS INTEGER)", INT, _function_name("length", values))


def _substring(_flink: bool, values: list[Value]) -> Value:
    positions = [v.literal for v in values[1:] if v.literal is not None]
    is_known = values[0].type == STRING and positions and len(positions) == len(values) - 1
    if not is_known or positions[0] < 1 or positions[-1] < 0:
        raise NotLocal("this SUBSTRING is left to Spark")
    name = _function_name("substring", values if len(values) == 3 else [*values, Value("", INT, "2147483647")])
    return Value(f"substring({', '.join([values[0].sql, *map(str, positions)])})", STRING, name)


def _concat(_flink: bool, values: list[Value]) -> Value:
    if any(v.type != STRING for v in values):
        raise NotLocal("CONCAT of other types than STRING is left to Spark")
    return Value(f"({' || '.join(v.sql for v in values)})", STRING, _function_name("concat", values))


def _date_part(word: str, types: tuple[object, ...]) -> Build:
    def date_part_sql(_flink: bool, values: list[Value]) -> Value:
        if values[0].type not in types:
            raise NotLocal(f"{word.upper()} of {values[0].type.bare()} is left to Spark")
        return Value(f"CAST({word}({values[0].sql}) AS INTEGER)", INT, _function_name(word, values))

    return date_part_sql


def _if(flink: bool, values: list[Value]) -> Value:
    found = case_when(flink, values)
    names = [v.name for v in values]
    name = None if None in names else f"(IF({', '.join(n or '' for n in names)}))"
    return Value(found.sql, found.type, name)


def _modulo_sign(_flink: bool, values: list[Value]) -> Value:
    """`pmod`: the remainder with the sign of the divisor."""
    if not all(is_integer(v.type) for v in values):
        raise NotLocal("PMOD of other types than integers is left to Spark")
    divisor = values[1].literal
    if divisor is None or divisor <= 0:
        raise NotLocal("PMOD by what is not a positive number is left to Spark")
    t = common_type(*values)
    a, n = values[0].cast(t).sql, values[1].cast(t).sql
    text = f"(CASE WHEN {a} % {n} < 0 THEN {a} % {n} + {n} ELSE {a} % {n} END)"
    return Value(text, t, _function_name("pmod", values))


def _sign(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if not is_integer(a.type):
        raise NotLocal(f"SIGN of {a.type.bare()} is left to Spark")
    return Value(f"CAST(sign({a.sql}) AS DOUBLE)", DOUBLE, _function_name("sign", values))


def _square_root(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if not (is_integer(a.type) and a.type != BIGINT) and a.type != DOUBLE:
        raise NotLocal(f"SQRT of {a.type.bare()} is left to Spark")
    x = a.cast(DOUBLE).sql
    return Value(
        f"(CASE WHEN {x} < 0 THEN CAST('nan' AS DOUBLE) ELSE sqrt({x}) END)", DOUBLE, _function_name("SQRT", values)
    )


def _extreme(word: str) -> Build:
    def extreme_sql(_flink: bool, values: list[Value]) -> Value:
        """The greatest or least of the values that are not NULL."""
        cast, t = cast_to_common_type(values)
        if not orderable(cast[0]) or t.root in ("FLOAT", "DOUBLE", "NULL"):
            raise NotLocal(f"{word.upper()} of {t.bare()} is left to Spark")
        return Value(f"{word}({', '.join(v.sql for v in cast)})", t, _function_name(word, values))

    return extreme_sql


# -- texts


def _require_texts(word: str, values: list[Value]) -> None:
    for value in values:
        if value.type != STRING:
            raise NotLocal(f"{word} of {value.type.bare()} is left to Spark")


def _of_texts(word: str, t: DataType = STRING, sql: str = "") -> Build:
    """A function of texts that both engines have."""

    def of_texts_sql(_flink: bool, values: list[Value]) -> Value:
        _require_texts(word.upper(), values)
        text = (sql or word + "({})").format(", ".join(v.sql for v in values))
        return Value(f"CAST({text} AS INTEGER)" if t == INT else text, t, _function_name(word, values))

    return of_texts_sql


def _trim(word: str) -> Build:
    def trim_sql(_flink: bool, values: list[Value]) -> Value:
        _require_texts(word.upper(), values)
        return Value(f"{word}({values[0].sql}, ' ')", STRING, _function_name(word, values))

    return trim_sql


def _replace(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REPLACE", values)
    if not values[1].text or (len(values) == 3 and values[2].text is None):
        raise NotLocal("REPLACE of a computed text is left to Spark")
    by = values[2].sql if len(values) == 3 else "''"
    return Value(
        f"replace({values[0].sql}, {values[1].sql}, {by})",
        STRING,
        _function_name("replace", values) if len(values) == 3 else None,
    )


def _instr(_flink: bool, values: list[Value]) -> Value:
    _require_texts("INSTR", values)
    return Value(f"CAST(instr({values[0].sql}, {values[1].sql}) AS INTEGER)", INT, _function_name("instr", values))


def _side(word: str) -> Build:
    def side_sql(_flink: bool, values: list[Value]) -> Value:
        text, count = values[0], values[1].literal
        if text.type != STRING or count is None or not 0 <= count <= _LONGEST:
            raise NotLocal(f"this {word.upper()} is left to Spark")
        start = f"substring({text.sql}, 1, {count})"
        if word == "right":
            start = f"substring({text.sql}, CAST(greatest(length({text.sql}) - {count}, 0) AS BIGINT) + 1)"
        return Value(start, STRING, _function_name(word, values))

    return side_sql


def _pad(word: str) -> Build:
    def pad_sql(_flink: bool, values: list[Value]) -> Value:
        text, count, by = values[0], values[1].literal, values[2].text if len(values) == 3 else " "
        if text.type != STRING or count is None or not 0 <= count <= _LONGEST or not by:
            raise NotLocal(f"this {word.upper()} is left to Spark")
        filled = values[2].sql if len(values) == 3 else "' '"
        name = _function_name(word, values if len(values) == 3 else [*values, Value("", STRING, " ")])
        return Value(f"{word}({text.sql}, {count}, {filled})", STRING, name)

    return pad_sql


def _repeat(_flink: bool, values: list[Value]) -> Value:
    count = values[1].literal
    if values[0].type != STRING or count is None or not 0 <= count <= _LONGEST:
        raise NotLocal("this REPEAT is left to Spark")
    return Value(f"repeat({values[0].sql}, {count})", STRING, _function_name("repeat", values))


def _reverse(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REVERSE", values)
    x = values[0].sql
    text = f"(CASE WHEN strlen({x}) > length({x}) THEN {LEAVE} ELSE reverse({x}) END)"
    return Value(text, STRING, _function_name("reverse", values))


def _concat_ws(_flink: bool, values: list[Value]) -> Value:
    _require_texts("CONCAT_WS", values)
    if values[0].text is None:
        raise NotLocal("CONCAT_WS with a computed separator is left to Spark")
    return Value(f"concat_ws({', '.join(v.sql for v in values)})", STRING, _function_name("concat_ws", values))


# -- dates


def _plus_days(word: str, sign: str) -> Build:
    def plus_days_sql(_flink: bool, values: list[Value]) -> Value:
        date, days = _day_of(word, values[0]), values[1]
        if not is_integer(days.type) or days.type == BIGINT:
            raise NotLocal(f"{word.upper()} with {days.type.bare()} is left to Spark")
        n = days.cast(INT).sql
        checked = (
            n
            if days.literal is not None and abs(days.literal) < _DAY_LIMIT
            else (f"(CASE WHEN abs(CAST({n} AS BIGINT)) > {_DAY_LIMIT} THEN {LEAVE} ELSE {n} END)")
        )
        return Value(
            f"CAST(({date} {sign} {checked}) AS DATE)",
            DATE,
            _function_name(word, values) if values[0].type == DATE else None,
        )

    return plus_days_sql


def _day_of(word: str, value: Value) -> str:
    """The day of a date or a timestamp."""
    if value.type not in (DATE, TIMESTAMP):
        raise NotLocal(f"{word.upper()} of {value.type.bare()} is left to Spark")
    return f"CAST({value.sql} AS DATE)"


def _days_between(_flink: bool, values: list[Value]) -> Value:
    end, start = (_day_of("DATEDIFF", v) for v in values)
    name = _function_name("datediff", values) if all(v.type == DATE for v in values) else None
    return Value(f"CAST(({end} - {start}) AS INTEGER)", INT, name)


def _plus_months(_flink: bool, values: list[Value]) -> Value:
    date, months = _day_of("ADD_MONTHS", values[0]), values[1].literal
    if months is None or abs(months) > _LONGEST:
        raise NotLocal("ADD_MONTHS of a computed number is left to Spark")
    return Value(
        f"CAST(({date} + INTERVAL ({months}) MONTH) AS DATE)",
        DATE,
        _function_name("add_months", values) if values[0].type == DATE else None,
    )


def _last_day(_flink: bool, values: list[Value]) -> Value:
    return Value(
        f"last_day({_day_of('LAST_DAY', values[0])})",
        DATE,
        _function_name("last_day", values) if values[0].type == DATE else None,
    )


def _day_of_week(_flink: bool, values: list[Value]) -> Value:
    """1 is Sunday."""
    day = _day_of("DAYOFWEEK", values[0])
    return Value(
        f"CAST((dayofweek({day}) + 1) AS INTEGER)",
        INT,
        _function_name("dayofweek", values) if values[0].type == DATE else None,
    )


def _truncated_date(_flink: bool, values: list[Value]) -> Value:
    """`trunc(date, unit)`."""
    unit = _TRUNC_UNITS.get((values[1].text or "").upper())
    if unit is None or values[0].type != DATE:
        raise NotLocal("this TRUNC is left to Spark")
    return Value(f"CAST(date_trunc('{unit}', {values[0].sql}) AS DATE)", DATE, _function_name("trunc", values))


def _to_date(_flink: bool, values: list[Value]) -> Value:
    if values[0].type not in (DATE, TIMESTAMP):
        raise NotLocal(f"TO_DATE of {values[0].type.bare()} is left to Spark")
    return Value(_day_of("TO_DATE", values[0]), DATE, _function_name("to_date", values))


_TRUNC_UNITS = {
    **dict.fromkeys(("YEAR", "YYYY", "YY"), "year"),
    "QUARTER": "quarter",
    **dict.fromkeys(("MONTH", "MM", "MON"), "month"),
    "WEEK": "week",
}
_TIMES = (DATE, TIMESTAMP)
FUNCTIONS: Mapping[str, Function] = {
    "COALESCE": Function(_coalesce, 1, _MANY),
    "NULLIF": Function(_nullif, 2, 2),
    "IF": Function(_if, 3, 3),
    "ABS": Function(_abs),
    "ROUND": Function(_round, 1, 2),
    "FLOOR": Function(_floor_or_ceil("floor")),
    "CEIL": Function(_floor_or_ceil("ceil")),
    "PMOD": Function(_modulo_sign, 2, 2),
    "SIGN": Function(_sign),
    "SQRT": Function(_square_root),
    "GREATEST": Function(_extreme("greatest"), 2, _MANY),
    "LEAST": Function(_extreme("least"), 2, _MANY),
    "UPPER": Function(_case_conversion("upper")),
    "LOWER": Function(_case_conversion("lower")),
    "LENGTH": Function(_length),
    "SUBSTRING": Function(_substring, 2, 3),
    "CONCAT": Function(_concat, 1, _MANY),
    "CONCAT_WS": Function(_concat_ws, 2, _MANY),
    "TRIM": Function(_trim("trim")),
    "LTRIM": Function(_trim("ltrim")),
    "RTRIM": Function(_trim("rtrim")),
    "REPLACE": Function(_replace, 2, 3),
    "INSTR": Function(_instr, 2, 2),
    "LEFT": Function(_side("left"), 2, 2),
    "RIGHT": Function(_side("right"), 2, 2),
    "LPAD": Function(_pad("lpad"), 2, 3),
    "RPAD": Function(_pad("rpad"), 2, 3),
    "REPEAT": Function(_repeat, 2, 2),
    "REVERSE": Function(_reverse),
    "STARTSWITH": Function(_of_texts("startswith", BOOLEAN, "starts_with({})"), 2, 2),
    "ENDSWITH": Function(_of_texts("endswith", BOOLEAN, "ends_with({})"), 2, 2),
    "CONTAINS": Function(_of_texts("contains", BOOLEAN), 2, 2),
    "YEAR": Function(_date_part("year", _TIMES)),
    "QUARTER": Function(_date_part("quarter", _TIMES)),
    "MONTH": Function(_date_part("month", _TIMES)),
    "DAY": Function(_date_part("day", _TIMES)),
    "DAYOFYEAR": Function(_date_part("dayofyear", _TIMES)),
    "WEEKOFYEAR": Function(_date_part("weekofyear", _TIMES)),
    "DAYOFWEEK": Function(_day_of_week),
    "HOUR": Function(_date_part("hour", (TIMESTAMP,))),
    "MINUTE": Function(_date_part("minute", (TIMESTAMP,))),
    "SECOND": Function(_date_part("second", (TIMESTAMP,))),
    "DATE_ADD": Function(_plus_days("date_add", "+"), 2, 2),
    "DATE_SUB": Function(_plus_days("date_sub", "-"), 2, 2),
    "DATEDIFF": Function(_days_between, 2, 2),
    "ADD_MONTHS": Function(_plus_months, 2, 2),
    "LAST_DAY": Function(_last_day),
    "TRUNC": Function(_truncated_date, 2, 2),
    "TO_DATE": Function(_to_date),
}
"""The functions that are translated."""
SPELLINGS = {
    "DAYOFMONTH": "DAY", "CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH", "CEILING": "CEIL", "UCASE": "UPPER", "LCASE": "LOWER",
    "IFNULL": "COALESCE", "NVL": "COALESCE", "SUBSTR": "SUBSTRING", "DATE_DIFF": "DATEDIFF",
}  # fmt: skip
"""Other names of functions. Spark names columns by the name that is written."""
DATE_PARTS = {
    **{f"{unit}{s}": unit for unit in ("YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "QUARTER") for s in ("", "S")},
    "DOY": "DAYOFYEAR",
}
"""Unit of EXTRACT -> its function."""
