"""Values as display texts: short, one rule for the grid, the static table and plain text."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from typing import Any

MAX_CHARACTERS = 500
_LARGE_VALUE = 4096
"""Average bytes of a value from which values are cut one by one, before anything is copied."""


def value_text(value: Any, limit: int = MAX_CHARACTERS) -> str | None:
    """One value as text, cut to `limit` characters; None stays None. Nested values are written as JSON."""
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, bytes):
        text = value[:limit].hex()
    elif isinstance(value, float):
        text = repr(value)
    elif isinstance(value, dict | list):
        text = nested_text(value)
    else:
        text = str(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def nested_text(value: Any) -> str:
    """An Arrow value as JSON text: rows and maps are objects, arrays are arrays.

    Examples:
        >>> nested_text({"street": "Main", "zip": [1, None]})
        '{"street": "Main", "zip": [1, null]}'
        >>> nested_text([("k", 1)])  # a map
        '{"k": 1}'
    """
    match value:
        case dict():
            return "{" + ", ".join(f"{_quoted(k)}: {nested_text(v)}" for k, v in value.items()) + "}"
        case list() if value and all(isinstance(entry, tuple) for entry in value):
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
    return str(value) if isinstance(value, Decimal) else _quoted(str(value))


def _key_text(key: Any) -> str:
    return _quoted(key) if isinstance(key, str) else _quoted(value_text(key) or "null")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def display_texts(column: Any) -> list[str | None]:
    """The display texts of an Arrow column. Large values are cut before they are copied."""
    import pyarrow as pa

    from paimon_nb.format.data import python_values

    kind = column.type
    large = len(column) and column.nbytes / len(column) > _LARGE_VALUE
    if large and (pa.types.is_string(kind) or pa.types.is_large_string(kind)):
        return [
            value_text(_beginning_of_large_value(column[i], MAX_CHARACTERS + 1, text=True)) for i in range(len(column))
        ]
    if large and (pa.types.is_binary(kind) or pa.types.is_large_binary(kind)):
        return [
            value_text(_beginning_of_large_value(column[i], MAX_CHARACTERS + 1, text=False)) for i in range(len(column))
        ]
    if isinstance(column, pa.Array):
        column = pa.chunked_array([column])
    return [value_text(v) for v in python_values(column)]


def _beginning_of_large_value(value: Any, length: int, *, text: bool) -> str | bytes | None:
    """The beginning of a large string or binary value."""
    if not value.is_valid:
        return None
    data = value.as_buffer()
    part: bytes = data.slice(0, min(data.size, length * (4 if text else 1))).to_pybytes()
    return part.decode("utf-8", "ignore") if text else part
