"""MAP columns in the shared-shredding layout: a file has a fixed number of value columns that the keys of a row share.

The column is a struct: `__field_mapping` has the number of the key in each value column of the row (negative: none),
`__col_0`, `__col_1` ... have the values, `__overflow` maps numbers of other keys to values. The keys by number are in the
column's metadata in the file's Arrow schema. Source: Paimon `MapSharedShreddingUtils`, `MapSharedShreddingReadPlan`.
"""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.schema_cast import null_mask, offsets_keys_and_items, offsets_of, to_logical
from paimon_nb.format.types import DataType, Map, arrow_type
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    Convert = Callable[[pa.Array, DataType], pa.Array]

PREFIX = "paimon.map.shared-shredding."
LAYOUT_OPTION = "map.storage-layout"
"""The option of a column, behind `fields.<column>.`."""
MAPPING, OVERFLOW = "__field_mapping", "__overflow"


def is_shared_shredding(column: pa.Array | pa.ChunkedArray) -> bool:
    """Whether the column of a MAP is stored in this layout."""
    return pa.types.is_struct(column.type) and bool(column.type.get_field_index(MAPPING) >= 0)


def restore_map(
    column: pa.Array | pa.ChunkedArray,
    t: Map,
    metadata: Mapping[bytes, bytes] | None,
    convert: Convert = to_logical,
) -> pa.Array | pa.ChunkedArray:
    """The MAPs of a column in this layout.

    Args:
        metadata: the column's metadata in the file's Arrow schema.
        convert: converts values of the file to their logical type.

    Raises:
        UnsupportedFormat: the layout is newer, or the file has no keys. ValueError: the column is malformed.
    """
    names = _keys_by_number(metadata)
    columns = _number(metadata, "num-columns")
    if isinstance(column, pa.ChunkedArray):
        chunks = [_restore_array(c, t, names, columns, convert) for c in column.chunks]
        return pa.chunked_array(chunks, type=arrow_type(t))
    return _restore_array(column, t, names, columns, convert)


def _restore_array(
    column: pa.StructArray, t: Map, names: dict[int, str], columns: int, convert: Convert
) -> pa.MapArray:
    by_name = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
    numbers, known = _mapped_keys(by_name[MAPPING], column, names, columns)
    rows, keys, values = [], [], []
    for i in range(columns):
        there = np.flatnonzero(known[:, i])
        if len(there):
            rows.append(there)
            keys.append(numbers[there, i])
            values.append(convert(by_name[f"__col_{i}"].take(from_numpy(there)), t.value))
    if OVERFLOW in by_name:
        offsets, found, items = offsets_keys_and_items(by_name[OVERFLOW])
        found = to_numpy(found).astype(np.int64)
        known_keys = np.flatnonzero(np.isin(found, list(names)))
        rows.append(np.repeat(np.arange(len(column)), np.diff(to_numpy(offsets)))[known_keys])
        keys.append(found[known_keys])
        values.append(convert(items.take(from_numpy(known_keys)), t.value))
    target = arrow_type(t)
    rows_of = np.concatenate([np.empty(0, np.int64), *rows])
    order = np.argsort(rows_of, kind="stable")
    texts = pa.array(
        [names[k] for k in np.concatenate([np.empty(0, np.int64), *keys])[order].tolist()], target.key_type
    )
    items = pa.concat_arrays([pa.nulls(0, target.item_type), *values]).take(from_numpy(order))
    lengths = np.bincount(rows_of.astype(np.int64), minlength=len(column)).astype(np.int32)
    return pa.MapArray.from_arrays(
        offsets_of(from_numpy(lengths)), texts, items, type=target, mask=null_mask(column)
    )  # fmt: skip


def _mapped_keys(
    mapping: pa.Array, column: pa.StructArray, names: dict[int, str], columns: int
) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of the keys by row and value column, and which of them are keys of the row."""
    numbers = np.full((len(column), columns), -1, np.int64)
    valid = to_numpy(column.is_valid())
    lengths = mapping.value_lengths()
    if lengths.filter(from_numpy(valid)).null_count or (to_numpy(lengths.fill_null(columns)) != columns).any():
        raise ValueError(f"a row of a shared-shredding MAP does not map its {columns} columns")
    found = mapping.flatten()
    if found.null_count:
        raise ValueError("a row of a shared-shredding MAP maps a column to NULL")
    numbers[valid] = to_numpy(found).reshape(-1, columns)
    return numbers, np.isin(numbers, list(names)) & (numbers >= 0)


def _keys_by_number(metadata: Mapping[bytes, bytes] | None) -> dict[int, str]:
    if _text(metadata, "version") != "1":
        raise UnsupportedFormat(
            f"version {_text(metadata, 'version')} of the shared-shredding layout of MAP is not known here",
            hint="select the other columns by name", feature="MAP",
        )  # fmt: skip
    codec = _text(metadata, "field-dict-compression", "zstd").lower()
    return _decoded_keys(_text(metadata, "field-dict"), codec, _number(metadata, "field-dict-original-size"))


@lru_cache(maxsize=64)
def _decoded_keys(text: str, codec: str, size: int) -> dict[int, str]:
    """The keys by number. A file has the same for each of its batches."""
    stored = text.encode("latin-1")
    match codec:
        case "none":
            pass
        case "zstd":
            stored = pa.Codec("zstd").decompress(stored, size).to_pybytes()
        case "lz4":
            length, _ = struct.unpack_from("<ii", stored)
            stored = pa.Codec("lz4_raw").decompress(stored[8 : 8 + length], size).to_pybytes()
        case _:
            raise UnsupportedFormat(
                f"keys of a MAP in the shared-shredding layout are compressed with {codec!r}, which is not known here",
                hint="select the other columns by name", feature="MAP",
            )  # fmt: skip
    return {int(number): str(name) for name, number in json.loads(stored).items()}


def _number(metadata: Mapping[bytes, bytes] | None, key: str) -> int:
    return int(_text(metadata, key))


def _text(metadata: Mapping[bytes, bytes] | None, key: str, default: str | None = None) -> str:
    found = (metadata or {}).get((PREFIX + key).encode())
    if found is not None:
        return found.decode()
    if default is not None:
        return default
    raise UnsupportedFormat(
        f"a MAP in the shared-shredding layout cannot be read: the file's schema has no {PREFIX}{key}",
        hint="select the other columns by name", feature="MAP",
    )  # fmt: skip
