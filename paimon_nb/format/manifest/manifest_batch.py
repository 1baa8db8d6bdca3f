"""The entries of a manifest, decoded column by column. Errors are reported by `manifests`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.format.avro.columnar import WORTH, Lists, Numbers, Texts, UnsupportedLayout, read_columns
from paimon_nb.format.avro.container import gc_paused
from paimon_nb.format.manifest.entries import (
    BYTES,
    STATS_COLS,
    DataFile,
    Entries,
    ManifestEntry,
    Name,
    SimpleStats,
    object_array,
)
from paimon_nb.format.types.arrow_builders import from_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from paimon_nb.format.avro.container import Container

_FILE = "_FILE."
_NUMBERS = {
    "kind": "_KIND", "bucket": "_BUCKET", "total_buckets": "_TOTAL_BUCKETS", "level": "_FILE._LEVEL",
    "schema_id": "_FILE._SCHEMA_ID", "file_size": "_FILE._FILE_SIZE", "row_count": "_FILE._ROW_COUNT",
    "created": "_FILE._CREATION_TIME", "deletes": "_FILE._DELETE_ROW_COUNT",
}  # fmt: skip
_BYTES = {
    "partition": "_PARTITION", "file_name": "_FILE._FILE_NAME", "min_key": "_FILE._MIN_KEY", "max_key": "_FILE._MAX_KEY",
    "key_low": "_FILE._KEY_STATS._MIN_VALUES", "key_high": "_FILE._KEY_STATS._MAX_VALUES",
    "value_low": "_FILE._VALUE_STATS._MIN_VALUES", "value_high": "_FILE._VALUE_STATS._MAX_VALUES",
}  # fmt: skip
_NULLS = {"key_nulls": "_FILE._KEY_STATS._NULL_COUNTS", "value_nulls": "_FILE._VALUE_STATS._NULL_COUNTS"}
_AFTER_STATS = (
    "_MIN_SEQUENCE_NUMBER", "_MAX_SEQUENCE_NUMBER", "_SCHEMA_ID", "_LEVEL", "_EXTRA_FILES", "_CREATION_TIME",
    "_DELETE_ROW_COUNT", "_EMBEDDED_FILE_INDEX", "_FILE_SOURCE", "_VALUE_STATS_COLS", "_EXTERNAL_PATH", "_FIRST_ROW_ID",
    "_WRITE_COLS", "_WRITE_COLS_SEQUENCES",
)  # fmt: skip
"""In the order of the arguments of `DataFile`."""
_STRINGS = {"_FILE_NAME", "_EXTRA_FILES", "_VALUE_STATS_COLS", "_EXTERNAL_PATH", "_WRITE_COLS"}
_PATHS = {
    **{name: f"_FILE._{name.upper()}" for name in (
        "file_name", "file_size", "row_count", "min_key", "max_key", "schema_id", "level", "delete_row_count", "file_source",
        "value_stats_cols", "external_path", "first_row_id", "write_cols",
    )},
    "min_sequence": "_FILE._MIN_SEQUENCE_NUMBER", "max_sequence": "_FILE._MAX_SEQUENCE_NUMBER",
    "creation_time_ms": "_FILE._CREATION_TIME", "value_stats.null_counts": "_FILE._VALUE_STATS._NULL_COUNTS",
    "value_stats.min_values": "_FILE._VALUE_STATS._MIN_VALUES", "value_stats.max_values": "_FILE._VALUE_STATS._MAX_VALUES",
}  # fmt: skip
"""Fields of `DataFile` that are read without creating it."""
_SOME = 8
"""After this fraction of the entries was requested as objects in small portions, all are created, which costs a third
per entry.
"""


def entries_by_columns(container: Container, version: int, worth: int = WORTH) -> EntryColumns | None:
    """The entries; None if the data is unusual and fastavro must read it.

    Args:
        worth: as in `read_columns`. The container's schema must have the fields of a manifest.
    """
    try:
        columns = read_columns(container.schema, container.blocks, worth=worth)
    except UnsupportedLayout:
        return None
    number = {name: columns[path].values for name, path in _NUMBERS.items() if path in columns}
    sound = (
        columns["_VERSION"].null is None  # a row that is null has no version
        and (columns["_VERSION"].values == version).all()
        and ((number["kind"] == 0) | (number["kind"] == 1)).all()
        and min(number["file_size"].min(), number["row_count"].min(), number["level"].min()) >= 0
        and _names_are_sound(columns["_FILE._FILE_NAME"])
        and _names_are_sound(columns["_FILE._EXTRA_FILES"].items)
    )
    return EntryColumns(columns) if sound else None


def _names_are_sound(names: Texts) -> bool:
    joined = names.joined
    if b"/" in joined or b"\0" in joined:
        return False
    short = names.arrow.filter(from_numpy(names.sizes <= 2)).to_pylist()
    return not any(name in (b"", b".", b"..") for name in short)


class EntryColumns(Entries):
    """The entries of one manifest."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        super().__init__(len(columns["_KIND"].values))
        self._fields = columns
        self._made: list[ManifestEntry] | None = None
        self._objects_made = 0

    def _make_column(self, name: Name) -> Any:
        if isinstance(name, tuple):
            return _array_item_column(self._fields.get(_NULLS[name[0]]), name[1], len(self))
        if name in BYTES:
            return self._fields[_BYTES[name]].arrow
        if name == "beside":
            index, extra = self._fields.get("_FILE._EMBEDDED_FILE_INDEX"), self._fields["_FILE._EXTRA_FILES"].counts
            inside = np.zeros(len(self), bool) if index is None else _not_null(index, len(self))
            return (inside | (extra > 0)).astype(np.int64)
        if name == STATS_COLS:
            listed, written = (
                self._field_values(f"_FILE.{n}", None, True) for n in ("_VALUE_STATS_COLS", "_WRITE_COLS")
            )
            return object_array([b if a is None else a for a, b in zip(listed, written, strict=True)])
        found = self._fields.get(_NUMBERS[name])
        missing = -1 if name == "deletes" else 0
        if found is None:
            return np.full(len(self), missing, np.int64)
        return found.values if found.null is None else np.where(found.null, missing, found.values)

    def objects(self, rows: np.ndarray | None = None, *, cached: bool = True) -> list[ManifestEntry]:
        if self._made is None and not cached:
            with gc_paused():
                return list(self._make_entries(rows))
        if self._made is None:
            self._objects_made += len(self) if rows is None else len(rows)
            with gc_paused():
                if self._objects_made < len(self) // _SOME and rows is not None:
                    return list(self._make_entries(rows))
                self._made = list(self._make_entries(None))
        return list(self._made) if rows is None else [self._made[i] for i in rows.tolist()]

    def file_values(self, name: str, rows: np.ndarray) -> list[Any]:
        path = _PATHS[name]
        return self._field_values(path, rows, path.removeprefix(_FILE) in _STRINGS)

    def _make_entries(self, rows: np.ndarray | None) -> Iterator[ManifestEntry]:
        partitions: dict[bytes, bytes] = {}  # thousands of entries share a few partitions
        shared_partitions = [partitions.setdefault(p, p) for p in self._field_values("_PARTITION", rows, False)]
        whole = [self._field_values(n, rows, False) for n in ("_KIND", "_BUCKET", "_TOTAL_BUCKETS")]
        first = [self._field_values(_FILE + n, rows, n in _STRINGS) for n in ("_FILE_NAME", "_FILE_SIZE", "_ROW_COUNT", "_MIN_KEY", "_MAX_KEY")]  # fmt: skip
        stats = [map(SimpleStats, *(self._field_values(f"_FILE.{kind}.{n}", rows, False) for n in ("_MIN_VALUES", "_MAX_VALUES", "_NULL_COUNTS"))) for kind in ("_KEY_STATS", "_VALUE_STATS")]  # fmt: skip
        last = [self._field_values(_FILE + n, rows, n in _STRINGS) for n in _AFTER_STATS]
        files = map(DataFile, *first, *stats, *last)
        return map(ManifestEntry, whole[0], shared_partitions, whole[1], whole[2], files)

    def _field_values(self, path: str, rows: np.ndarray | None, text: bool) -> list[Any]:
        size = len(self) if rows is None else len(rows)
        found = self._fields.get(path)
        return [None] * size if found is None else _python_values(found, rows, text)


