"""Aggregate functions in the engine's SQL, with Spark's result types.

A sum that could overflow is an error in the engine: Spark answers. Sums of floating-point numbers have some order of the rows, as in Spark,
whose tasks end in any order; in a window the order is given, so that only exact sums are answered.
"""

from __future__ import annotations

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Array, Decimal
from paimon_nb.session.query.local.decimals import from_unscaled, half_up, unscaled_decimal_sql
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BIGINT,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    LEAVE,
    MAX_PRECISION,
    NULL,
    Value,
    called,
    engine_type,
    is_floating,
    is_integer,
    is_number,
    orderable,
    positive_zero,
    to_double,
)

_DEVIATIONS = {
    "STDDEV": "stddev_samp", "STD": "stddev_samp", "STDDEV_SAMP": "stddev_samp", "STDDEV_POP": "stddev_pop",
    "VARIANCE": "var_samp", "VAR_SAMP": "var_samp", "VAR_POP": "var_pop",
}  # fmt: skip
_TRUTHS = {"BOOL_AND": "bool_and", "EVERY": "bool_and", "BOOL_OR": "bool_or", "SOME": "bool_or", "ANY": "bool_or"}
PAIR_AGGREGATES = frozenset({"CORR", "COVAR_POP", "COVAR_SAMP"})
"""Functions of two numbers."""
_LISTS = frozenset({"COLLECT_LIST", "COLLECT_SET", "ARRAY_AGG"})
AGGREGATES = frozenset(
    {
        "COUNT",
        "SUM",
        "MIN",
        "MAX",
        "AVG",
        "MEAN",
        "COUNT_IF",
        "MEDIAN",
        *PAIR_AGGREGATES,
        *_DEVIATIONS,
        *_TRUTHS,
        *_LISTS,
    }
)
ORDERED_AGGREGATES = frozenset(
    {"FIRST", "FIRST_VALUE", "LAST", "LAST_VALUE", "ANY_VALUE", "LISTAGG", "STRING_AGG", "COLLECT", "COLLECT_LIST"}
    | {"COLLECT_SET", "ARRAY_AGG"}
)
"""Functions whose result depends on the order of the rows, as in Spark; a few are answered by the embedded engine."""
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


@dataclass(frozen=True, slots=True)
class _Rows:
    """The values that an aggregate sees: of a group's rows, or of a window."""

    value: Value
    distinct: bool
    over: str

    def of(self, function: str, x: str | None = None, *, distinct: bool = False) -> str:
        """An aggregate of the values, or of an expression over them."""
        word = "DISTINCT " if distinct and self.distinct else ""
        return f"{function}({word}{self.value.sql if x is None else x}){self.over}"


def aggregate_sql(
    function: str, operand: Value | None, condition: Value | None, *, distinct: bool, flink: bool, over: str = ""
) -> Value:
    """The value of an aggregate function. Raises NotLocal.

    Args:
        function: one of AGGREGATES.
        operand: its argument in a row; None: a star.
        condition: of FILTER.
        distinct: whether DISTINCT is written.
        flink: whether the result has Flink's type.
        over: the window's SQL.
    """
    if function not in AGGREGATES:
        raise NotLocal(f"{function} is left to Spark")
    if operand is not None and operand.type == NULL:
        raise NotLocal(f"{function} of NULL is left to Spark")
    name = _spark_column_name(function, operand, distinct=distinct) if condition is None and not over else None
    x = "1" if operand is None else operand.sql
    if condition is not None:
        x = f"(CASE WHEN {condition.sql} THEN {x} END)"
    if function == "MEAN":
        function = "AVG"
    if operand is not None and function not in ("COUNT", "SUM", "MIN", "MAX", "AVG"):
        if distinct:
            raise NotLocal(f"{function}(DISTINCT ...) is left to Spark")
        return _other_aggregate(function, _Rows(Value(x, operand.type), distinct, over), name)
    if function == "COUNT":
        return Value(_count_sql(x, operand, distinct, condition is not None, over), BIGINT, name)
    assert operand is not None
    if distinct and is_floating(operand.type) and function not in ("MIN", "MAX"):
        raise NotLocal(f"{function}(DISTINCT ...) of {operand.type.bare()} is left to Spark")
    rows = _Rows(Value(x, operand.type), distinct, over)
    if function in ("MIN", "MAX"):
        return Value(_min_or_max_sql(function.lower(), rows), operand.type, name)
    total = _sum_as_spark(rows) if function == "SUM" else _average_as_spark(rows)
    if not flink:
        return Value(total.sql, total.type, name, raises=total.raises)
    return _in_flink_result_type(function, total, operand, name)


