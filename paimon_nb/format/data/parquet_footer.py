"""Statistics of a Parquet footer, decoded here.

pyarrow builds a column chunk's metadata in C++ functions that Cython calls without catching their exceptions: a footer
with one wrong byte would end the process. So neither `RowGroupMetaData.column` nor a fragment's row groups are used.
Source: parquet-format `parquet.thrift`.
"""

from __future__ import annotations

import io
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.thrift_compact import T_LIST, T_STRUCT, Struct, decode, decode_at, skip_value, varint_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pyarrow import parquet as pq

    from paimon_nb.format.data.pushdown import Span

Bounds = tuple[Any, Any] | None
"""Minimum and maximum of a column chunk; None: not known."""

_MAGIC = b"PAR1"
# Field ids of parquet.thrift: FileMetaData, RowGroup, ColumnChunk, ColumnMetaData, Statistics.
_GROUPS, _CHUNKS, _METADATA, _STATISTICS = 4, 1, 3, 12
_CODEC, _UNCOMPRESSED, _COMPRESSED = 4, 6, 7
_OLD_MAX, _OLD_MIN, _MAX, _MIN = 1, 2, 5, 6
_WIDTHS = {"INT32": 4, "INT64": 8}
_SIGNED = ("NONE", "INT_8", "INT_16", "INT_32", "INT_64")
_CODECS = ("UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW")


@dataclass(frozen=True, slots=True)
class Chunk:
    """One column of one row group."""

    path: str
    physical_type: str
    codec: str
    compressed: int
    """Bytes."""
    uncompressed: int
    """Bytes."""
    bounds: Bounds


def read_footer(source: Any) -> bytes:
    """The encoded FileMetaData of an open file. Raises `ValueError`: there is none."""
    source.seek(0, io.SEEK_END)
    size = source.tell()
    source.seek(max(0, size - 8))
    tail = source.read(8)
    length = int.from_bytes(tail[:4], "little")
    if tail[4:] != _MAGIC or length > size - 12:
        raise ValueError("no footer")
    source.seek(size - 8 - length)
    return bytes(source.read(length))


def as_parquet(footer: bytes) -> bytes:
    """A Parquet file of a footer alone, for Arrow to parse."""
    return _MAGIC + footer + len(footer).to_bytes(4, "little") + _MAGIC


def searchable_bounds(footer: bytes, schema: pq.ParquetSchema, leaves: Mapping[str, int]) -> dict[str, list[Bounds]]:
    """Bounds of integer and text columns in each row group, for skipping.

    Args:
        schema: the footer's schema. leaves: the index of each column's chunk, by any name.

    Raises:
        ValueError, IndexError, RecursionError: the footer is broken.
    """
    found: dict[str, list[Bounds]] = {name: [] for name in leaves}
    names = {index: name for name, index in leaves.items()}
    if not names:
        return found
    kinds = {index: schema.column(index) for index in names}
    for group in _encoded_chunks(footer, set(names)):
        for index, chunk in group.items():
            statistics = _statistics(chunk)
            column = kinds[index]
            bounds = _searchable(statistics, column.physical_type, column.converted_type) if statistics else None
            found[names[index]].append(bounds)
    return found


def chunks_of_group(footer: bytes, metadata: pq.FileMetaData, group: int, limit: int) -> list[Chunk]:
    """Facts of the first columns of a row group, for display. Raises as `searchable_bounds`."""
    schema, types = metadata.schema, _leaf_types(metadata.schema.to_arrow_schema())
    found = []
    for i, chunk in enumerate(decode(footer).list(_GROUPS)[group].list(_CHUNKS)[:limit]):
        column, facts = schema.column(i), chunk.struct(_METADATA) or Struct([])
        codec = facts.get(_CODEC) or 0
        found.append(
            Chunk(
                column.path,
                column.physical_type,
                _CODECS[codec] if 0 <= codec < len(_CODECS) else str(codec),
                facts.get(_COMPRESSED) or 0,
                facts.get(_UNCOMPRESSED) or 0,
                _displayed(_statistics(chunk), types[i] if i < len(types) else None),
            )
        )
    return found


def overlaps(span: Span, bounds: Bounds) -> bool:
    """False if no value within the bounds is within the span."""
    if bounds is None:
        return True
    (low, high), (smallest, largest) = span, bounds
    return not ((high is not None and smallest > high) or (low is not None and largest < low))


