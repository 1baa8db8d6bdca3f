"""Aggregate functions whose result depends on the order in which rows arrived: FIRST_VALUE, LISTAGG, COLLECT_LIST and their kind.

The rows of a group are numbered as they arrive, as in a stream of Flink. A removed value is the oldest of the equal ones.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Array, Multiset
from paimon_nb.incremental.list_types import engine_type
from paimon_nb.incremental.operators import ARRIVAL
from paimon_nb.session.query.local.casts import cast_value
from paimon_nb.session.query.local.literals import plain_text
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import (
    BYTES,
    NULL,
    STRING,
    Value,
    embedded_engine_type,
    is_floating,
    orderable,
    quote_text,
)
from paimon_nb.syntax import tree as syntax
from paimon_nb.syntax.tree import without_brackets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.types import DataType
    from paimon_nb.incremental.operators import Column
    from paimon_nb.session.query.local.expressions import Expressions

_FIRST = {"FIRST": "first", "FIRST_VALUE": "first", "ANY_VALUE": "first", "LAST": "last", "LAST_VALUE": "last"}
_TEXTS = frozenset({"LISTAGG", "STRING_AGG"})
_LISTS = frozenset({"COLLECT_LIST", "COLLECT_SET", "ARRAY_AGG"})


@dataclass(frozen=True, slots=True)
class ArrivalCall:
    """A call, in the engine's SQL over the rows of a group."""

    function: str
    operand: Column
    others: tuple[Column, ...]
    """Columns of its order and its condition."""
    condition: Column | None
    distinct: bool
    type: DataType
    sql: str
    of_no_rows: str
    """SQL of its value of no rows; '' for NULL."""


def arrival_call(e: syntax.Call, rows: Expressions, column_of: Callable[[Value], Column]) -> ArrivalCall:
    """How a call is computed.

    Args:
        e: the call.
        rows: the scope of a row.
        column_of: makes a value of a row a column of the groups' rows.

    Raises:
        NotLocal: it is computed in another way.
    """
    has_nulls = _respects_nulls(e, rows)
    operand = rows.value(e.arguments[0]) if e.arguments else Value("", NULL)
    if operand.type == NULL or embedded_engine_type(operand.type) is None:
        raise NotLocal(f"{e.function} of such values")
    if e.distinct and (is_floating(operand.type) or not orderable(operand)):
        raise NotLocal(f"{e.function}(DISTINCT ...) of {operand.type.bare()}")
    separator = _separator(e, rows.flink) if e.function in _TEXTS else ""
    if e.function in _TEXTS:
        operand = _as_text(e, operand, rows)
    is_set = e.function == "COLLECT_SET"
    if is_set and is_floating(operand.type):
        raise NotLocal(f"COLLECT_SET of {operand.type.bare()}")
    column = column_of(operand)
    condition = None if e.condition is None else column_of(rows.condition(e.condition))
    order, order_columns = _order(e, rows, column_of)
    conditions = [] if condition is None else [condition.id]
    if not has_nulls:
        conditions.append(f"{column.id} IS NOT NULL")
    distinct = e.distinct or is_set
    if distinct:
        conditions.append(first_of_equal(column, condition)[0])
    others = (*order_columns, *(() if condition is None else (condition,)))
    t, function, of_no_rows = _result(e.function, operand.type, column, separator, flink=rows.flink, order=order)
    passing = f" FILTER (WHERE {' AND '.join(conditions)})" if conditions else ""
    sql = function.replace(" FILTERED", passing)
    return ArrivalCall(e.function, column, others, condition, distinct, t, sql, of_no_rows)


def first_of_equal(column: Column, condition: Column | None) -> tuple[str, str]:
    """The name of a flag, whether a row is the first one of its group with its value, and SQL of what such rows have in common."""
    if condition is None:
        return f"first_{column.id}", column.id
    return f"first_{column.id}_{condition.id}", f"{column.id}, {condition.id} IS TRUE"


