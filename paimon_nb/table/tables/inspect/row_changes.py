"""Pairs changed rows of two versions with their old values. Reads the rows of both versions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.types import DataField, from_arrow_type
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.lsm.changelog import match_keys

if TYPE_CHECKING:
    from collections.abc import Sequence

ROWKIND = "rowkind"


def with_update_before_rows(diff: pa.Table, before: pa.Table, keys: Sequence[str]) -> pa.Table:
    """An update as -U and +U instead of one +I.

    Args:
        diff: `rowkind` and the table's columns; +I for each new or changed row, -D for each removed one.
        before: the rows of the earlier version, same columns. keys: the primary key.

    Returns:
        The rows of `diff` in their order; each +U directly after its -U.
    """
    kinds = np.array(diff.column(ROWKIND).to_pylist(), dtype=object)
    old = _row_numbers_of_keys(diff.select(keys), before.select(keys))
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


def _row_numbers_of_keys(keys_of: pa.Table, rows: pa.Table) -> np.ndarray:
    """For each key its row number in `rows`, -1 if missing."""
    fields = [DataField(i, f.name, from_arrow_type(f.type)) for i, f in enumerate(keys_of.schema)]
    return match_keys(keys_of, rows, fields)