def _other_aggregate(function: str, rows: _Rows, name: str | None) -> Value:
    """Aggregates whose result depends on the order of rows only where Spark's does, too."""
    t, x = rows.value.type, rows.value
    if function in _DEVIATIONS:
        if not is_number(t):
            raise NotLocal(f"{function} of {t.bare()} is left to Spark")
        return Value(rows.of(_DEVIATIONS[function], to_double(x).sql), DOUBLE, name)
    if function in _TRUTHS or function == "COUNT_IF":
        if t != BOOLEAN:
            raise NotLocal(f"{function} of {t.bare()} is left to Spark")
        if function == "COUNT_IF":
            return Value(rows.of("count", f"CASE WHEN {x.sql} THEN 1 END"), BIGINT, name)
        return Value(rows.of(_TRUTHS[function]), BOOLEAN, name if function.startswith("BOOL") else None)
    if function == "MEDIAN":
        return Value(_median(rows), DOUBLE, name)
    if function not in _LISTS or rows.over or (function == "COLLECT_SET" and (is_floating(t) or not orderable(x))):
        raise NotLocal(f"{function} of {t.bare()} is left to Spark")
    word = "DISTINCT " if function == "COLLECT_SET" else ""
    text = f"coalesce(list({word}{x.sql}) FILTER (WHERE {x.sql} IS NOT NULL), [])"
    return Value(text, Array(t), None if function == "ARRAY_AGG" else name)


def pair_aggregate(function: str, values: list[Value]) -> Value:
    """An aggregate of pairs of numbers. A correlation of equal values is left to Spark. Raises NotLocal."""
    if not all(is_number(v.type) for v in values):
        raise NotLocal(f"{function} of such values is left to Spark")
    name = called(function.lower(), values)
    x, y = (to_double(v).sql for v in values)
    text = f"{function.lower()}({x}, {y})"
    if function != "CORR":
        return Value(text, DOUBLE, name)
    constant = " OR ".join(f"stddev_pop({a}) FILTER (WHERE {b} IS NOT NULL) = 0" for a, b in ((x, y), (y, x)))
    one = f"count(*) FILTER (WHERE {x} IS NOT NULL AND {y} IS NOT NULL) = 1"
    return Value(f"(CASE WHEN {one} THEN NULL WHEN {constant} THEN {LEAVE} ELSE {text} END)", DOUBLE, name)


def _median(rows: _Rows) -> str:
    """The middle value, or half of both middle ones."""
    t = rows.value.type
    if not is_integer(t) and t not in (DOUBLE, FLOAT):
        raise NotLocal(f"MEDIAN of {t.bare()} is left to Spark")
    if rows.over:
        raise NotLocal("MEDIAN in a window is left to Spark")
    x = rows.value.cast(DOUBLE).sql
    if t != BIGINT and is_integer(t):
        return f"quantile_cont({x}, 0.5)"
    listed = f"list_sort(list({x}) FILTER (WHERE {x} IS NOT NULL))"
    low, high = (f"({listed})[(len({listed}) + {n}) // 2]" for n in (1, 2))
    one_middle = f"CASE WHEN len({listed}) % 2 = 1 THEN {low}"
    return f"({one_middle} ELSE 0.5e0 * {low} + 0.5e0 * {high} END)"


def _spark_column_name(function: str, operand: Value | None, *, distinct: bool) -> str | None:
    if operand is None:
        return "count(1)"
    if operand.name is None:
        return None
    return f"{function.lower()}({'DISTINCT ' if distinct else ''}{operand.name})"


def _count_sql(x: str, operand: Value | None, distinct: bool, filtered: bool, over: str) -> str:
    if operand is None and not filtered:
        return f"count(*){over}"
    if not distinct:
        return f"count({x}){over}"
    if operand is not None and is_floating(operand.type):
        x = positive_zero(x, operand.type)
    return f"count(DISTINCT {x}){over}"


