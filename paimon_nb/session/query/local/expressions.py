"""Expressions in the engine's SQL: each operator and function for the types where its result is Spark's, exactly.

What is not listed is left to Spark. Where the result depends on the values (a sum that overflows, an inexact sum of
floating-point numbers, a text with other letters than ASCII), the engine raises an error, and Spark answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal as Number
from typing import TypeAlias

from paimon_nb.format.types import Atomic, DataType, Decimal
from paimon_nb.session.query.local.aggregates import AGGREGATES, aggregate_sql
from paimon_nb.session.query.local.decimals import from_unscaled, half_up, power_of_ten, unscaled_decimal_sql
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    BYTES,
    DATE,
    DOUBLE,
    INT,
    INTEGERS,
    MAX_PRECISION,
    NULL,
    STRING,
    TIMESTAMP,
    Value,
    as_decimal,
    cast_to_common_type,
    common_type,
    engine_type,
    is_floating,
    is_integer,
    is_number,
    positive_zero,
    quote_text,
    spark_decimal_result,
    to_double,
)
from paimon_nb.sql.select_tree import NotLocal
from paimon_nb.statements.select import Call, Case, Cast, Column, Expression, Literal

Resolve: TypeAlias = Callable[[Column], Value]
"""A column's value. Raises NotLocal."""
LEAVE = "error('left to Spark')"
"""Raises an error in the engine."""
_COMPARISONS = {"=": "=", "<>": "<>", "<": "<", "<=": "<=", ">": ">", ">=": ">=", "<=>": "IS NOT DISTINCT FROM"}
_QUOTIENT_DIGITS = 39
"""Spark rounds a quotient to so many fraction digits, and then to its type's. For divisors with so many digits less the type's scale that is
the quotient rounded once."""
_MAX_ROUNDED = 1e9
"""Scaled numbers below this differ from ties by more than the error of scaling them."""


class Expressions:
    """Translates expressions in one scope."""

    def __init__(self, resolve: Resolve, *, flink: bool, groups: Mapping[str, Value] | None = None) -> None:
        """`groups`: in a query with groups, the values of the GROUP BY by their SQL without groups."""
        self.resolve, self.flink, self.groups = resolve, flink, groups

    def value(self, e: Expression) -> Value:
        """The expression's value; above the groups, if there are groups. Raises NotLocal."""
        if self.groups is None:
            return self._value(e)
        if isinstance(e, Call) and (e.name in AGGREGATES or e.name == "FILTER"):
            return aggregate_sql(e, self._rows().value, flink=self.flink)
        if not has_aggregate(e):
            with suppress(NotLocal):  # it may be an expression of groups and aliases
                row = self._rows().value(e)
                if row.sql in self.groups:
                    return replace(self.groups[row.sql], name=row.name)  # the name is as written here, not in GROUP BY
        if isinstance(e, Column):
            raise NotLocal(f"{e.name} is not in GROUP BY")
        return self._value(e)

    def condition(self, e: Expression) -> str:
        """The SQL of a condition."""
        value = self.value(e)
        if value.type not in (BOOLEAN, NULL):
            raise NotLocal(f"a condition is {value.type.bare()}")
        return value.sql

    def _rows(self) -> Expressions:
        return Expressions(self.resolve, flink=self.flink)

    def _value(self, e: Expression) -> Value:
        match e:
            case Column():
                return self.resolve(e)
            case Literal():
                return _literal(e, flink=self.flink)
            case Case():
                return self._case(e)
            case Cast():
                return self._cast(e)
        if e.name in _FUNCTIONS:
            return _FUNCTIONS[e.name](self, [self.value(o) for o in e.operands])
        if e.name in ("AND", "OR"):
            values = [self.value(o) for o in e.operands]
            if any(v.type not in (BOOLEAN, NULL) for v in values):
                raise NotLocal(f"{e.name} of other types than BOOLEAN")
            return Value(f"({values[0].sql} {e.name} {values[1].sql})", BOOLEAN, _binary_name(e.name, values))
        if e.name in AGGREGATES:
            raise NotLocal(f"{e.name} is not allowed here")
        raise NotLocal(f"{e.name} is left to Spark")

    def _case(self, e: Case) -> Value:
        values = [self.value(v) for _, v in e.branches]
        values.append(Value("NULL", NULL) if e.otherwise is None else self.value(e.otherwise))
        cast, t = cast_to_common_type(values)
        if t == NULL:
            raise NotLocal("CASE has no type")
        branches = " ".join(
            f"WHEN {self.condition(c)} THEN {v.sql}" for (c, _), v in zip(e.branches, cast, strict=False)
        )
        return Value(f"(CASE {branches} ELSE {cast[-1].sql} END)", t)

    def _cast(self, e: Cast) -> Value:
        value = self.value(e.operand)
        target = _cast_target_type(e.type)
        if not _casts_as_in_spark(value, target):
            raise NotLocal(f"CAST of {value.type.bare()} to {e.type} is left to Spark")
        name = None if value.name is None or self.flink else f"CAST({value.name} AS {e.type.replace(', ', ',')})"
        if value.type.root == "DOUBLE" and is_integer(target):
            return Value(f"CAST(trunc({value.sql}) AS {engine_type(target)})", target, name)
        text = f"CAST({value.sql} AS {engine_type(target)})"
        if value.type == BOOLEAN and target == STRING and self.flink:
            text = f"upper({text})"
        return Value(text, target, name)


