"""Window functions in the engine's SQL, with Spark's result types, and the windows that both engines understand alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import DOUBLE, INT, NULL, Value, orderable, with_positive_zero

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.format.types import DataType
    from paimon_nb.syntax.tree import Node, Window

_RANKS: dict[str, DataType] = {
    "ROW_NUMBER": INT,
    "RANK": INT,
    "DENSE_RANK": INT,
    "PERCENT_RANK": DOUBLE,
    "CUME_DIST": DOUBLE,
}
_OFFSETS = frozenset({"LAG", "LEAD"})
_FRAMED = {"FIRST_VALUE": "first_value", "LAST_VALUE": "last_value", "FIRST": "first_value", "LAST": "last_value"}
WINDOW_FUNCTIONS = frozenset({*_RANKS, *_OFFSETS, *_FRAMED, "NTILE"})
_UNBOUNDED = 1 << 40
_OFFSET_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Over:
    """A window."""

    sql: str
    """` OVER (...)`."""
    values: tuple[Value, ...]
    """Its parts."""
    is_ordered: bool
    has_frame: bool


def over(window: Window, named: Mapping[str, Window], value_of: Callable[[Node], Value]) -> Over:
    """The window that follows OVER. Raises NotLocal."""
    if window.base is not None:
        if window.partition or window.order or window.frame or window.base.lower() not in named:
            raise NotLocal("this window is left to Spark")
        window = named[window.base.lower()]
    partition = [with_positive_zero(value_of(e)) for e in window.partition]
    order = [with_positive_zero(value_of(o.expression)) for o in window.order]
    for value in (*partition, *order):
        if value.type == NULL or not orderable(value):
            raise NotLocal(f"a window over {value.type.bare()} is left to Spark")
    parts = [f"PARTITION BY {', '.join(v.sql for v in partition)}"] if partition else []
    if order:
        items = [
            f"{v.sql} {'DESC' if o.descending else 'ASC'} NULLS {'FIRST' if o.nulls_first else 'LAST'}"
            for v, o in zip(order, window.order, strict=True)
        ]
        parts.append(f"ORDER BY {', '.join(items)}")
    if window.frame:
        parts.append(_frame(window.frame, is_ordered=bool(order)))
    return Over(f" OVER ({' '.join(parts)})", (*partition, *order), bool(order), bool(window.frame))


def _frame(words: Sequence[str], *, is_ordered: bool) -> str:
    kind, *bounds = words
    if bounds[:1] == ["BETWEEN"] and "AND" in bounds:
        middle = bounds.index("AND")
        first, last = " ".join(bounds[1:middle]), " ".join(bounds[middle + 1 :])
    else:
        first, last = " ".join(bounds), "CURRENT ROW"
    if kind not in ("ROWS", "RANGE") or not (_is_bound(first) and _is_bound(last)):
        raise NotLocal("this frame of a window is left to Spark")
    if _offset(first) > _offset(last) or first == "UNBOUNDED FOLLOWING" or last == "UNBOUNDED PRECEDING":
        raise NotLocal("the frame of a window ends before it begins")
    if kind == "RANGE" and (any(w[0].isdigit() for w in (first, last)) or not is_ordered):
        raise NotLocal("a RANGE of a window with offsets is left to Spark")
    return f"{kind} BETWEEN {first} AND {last}"


def _is_bound(text: str) -> bool:
    number, _, side = text.partition(" ")
    if side in ("PRECEDING", "FOLLOWING"):
        return number == "UNBOUNDED" or (number.isdecimal() and int(number) < _OFFSET_LIMIT)
    return text == "CURRENT ROW"


def _offset(bound: str) -> int:
    number, _, side = bound.partition(" ")
    if number == "CURRENT":
        return 0
    distance = _UNBOUNDED if number == "UNBOUNDED" else int(number)
    return -distance if side == "PRECEDING" else distance


def window_value(function: str, values: list[Value], window: Over) -> Value:
    """The value of a window function that is not an aggregate. Raises NotLocal."""
    if function in _FRAMED:
        if len(values) != 1 or values[0].type == NULL:
            raise NotLocal(f"{function} with these arguments is left to Spark")
        return Value(f"{_FRAMED[function]}({values[0].sql}){window.sql}", values[0].type)
    if not window.is_ordered or window.has_frame:
        raise NotLocal(f"{function} without an order, or with a frame, is left to Spark")
    if function in _RANKS:
        if values:
            raise NotLocal(f"{function} with arguments is left to Spark")
        t = _RANKS[function]
        text = f"{function.lower()}(){window.sql}"
        return Value(f"CAST({text} AS INTEGER)" if t == INT else text, t)
    if function == "NTILE":
        count = values[0].literal if len(values) == 1 else None
        if count is None or not 0 < count < _OFFSET_LIMIT:
            raise NotLocal("NTILE with these arguments is left to Spark")
        return Value(f"CAST(ntile({count}){window.sql} AS INTEGER)", INT)
    return _lag_or_lead(function.lower(), values, window)


def _lag_or_lead(function: str, values: list[Value], window: Over) -> Value:
    offset = 1 if len(values) < 2 else values[1].literal
    if not 1 <= len(values) <= 3 or values[0].type == NULL or offset is None or not 0 <= offset < _OFFSET_LIMIT:
        raise NotLocal(f"{function.upper()} with these arguments is left to Spark")
    default = ""
    if len(values) == 3:
        if values[2].type not in (values[0].type, NULL) or not values[2].is_constant:
            raise NotLocal(f"{function.upper()} with such a default is left to Spark")
        default = f", {values[2].sql}"
    return Value(f"{function}({values[0].sql}, {offset}{default}){window.sql}", values[0].type)
