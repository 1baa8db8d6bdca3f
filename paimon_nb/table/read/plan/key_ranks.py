"""Maps the keys of many files to integers with the same order, in one pass. Knows no files or levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.types.arrow_builders import to_numpy, unique_inverse
from paimon_nb.table.read.predicate.stats_evaluator import stats_column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataType

_WHOLE = frozenset({"TINYINT", "SMALLINT", "INT", "BIGINT"})
_ORDERED = _WHOLE | {"CHAR", "VARCHAR", "DATE", "DECIMAL"}
"""Types that Arrow orders as Paimon does."""


def key_ranks(types: Sequence[DataType], low: pa.Array, high: pa.Array) -> tuple[np.ndarray, np.ndarray] | None:
    """(numbers for `low`, numbers for `high`), int64; equal for equal keys. None if only the keys themselves can be
    compared.

    Args:
        low, high: serialized keys of `types`, large_binary.
    """
    if not types or not len(low) or any(t.root not in _ORDERED for t in types):
        return None
    both, ranks = pa.concat_arrays([low, high]), np.zeros(2 * len(low), np.int64)
    for i, t in enumerate(types):
        column = stats_column(both, types, i)
        if column.null_count:
            return None
        if len(types) == 1 and t.root in _WHOLE:
            ranks = to_numpy(column).astype(np.int64)
        else:
            own = to_numpy(pc.rank(column, sort_keys="ascending", tiebreaker="dense")).astype(np.int64)
            ranks = unique_inverse(ranks * (int(own.max()) + 1) + own)[1]
    return ranks[: len(low)], ranks[len(low) :]