def has_aggregate(e: Expression) -> bool:
    """Whether an aggregate function is part of the expression."""
    match e:
        case Call():
            return e.name in AGGREGATES or any(map(has_aggregate, e.operands))
        case Case():
            parts = [p for branch in e.branches for p in branch] + ([] if e.otherwise is None else [e.otherwise])
            return any(map(has_aggregate, parts))
        case Cast():
            return has_aggregate(e.operand)
    return False


def _cast_target_type(text: str) -> DataType:
    """The type that a CAST names."""
    if text == "STRING":
        return STRING
    if text.startswith("DECIMAL"):
        precision, scale = (int(p) for p in text[8:-1].split(","))
        if not 1 <= precision <= MAX_PRECISION or scale > precision:
            raise NotLocal(f"{text} is not a type")
        return Decimal(precision, scale)
    return Atomic(text)


def _casts_as_in_spark(value: Value, target: DataType) -> bool:
    """Whether both engines cast alike: the same value, or an error."""
    s = value.type
    if s in (target, NULL):
        return True
    if is_integer(s):
        return is_integer(target) or isinstance(target, Decimal) or target in (DOUBLE, STRING)
    if isinstance(s, Decimal):
        if isinstance(target, Decimal):
            return target.scale >= s.scale
        return target == DOUBLE and s.precision <= 15
    if s == DOUBLE:
        return is_integer(target)
    if s.root == "FLOAT":
        return target == DOUBLE
    return s == BOOLEAN and target == STRING


def _literal(e: Literal, *, flink: bool) -> Value:
    match e.kind:
        case "NULL":
            return Value("NULL", NULL, "NULL")
        case "BOOLEAN":
            return Value(e.text, BOOLEAN, e.text.lower())
        case "INT" | "BIGINT":
            t = INT if e.kind == "INT" else BIGINT
            return Value(f"CAST({e.text} AS {engine_type(t)})", t, e.text, literal=int(e.text))
        case "DECIMAL":
            _, digits, exponent = Number(e.text).as_tuple()
            scale = -int(exponent)
            counted = sum(map(str.isdigit, e.text)) if flink else len(digits)  # Flink counts the zero of 0.5
            exact = Decimal(max(counted, scale, 1), scale)
            return Value(f"CAST({quote_text(e.text)} AS {engine_type(exact)})", exact)
        case "DOUBLE":
            return Value(f"CAST({quote_text(e.text)} AS DOUBLE)", DOUBLE)
        case "DATE":
            return Value(f"CAST({quote_text(e.text)} AS DATE)", DATE)
    return Value(quote_text(e.text), STRING, e.text)


def _binary_name(operator: str, values: list[Value]) -> str | None:
    names = [v.name for v in values]
    return None if None in names else f"({names[0]} {operator} {names[1]})"


# -- operators


