"""Updates the hidden rows of a split to which newer files were added."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa

from paimon_nb.format.manifest import DataFile
from paimon_nb.table.merge import MergeSpec, remaining_rows

Rows = Callable[[DataFile], pa.Table]
"""A file's key and `_VALUE_KIND` columns, and `_SEQUENCE_NUMBER` if the new files overlap in age."""


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
    plain = spec.engine == "deduplicate" and not spec.sequence_fields and not spec.ignore_delete and len(spec.keys) == 1
    if not plain or min(f.min_sequence for f in new) <= max(f.max_sequence for f in old):
        return None
    tables = [rows(f) for f in new]
    kv = pa.concat_tables(tables).combine_chunks()
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
    keys = column.to_numpy()
    if sort:
        return np.unique(keys)
    return keys if bool((keys[1:] > keys[:-1]).all()) else None
