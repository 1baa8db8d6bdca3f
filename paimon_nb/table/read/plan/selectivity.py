"""Estimates a condition's selectivity from file bounds, to choose how to read; skips nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.manifest import ADD, EntryList, ManifestEntry
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.table.read.predicate.evaluate import spans_of_matching_values
from paimon_nb.table.read.predicate.model import In, Predicate, conjuncts, conjuncts_on
from paimon_nb.table.read.predicate.stats_evaluator import column_bounds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore


def key_share(store: TableStore, splits: Sequence[Split], predicate: Predicate | None) -> float:
    """The fraction (0 to 1) of the splits' rows in a range of their leading key column, for evenly distributed keys; 1 if
    unknown.

    Only integers are estimated: files are sorted by key, so a small part of them can be read alone.
    """
    keys = store.schema.trimmed_primary_keys
    if predicate is None or not keys or any(s.branch is not None or s.deletion_vectors for s in splits):
        return 1.0  # with deletion vectors files are read whole: row positions are counted
    found = _matching_share(store, splits, predicate, store.schema.field(keys[0]), keys=True)
    return 1.0 if found is None else found


def estimate_selectivity(store: TableStore, splits: Sequence[Split], predicate: Predicate) -> float | None:
    """The fraction of the splits' rows that match, for evenly distributed values; None if the bounds are unknown.

    Of conditions on several columns only the most selective one counts.
    """
    keys, smallest = store.schema.trimmed_primary_keys, 1.0
    for part in conjuncts(predicate):
        if part.columns() <= set(store.schema.partition_keys):
            continue  # already used by the plan
        if len(part.columns()) > 1:
            return None
        field = store.schema.field(*part.columns())
        share = _matching_share(store, splits, part, field, keys=field.name in keys)
        if share is None:
            return None
        smallest = min(smallest, share)
    return smallest


def _matching_share(
    store: TableStore, splits: Sequence[Split], predicate: Predicate, field: DataField, *, keys: bool
) -> float | None:
    condition = conjuncts_on(predicate, {field.name})
    low, high = (
        spans_of_matching_values(condition, [field]).get(field.name, (None, None))
        if condition is not None
        else (None, None)
    )
    if condition is None or not isinstance(low if low is not None else high, int):
        return None
    files = EntryList(ManifestEntry(ADD, s.partition, s.bucket, s.total_buckets, f) for s in splits for f in s.files)
    known = column_bounds(files, field, store.schema_by_id, keys=keys)
    if known.low.null_count or known.high.null_count:
        return None
    # As floats: a range over all of BIGINT exceeds int64, and an estimate does not need the last digit.
    first, last, rows = (to_numpy(a.cast(pa.float64(), safe=False)) for a in (known.low, known.high, known.rows))
    begin = first if low is None else np.maximum(first, float(low))
    end = last if high is None else np.minimum(last, float(high))
    values = [len(part.literals) for part in conjuncts(condition) if isinstance(part, In)]
    values_in_range = np.minimum(end - begin + 1, min(values, default=np.inf))
    matching = rows * np.clip(values_in_range / (last - first + 1), 0, 1)
    return float(matching.sum() / max(rows.sum(), 1))