def _arithmetic(operator: str) -> Callable[[Expressions, list[Value]], Value]:
    def arithmetic_sql(_: Expressions, values: list[Value]) -> Value:
        a, b = values
        name = _binary_name(operator, values)
        _require_exact_or_double_numbers(operator, values)
        if is_integer(a.type) and is_integer(b.type):
            t = common_type(a, b)
            return Value(f"({a.cast(t).sql} {operator} {b.cast(t).sql})", t, name)
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
        return Value(f"CAST(({a.cast(p).sql} {operator} {b.cast(q).sql}) AS {engine_type(t)})", t, name)

    return arithmetic_sql


def _require_exact_or_double_numbers(operator: str, values: list[Value]) -> None:
    for value in values:
        if not is_number(value.type) or value.type.root == "FLOAT":
            raise NotLocal(f"{operator} of {value.type.bare()} is left to Spark")


def _divide(scope: Expressions, values: list[Value]) -> Value:
    a, b = values
    _require_exact_or_double_numbers("/", values)
    name = None if scope.flink else _binary_name("/", values)
    integers = is_integer(a.type) and is_integer(b.type)
    if integers and scope.flink:
        t = max(a.type, b.type, key=lambda x: INTEGERS.index(x.root))
        return Value(f"CAST({_quotient(a, b)} AS {engine_type(t)})", t)
    if integers or DOUBLE in (a.type, b.type):
        x, y = to_double(a).sql, to_double(b).sql
        if scope.flink:
            return Value(f"({x} / {y})", DOUBLE)
        return Value(f"({x} / (CASE WHEN {y} = 0 THEN {LEAVE} ELSE {y} END))", DOUBLE, name)
    p = as_decimal(a)
    if scope.flink and b.literal is not None and b.type.root == "BIGINT":
        q = Decimal(19, 0)
    else:
        q = as_decimal(b, as_literal=not scope.flink)
    scale = max(6, p.scale + q.precision + 1)
    t = spark_decimal_result(p.precision - p.scale + q.scale + scale, scale)
    shift = t.scale - p.scale + q.scale
    if shift < 0 or p.precision + shift > MAX_PRECISION - 2:
        raise NotLocal("a quotient of decimals has too many digits")
    n, d = unscaled_decimal_sql(a.cast(p)), unscaled_decimal_sql(b.cast(q))
    quotient = half_up(f"({n} * {power_of_ten(shift)})", d)
    exact_below = _QUOTIENT_DIGITS - t.scale
    if q.precision > exact_below:
        quotient = f"(CASE WHEN abs({d}) >= {power_of_ten(exact_below)} THEN {LEAVE} ELSE {quotient} END)"
    return Value(from_unscaled(quotient, t), t, name)


def _quotient(a: Value, b: Value) -> str:
    """The quotient of integers, rounded towards zero."""
    return f"(CAST({a.sql} AS BIGINT) // CAST({b.sql} AS BIGINT))"


def _integer_divide(scope: Expressions, values: list[Value]) -> Value:
    if scope.flink or not all(is_integer(v.type) for v in values):
        raise NotLocal("DIV of other types than integers, or in Flink's dialect, is left to Spark")
    return Value(_quotient(*values), BIGINT, _binary_name("div", values))


def _remainder(_: Expressions, values: list[Value]) -> Value:
    if not all(is_integer(v.type) for v in values):
        raise NotLocal("% of other types than integers is left to Spark")
    t = common_type(*values)
    return Value(f"({values[0].cast(t).sql} % {values[1].cast(t).sql})", t, _binary_name("%", values))


def _negative(_: Expressions, values: list[Value]) -> Value:
    (a,) = values
    _require_exact_or_double_numbers("-", values)
    if a.literal is not None:
        if a.literal == 1 << 31:
            raise NotLocal("-2147483648 is an INT to Spark")
        return Value(f"(-{a.sql})", a.type, f"-{a.name}", literal=-a.literal)
    return Value(f"CAST((-{a.sql}) AS {engine_type(a.type)})", a.type, None if a.name is None else f"(- {a.name})")


def _compare(operator: str) -> Callable[[Expressions, list[Value]], Value]:
    def comparison_sql(_: Expressions, values: list[Value]) -> Value:
        a, b = _operands_of_comparison(*values)
        name = _binary_name("=" if operator == "=" else operator, values) if operator != "<>" else None
        return Value(f"({a.sql} {_COMPARISONS[operator]} {b.sql})", BOOLEAN, name)

    return comparison_sql


