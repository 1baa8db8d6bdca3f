"""Functions in the engine's SQL, each for the types where its result is Spark's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Array, DataType, Decimal
from paimon_nb.session.query.local.casts import as_text
from paimon_nb.session.query.local.nested import NESTED_FUNCTIONS, concat_arrays, reversed_array
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.operators import case_when, operands_of_comparison
from paimon_nb.session.query.local.text_functions import FLINK_TEXT_FUNCTIONS, TEXT_FUNCTIONS
from paimon_nb.session.query.local.time_functions import TIME_FUNCTIONS
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    INT,
    LEAVE,
    MAX_PRECISION,
    NULL,
    STRING,
    Build,
    Value,
    called,
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
    in_flink: Build | None = None
    """Of a call that is translated for Spark in Flink's dialect; None: it is left to Spark."""


def _coalesce(_flink: bool, values: list[Value]) -> Value:
    cast, t = cast_to_common_type(values)
    if t == NULL:
        raise NotLocal("COALESCE has no type")
    return Value(f"coalesce({', '.join(v.sql for v in cast)})", t, called("coalesce", values))


def _nullif(_flink: bool, values: list[Value]) -> Value:
    a, b = operands_of_comparison(*values)
    if a.type == NULL:
        raise NotLocal("NULLIF has no type")
    return Value(
        f"(CASE WHEN {a.sql} = {b.sql} THEN NULL ELSE {values[0].sql} END)",
        values[0].type,
        called("nullif", values),
    )


