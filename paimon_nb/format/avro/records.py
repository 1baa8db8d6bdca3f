"""Decodes Avro records one by one: those of small metadata files.

fastavro decodes them no faster, and importing it takes as long as the manifests of 500 files. Files of many records are decoded as columns
(`columnar.py`). Source: Avro 1.11 specification, "Binary Encoding".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_LONG, _BYTES, _STRING, _RECORD, _ARRAY = range(5)
_SIMPLE = {"int": _LONG, "long": _LONG, "bytes": _BYTES, "string": _STRING}
Field = tuple[str, int, int, Any]
"""(name, the byte that stands for NULL, kind, fields of a record or item of an array); the byte is -1 where the type has no NULL."""


def compile_fields(schema: Any) -> tuple[Field, ...] | None:
    """What `read_records` needs of a schema without logical types; None if it has types that metadata does not use."""
    try:
        return (_field_of("", schema),)
    except (KeyError, TypeError, ValueError):
        return None


def read_records(fields: tuple[Field, ...], count: int, data: bytes) -> list[Any]:
    """The records of a block, as fastavro returns them. Raises `IndexError` and `ValueError` for broken bytes."""
    out, at = [], 0
    for _ in range(count):
        row, at = _read_record(fields, data, at)
        out.append(row[""])
    return out


def compile_columns(schema: Any) -> tuple[Field, ...] | None:
    """What `read_values` needs: the fields of a record by path ('_FILE._FILE_NAME'). None as in `compile_fields`, and if a record is nullable."""
    fields = compile_fields(schema)
    if fields is None or fields[0][1:3] != (-1, _RECORD):
        return None
    try:
        return tuple(_leaves("", fields[0][3]))
    except ValueError:
        return None


def _leaves(prefix: str, fields: tuple[Field, ...]) -> Iterator[Field]:
    for name, null, kind, inner in fields:
        if kind != _RECORD:
            yield prefix + name, null, kind, inner
        elif null < 0:
            yield from _leaves(f"{prefix}{name}.", inner)
        else:
            raise ValueError(name)


class _Last:
    """The last array of a field. Files of a table often have the same null counts."""

    __slots__ = ("encoded", "items")

    def __init__(self) -> None:
        self.encoded = b""
        self.items: tuple[Any, ...] = ()


_NO_ARRAY = _Last()


def read_values(fields: Sequence[Field], count: int, data: bytes, into: Mapping[str, list[Any]]) -> None:
    """Append the values of a block's records to the column of each path; arrays as tuples. Raises as `read_records`."""
    steps = [
        (into[path].append, null, kind, inner, _Last() if kind == _ARRAY else _NO_ARRAY)
        for path, null, kind, inner in fields
    ]
    at, size = 0, len(data)
    for _ in range(count):
        for append, null, kind, inner, last in steps:
            if null >= 0:
                branch = data[at]
                at += 1
                if branch == null:
                    append(None)
                    continue
                if branch != 2 - null:
                    raise ValueError(f"branch {branch} of a union of two")
            if kind == _ARRAY:
                if last.encoded and data.startswith(last.encoded, at):
                    at += len(last.encoded)
                else:
                    begin = at
                    items, at = _read_array(inner, data, at)
                    last.encoded, last.items = data[begin:at], tuple(items)
                append(last.items)
                continue
            number = data[at]
            at += 1
            if number >= 0x80:
                number, at = _rest_of_long(number, data, at)
            number = (number >> 1) ^ -(number & 1)
            if kind == _LONG:
                append(number)
                continue
            end = at + number
            if not at <= end <= size:
                raise ValueError(f"a value of {number} bytes at {at} of {size}")
            append(data[at:end] if kind == _BYTES else data[at:end].decode())
            at = end


def _field_of(name: str, node: Any) -> Field:
    null = -1
    if isinstance(node, list):
        null = 2 * node.index("null")
        (node,) = [branch for branch in node if branch != "null"]
    if isinstance(node, str):
        return name, null, _SIMPLE[node], None
    if node["type"] == "record":
        return name, null, _RECORD, tuple(_field_of(f["name"], f["type"]) for f in node["fields"])
    if node["type"] == "array":
        return name, null, _ARRAY, (_field_of("", node["items"]),)
    raise ValueError(node["type"])


def _read_record(fields: tuple[Field, ...], data: bytes, at: int) -> tuple[dict[str, Any], int]:
    row: dict[str, Any] = {}
    for name, null, kind, inner in fields:
        if null >= 0:
            branch = data[at]
            at += 1
            if branch == null:
                row[name] = None
                continue
            if branch != 2 - null:
                raise ValueError(f"branch {branch} of a union of two")
        if kind == _RECORD:
            row[name], at = _read_record(inner, data, at)
            continue
        if kind == _ARRAY:
            row[name], at = _read_array(inner, data, at)
            continue
        number = data[at]
        at += 1
        if number >= 0x80:
            number, at = _rest_of_long(number, data, at)
        number = (number >> 1) ^ -(number & 1)
        if kind == _LONG:
            row[name] = number
            continue
        end = at + number
        if not at <= end <= len(data):
            raise ValueError(f"a value of {number} bytes at {at} of {len(data)}")
        row[name] = data[at:end] if kind == _BYTES else data[at:end].decode()
        at = end
    return row, at


def _read_array(item: tuple[Field, ...], data: bytes, at: int) -> tuple[list[Any], int]:
    out: list[Any] = []
    _, null, kind, _ = item[0]
    while True:
        count, at = _read_long(data, at)
        if not count:
            return out, at
        if count < 0:  # then the size in bytes follows
            count = -count
            _, at = _read_long(data, at)
        if kind != _LONG or null < 0:
            for _ in range(count):
                row, at = _read_record(item, data, at)
                out.append(row[""])
            continue
        for _ in range(count):  # counts of NULL, the most frequent values of a manifest
            branch, number = data[at], data[at + 1]
            at += 1
            if branch == null:
                out.append(None)
                continue
            if branch != 2 - null:
                raise ValueError(f"branch {branch} of a union of two")
            at += 1
            if number >= 0x80:
                number, at = _rest_of_long(number, data, at)
            out.append((number >> 1) ^ -(number & 1))


def _read_long(data: bytes, at: int) -> tuple[int, int]:
    number, at = data[at], at + 1
    if number >= 0x80:
        number, at = _rest_of_long(number, data, at)
    return (number >> 1) ^ -(number & 1), at


def _rest_of_long(first: int, data: bytes, at: int) -> tuple[int, int]:
    """(the zigzag number, the position behind it) of a number whose first byte says that more follow."""
    number, shift = first & 0x7F, 7
    while True:
        byte = data[at]
        at += 1
        number |= (byte & 0x7F) << shift
        if byte < 0x80:
            if number >> 64:
                raise ValueError("a number of more than 64 bits")
            return number, at
        shift += 7
        if shift > 63:
            raise ValueError("an unterminated variable-length integer")