def _result(
    function: str, t: DataType, column: Column, separator: str, *, flink: bool, order: str
) -> tuple[DataType, str, str]:
    """The type of the result, its SQL with the word FILTERED for the condition, and its value of no rows."""
    x = column.id
    if function in _FIRST:
        return t, f"{_FIRST[function]}({x} ORDER BY {order}) FILTERED", ""
    if function in _TEXTS:
        return STRING, f"string_agg({x}, {quote_text(separator)} ORDER BY {order}) FILTERED", ""
    if function == "COLLECT":
        if not flink:
            raise NotLocal("COLLECT is a function of Flink")
        found: DataType = Multiset(t)
        return (
            found,
            f"coalesce(CAST(histogram({x}) FILTERED AS {engine_type(found)}), CAST(MAP {{}} AS {engine_type(found)}))",
            "",
        )
    found = Array(t)
    values = f"list({x} ORDER BY {order}) FILTERED"
    if flink and function == "ARRAY_AGG":
        return found, values, ""
    empty = f"CAST([] AS {engine_type(found)})"
    return found, f"coalesce({values}, {empty})", empty


def _respects_nulls(e: syntax.Call, rows: Expressions) -> bool:
    """Whether NULLs are values. Raises NotLocal: the call has other words."""
    arguments, words = list(e.arguments), rows.context.words
    if len(e.name) > 1 or not arguments:
        raise NotLocal(f"{e.function} with these arguments")
    if words(e.span.start, arguments[0].span.start)[1:] not in (["("], ["(", "DISTINCT"], ["(", "ALL"]):
        raise NotLocal(f"words inside {e.function}")
    after = words(arguments[-1].span.stop, e.span.stop)
    if after[0] not in (")", "ORDER"):
        raise NotLocal(f"words inside {e.function}")
    ignores: bool | None = {"IGNORE NULLS": True, "RESPECT NULLS": False}.get(" ".join(after[-2:]))
    if ignores is None and ("IGNORE" in after or "RESPECT" in after):
        raise NotLocal(f"words after {e.function}")
    if e.function in _FIRST and e.function != "ANY_VALUE" and len(arguments) == 2:
        flag = without_brackets(arguments[1])
        if ignores is not None or not isinstance(flag, syntax.Literal) or flag.text.upper() not in ("TRUE", "FALSE"):
            raise NotLocal(f"{e.function} with these arguments")
        ignores = flag.text.upper() == "TRUE"
    elif len(arguments) > (2 if e.function in _TEXTS else 1):
        raise NotLocal(f"{e.function} with these arguments")
    if e.function in _FIRST:
        if e.distinct:
            raise NotLocal(f"{e.function}(DISTINCT ...)")
        return not rows.flink if ignores is None else not ignores
    if e.function == "ARRAY_AGG" and rows.flink:
        return not ignores
    if ignores is False or (ignores and e.function not in _LISTS):
        raise NotLocal(f"NULLS of {e.function}")
    return False


def _separator(e: syntax.Call, flink: bool) -> str:
    if len(e.arguments) == 1:
        return "," if flink else ""
    written = without_brackets(e.arguments[1])
    if isinstance(written, syntax.Literal) and written.kind == "string":
        text = plain_text(written.text)
        if "\\" not in text:
            return text
    if isinstance(written, syntax.Literal) and written.text.upper() == "NULL" and not flink:
        return ""
    raise NotLocal(f"{e.function} with a computed separator")


def _as_text(e: syntax.Call, operand: Value, rows: Expressions) -> Value:
    if operand.type == BYTES or (rows.flink and operand.type != STRING):
        raise NotLocal(f"{e.function} of {operand.type.bare()}")
    if operand.type == STRING:
        return operand
    if e.distinct:
        raise NotLocal(f"{e.function}(DISTINCT ...) of {operand.type.bare()}")
    return rows.apply("CAST", cast_value("CAST", STRING, "STRING"), [operand])


def _order(e: syntax.Call, rows: Expressions, column_of: Callable[[Value], Column]) -> tuple[str, Sequence[Column]]:
    """SQL of the order of the rows, and the columns that it reads."""
    if e.order and (e.function in _FIRST or e.function == "COLLECT"):
        raise NotLocal(f"ORDER BY in {e.function}")
    items, columns = [], []
    for o in e.order:
        value = rows.value(o.expression)
        if not orderable(value):
            raise NotLocal(f"ORDER BY of {value.type.bare()}")
        columns.append(column_of(value))
        direction = f"{'DESC' if o.descending else 'ASC'} NULLS {'FIRST' if o.nulls_first else 'LAST'}"
        items.append(f"{columns[-1].id} {direction}")
    return ", ".join([*items, f"{ARRIVAL.id} ASC"]), columns
