"""The rows that are another between two moments, with their old values beside the new ones. Reads both moments' rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from paimon_nb.format.types.arrow_builders import filled, from_numpy, to_numpy

ROWKIND = "rowkind"


def with_old_rows(diff: pa.Table, before: pa.Table, keys: Sequence[str]) -> pa.Table:
    """An update as -U and +U instead of one +I.

    Args:
        diff: `rowkind` and the table's columns; +I for each row that is new or another, -D for each that is gone.
        before: the rows of the earlier moment, same columns. keys: the primary key.

    Returns:
        The rows of `diff` in their order; before each +U its -U.
    """
    kinds = np.array(diff.column(ROWKIND).to_pylist(), dtype=object)
    old = _places(diff.select(keys), before.select(keys))
    updated = (kinds == "+I") & (old >= 0)
    kinds[updated] = "+U"
    new_at = np.arange(diff.num_rows)
    wide = pa.concat_tables(
        [diff.drop_columns([ROWKIND]), before.select([n for n in diff.column_names if n != ROWKIND])],
        promote_options="permissive",
    )
    rows = np.concatenate([new_at, diff.num_rows + old[updated]])
    order = np.lexsort(
        (
            np.concatenate([np.ones(diff.num_rows), np.zeros(updated.sum())]),
            np.concatenate([new_at, new_at[updated]]),
        )
    )
    all_kinds = np.concatenate([kinds, np.full(int(updated.sum()), "-U", dtype=object)])
    out = wide.take(from_numpy(rows[order]))
    return out.add_column(0, ROWKIND, pa.array(list(all_kinds[order]), pa.string()))


def _places(wanted: pa.Table, rows: pa.Table) -> np.ndarray:
    """For each wanted key its row number in `rows`, -1 where it is not there."""
    keys = wanted.column_names
    left = wanted.append_column("__wanted", from_numpy(np.arange(wanted.num_rows)))
    right = rows.append_column("__place", from_numpy(np.arange(rows.num_rows)))
    joined = left.join(right, keys, join_type="left outer").sort_by("__wanted")
    return to_numpy(filled(joined.column("__place"), -1))
