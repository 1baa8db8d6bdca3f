"""Values as display texts: short, one rule for the grid, the static table and plain text."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

MAX_CHARACTERS = 500
_LARGE_VALUE = 4096
"""Average bytes of a value from which values are cut one by one, before anything is copied."""


def value_text(value: Any, limit: int = MAX_CHARACTERS) -> str | None:
    """One value as text, cut to `limit` characters; None stays None. Nested values are written as JSON.

    Examples:
        >>> from decimal import Decimal
        >>> value_text(Decimal("1E-18"))
        '0.000000000000000001'
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        text = value[:limit].hex()
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, Decimal):
        text = format(value, "f")
    elif isinstance(value, dict | list):
        text = nested_text(value)
    else:
        text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def unambiguous_text(text: str) -> str:
    """A text beside other words: quoted where it would be taken for a NULL, or for nothing."""
    return f"'{text}'" if not text.strip() or text != text.strip() or text.upper() == "NULL" else text


class MapEntries(list[tuple[Any, Any]]):
    """The entries of a map. Python's Arrow values are lists, in which an empty map looks like an empty array."""


def nested_text(value: Any) -> str:
    """A nested value as JSON text: rows and maps are objects, arrays are arrays.

    Examples:
        >>> nested_text({"street": "Main", "zip": [1, None]})
        '{"street": "Main", "zip": [1, null]}'
        >>> nested_text(MapEntries([("k", 1)])), nested_text(MapEntries())
        ('{"k": 1}', '{}')
    """
    match value:
        case dict():
            return "{" + ", ".join(f"{_quoted(k)}: {nested_text(v)}" for k, v in value.items()) + "}"
        case list() if is_map(value):
            return "{" + ", ".join(f"{_key_text(k)}: {nested_text(v)}" for k, v in value) + "}"
        case list():
            return "[" + ", ".join(map(nested_text, value)) + "]"
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case float() if not math.isfinite(value):
            return _quoted(repr(value))
        case int() | float():
            return repr(value)
        case bytes():
            return _quoted(value.hex())
        case str():
            return _quoted(value)
    return format(value, "f") if isinstance(value, Decimal) else _quoted(str(value))


def is_map(value: list[Any]) -> bool:
    """Whether a list has the entries of a map."""
    return isinstance(value, MapEntries) or (bool(value) and all(isinstance(entry, tuple) for entry in value))


