"""Drops rows of upper levels that a newer result already contains. Knows kv tables and levels, no files.

In tables with lookup (changelog-producer=lookup, deletion vectors, first-row, force-lookup) a compaction looks up the
current result of a key before it writes the new one. So rows above level 0 are complete results, and older results of
the same key on higher levels must not be merged again: a sum would count twice. Source: Paimon `LookupMergeFunction`,
which Java uses for reads of such tables too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.row import encode_rows, with_one_nan
from paimon_nb.format.types.arrow_builders import arrow_column, from_numpy, scalar, to_numpy

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np

    from paimon_nb.format.types import DataField


def drop_superseded(parts: Sequence[tuple[int, pa.Table]], keys: Sequence[DataField]) -> list[pa.Table]:
    """Tables to merge: all of level 0, and of the upper levels only each key's row on the lowest one.

    Args:
        parts: (level, rows with the key columns); a level may occur several times, its tables then share no key.
        keys: the trimmed primary key.
    """
    remaining = [table for level, table in parts if level == 0]
    seen: pa.Array | None = None
    for level in sorted({level for level, _ in parts if level > 0}):
        here: list[pa.Array] = [] if seen is None else [seen]
        for table in (t for lvl, t in parts if lvl == level):
            ids = key_ids(table, keys)
            remaining.append(table if seen is None else _drop_rows(table, is_in(ids, seen)))
            here.append(ids)
        seen = pa.concat_arrays(here)
    return [t for t in remaining if t.num_rows] or remaining[:1]


def key_ids(rows: pa.Table, keys: Sequence[DataField]) -> pa.Array:
    """One value per row, equal exactly for equal keys."""
    columns = [_one_chunk(rows.column(f.name)) for f in keys]
    columns = [_equal_bits(c) if pa.types.is_floating(c.type) else c for c in columns]
    if len(keys) == 1 and not keys[0].type.nullable and not pa.types.is_floating(columns[0].type):
        return columns[0]
    return arrow_column(encode_rows([f.type for f in keys], columns).to_list(), pa.binary())


def is_in(ids: pa.Array, among: pa.Array) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Which ids occur among others."""
    return to_numpy(pc.is_in(ids, value_set=among))


def _drop_rows(table: pa.Table, mask: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> pa.Table:
    return table.filter(from_numpy(~mask)) if bool(mask.any()) else table


def _equal_bits(numbers: pa.Array) -> pa.Array:
    """Floats that are equal as keys get equal bits: one NaN, one zero."""
    return pc.add(with_one_nan(numbers), scalar(0.0, numbers.type))


def _one_chunk(column: pa.ChunkedArray) -> pa.Array:
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