def _python_values(found: Numbers | Texts | Lists, rows: np.ndarray | None, text: bool) -> list[Any]:
    """Python values of a column; of an array field, tuples."""
    null = None if found.null is None else found.null if rows is None else found.null[rows]
    if null is not None and null.all():
        return [None] * len(null)
    out: list[Any]
    if isinstance(found, Numbers):
        out = (found.values if rows is None else found.values[rows]).tolist()
    elif isinstance(found, Texts):
        starts, sizes = (found.starts, found.sizes) if rows is None else (found.starts[rows], found.sizes[rows])
        plain = found.plain
        out = [plain[s:e] for s, e in zip(starts.tolist(), (starts + sizes).tolist(), strict=True)]
        if text:
            out = [v.decode() for v in out]
    else:
        counts, ends = (found.counts, found.ends) if rows is None else (found.counts[rows], found.ends[rows])
        items_of_rows = np.repeat(ends - np.cumsum(counts), counts) + np.arange(counts.sum())
        items = _python_values(found.items, None if rows is None else items_of_rows, text)
        out, at = [], 0
        for count in counts.tolist():
            out.append(tuple(items[at : at + count]) if count else ())
            at += count
    return out if null is None else [None if n else v for n, v in zip(null.tolist(), out, strict=True)]


def _not_null(found: Any, size: int) -> np.ndarray:
    """Mask of the values that are not null."""
    return np.ones(size, bool) if found.null is None else ~found.null


def _array_item_column(found: Lists | None, index: int, size: int) -> pa.Array:
    """The item at `index` of each row's array; null if the array is shorter."""
    if found is None:
        return pa.nulls(size, pa.int64())
    there = (found.counts > index) & _not_null(found, size)
    positions = np.where(there, found.ends - found.counts + index, 0)
    values = found.items.values
    if not len(values):
        return pa.nulls(size, pa.int64())
    null = ~there if found.items.null is None else ~there | found.items.null[positions]
    return from_numpy(values[positions], null)
