"""The entries of a manifest, decoded column by column. Errors are reported by `manifests`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.override import override
from paimon_nb.format.avro.columnar import WORTH, Lists, Numbers, Texts, UnsupportedLayout, read_columns
from paimon_nb.format.manifest.decoded_entries import (
    BYTES_PATHS,
    NULL_PATHS,
    NUMBER_PATHS,
    TEXT_PATHS,
    DecodedEntries,
)
from paimon_nb.format.manifest.entries import BYTES, STATS_COLS, Name
from paimon_nb.format.types.arrow_builders import from_numpy

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.avro.container import Container


def entries_by_columns(container: Container, version: int, worth: int = WORTH) -> EntryColumns | None:
    """The entries; None if the data is unusual and fastavro must read it.

    Args:
        worth: as in `read_columns`. The container's schema must have the fields of a manifest.
    """
    try:
        columns = read_columns(container.schema, container.blocks, worth=worth)
    except UnsupportedLayout:
        return None
    number = {name: columns[path].values for name, path in NUMBER_PATHS.items() if path in columns}
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


class EntryColumns(DecodedEntries):
    """The entries of one manifest."""

    def __init__(self, columns: Mapping[str, Any]) -> None:
        super().__init__(len(columns["_KIND"].values))
        self._fields = columns

    def _make_column(self, name: Name) -> Any:
        if isinstance(name, tuple):
            return _array_item_column(self._fields.get(NULL_PATHS[name[0]]), name[1], len(self))
        if name in BYTES:
            return self._fields[BYTES_PATHS[name]].arrow
        if name == "beside":
            index, extra = self._fields.get("_FILE._EMBEDDED_FILE_INDEX"), self._fields["_FILE._EXTRA_FILES"].counts
            inside = np.zeros(len(self), bool) if index is None else _not_null(index, len(self))
            return (inside | (extra > 0)).astype(np.int64)
        if name == STATS_COLS:
            return self._stats_cols()
        found = self._fields.get(NUMBER_PATHS[name])
        missing = -1 if name == "deletes" else 0
        if found is None:
            return np.full(len(self), missing, np.int64)
        return found.values if found.null is None else np.where(found.null, missing, found.values)

    @override
    def field_values(self, path: str, rows: np.ndarray | None) -> list[Any]:
        size = len(self) if rows is None else len(rows)
        found = self._fields.get(path)
        return [None] * size if found is None else _python_values(found, rows, path in TEXT_PATHS)


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