def _key_text(key: Any) -> str:
    return _quoted(key) if isinstance(key, str) else _quoted(value_text(key) or "null")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def display_texts(column: Any, limit: int = MAX_CHARACTERS) -> list[str | None]:
    """The display texts of an Arrow column. Large values are cut before they are copied."""
    import pyarrow as pa

    kind = column.type
    large = len(column) and limit <= MAX_CHARACTERS and column.nbytes / len(column) > _LARGE_VALUE
    if large and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return [
            value_text(_beginning_of_large_value(column[i], limit + 1, text=True), limit) for i in range(len(column))
        ]
    if large and (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        return [
            value_text(_beginning_of_large_value(column[i], limit + 1, text=False), limit) for i in range(len(column))
        ]
    return [value_text(v, limit) for v in display_values(column)]


def _beginning_of_large_value(value: Any, length: int, *, text: bool) -> str | bytes | None:
    """The beginning of a large string or binary value."""
    if not value.is_valid:
        return None
    data = value.as_buffer()
    part: bytes = data.slice(0, min(data.size, length * (4 if text else 1))).to_pybytes()
    return part.decode("utf-8", "ignore") if text else part


# -- Python values with what their Arrow types say


def scalar_text(value: pa.Scalar, limit: int = MAX_CHARACTERS) -> str | None:
    """An Arrow scalar as display text."""
    return value_text(display_value(value), limit)


def display_value(value: pa.Scalar) -> Any:
    """An Arrow scalar as in `display_values`."""
    import pyarrow as pa

    return display_values(pa.repeat(value, 1))[0]


def display_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """The values of an Arrow column for `value_text`.

    As `to_pylist`, but maps are `MapEntries`, FLOAT has its own digits (0.1, where its DOUBLE is 0.10000000149011612),
    durations, intervals and times that Python does not have are texts.
    """
    import pyarrow as pa

    from paimon_nb.format.data import python_values

    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    kind = _readable_type(column.type)
    values = python_values(column if kind == column.type else column.cast(kind))
    convert = _conversion(column.type)
    return values if convert is None else [None if v is None else convert(v) for v in values]


def _readable_type(t: pa.DataType) -> pa.DataType:
    """A type to which a column is cast, because Python has no values of its own: each unit of a duration, nanoseconds of a day."""
    import pyarrow as pa

    if pa.types.is_duration(t):
        return pa.int64()
    if (pa.types.is_time64(t) or (pa.types.is_timestamp(t) and t.tz is None)) and t.unit == "ns":
        return pa.string()
    if pa.types.is_map(t):
        return pa.map_(
            t.key_field.with_type(_readable_type(t.key_type)), t.item_field.with_type(_readable_type(t.item_type))
        )
    if pa.types.is_fixed_size_list(t):
        return pa.list_(t.value_field.with_type(_readable_type(t.value_type)), t.list_size)
    if pa.types.is_list(t):
        return pa.list_(t.value_field.with_type(_readable_type(t.value_type)))
    if pa.types.is_large_list(t):
        return pa.large_list(t.value_field.with_type(_readable_type(t.value_type)))
    if pa.types.is_struct(t):
        return pa.struct([field.with_type(_readable_type(field.type)) for field in t])
    return t


def _conversion(t: pa.DataType) -> Any:
    """What makes a display value of a Python value of this type; None: nothing."""
    import pyarrow as pa

    if pa.types.is_map(t):
        key, item = _conversion(t.key_type) or _same, _conversion(t.item_type) or _same
        return lambda entries: MapEntries([(key(k), None if v is None else item(v)) for k, v in entries])
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        inner = _conversion(t.value_type)
        return None if inner is None else lambda values: [None if v is None else inner(v) for v in values]
    if pa.types.is_struct(t):
        fields = {f.name: c for f in t if (c := _conversion(f.type)) is not None}
        return None if not fields else lambda row: {
            n: fields[n](v) if n in fields and v is not None else v for n, v in row.items()
        }  # fmt: skip
    if pa.types.is_float32(t) or pa.types.is_float16(t):
        import numpy as np

        shortest = np.float32 if pa.types.is_float32(t) else np.float16
        return lambda value: float(str(shortest(value)))
    if pa.types.is_duration(t):
        per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[t.unit]
        return lambda value: _duration_text(value, per_second)
    if pa.types.is_interval(t):
        return lambda value: _interval_text(*value)
    if pa.types.is_time(t):
        return lambda time: _without_zeros(str(time))
    return None


def _same(value: Any) -> Any:
    return value


def _without_zeros(text: str) -> str:
    """A time without the zeros at the end of its fraction: engines keep it with different numbers of digits."""
    return text.rstrip("0").rstrip(".") if "." in text else text


def _duration_text(units: int, per_second: int) -> str:
    """A duration: '2 days 03:04:05.5'."""
    seconds, rest = divmod(abs(units), per_second)
    days, seconds = divmod(seconds, 86_400)
    fraction = f".{rest:0{len(str(per_second)) - 1}d}".rstrip("0") if rest else ""
    clock = f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{fraction}"
    return f"{'-' if units < 0 else ''}{_counted(days, 'day') + ' ' if days else ''}{clock}"


def _interval_text(months: int, days: int, nanoseconds: int) -> str:
    """An interval, whose months, days and hours are no multiples of each other: '1 year 2 months -3 days 04:00:00'."""
    sign = -1 if months < 0 else 1
    years, months = divmod(abs(months), 12)
    parts = [_counted(sign * n, unit) for n, unit in ((years, "year"), (months, "month")) if n]
    parts += [_counted(days, "day")] if days else []
    return " ".join([*parts, *([_duration_text(nanoseconds, 10**9)] if nanoseconds or not parts else [])])


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if abs(number) == 1 else 's'}"
