"""VARIANT values as JSON, for display. The numbers and times are those that Spark's `to_json` writes, in UTC."""

from __future__ import annotations

import base64
import datetime as dt
import json
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.data.variant_encoding import (
    ARRAY,
    OBJECT,
    Keys,
    array_elements,
    basic_type,
    decode_scalar,
    object_fields,
)
from paimon_nb.format.row.java_float import double_text, float_text

if TYPE_CHECKING:
    from collections.abc import Sequence

_EPOCH = dt.datetime(1970, 1, 1)


def variant_json(value: bytes, metadata: bytes) -> str:
    """One value. Raises ValueError, IndexError, struct.error: malformed bytes."""
    return _json_text(value, Keys(metadata).names)


def with_variants_as_json(table: pa.Table) -> pa.Table:
    """The table with JSON texts in place of VARIANT columns, also inside of ROW; malformed values stay as they are."""
    if not any(map(_has_variant, table.schema.types)):
        return table
    columns = [_as_json(c) if _has_variant(c.type) else c for c in table.columns]
    return pa.table(columns, names=table.column_names)


def _has_variant(t: pa.DataType) -> bool:
    return _is_variant(t) or (pa.types.is_struct(t) and any(_has_variant(f.type) for f in t))


def _is_variant(t: pa.DataType) -> bool:
    """Whether a type is that of VARIANT columns, as Spark marks it: a struct of two binary fields."""
    if not pa.types.is_struct(t) or {f.name for f in t} != {"value", "metadata"} or t.num_fields != 2:
        return False
    return bool((t.field("metadata").metadata or {}).get(b"variant") == b"true")


def _as_json(column: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    if isinstance(column, pa.ChunkedArray):
        chunks = [_as_json(c) for c in column.chunks]
        return pa.chunked_array(chunks) if chunks else column
    t = column.type
    if not _is_variant(t):
        children = [_as_json(c) if _has_variant(c.type) else c for c in column.flatten()]
        return pa.StructArray.from_arrays(children, names=[f.name for f in t], mask=column.is_null())
    try:
        texts = [None if v is None else variant_json(v["value"], v["metadata"]) for v in column.to_pylist()]
    except (ValueError, IndexError, TypeError, ArithmeticError):
        return column
    return pa.array(texts, pa.string())


def _json_text(value: bytes, names: Sequence[str]) -> str:
    match basic_type(value):
        case kind if kind == OBJECT:
            fields = [(names[key], inner) for key, inner in object_fields(value)]
            return "{" + ",".join(f"{_quoted(name)}:{_json_text(inner, names)}" for name, inner in fields) + "}"
        case kind if kind == ARRAY:
            return "[" + ",".join(_json_text(inner, names) for inner in array_elements(value)) + "]"
    return _scalar_text(*decode_scalar(value))


def _scalar_text(kind: str, value: Any) -> str:
    match kind:
        case "null":
            return "null"
        case "boolean":
            return "true" if value else "false"
        case "long":
            return str(value)
        case "decimal":
            return format(value, "f")
        case "double" | "float":
            text = double_text(value) if kind == "double" else float_text(value)
            return text if text[-1].isdigit() else _quoted(text)  # NaN and infinity are no JSON
        case "date":
            return _quoted((_EPOCH + dt.timedelta(days=value)).date().isoformat())
        case "timestamp" | "timestamp_ntz":
            time = _EPOCH + dt.timedelta(microseconds=value)
            text = time.isoformat(" ", "microseconds" if time.microsecond else "seconds")
            return _quoted(text + ("+00:00" if kind == "timestamp" else ""))
        case "binary":
            return _quoted(base64.b64encode(value).decode())
        case "string":
            return _quoted(value)
    return _quoted("?")


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
