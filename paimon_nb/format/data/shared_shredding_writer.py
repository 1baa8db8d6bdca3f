"""Writes MAP columns in the shared-shredding layout: which key has which column of a row, and the metadata of its keys.

The reader is `shared_shredding.py`. Source: Paimon 2.1 `MapSharedShreddingRowConverter`, `MapSharedShreddingColumnAllocator` and its subclasses,
`MapSharedShreddingContext`, `MapSharedShreddingUtils.serializeMetadata`.
"""

from __future__ import annotations

import base64
import json
import math
import struct
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.schema_cast import null_mask, offsets_keys_and_items
from paimon_nb.format.data.shared_shredding import LAYOUT_OPTION, MAPPING, OVERFLOW, PREFIX
from paimon_nb.format.types import Array, Atomic, DataField, Map, Row, arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from paimon_nb.options import TableOptions

LAYOUT = "shared-shredding"
CODECS = ("none", "lz4", "zstd")
_INT = Atomic("INT")
_DEFAULT_COLUMNS = 256
_COLUMNS, _POLICY = "map.shared-shredding.max-columns", "map.shared-shredding.column-placement-policy"
_SLICE_ROWS = 1 << 13
_WINDOW = 20
"""Number of files whose widest rows decide about the columns of the next one."""


def new_map_shredders(fields: Sequence[DataField], options: TableOptions) -> dict[str, MapShredder]:
    """The columns that have this layout in new files."""
    return {
        f.name: MapShredder(
            f.type, int(options.field(f.name, _COLUMNS) or _DEFAULT_COLUMNS), options.field(f.name, _POLICY) or "lru"
        )
        for f in fields
        if isinstance(f.type, Map) and f.type.key.root == "VARCHAR" and options.field(f.name, LAYOUT_OPTION) == LAYOUT
    }  # fmt: skip


class MapShredder:
    """One MAP column of one new file."""

    def __init__(self, t: Map, columns: int, policy: str) -> None:
        self.columns, self.max_row_width = columns, 0
        self._map, self._policy = t, policy
        values = [DataField(1 + i, f"__col_{i}", t.value) for i in range(columns)]
        overflow = DataField(1 + columns, OVERFLOW, Map(_INT, t.value))
        self.type = Row((DataField(0, MAPPING, Array(_INT)), *values, overflow), t.nullable)
        """The column in the file."""
        self._numbers: dict[str, int] = {}
        self._columns_of: dict[int, set[int]] = {}
        self._overflowed: set[int] = set()
        self._column_held_by: dict[int, int] = {}
        self._held = np.full(columns, -1, np.int64)
        self._last_used = np.zeros(columns, np.int64)
        self._clock = 0

    def shred(self, column: pa.MapArray) -> pa.StructArray:
        """The maps as values of `type`."""
        starts = range(0, len(column), _SLICE_ROWS)
        parts = [self._shred_slice(column.slice(start, _SLICE_ROWS)) for start in starts]
        return pa.concat_arrays([pa.nulls(0, arrow_type(self.type)), *parts])

    def _shred_slice(self, column: pa.MapArray) -> pa.StructArray:
        offsets, keys, items = offsets_keys_and_items(column)
        ends, names, count = offsets.to_pylist(), keys.to_pylist(), len(column)
        mapping = np.full((count, self.columns), -1, np.int32)
        entries = np.full((count, self.columns), -1, np.int64)
        over_ends, over_keys, over_entries = [0], [], []
        for row in range(count):
            entry_of = {self._number(names[at]): at for at in range(ends[row], ends[row + 1])}
            assigned, overflowing = self._assign_columns(list(entry_of))
            for at, number in assigned.items():
                mapping[row, at], entries[row, at] = number, entry_of[number]
            over_keys += overflowing
            over_entries += [entry_of[number] for number in overflowing]
            over_ends.append(len(over_keys))
        ends_of_lists = pa.array(np.arange(count + 1, dtype=np.int32) * self.columns)
        lists = pa.ListArray.from_arrays(ends_of_lists, pa.array(mapping.ravel()), type=arrow_type(Array(_INT)))
        values = [
            items.take(pa.array(entries[:, i], mask=entries[:, i] < 0)) for i in range(self.columns)
        ]  # fmt: skip
        overflow = pa.MapArray.from_arrays(
            pa.array(over_ends, pa.int32()), pa.array(over_keys, pa.int32()), items.take(pa.array(over_entries, pa.int64())),
            type=arrow_type(Map(_INT, self._map.value)), mask=pa.array(np.diff(over_ends) == 0),
        )  # fmt: skip
        fields = list(arrow_type(self.type))
        return pa.StructArray.from_arrays([lists, *values, overflow], fields=fields, mask=null_mask(column))

    def _number(self, name: str) -> int:
        return self._numbers.setdefault(name, len(self._numbers))

    def _assign_columns(self, numbers: list[int]) -> tuple[dict[int, int], list[int]]:
        """(the key of each column that has one, the keys without a column) for the keys of one row."""
        self.max_row_width = max(self.max_row_width, len(numbers))
        if self._policy == "lru":
            assigned, overflowing = self._assign_lru(sorted(numbers))
        else:
            ordered = sorted(numbers) if self._policy == "sequential" else numbers
            assigned, overflowing = dict(enumerate(ordered[: self.columns])), ordered[self.columns :]
        for column, number in assigned.items():
            self._columns_of.setdefault(number, set()).add(column)
        self._overflowed.update(overflowing)
        return assigned, overflowing

    def _assign_lru(self, numbers: list[int]) -> tuple[dict[int, int], list[int]]:
        """Each key in the column that it had before. A new one gets an unused column, else the one that was not used for the longest time."""
        assigned = {self._column_held_by[n]: n for n in numbers if n in self._column_held_by}
        new, overflowing = [n for n in numbers if n not in self._column_held_by], []
        for number in new:
            if len(assigned) == self.columns:
                overflowing.append(number)
                continue
            column = len(self._column_held_by)  # columns are taken in their order
            if column == self.columns:
                ages = self._last_used.copy()
                ages[list(assigned)] = np.iinfo(np.int64).max
                column = int(ages.argmin())
                del self._column_held_by[int(self._held[column])]
            self._column_held_by[number] = column
            self._held[column] = assigned[column] = number
        if assigned:
            self._last_used[list(assigned)] = self._clock
            self._clock += 1
        return assigned, overflowing

    def metadata(self, codec: str) -> dict[str, str]:
        """The column's metadata in the Arrow schema of the file."""
        ordered = dict(sorted(self._numbers.items(), key=lambda pair: pair[0].encode("utf-16-be", "surrogatepass")))
        keys = _json(ordered).encode()
        columns_by_key = {str(number): sorted(columns) for number, columns in sorted(self._columns_of.items())}
        return {
            f"paimon.{LAYOUT_OPTION}": LAYOUT, f"{PREFIX}version": "1", f"{PREFIX}field-dict-compression": codec,
            f"{PREFIX}field-dict-original-size": str(len(keys)), f"{PREFIX}field-dict": _compressed(keys, codec).decode("latin-1"),
            f"{PREFIX}field-columns": _json(columns_by_key), f"{PREFIX}overflow-set": _json(sorted(self._overflowed)),
            f"{PREFIX}num-columns": str(self.columns), f"{PREFIX}max-row-width": str(self.max_row_width),
        }  # fmt: skip