def _encoded_chunks(footer: bytes, indexes: set[int]) -> Iterator[dict[int, Struct]]:
    """The column chunks of these indexes in each row group; the others are skipped, not decoded."""
    for at in _items(footer, 0, _GROUPS):
        here = {}
        for index, begin in enumerate(_items(footer, at, _CHUNKS)):
            if index in indexes:
                here[index] = decode_at(footer, begin)
        if len(here) < len(indexes):
            raise ValueError("a row group lacks columns")
        yield here


def _items(data: bytes, at: int, field_id: int) -> Iterator[int]:
    """Where each struct of a list field of the struct at `at` begins."""
    last = 0
    while head := data[at]:
        at += 1
        kind, step = head & 0x0F, head >> 4
        if step:
            last += step
        else:
            number, at = varint_at(data, at)
            last = (number >> 1) ^ -(number & 1)
        if last != field_id:
            at = skip_value(data, at, kind)
            continue
        if kind != T_LIST or data[at] & 0x0F != T_STRUCT:
            raise ValueError("not a list of structs")
        size = data[at] >> 4
        at += 1
        if size == 15:
            size, at = varint_at(data, at)
        for _ in range(size):
            yield at
            at = skip_value(data, at, T_STRUCT)
        return


def _statistics(chunk: Struct) -> Struct | None:
    facts = chunk.get(_METADATA)
    found = facts.get(_STATISTICS) if isinstance(facts, Struct) else None
    return found if isinstance(found, Struct) else None


def _searchable(statistics: Struct, physical: str, converted: str) -> Bounds:
    low, high = statistics.get(_MIN), statistics.get(_MAX)
    if physical in _WIDTHS and converted in _SIGNED:
        if low is None or high is None:  # older writers; for signed numbers they mean the same
            low, high = statistics.get(_OLD_MIN), statistics.get(_OLD_MAX)
        if _are_bytes(low, high) and len(low) == len(high) == _WIDTHS[physical]:
            return int.from_bytes(low, "little", signed=True), int.from_bytes(high, "little", signed=True)
    elif physical == "BYTE_ARRAY" and converted == "UTF8" and _are_bytes(low, high):
        try:
            return low.decode(), high.decode()
        except UnicodeDecodeError:  # a bound that was cut within a character
            return None
    return None


def _are_bytes(low: Any, high: Any) -> bool:
    return isinstance(low, bytes) and isinstance(high, bytes)


def _displayed(statistics: Struct | None, t: pa.DataType | None) -> Bounds:
    if statistics is None or t is None:
        return None
    low, high = statistics.get(_MIN), statistics.get(_MAX)
    if low is None or high is None:
        low, high = statistics.get(_OLD_MIN), statistics.get(_OLD_MAX)
    if not _are_bytes(low, high):
        return None
    try:
        return _value(low, t), _value(high, t)
    except (ValueError, OverflowError, pa.ArrowException):
        return None


def _value(data: bytes, t: pa.DataType) -> Any:
    if pa.types.is_string(t) or pa.types.is_large_string(t):
        return data.decode()
    if pa.types.is_decimal(t):
        little = len(data) in _WIDTHS.values() and t.precision <= 18
        return Decimal(int.from_bytes(data, "little" if little else "big", signed=True)).scaleb(-t.scale)
    if pa.types.is_boolean(t):
        return bool(data[0]) if data else None
    if pa.types.is_integer(t):
        return int.from_bytes(data, "little", signed=pa.types.is_signed_integer(t))
    if (pa.types.is_temporal(t) or pa.types.is_floating(t)) and len(data) * 8 == t.bit_width:
        return pa.Array.from_buffers(t, 1, [None, pa.py_buffer(data)])[0].as_py()
    return data


def _leaf_types(schema: Sequence[pa.Field]) -> list[pa.DataType]:
    found: list[pa.DataType] = []

    def add(t: pa.DataType) -> None:
        if isinstance(t, pa.BaseExtensionType):
            t = t.storage_type
        if not pa.types.is_nested(t):
            found.append(t)
            return
        for i in range(t.num_fields):
            inner = t.field(i)
            add(inner.type)

    for column in schema:
        add(column.type)
    return found
