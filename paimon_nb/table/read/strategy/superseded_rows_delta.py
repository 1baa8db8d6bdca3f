"""The hidden rows of a split whose newest row of a key wins, without a merge: of all its files, or after newer ones were added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.lsm.merge import MergeSpec, remaining_rows
from paimon_nb.table.lsm.merge.merge import retraction_mask

Rows = Callable[[DataFile], pa.Table]
"""A file's key columns, `_VALUE_KIND` if it may have retractions, and `_SEQUENCE_NUMBER` if the new files overlap in age."""
_MAX_SPAN = 16
"""Integers between the smallest and the largest key of a split, for each row."""


def hidden_rows_with_new_files(
    known: Mapping[str, np.ndarray], old: Sequence[DataFile], new: Sequence[DataFile], rows: Rows, spec: MergeSpec
) -> dict[str, np.ndarray] | None:
    """The hidden rows of old and new files together; None if a merge is needed.

    The newer rows win, so each of their keys is searched in the older files, and nothing is sorted.

    Args:
        known: the hidden rows of `old` alone.
        old: the older files.
        new: the newer files.
        rows: reads the key columns of a file.
        spec: how the table merges rows.

    Returns:
        File name -> bool per physical row, True = hidden. Without files that have no hidden rows.
    """
    if not _newest_row_wins(spec) or min(f.min_sequence for f in new) <= max(f.max_sequence for f in old):
        return None
    tables = [rows(f) for f in new]
    kv = concat_with_kinds(tables)
    keys = _ascending_keys(kv, spec.keys[0], sort=True)
    if keys is None:
        return None
    out = dict(known)
    for file in old:
        have = _ascending_keys(rows(file), spec.keys[0])
        if have is None:
            return None
        at = np.searchsorted(have, keys)
        inside = at < len(have)
        at, matching = at[inside], keys[inside]
        at = at[have[at] == matching]
        if len(at):
            mask = known[file.file_name].copy() if file.file_name in known else np.zeros(file.row_count, bool)
            mask[at] = True
            out[file.file_name] = mask
    hidden = np.ones(kv.num_rows, bool)
    hidden[remaining_rows(kv, spec)] = False
    return out | by_file(new, hidden, np.cumsum([0, *(t.num_rows for t in tables)]))


def hidden_rows_of_dense_keys(
    files: Sequence[DataFile], tables: Sequence[pa.Table], spec: MergeSpec
) -> dict[str, np.ndarray] | None:
    """The hidden rows of files whose keys are integers close to one another; None if a merge is needed.

    A merge sorts the rows of all files. Here a flag of each key records whether a newer file has it.

    Args:
        files: oldest first; rows of a key are older in an earlier file.
        tables: the key column of each file, and `_VALUE_KIND` if it may have retractions.
        spec: how the table merges rows.

    Returns:
        File name -> bool per physical row, True = hidden. Without files that have no hidden rows.
    """
    if not _newest_row_wins(spec):
        return None
    keys = []
    for table in tables:
        ascending = _ascending_keys(table, spec.keys[0])
        if ascending is None:
            return None
        keys.append(ascending.astype(np.int64, copy=False))
    low = min((int(k[0]) for k in keys if len(k)), default=0)
    high = max((int(k[-1]) for k in keys if len(k)), default=0)
    if high - low > _MAX_SPAN * sum(map(len, keys)):
        return None
    seen = np.zeros(high - low + 1, bool)
    out: dict[str, np.ndarray] = {}
    for file, table, of_file in zip(reversed(files), reversed(tables), reversed(keys), strict=True):
        at = of_file - low
        hidden = retraction_mask(table) | seen[at]
        if hidden.any():
            out[file.file_name] = hidden
        seen[at] = True
    return out


def _newest_row_wins(spec: MergeSpec) -> bool:
    """Whether a row hides all older rows of its key, and the key is one column."""
    return spec.engine == "deduplicate" and not spec.sequence_fields and not spec.ignore_delete and len(spec.keys) == 1


def concat_with_kinds(tables: Sequence[pa.Table]) -> pa.Table:
    """Rows of several files, one chunk per column. If some have `_VALUE_KIND`, the rows of the others are inserts."""
    if len({VALUE_KIND in t.column_names for t in tables}) > 1:
        tables = [
            t
            if VALUE_KIND in t.column_names
            else t.append_column(VALUE_KIND, from_numpy(np.zeros(t.num_rows, np.int8)))
            for t in tables
        ]
    return pa.concat_tables(tables).combine_chunks()


def by_file(files: Sequence[DataFile], hidden: np.ndarray, starts: np.ndarray) -> dict[str, np.ndarray]:
    """Split an array of hidden rows by file.

    Args:
        files: the files, in the order of the array.
        hidden: bool per row of all files.
        starts: the first position of each file in `hidden`, then its length.

    Returns:
        File name -> bool per physical row. Without files that have no hidden rows.
    """
    parts = {f.file_name: hidden[a:b] for f, a, b in zip(files, starts, starts[1:], strict=False)}
    return {name: part for name, part in parts.items() if part.any()}


def _ascending_keys(kv: pa.Table, name: str, *, sort: bool = False) -> np.ndarray | None:
    """Integer keys in strictly ascending order; None for other types and orders."""
    column = kv.column(name)
    if not pa.types.is_integer(column.type) or column.null_count:
        return None
    keys = to_numpy(column)
    if sort:
        return np.unique(keys)
    return keys if bool((keys[1:] > keys[:-1]).all()) else None
