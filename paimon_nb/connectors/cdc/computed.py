"""Computed columns of a sync, for example `dt=date_format(at,yyyy-MM-dd)`.

Source: Paimon's Expression (CDC ingestion, computed functions).
"""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from typing import Any

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import did_you_mean
from paimon_nb.format.types import DataType, parse_type

_CALL = re.compile(r"(?P<name>[^=]+)=\s*+(?P<function>\w++)\s*+\((?P<arguments>.*)\)", re.S)
_DATE_PATTERNS = (("yyyy", "%Y"), ("MM", "%m"), ("dd", "%d"), ("HH", "%H"), ("mm", "%M"), ("ss", "%S"), ("SSS", "%f"))


@dataclass(frozen=True, slots=True)
class Computed:
    """A computed column."""

    name: str
    type: DataType
    column: str | None
    """The input column; None for a constant."""
    value: Callable[[Any], Any]

    def of(self, row: Mapping[str, Any]) -> Any:
        """The value for a row of Python values."""
        if self.column is None:
            return self.value(None)
        found = row.get(self.column)
        return None if found is None else self.value(found)


def parse_computed(texts: Sequence[str], columns: Mapping[str, DataType]) -> tuple[Computed, ...]:
    """Parse computed columns. Raises BadOptionValue: no such function. ColumnNotFound: the input column does not exist."""
    return tuple(_parse_computed_column(text, columns) for text in texts)


def _parse_computed_column(text: str, columns: Mapping[str, DataType]) -> Computed:
    found = _CALL.match(text)
    if found is None:
        raise BadOptionValue(f"invalid computed_column {text!r}", hint="write 'name=function(column, ...)'")
    arguments = [a.strip().strip("'\"") for a in found["arguments"].split(",")] if found["arguments"].strip() else []
    function = found["function"].lower()
    make = _FUNCTIONS.get(function)
    if make is None:
        raise BadOptionValue(
            f"unknown function {function!r} in computed_column", hint=did_you_mean(function, _FUNCTIONS) or f"functions: {', '.join(_FUNCTIONS)}"
        )  # fmt: skip
    name = found["name"].strip()
    if function == "cast":
        t = parse_type(arguments[1] if len(arguments) > 1 else "STRING")
        return Computed(name, t, None, lambda _: _cast_constant(arguments[0], t))
    if function == "now":
        return Computed(name, parse_type("TIMESTAMP(3) WITH LOCAL TIME ZONE"), None, lambda _: dt.datetime.now(dt.UTC))
    if not arguments or arguments[0] not in columns:
        raise ColumnNotFound(
            f"computed_column {name!r}: column {arguments[0] if arguments else ''!r} does not exist",
            hint=f"columns: {', '.join(columns)}",
        )
    try:
        t, value = make(columns[arguments[0]], arguments[1:])
    except (IndexError, ValueError):
        raise BadOptionValue(
            f"computed_column {text!r} needs another argument", hint="for example date_format(at,yyyy-MM-dd)"
        ) from None
    return Computed(name, t, arguments[0], value)


ComputedType = tuple[DataType, Callable[[Any], Any]]
_INT, _STRING = parse_type("INT"), parse_type("STRING")


def _date_part_function(attribute: str) -> Callable[[DataType, list[str]], ComputedType]:
    def build_date_part(source: DataType, arguments: list[str]) -> ComputedType:
        fraction_digits = int(arguments[0]) if arguments else 0
        return _INT, lambda v: getattr(_to_timestamp(v, fraction_digits), attribute)

    return build_date_part


def _date_format_function(source: DataType, arguments: list[str]) -> ComputedType:
    pattern, fraction_digits = arguments[0], int(arguments[1]) if len(arguments) > 1 else 0
    for java, python in _DATE_PATTERNS:
        pattern = pattern.replace(java, python)
    return _STRING, lambda v: _to_timestamp(v, fraction_digits).strftime(pattern)


def _substring_function(source: DataType, arguments: list[str]) -> ComputedType:
    begin, end = int(arguments[0]), int(arguments[1]) if len(arguments) > 1 else None
    return _STRING, lambda v: str(v)[begin:end]


def _truncate_function(source: DataType, arguments: list[str]) -> ComputedType:
    width = int(arguments[0])
    if source.root in ("CHAR", "VARCHAR"):
        return source, lambda v: str(v)[:width]
    if source.root == "DECIMAL":

        def truncate_decimal(v: Decimal) -> Decimal:
            v = Decimal(str(v))
            unit = Decimal(width).scaleb(int(v.as_tuple().exponent))
            return v - v % unit if v >= 0 else v - (v % unit + unit) % unit

        return source, truncate_decimal
    return source, lambda v: int(v) - int(v) % width


def _to_timestamp(value: Any, scale: int) -> dt.datetime:
    """The timestamp of a date, a timestamp, or an epoch number in units of 10^-scale seconds."""
    if isinstance(value, dt.datetime):
        return value
    if isinstance(value, dt.date):
        return dt.datetime(value.year, value.month, value.day)
    if isinstance(value, int):
        return dt.datetime.fromtimestamp(value / 10**scale, dt.UTC)
    return dt.datetime.fromisoformat(str(value))


def _cast_constant(text: str, t: DataType) -> Any:
    if t.root in ("CHAR", "VARCHAR"):
        return text
    if t.root == "BOOLEAN":
        return text.lower() == "true"
    if t.root == "DECIMAL":
        return Decimal(text)
    if t.root == "DATE":
        return dt.date.fromisoformat(text)
    if t.root.startswith("TIMESTAMP"):
        return dt.datetime.fromisoformat(text)
    return float(text) if t.root in ("FLOAT", "DOUBLE") else int(text)


_FUNCTIONS: dict[str, Callable[[DataType, list[str]], ComputedType]] = {
    "year": _date_part_function("year"), "month": _date_part_function("month"), "day": _date_part_function("day"), "hour": _date_part_function("hour"), "minute": _date_part_function("minute"),
    "second": _date_part_function("second"), "date_format": _date_format_function, "substring": _substring_function, "truncate": _truncate_function,
    "upper": lambda t, _: (_STRING, lambda v: str(v).upper()), "lower": lambda t, _: (_STRING, lambda v: str(v).lower()),
    "trim": lambda t, _: (_STRING, lambda v: str(v).strip()), "cast": lambda t, _: (t, lambda v: v), "now": lambda t, _: (t, lambda v: v),
}  # fmt: skip
