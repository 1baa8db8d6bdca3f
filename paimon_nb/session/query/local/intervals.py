"""Dates and timestamps plus intervals of one unit."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.values import DATE, TIMESTAMP, Build, Value, engine_type

if TYPE_CHECKING:
    from collections.abc import Sequence


_UNITS = {
    **{f"{unit}{s}": unit for unit in ("YEAR", "MONTH", "WEEK", "DAY", "HOUR", "MINUTE", "SECOND") for s in ("", "S")},
}
_DATE_UNITS = frozenset({"YEAR", "MONTH", "WEEK", "DAY"})
_LIMIT = 100_000
"""Of a unit: the result stays in the range of both engines."""


def interval_of(words: Sequence[str]) -> tuple[int, str]:
    """Number and unit of `INTERVAL '3' MONTH`, `INTERVAL 3 MONTHS` or `INTERVAL '3 months'`. Raises NotLocal."""
    parts = [p for word in words[1:] for p in word.strip("'").upper().split()]
    number, unit = parts if len(parts) == 2 else ("", "")
    if not number.removeprefix("-").isdecimal() or unit not in _UNITS or abs(int(number)) > _LIMIT:
        raise NotLocal("this INTERVAL is left to Spark")
    return int(number), _UNITS[unit]


def plus_interval(operator: str, interval: tuple[int, str]) -> Build:
    """Builds a date or timestamp plus or minus an interval."""
    number, unit = interval

    def plus_interval_sql(_flink: bool, values: list[Value]) -> Value:
        (a,) = values
        if a.type not in (DATE, TIMESTAMP) or (a.type == DATE and unit not in _DATE_UNITS):
            raise NotLocal(f"{a.type.bare()} and an interval of {unit} are left to Spark")
        return Value(f"CAST(({a.sql} {operator} INTERVAL ({number}) {unit}) AS {engine_type(a.type)})", a.type)

    return plus_interval_sql