def check_codec(codec: str) -> None:
    """Raises UnsupportedFormat for a `file.compression` that the keys of a file cannot have."""
    if codec.lower() not in CODECS:
        raise UnsupportedFormat(
            f"a MAP with '{LAYOUT_OPTION}' = '{LAYOUT}' cannot be compressed with {codec!r}",
            hint=f"'file.compression' is one of {', '.join(CODECS)}", feature=codec,
        )  # fmt: skip


def arrow_schema_entry(fields: Iterable[DataField], maps: Mapping[str, MapShredder], codec: str) -> dict[str, str]:
    """The file's own metadata: its Arrow schema, in which the shredded columns have theirs."""
    check_codec(codec)
    columns = []
    for f in fields:
        entries_of_field = {"PARQUET:field_id": str(f.id)}
        if f.name in maps:
            entries_of_field |= maps[f.name].metadata(codec.lower())
        columns.append(pa.field(f.name, arrow_type(f.type), f.type.nullable, metadata=entries_of_field))
    return {"ARROW:schema": base64.b64encode(pa.schema(columns).serialize().to_pybytes()).decode()}


class ColumnCounts:
    """How many columns the MAPs of a writer's next file get: as many as the rows of its last files needed."""

    def __init__(self) -> None:
        self._widths: dict[str, deque[int]] = {}

    def add(self, widths: Mapping[str, int]) -> None:
        """The widest rows of a finished file."""
        for name, width in widths.items():
            self._widths.setdefault(name, deque(maxlen=_WINDOW)).append(width)

    def options(self, options: TableOptions) -> TableOptions:
        """The table's options for the next file."""
        limits = {name: int(options.field(name, _COLUMNS) or _DEFAULT_COLUMNS) for name in self._widths}
        changed = {f"fields.{n}.{_COLUMNS}": str(max(1, min(_enough(w), limits[n]))) for n, w in self._widths.items()}
        return options.with_(changed)


def _enough(widths: Iterable[int]) -> int:
    """The widest of all rows, or that of 90 % of the files if it is much wider."""
    ordered = sorted(widths)
    common = ordered[max(1, math.ceil(0.9 * len(ordered))) - 1]
    widest = ordered[-1]
    return widest if widest - common <= 4 or widest <= math.ceil(common * 1.25) else common


def with_shredded_maps(rows: pa.Table, maps: Mapping[str, MapShredder]) -> pa.Table:
    """The rows with these columns as the file has them."""
    for name, shredder in maps.items():
        chunks = [shredder.shred(c) for c in rows.column(name).chunks]
        column = pa.chunked_array(chunks, type=arrow_type(shredder.type))
        rows = rows.set_column(rows.column_names.index(name), name, column)
    return rows


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _compressed(data: bytes, codec: str) -> bytes:
    match codec:
        case "zstd":
            return pa.Codec("zstd", compression_level=1).compress(data).to_pybytes()  # type: ignore[no-any-return]
        case "lz4":
            packed = pa.Codec("lz4_raw").compress(data).to_pybytes()
            return struct.pack("<ii", len(packed), len(data)) + bytes(packed)
    return data
