"""Aggregate functions in the engine's SQL, with Spark's result types.

A sum that could overflow, or whose last digits depend on the order of the rows, is an error in the engine: Spark answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.types import Decimal
from paimon_nb.session.query.local.decimals import from_unscaled, half_up, unscaled_decimal_sql
from paimon_nb.session.query.local.values import (
    BIGINT,
    DOUBLE,
    FLOAT,
    MAX_PRECISION,
    NULL,
    Value,
    engine_type,
    is_floating,
    is_integer,
    positive_zero,
)
from paimon_nb.sql.select_tree import NotLocal
from paimon_nb.statements.select import Call, Column

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.statements.select import Expression

AGGREGATES = frozenset({"COUNT", "SUM", "MIN", "MAX", "AVG"})
_LEAVE = "error('left to Spark')"
_EXACT_INTEGERS = 1 << 53
"""Sums of integers below this are exact as DOUBLE."""
_FRACTION = 1 << 10
"""Floating-point numbers that are multiples of 1 / _FRACTION are summed exactly, in any order ..."""
_EXACT_SUM = float(1 << 43)
"""... while the sum of their absolute values is below this."""
_SUM_DIGITS = 10
"""A sum of decimals has so many more digits; it cannot overflow with fewer rows than this power of ten."""
_SAFE_PRECISION = 18
"""Averages of decimals of so many digits fit into HUGEINT."""


def aggregate_sql(call: Call, value_of: Callable[[Expression], Value], *, flink: bool) -> Value:
    """The value of an aggregate function; `value_of`: that of its operand in a row. Raises NotLocal."""
    condition = None
    if call.name == "FILTER":
        inner, where = call.operands
        if not isinstance(inner, Call) or inner.name not in AGGREGATES:
            raise NotLocal("FILTER of another function than an aggregate")
        if any(not isinstance(o, Column) for o in inner.operands):
            raise NotLocal(
                "an expression under FILTER is left to Spark"
            )  # it raises errors of rows that FILTER leaves out
        call, condition = inner, value_of(where)
    operand = value_of(call.operands[0]) if call.operands else None
    if operand is not None and operand.type == NULL:
        raise NotLocal(f"{call.name} of NULL is left to Spark")
    name = _spark_column_name(call, operand) if condition is None else None
    x = "1" if operand is None else operand.sql
    if condition is not None:
        x = f"(CASE WHEN {condition.sql} THEN {x} END)"
    if call.name == "COUNT":
        return Value(_count_sql(x, operand, call.distinct, condition is not None), BIGINT, name)
    assert operand is not None
    if call.distinct and call.name not in ("MIN", "MAX"):
        raise NotLocal(f"{call.name}(DISTINCT ...) is left to Spark")
    filtered = Value(x, operand.type)
    if call.name in ("MIN", "MAX"):
        return Value(_min_or_max_sql(call.name.lower(), filtered), operand.type, name)
    total = _sum_as_spark(filtered) if call.name == "SUM" else _average_as_spark(filtered)
    if not flink:
        return Value(total.sql, total.type, name)
    return _in_flink_result_type(call.name, total, operand, name)


def _spark_column_name(call: Call, operand: Value | None) -> str | None:
    if operand is None:
        return "count(1)"
    if operand.name is None:
        return None
    return f"{call.name.lower()}({'DISTINCT ' if call.distinct else ''}{operand.name})"


def _count_sql(x: str, operand: Value | None, distinct: bool, filtered: bool) -> str:
    if operand is None and not filtered:
        return "count(*)"
    if not distinct:
        return f"count({x})"
    if operand is not None and is_floating(operand.type):
        x = positive_zero(x, operand.type)
    return f"count(DISTINCT {x})"


def _min_or_max_sql(function: str, x: Value) -> str:
    found = f"{function}({x.sql})"
    if not is_floating(x.type):
        return found
    # 0.0 equals -0.0: which one is found depends on the order of the rows.
    return f"(CASE WHEN {found} = 0 AND bool_or({x.sql} = 0 AND signbit({x.sql})) THEN {_LEAVE} ELSE {found} END)"


def _largest(x: str) -> str:
    """A bound of the sum of absolute values, as HUGEINT or DOUBLE."""
    return f"(greatest(abs(CAST(max({x}) AS HUGEINT)), abs(CAST(min({x}) AS HUGEINT))) * count({x}))"


def _checked(check: str, x: str, total: str) -> str:
    return f"(CASE WHEN count({x}) = 0 THEN NULL WHEN {check} THEN {total} ELSE {_LEAVE} END)"


def _sum_as_spark(x: Value) -> Value:
    if is_integer(x.type):
        total = f"CAST(sum({x.sql}) AS BIGINT)"
        if x.type == BIGINT:
            total = _checked(f"{_largest(x.sql)} < CAST({(1 << 63) - 1} AS HUGEINT)", x.sql, total)
        return Value(total, BIGINT)
    if is_floating(x.type):
        return Value(_exact_sum(x.cast(DOUBLE).sql), DOUBLE)
    if isinstance(x.type, Decimal):
        t = Decimal(min(x.type.precision + _SUM_DIGITS, MAX_PRECISION), x.type.scale)
        total = f"CAST(sum({x.sql}) AS {engine_type(t)})"
        if x.type.precision + _SUM_DIGITS > MAX_PRECISION:
            digits = MAX_PRECISION - x.type.scale
            bound = f"(greatest(abs(CAST(max({x.sql}) AS DOUBLE)), abs(CAST(min({x.sql}) AS DOUBLE))) * count({x.sql}))"
            total = _checked(f"{bound} < 0.9e{digits}", x.sql, total)
        return Value(total, t)
    raise NotLocal(f"SUM of {x.type.bare()} is left to Spark")


def _exact_sum(x: str) -> str:
    """A sum of DOUBLEs that no order of the rows changes."""
    check = f"bool_and({x} * {_FRACTION} = trunc({x} * {_FRACTION})) AND sum(abs({x})) < {_EXACT_SUM:.1f}"
    return _checked(check, x, f"sum({x})")


def _average_as_spark(x: Value) -> Value:
    if is_integer(x.type):
        total = f"(CAST(sum({x.sql}) AS DOUBLE) / count({x.sql}))"
        return Value(_checked(f"{_largest(x.sql)} < {_EXACT_INTEGERS}", x.sql, total), DOUBLE)
    if is_floating(x.type):
        double = x.cast(DOUBLE).sql
        return Value(f"({_exact_sum(double)} / count({double}))", DOUBLE)
    if isinstance(x.type, Decimal) and x.type.precision <= _SAFE_PRECISION:
        t = Decimal(x.type.precision + 4, x.type.scale + 4)
        total = unscaled_decimal_sql(Value(f"sum({x.sql})", Decimal(MAX_PRECISION, x.type.scale)))
        rounded = half_up(f"({total} * 10000)", f"CAST(count({x.sql}) AS HUGEINT)")
        return Value(f"(CASE WHEN count({x.sql}) = 0 THEN NULL ELSE {from_unscaled(rounded, t)} END)", t)
    raise NotLocal(f"AVG of {x.type.bare()} is left to Spark")


def _in_flink_result_type(function: str, total: Value, operand: Value, name: str | None) -> Value:
    """The result in Flink's type: AVG of integers is an integer, SUM and AVG of FLOAT are FLOAT."""
    if function == "AVG" and is_integer(operand.type):
        return Value(f"CAST(trunc({total.sql}) AS {engine_type(operand.type)})", operand.type)
    if operand.type == FLOAT:
        return Value(f"CAST({total.sql} AS FLOAT)", FLOAT)
    return Value(total.sql, total.type, name)
