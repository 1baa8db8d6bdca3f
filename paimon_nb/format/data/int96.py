"""INT96 timestamps, as Java stores TIMESTAMP(7..9). Arrow writes all timestamps of a file as INT96 or none, and
overflows when reading. So Arrow reads and writes such a column as FIXED_LEN_BYTE_ARRAY(12), and its type in the footer
is changed: the pages of both types contain the same bytes. Source: parquet-format `parquet.thrift`; Paimon
`ParquetRowDataWriter.java` (timestampToInt96).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.parquet_footer import as_parquet, read_footer
from paimon_nb.format.data.thrift_compact import T_I32, Struct, decode, encode_thrift_struct
from paimon_nb.format.types.arrow_builders import fill_null, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

INT96_ARROW = pa.binary(12)
"""The Arrow type in which a column that becomes INT96 is written."""
_JULIAN_EPOCH = 2_440_588
_DAY_NANOS = 86_400 * 10**9
_LAYOUT = np.dtype([("nanos", "<i8"), ("day", "<i4")])
_INT96, _FIXED = 3, 7
# Field ids of parquet.thrift: FileMetaData, RowGroup and ColumnChunk, SchemaElement and ColumnMetaData.
_SCHEMA, _GROUPS = 2, 4
_CHUNKS, _CHUNK_METADATA = 1, 3
_TYPE, _LENGTH, _CHILDREN, _CONVERTED, _STATISTICS = 1, 2, 5, 6, 12


def to_int96(array: pa.Array) -> pa.Array:
    """timestamp[ns] as 12 bytes each: nanoseconds of the day, then the Julian day, little endian."""
    nanos = to_numpy(fill_null(array.cast(pa.int64()), 0))
    out = np.empty(len(array), _LAYOUT)
    days = np.floor_divide(nanos, _DAY_NANOS)
    out["nanos"] = nanos - days * _DAY_NANOS
    out["day"] = days + _JULIAN_EPOCH
    validity = None
    if array.null_count:
        valid = to_numpy(array.is_valid())
        validity = pa.py_buffer(np.packbits(valid, bitorder="little"))
    return pa.Array.from_buffers(INT96_ARROW, len(array), [validity, pa.py_buffer(out)])


def from_int96(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Convert 12-byte values to timestamps, rounded down if `target` is coarser than nanoseconds.

    Raises:
        UnsupportedFormat: a timestamp that does not fit 64 bits in `target`'s unit.
    """
    raw = np.frombuffer(array.buffers()[1] or b"", _LAYOUT)[array.offset : array.offset + len(array)]
    valid = to_numpy(array.is_valid())
    days = np.where(valid, raw["day"].astype(np.int64) - _JULIAN_EPOCH, 0)
    nanos = np.where(valid, raw["nanos"], 0)
    per_day, divisor = {"ns": (_DAY_NANOS, 1), "us": (86_400 * 10**6, 1000), "ms": (86_400 * 10**3, 10**6)}[target.unit]
    if (np.abs(days) > (1 << 63) // per_day - 1).any():
        raise UnsupportedFormat(
            "nanosecond timestamps must be between 1678 and 2261",
            hint="leave the column out, or store it as TIMESTAMP(6)", feature="INT96 beyond nanoseconds",
        )  # fmt: skip
    units = days * per_day + np.floor_divide(nanos, divisor)
    return pa.array(units, pa.int64(), mask=~valid).cast(target)


def metadata_with_int96_as_bytes(source: Any) -> pq.FileMetaData:
    """A file's metadata with its INT96 columns as 12 bytes: Arrow overflows silently beyond 64-bit nanoseconds."""
    metadata = decode(read_footer(source))
    leaves = [e for e in metadata.list(_SCHEMA) if e.get(_CHILDREN) is None]
    selected = [leaf.get(_TYPE) == _INT96 for leaf in leaves]
    for leaf in _selected_structs(leaves, selected):
        leaf.put(_TYPE, T_I32, _FIXED)
        leaf.put(_LENGTH, T_I32, 12)
    footer = _with_physical_type(metadata, selected, _FIXED)
    return pq.read_metadata(pa.BufferReader(as_parquet(footer)))


def with_int96_columns(footer: bytes) -> bytes:
    """Thrift FileMetaData with the 12-byte columns as INT96."""
    metadata = decode(footer)
    leaves = [e for e in metadata.list(_SCHEMA) if e.get(_CHILDREN) is None]
    selected = [_holds_int96(leaf) for leaf in leaves]
    for leaf in _selected_structs(leaves, selected):
        leaf.put(_TYPE, T_I32, _INT96)
        leaf.drop(_LENGTH)
    return _with_physical_type(metadata, selected, _INT96)


def _with_physical_type(metadata: Struct, selected: Sequence[bool], physical: int) -> bytes:
    """The footer with another type, and no statistics, for the chosen columns of every row group."""
    for group in metadata.list(_GROUPS):
        for chunk in _selected_structs(group.list(_CHUNKS), selected):
            column = chunk.struct(_CHUNK_METADATA)
            column.put(_TYPE, T_I32, physical)
            column.drop(_STATISTICS)
    return encode_thrift_struct(metadata)


def _selected_structs(structs: Sequence[Struct], selected: Sequence[bool]) -> list[Struct]:
    return [s for s, flag in zip(structs, selected, strict=True) if flag]


def _holds_int96(leaf: Struct) -> bool:
    # DECIMAL(27..28) has 12 bytes too, and the logical type DECIMAL.
    return leaf.get(_TYPE) == _FIXED and leaf.get(_LENGTH) == 12 and leaf.get(_CONVERTED) is None