def _min_or_max_sql(function: str, rows: _Rows) -> str:
    found, x = rows.of(function), rows.value.sql
    if rows.value.type.root not in ("FLOAT", "DOUBLE"):
        return found
    # 0.0 equals -0.0: which one is found depends on the order of the rows.
    negative = rows.of("bool_or", f"{x} = 0 AND signbit({x})")
    return f"(CASE WHEN {found} = 0 AND {negative} THEN {LEAVE} ELSE {found} END)"


def _largest(rows: _Rows) -> str:
    """A bound of the sum of absolute values, as HUGEINT or DOUBLE."""
    maximum, minimum = (f"abs(CAST({rows.of(function)} AS HUGEINT))" for function in ("max", "min"))
    return f"(greatest({maximum}, {minimum}) * {rows.of('count')})"


def _checked(check: str, rows: _Rows, total: str) -> str:
    return f"(CASE WHEN {rows.of('count')} = 0 THEN NULL WHEN {check} THEN {total} ELSE {LEAVE} END)"


def _sum_as_spark(rows: _Rows) -> Value:
    t, total = rows.value.type, rows.of("sum", distinct=True)
    if is_integer(t):
        whole = f"CAST({total} AS BIGINT)"
        if t == BIGINT:
            whole = _checked(f"{_largest(rows)} < CAST({(1 << 63) - 1} AS HUGEINT)", rows, whole)
        return Value(whole, BIGINT, raises=t == BIGINT)
    if is_floating(t):
        return Value(_floating_sum(rows), DOUBLE)
    if isinstance(t, Decimal):
        found = Decimal(min(t.precision + _SUM_DIGITS, MAX_PRECISION), t.scale)
        may_overflow = t.precision + _SUM_DIGITS > MAX_PRECISION
        text = f"CAST({total} AS {engine_type(found)})"
        if may_overflow:
            maximum, minimum = (f"abs(CAST({rows.of(function)} AS DOUBLE))" for function in ("max", "min"))
            bound = f"(greatest({maximum}, {minimum}) * {rows.of('count')})"
            text = _checked(f"{bound} < 0.9e{MAX_PRECISION - t.scale}", rows, text)
        return Value(text, found, raises=may_overflow)
    raise NotLocal(f"SUM of {t.bare()} is left to Spark")


def _floating_sum(rows: _Rows) -> str:
    """A sum of floating-point numbers, as DOUBLE; in a window only one that no order of the rows changes."""
    x = rows.value.cast(DOUBLE).sql
    if not rows.over:
        return rows.of("sum", x)
    is_multiple = rows.of("bool_and", f"{x} * {_FRACTION} = trunc({x} * {_FRACTION})")
    check = f"{is_multiple} AND {rows.of('sum', f'abs({x})')} < {_EXACT_SUM:.1f}"
    return _checked(check, rows, rows.of("sum", x))


def _average_as_spark(rows: _Rows) -> Value:
    t, count = rows.value.type, rows.of("count", distinct=True)
    if is_integer(t):
        total = f"(CAST({rows.of('sum', distinct=True)} AS DOUBLE) / {count})"
        return Value(_checked(f"{_largest(rows)} < {_EXACT_INTEGERS}", rows, total), DOUBLE)
    if is_floating(t):
        return Value(f"({_floating_sum(rows)} / {count})", DOUBLE)
    if isinstance(t, Decimal) and t.precision <= _SAFE_PRECISION:
        found = Decimal(t.precision + 4, t.scale + 4)
        total = unscaled_decimal_sql(Value(rows.of("sum", distinct=True), Decimal(MAX_PRECISION, t.scale)))
        rounded = half_up(f"({total} * 10000)", f"CAST({count} AS HUGEINT)")
        return Value(f"(CASE WHEN {count} = 0 THEN NULL ELSE {from_unscaled(rounded, found)} END)", found)
    raise NotLocal(f"AVG of {t.bare()} is left to Spark")


def _in_flink_result_type(function: str, total: Value, operand: Value, name: str | None) -> Value:
    """The result in Flink's type: AVG of integers is an integer, SUM and AVG of FLOAT are FLOAT."""
    if function == "AVG" and is_integer(operand.type):
        return Value(f"CAST(trunc({total.sql}) AS {engine_type(operand.type)})", operand.type)
    if operand.type == FLOAT:
        return Value(f"CAST({total.sql} AS FLOAT)", FLOAT)
    return Value(total.sql, total.type, name, raises=total.raises)