def _between(scope: Expressions, values: list[Value]) -> Value:
    a, low, high = values
    text = f"({_compare('>=')(scope, [a, low]).sql} AND {_compare('<=')(scope, [a, high]).sql})"
    return Value(text, BOOLEAN, _function_name("between", values))


def _operands_of_comparison(a: Value, b: Value) -> tuple[Value, Value]:
    for x, y in ((a, b), (b, a)):
        if x.type == DATE and y.type == STRING:
            raise NotLocal("a DATE beside a text is left to Spark")
        if y.type == NULL:
            return a, b
        if x.type.root == "FLOAT" and y.type.root != "FLOAT":
            if y.type != DOUBLE:
                raise NotLocal(f"FLOAT beside {y.type.bare()} is left to Spark")
            return a.cast(DOUBLE), b.cast(DOUBLE)
    t = common_type(a, b, as_literal=True)
    return a.cast(t), b.cast(t)


def _not(_: Expressions, values: list[Value]) -> Value:
    if values[0].type != BOOLEAN:
        raise NotLocal("NOT of another type than BOOLEAN")
    return Value(f"(NOT {values[0].sql})", BOOLEAN, None if values[0].name is None else f"(NOT {values[0].name})")


def _null_or_truth_test(words: str) -> Callable[[Expressions, list[Value]], Value]:
    def null_or_truth_sql(_: Expressions, values: list[Value]) -> Value:
        (a,) = values
        return Value(f"({a.sql} {words})", BOOLEAN, None if a.name is None else f"({a.name} {words})")

    return null_or_truth_sql


def _in(_: Expressions, values: list[Value]) -> Value:
    if values[0].type.root == "FLOAT" or values[0].type == NULL:
        raise NotLocal(f"{values[0].type.bare()} IN is left to Spark")
    cast, _t = cast_to_common_type(values)
    return Value(f"({cast[0].sql} IN ({', '.join(v.sql for v in cast[1:])}))", BOOLEAN)


def _like(_: Expressions, values: list[Value]) -> Value:
    if values[0].type != STRING:
        raise NotLocal(f"LIKE of {values[0].type.bare()} is left to Spark")
    return Value(
        f"({values[0].sql} LIKE {values[1].sql})",
        BOOLEAN,
        None if values[0].name is None else f"{values[0].name} LIKE {values[1].name}",
    )


def _coalesce(_: Expressions, values: list[Value]) -> Value:
    cast, t = cast_to_common_type(values)
    if t == NULL:
        raise NotLocal("COALESCE has no type")
    return Value(f"coalesce({', '.join(v.sql for v in cast)})", t)


def _nullif(_: Expressions, values: list[Value]) -> Value:
    a, b = _operands_of_comparison(*values)
    if a.type == NULL:
        raise NotLocal("NULLIF has no type")
    return Value(f"(CASE WHEN {a.sql} = {b.sql} THEN NULL ELSE {values[0].sql} END)", values[0].type)


# -- functions


def _function_name(name: str, values: list[Value]) -> str | None:
    names = [v.name for v in values]
    return None if None in names else f"{name}({', '.join(n for n in names if n is not None)})"


def _abs(_: Expressions, values: list[Value]) -> Value:
    _require_exact_or_double_numbers("ABS", values)
    return Value(
        f"CAST(abs({values[0].sql}) AS {engine_type(values[0].type)})", values[0].type, _function_name("abs", values)
    )


def _round(_: Expressions, values: list[Value]) -> Value:
    digits = 0 if len(values) == 1 else values[1].literal
    a = values[0]
    if digits is None or not 0 <= digits <= 9:
        raise NotLocal("ROUND to these digits is left to Spark")
    name = _function_name("round", values if len(values) == 2 else [*values, Value("", INT, "0")])
    if isinstance(a.type, Decimal):
        scale = min(a.type.scale, digits)
        t = Decimal(min(a.type.precision - a.type.scale + 1 + scale, MAX_PRECISION), scale)
        text = a.sql if scale == a.type.scale else f"round({a.sql}, {scale})"
        return Value(f"CAST({text} AS {engine_type(t)})", t, name)
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


