"""Operators in the engine's SQL, each for the types where its result is Spark's."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal as Number
from operator import add, mul, sub
from typing import TYPE_CHECKING

from paimon_nb.format.types import Array, DataType, Decimal
from paimon_nb.session.query.local.decimals import from_unscaled, half_up, power_of_ten, unscaled_decimal_sql
from paimon_nb.session.query.local.literals import date_value, timestamp_value
from paimon_nb.session.query.local.nested import concat_arrays
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INSTANT,
    INTEGERS,
    LEAVE,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    Build,
    Value,
    as_decimal,
    cast_to_common_type,
    common_type,
    engine_type,
    is_integer,
    is_number,
    quote_text,
    spark_decimal_result,
    to_double,
)

if TYPE_CHECKING:
    from collections.abc import Mapping


COMPARISONS = {"=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "IS NOT DISTINCT FROM"}
_QUOTIENT_DIGITS = 39
"""Spark rounds a quotient to so many fraction digits, and then to its type's. For divisors with so many digits less the type's scale that is
the quotient rounded once."""


def _binary_name(operator: str, values: list[Value]) -> str | None:
    names = [v.name for v in values]
    return None if None in names else f"({names[0]} {operator} {names[1]})"


def _arithmetic(operator: str) -> Build:
    def arithmetic_sql(_flink: bool, values: list[Value]) -> Value:
        a, b = values
        name = _binary_name(operator, values)
        _require_exact_or_double_numbers(operator, values)
        if is_integer(a.type) and is_integer(b.type):
            t = common_type(a, b)
            return Value(
                f"({a.cast(t).sql} {operator} {b.cast(t).sql})", t, name, raises=not _always_fits(operator, a, b, t)
            )
        if DOUBLE in (a.type, b.type):
            return Value(f"({to_double(a).sql} {operator} {to_double(b).sql})", DOUBLE, name)
        p, q = as_decimal(a), as_decimal(b)
        if operator == "*":
            exact = p.precision + q.precision + 1, p.scale + q.scale
        else:
            scale = max(p.scale, q.scale)
            exact = max(p.precision - p.scale, q.precision - q.scale) + scale + 1, scale
        t = spark_decimal_result(*exact)
        if t.scale != exact[1]:
            raise NotLocal(f"{operator} of {p.bare()} and {q.bare()} is rounded")
        raises = exact[0] > MAX_PRECISION
        return Value(f"CAST(({a.cast(p).sql} {operator} {b.cast(q).sql}) AS {engine_type(t)})", t, name, raises=raises)

    return arithmetic_sql


_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64}


def _range(value: Value) -> tuple[int, int]:
    """The least and the greatest integer that a value may be."""
    if value.literal is not None:
        return value.literal, value.literal
    return -(1 << _BITS[value.type.root] - 1), (1 << _BITS[value.type.root] - 1) - 1


def _always_fits(operator: str, a: Value, b: Value, t: DataType) -> bool:
    """Whether no values of two integers overflow their type: SMALLINT plus 5 as an INT."""
    compute = {"+": add, "-": sub, "*": mul}[operator]
    results: list[int] = [compute(x, y) for x in _range(a) for y in _range(b)]
    low, high = _range(Value("", t))
    return low <= min(results) and max(results) <= high


def _require_exact_or_double_numbers(operator: str, values: list[Value]) -> None:
    for value in values:
        if not is_number(value.type) or value.type.root == "FLOAT":
            raise NotLocal(f"{operator} of {value.type.bare()} is left to Spark")


def _divide(flink: bool, values: list[Value]) -> Value:
    a, b = values
    _require_exact_or_double_numbers("/", values)
    name = None if flink else _binary_name("/", values)
    integers = is_integer(a.type) and is_integer(b.type)
    if integers and flink:
        t = max(a.type, b.type, key=lambda x: INTEGERS.index(x.root))
        return Value(f"CAST({_quotient(a, b)} AS {engine_type(t)})", t, raises=True)
    if integers or DOUBLE in (a.type, b.type):
        x, y = to_double(a).sql, to_double(b).sql
        if flink:
            return Value(f"({x} / {y})", DOUBLE)
        if b.literal:
            return Value(f"({x} / {y})", DOUBLE, name)
        return Value(f"({x} / (CASE WHEN {y} = 0 THEN {LEAVE} ELSE {y} END))", DOUBLE, name, raises=True)
    p = as_decimal(a)
    if flink and b.literal is not None and b.type.root == "BIGINT":
        q = Decimal(19, 0)
    else:
        q = as_decimal(b, as_literal=not flink)
    scale = max(6, p.scale + q.precision + 1)
    t = spark_decimal_result(p.precision - p.scale + q.scale + scale, scale)
    shift = t.scale - p.scale + q.scale
    if not 0 <= shift <= MAX_PRECISION - 2:
        raise NotLocal("a quotient of decimals has too many digits")
    n, d = unscaled_decimal_sql(a.cast(p)), unscaled_decimal_sql(b.cast(q))
    quotient = half_up(f"({n} * {power_of_ten(shift)})", d)
    exact_below = _QUOTIENT_DIGITS - t.scale
    checks = [f"abs({d}) >= {power_of_ten(exact_below)}"] if q.precision > exact_below else []
    if p.precision + shift > MAX_PRECISION - 2:
        checks.append(f"abs({n}) >= {power_of_ten(MAX_PRECISION - 2 - shift)}")
    if checks:
        quotient = f"(CASE WHEN {' OR '.join(checks)} THEN {LEAVE} ELSE {quotient} END)"
    return Value(from_unscaled(quotient, t), t, name, raises=True)


def _quotient(a: Value, b: Value) -> str:
    """The quotient of integers, rounded towards zero."""
    return f"(CAST({a.sql} AS BIGINT) // CAST({b.sql} AS BIGINT))"


def _integer_divide(flink: bool, values: list[Value]) -> Value:
    if flink or not all(is_integer(v.type) for v in values):
        raise NotLocal("DIV of other types than integers, or in Flink's dialect, is left to Spark")
    return Value(_quotient(*values), BIGINT, _binary_name("div", values), raises=True)


def _remainder(_flink: bool, values: list[Value]) -> Value:
    if not all(is_integer(v.type) for v in values):
        raise NotLocal("% of other types than integers is left to Spark")
    t = common_type(*values)
    return Value(
        f"({values[0].cast(t).sql} % {values[1].cast(t).sql})",
        t,
        _binary_name("%", values),
        raises=not values[1].literal,
    )


def _negative(_flink: bool, values: list[Value]) -> Value:
    (a,) = values
    _require_exact_or_double_numbers("-", values)
    if a.literal is not None:
        if a.literal in (1 << 31, -(1 << 31), -(1 << 63)):
            raise NotLocal("the number with its sign is of another type, or too large")
        return Value(f"(-{a.sql})", a.type, f"-{a.name}", literal=-a.literal)
    is_literal = a.is_constant and a.origin is None
    name = None if a.name is None else f"-{a.name}" if is_literal else f"(- {a.name})"
    return Value(f"CAST((-{a.sql}) AS {engine_type(a.type)})", a.type, name, raises=is_integer(a.type))


def _compare(operator: str) -> Build:
    def comparison_sql(_flink: bool, values: list[Value]) -> Value:
        name = _binary_name(operator, values)
        if _need_more_digits(*values):
            return Value(_compare_with_guard(COMPARISONS[operator], *values), BOOLEAN, name)
        a, b = operands_of_comparison(*values)
        if operator == "<>":
            name = None if name is None else f"(NOT {_binary_name('=', values)})"
        return Value(f"({a.sql} {COMPARISONS[operator]} {b.sql})", BOOLEAN, name)

    return comparison_sql


def _need_more_digits(a: Value, b: Value) -> bool:
    """Whether two decimals have no common type: Spark rounds one of them before it compares."""
    if not (isinstance(a.type, Decimal) and isinstance(b.type, Decimal)):
        return False
    digits = max(a.type.precision - a.type.scale, b.type.precision - b.type.scale)
    return digits + max(a.type.scale, b.type.scale) > MAX_PRECISION


def _compare_with_guard(operator: str, a: Value, b: Value) -> str:
    """A comparison of such decimals: an error if rounding may change it, or if the digits do not fit."""
    assert isinstance(a.type, Decimal)
    assert isinstance(b.type, Decimal)
    scale = max(a.type.scale, b.type.scale)
    digits = max(a.type.precision - a.type.scale, b.type.precision - b.type.scale)
    digits_left = max(scale - (digits + scale - MAX_PRECISION), 0)
    t = engine_type(Decimal(MAX_PRECISION, scale))
    x, y = f"CAST({a.sql} AS {t})", f"CAST({b.sql} AS {t})"
    near = f"{x} <> {y} AND abs({x} - {y}) < CAST('{Number(1).scaleb(-digits_left):f}' AS {t})"
    return f"(CASE WHEN {near} THEN {LEAVE} ELSE {x} {operator} {y} END)"


def _between(flink: bool, values: list[Value]) -> Value:
    a, low, high = values
    text = f"({_compare('>=')(flink, [a, low]).sql} AND {_compare('<=')(flink, [a, high]).sql})"
    return Value(
        text, BOOLEAN, None if None in [v.name for v in values] else f"between({a.name}, {low.name}, {high.name})"
    )


def operands_of_comparison(a: Value, b: Value) -> tuple[Value, Value]:
    a, b = text_as_time(a, b), text_as_time(b, a)
    a, b = padded_for_char(a, b), padded_for_char(b, a)
    for x, y in ((a, b), (b, a)):
        if y.type == NULL:
            return a, b
        if x.type.root == "FLOAT" and y.type.root != "FLOAT":
            if y.type != DOUBLE:
                raise NotLocal(f"FLOAT beside {y.type.bare()} is left to Spark")
            return a.cast(DOUBLE), b.cast(DOUBLE)
    t = common_type(a, b, as_literal=True)
    return a.cast(t), b.cast(t)


def _not(_flink: bool, values: list[Value]) -> Value:
    if values[0].type != BOOLEAN:
        raise NotLocal("NOT of another type than BOOLEAN")
    return Value(f"(NOT {values[0].sql})", BOOLEAN, None if values[0].name is None else f"(NOT {values[0].name})")


def _null_or_truth_test(words: str) -> Build:
    def null_or_truth_sql(_flink: bool, values: list[Value]) -> Value:
        (a,) = values
        return Value(f"({a.sql} {words})", BOOLEAN, None if a.name is None else f"({a.name} {words})")

    return null_or_truth_sql


def is_in(_flink: bool, values: list[Value]) -> Value:
    """`values[0] IN (values[1:])`."""
    if values[0].type.root == "FLOAT" or values[0].type == NULL:
        raise NotLocal(f"{values[0].type.bare()} IN is left to Spark")
    first, *others = values
    others = [padded_for_char(text_as_time(o, first), first) for o in others]
    if first.char is None and any(o.char is not None for o in others):
        raise NotLocal("a text IN CHAR columns is left to Spark")
    cast, _t = cast_to_common_type([first, *others])
    names = [v.name for v in values]
    name = None if None in names else f"({names[0]} IN ({', '.join(n or '' for n in names[1:])}))"
    return Value(f"({cast[0].sql} IN ({', '.join(v.sql for v in cast[1:])}))", BOOLEAN, name)


def _like(_flink: bool, values: list[Value]) -> Value:
    if values[0].type != STRING:
        raise NotLocal(f"LIKE of {values[0].type.bare()} is left to Spark")
    escape = " ESCAPE '\\'" if "\\" in (values[1].text or "") else ""
    return Value(
        f"({values[0].sql} LIKE {values[1].sql}{escape})",
        BOOLEAN,
        None if values[0].name is None else f"{values[0].name} LIKE {values[1].name}",
    )


def _concat_texts(_flink: bool, values: list[Value]) -> Value:
    if isinstance(values[0].type, Array):
        return concat_arrays(values)
    if any(v.type != STRING for v in values):
        raise NotLocal("|| of other types than STRING is left to Spark")
    names = [v.name for v in values]
    name = None if None in names else f"concat({', '.join(n or '' for n in names)})"
    return Value(f"({' || '.join(v.sql for v in values)})", STRING, name)


def padded_for_char(value: Value, other: Value) -> Value:
    """The value that is compared with another one: a text beside a CHAR column is padded, as in Spark."""
    n = other.char
    if n is None or value.char == n or value.type == NULL:
        return value
    if value.text is None or len(value.text) > n:
        raise NotLocal(f"CHAR({n}) beside {value.type.bare()} is left to Spark")
    return replace(value, sql=quote_text(value.text.ljust(n)), text=value.text.ljust(n))


def text_as_time(value: Value, other: Value) -> Value:
    """A literal text beside a date or a timestamp: a value of that type."""
    if value.text is not None and other.type == DATE:
        return date_value(value.text)
    if value.text is not None and other.type in (TIMESTAMP, INSTANT):
        return timestamp_value(value.text).cast(other.type)
    return value


def logical(word: str) -> Build:
    """Builds AND or OR of two or more operands."""

    def logical_sql(_flink: bool, values: list[Value]) -> Value:
        if any(v.type not in (BOOLEAN, NULL) for v in values):
            raise NotLocal(f"{word} of other types than BOOLEAN")
        name: str | None = values[0].name
        for value in values[1:]:
            name = None if name is None or value.name is None else f"({name} {word} {value.name})"
        return Value(f"({f' {word} '.join(v.sql for v in values)})", BOOLEAN, name)

    return logical_sql


def case_when(_flink: bool, values: list[Value]) -> Value:
    """CASE: conditions and values in turn, then that of ELSE."""
    conditions, results = values[0 : len(values) // 2 * 2 : 2], values[1::2]
    otherwise = values[-1] if len(values) % 2 else None
    if any(c.type not in (BOOLEAN, NULL) for c in conditions):
        raise NotLocal("a condition of CASE is not BOOLEAN")
    cast, t = cast_to_common_type([*results, otherwise or Value("NULL", NULL)])
    if t == NULL:
        raise NotLocal("CASE has no type")
    branches = " ".join(f"WHEN {c.sql} THEN {v.sql}" for c, v in zip(conditions, cast, strict=False))
    names = [v.name for v in values]
    name = None
    if None not in names:
        written = [f"WHEN {c.name} THEN {v.name}" for c, v in zip(conditions, results, strict=True)]
        name = " ".join(["CASE", *written, *([f"ELSE {otherwise.name}"] if otherwise else []), "END"])
    return Value(f"(CASE {branches} ELSE {cast[-1].sql} END)", t, name)


OPERATORS: Mapping[str, Build] = {
    "+": _arithmetic("+"),
    "-": _arithmetic("-"),
    "*": _arithmetic("*"),
    "/": _divide,
    "DIV": _integer_divide,
    "%": _remainder,
    "NEGATIVE": _negative,
    **{operator: _compare(operator) for operator in COMPARISONS},
    "BETWEEN": _between,
    "NOT": _not,
    "IS NULL": _null_or_truth_test("IS NULL"),
    "IS NOT NULL": _null_or_truth_test("IS NOT NULL"),
    "LIKE": _like,
    "||": _concat_texts,
}
"""The operators that are translated."""