def _abs(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if not is_number(a.type) or a.type.root == "FLOAT":
        raise NotLocal(f"ABS of {a.type.bare()} is left to Spark")
    text = f"CAST(abs({a.sql}) AS {engine_type(a.type)})"
    return Value(text, a.type, called("abs", values), raises=is_integer(a.type))


def _round(_flink: bool, values: list[Value]) -> Value:
    digits = 0 if len(values) == 1 else values[1].literal
    a = values[0]
    if digits is None or not 0 <= digits <= 9:
        raise NotLocal("ROUND to these digits is left to Spark")
    name = called("round", values if len(values) == 2 else [*values, Value("", INT, "0")])
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
        return Value(f"CAST({word}({a.sql}) AS BIGINT)", BIGINT, called(word.upper(), values))

    return floor_or_ceil_sql


def _case_conversion(word: str) -> Build:
    def case_conversion_sql(_flink: bool, values: list[Value]) -> Value:
        (a,) = values
        if a.type != STRING:
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        text = f"(CASE WHEN strlen({a.sql}) > length({a.sql}) THEN {LEAVE} ELSE {word}({a.sql}) END)"
        return Value(text, STRING, called(word, values))

    return case_conversion_sql


def _length(_flink: bool, values: list[Value]) -> Value:
    if values[0].type != STRING:
        raise NotLocal(f"LENGTH of {values[0].type.bare()} is left to Spark")
    return Value(f"CAST(length({values[0].sql}) AS INTEGER)", INT, called("length", values))


def _substring(_flink: bool, values: list[Value]) -> Value:
    positions = [v.literal for v in values[1:] if v.literal is not None]
    is_known = values[0].type == STRING and positions and len(positions) == len(values) - 1
    if not is_known or positions[0] < 1 or positions[-1] < 0:
        raise NotLocal("this SUBSTRING is left to Spark")
    name = called("substring", values if len(values) == 3 else [*values, Value("", INT, "2147483647")])
    return Value(f"substring({', '.join([values[0].sql, *map(str, positions)])})", STRING, name)


def _concat(flink: bool, values: list[Value]) -> Value:
    if isinstance(values[0].type, Array):
        return concat_arrays(values)
    if not flink:
        values = [as_text(v) for v in values]
    if any(v.type != STRING for v in values):
        raise NotLocal("CONCAT of other types than STRING is left to Spark")
    return Value(f"({' || '.join(v.sql for v in values)})", STRING, called("concat", values))


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
    return Value(text, t, called("pmod", values))


def _sign(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if not is_integer(a.type):
        raise NotLocal(f"SIGN of {a.type.bare()} is left to Spark")
    return Value(f"CAST(sign({a.sql}) AS DOUBLE)", DOUBLE, called("sign", values))


def _square_root(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    if not (is_integer(a.type) and a.type != BIGINT) and a.type != DOUBLE:
        raise NotLocal(f"SQRT of {a.type.bare()} is left to Spark")
    x = a.cast(DOUBLE).sql
    return Value(f"(CASE WHEN {x} < 0 THEN CAST('nan' AS DOUBLE) ELSE sqrt({x}) END)", DOUBLE, called("SQRT", values))


def _extreme(word: str) -> Build:
    def extreme_sql(_flink: bool, values: list[Value]) -> Value:
        """The greatest or least of the values that are not NULL."""
        cast, t = cast_to_common_type(values)
        if not orderable(cast[0]) or t.root in ("FLOAT", "DOUBLE", "NULL"):
            raise NotLocal(f"{word.upper()} of {t.bare()} is left to Spark")
        return Value(f"{word}({', '.join(v.sql for v in cast)})", t, called(word, values))

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
        return Value(f"CAST({text} AS INTEGER)" if t == INT else text, t, called(word, values))

    return of_texts_sql


def _trim(word: str) -> Build:
    def trim_sql(_flink: bool, values: list[Value]) -> Value:
        _require_texts(word.upper(), values)
        return Value(f"{word}({values[0].sql}, ' ')", STRING, called(word, values))

    return trim_sql


def _replace(_flink: bool, values: list[Value]) -> Value:
    _require_texts("REPLACE", values)
    if not values[1].text or (len(values) == 3 and values[2].text is None):
        raise NotLocal("REPLACE of a computed text is left to Spark")
    by = values[2].sql if len(values) == 3 else "''"
    return Value(
        f"replace({values[0].sql}, {values[1].sql}, {by})",
        STRING,
        called("replace", values) if len(values) == 3 else None,
    )


def _instr(_flink: bool, values: list[Value]) -> Value:
    _require_texts("INSTR", values)
    return Value(f"CAST(instr({values[0].sql}, {values[1].sql}) AS INTEGER)", INT, called("instr", values))


def _side(word: str) -> Build:
    def side_sql(_flink: bool, values: list[Value]) -> Value:
        text, count = values[0], values[1].literal
        if text.type != STRING or count is None or not 0 <= count <= _LONGEST:
            raise NotLocal(f"this {word.upper()} is left to Spark")
        start = f"substring({text.sql}, 1, {count})"
        if word == "right":
            start = f"substring({text.sql}, CAST(greatest(length({text.sql}) - {count}, 0) AS BIGINT) + 1)"
        return Value(start, STRING, called(word, values))

    return side_sql


def _pad(word: str) -> Build:
    def pad_sql(_flink: bool, values: list[Value]) -> Value:
        text, count, by = values[0], values[1].literal, values[2].text if len(values) == 3 else " "
        if text.type != STRING or count is None or not 0 <= count <= _LONGEST or not by:
            raise NotLocal(f"this {word.upper()} is left to Spark")
        filled = values[2].sql if len(values) == 3 else "' '"
        name = called(word, values if len(values) == 3 else [*values, Value("", STRING, " ")])
        return Value(f"{word}({text.sql}, {count}, {filled})", STRING, name)

    return pad_sql


def _repeat(_flink: bool, values: list[Value]) -> Value:
    count = values[1].literal
    if values[0].type != STRING or count is None or not 0 <= count <= _LONGEST:
        raise NotLocal("this REPEAT is left to Spark")
    return Value(f"repeat({values[0].sql}, {count})", STRING, called("repeat", values))


def _reverse(_flink: bool, values: list[Value]) -> Value:
    if isinstance(values[0].type, Array):
        return reversed_array(values[0])
    _require_texts("REVERSE", values)
    x = values[0].sql
    text = f"(CASE WHEN strlen({x}) > length({x}) THEN {LEAVE} ELSE reverse({x}) END)"
    return Value(text, STRING, called("reverse", values))


def _concat_ws(_flink: bool, values: list[Value]) -> Value:
    _require_texts("CONCAT_WS", values)
    if values[0].text is None:
        raise NotLocal("CONCAT_WS with a computed separator is left to Spark")
    return Value(f"concat_ws({', '.join(v.sql for v in values)})", STRING, called("concat_ws", values))


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
    **{
        name: Function(*spec)
        for family in (TIME_FUNCTIONS, TEXT_FUNCTIONS, FLINK_TEXT_FUNCTIONS, NESTED_FUNCTIONS)
        for name, spec in family.items()
    },
}
"""The functions that are translated."""
SPELLINGS = {
    "DAYOFMONTH": "DAY", "CHAR_LENGTH": "LENGTH", "CHARACTER_LENGTH": "LENGTH", "CEILING": "CEIL", "UCASE": "UPPER", "LCASE": "LOWER",
    "IFNULL": "COALESCE", "NVL": "COALESCE", "SUBSTR": "SUBSTRING", "DATE_DIFF": "DATEDIFF", "DATEADD": "DATE_ADD", "REGEXP": "REGEXP_LIKE",
}  # fmt: skip
"""Other names of functions. Spark names columns by the name that is written."""