def _floor_or_ceil(word: str) -> Callable[[Expressions, list[Value]], Value]:
    def floor_or_ceil_sql(scope: Expressions, values: list[Value]) -> Value:
        (a,) = values
        if a.type != DOUBLE or scope.flink:
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        return Value(f"CAST({word}({a.sql}) AS BIGINT)", BIGINT, _function_name(word.upper(), values))

    return floor_or_ceil_sql


def _case_conversion(word: str) -> Callable[[Expressions, list[Value]], Value]:
    def case_conversion_sql(_: Expressions, values: list[Value]) -> Value:
        (a,) = values
        if a.type != STRING:
            raise NotLocal(f"{word.upper()} of {a.type.bare()} is left to Spark")
        text = f"(CASE WHEN strlen({a.sql}) > length({a.sql}) THEN {LEAVE} ELSE {word}({a.sql}) END)"
        return Value(text, STRING, _function_name(word, values))

    return case_conversion_sql


def _length(_: Expressions, values: list[Value]) -> Value:
    if values[0].type != STRING:
        raise NotLocal(f"LENGTH of {values[0].type.bare()} is left to Spark")
    return Value(f"CAST(length({values[0].sql}) AS INTEGER)", INT)


def _substring(_: Expressions, values: list[Value]) -> Value:
    positions = [v.literal for v in values[1:] if v.literal is not None]
    is_known = values[0].type == STRING and positions and len(positions) == len(values) - 1
    if not is_known or positions[0] < 1 or positions[-1] < 0:
        raise NotLocal("this SUBSTRING is left to Spark")
    return Value(f"substring({', '.join([values[0].sql, *map(str, positions)])})", STRING)


def _concat(_: Expressions, values: list[Value]) -> Value:
    if any(v.type != STRING for v in values):
        raise NotLocal("CONCAT of other types than STRING is left to Spark")
    return Value(f"({' || '.join(v.sql for v in values)})", STRING)


def _date_part(word: str, types: tuple[object, ...]) -> Callable[[Expressions, list[Value]], Value]:
    def date_part_sql(_: Expressions, values: list[Value]) -> Value:
        if values[0].type not in types:
            raise NotLocal(f"{word.upper()} of {values[0].type.bare()} is left to Spark")
        return Value(f"CAST({word}({values[0].sql}) AS INTEGER)", INT)

    return date_part_sql


_FUNCTIONS: Mapping[str, Callable[[Expressions, list[Value]], Value]] = {
    "+": _arithmetic("+"),
    "-": _arithmetic("-"),
    "*": _arithmetic("*"),
    "/": _divide,
    "DIV": _integer_divide,
    "%": _remainder,
    "NEGATIVE": _negative,
    **{operator: _compare(operator) for operator in _COMPARISONS},
    "BETWEEN": _between,
    "NOT": _not,
    "IS NULL": _null_or_truth_test("IS NULL"),
    "IS NOT NULL": _null_or_truth_test("IS NOT NULL"),
    "IN": _in,
    "LIKE": _like,
    "COALESCE": _coalesce,
    "NULLIF": _nullif,
    "ABS": _abs,
    "ROUND": _round,
    "FLOOR": _floor_or_ceil("floor"),
    "CEIL": _floor_or_ceil("ceil"),
    "UPPER": _case_conversion("upper"),
    "LOWER": _case_conversion("lower"),
    "LENGTH": _length,
    "SUBSTRING": _substring,
    "CONCAT": _concat,
    "||": _concat,
    "YEAR": _date_part("year", (DATE, TIMESTAMP)),
    "MONTH": _date_part("month", (DATE, TIMESTAMP)),
    "DAY": _date_part("day", (DATE, TIMESTAMP)),
    "HOUR": _date_part("hour", (TIMESTAMP,)),
    "MINUTE": _date_part("minute", (TIMESTAMP,)),
    "SECOND": _date_part("second", (TIMESTAMP,)),
}
"""The operators and functions that are translated."""


def with_positive_zero(value: Value) -> Value:
    """The value as Spark groups it: -0.0 is 0.0."""
    if not is_floating(value.type):
        return value
    return Value(positive_zero(value.sql, value.type), value.type, value.name)


def orderable(value: Value) -> bool:
    """Whether both engines order the values alike."""
    return value.type in (STRING, BYTES, TIMESTAMP, DATE, BOOLEAN) or is_number(value.type)
