"""How much of a split a condition on its key can leave: an estimate from key bounds, for choosing how to read; skips nothing."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimon_nb.format.manifest import ADD, Listed, ManifestEntry
from paimon_nb.format.types.build import to_numpy
from paimon_nb.table.scan.bounds import column_bounds
from paimon_nb.table.scan.early import spans
from paimon_nb.table.scan.predicate import Predicate, only_on
from paimon_nb.table.scan.prune import file_schema
from paimon_nb.table.scan.splits import Split
from paimon_nb.table.store import TableStore


def key_share(store: TableStore, split: Split, predicate: Predicate | None) -> float:
    """The part of the split's rows, 0 to 1, that a range of its leading key column holds if keys lie evenly; 1 if not known.

    Only whole numbers are estimated: files are sorted by key, so that a small part of them can be read alone.
    """
    keys = store.schema.trimmed_primary_keys
    if predicate is None or not keys or split.branch is not None or split.deletion_vectors:
        return 1.0  # with deletion vectors files are read whole: they count rows by their place
    lead = store.schema.field(keys[0])
    condition = only_on(predicate, {lead.name})
    low, high = spans(condition, [lead]).get(lead.name, (None, None)) if condition is not None else (None, None)
    if not isinstance(low if low is not None else high, int):
        return 1.0
    files = Listed(ManifestEntry(ADD, split.partition, split.bucket, split.total_buckets, f) for f in split.files)
    known = column_bounds(files, lead, lambda schema_id: file_schema(store, schema_id), keys=True)
    if known.low.null_count or known.high.null_count:
        return 1.0
    # As floats: a range over all of BIGINT is wider than int64, and an estimate needs no last digit.
    first, last, rows = (to_numpy(a.cast(pa.float64(), safe=False)) for a in (known.low, known.high, known.rows))
    begin = first if low is None else np.maximum(first, float(low))
    end = last if high is None else np.minimum(last, float(high))
    kept = rows * np.clip((end - begin + 1) / (last - first + 1), 0, 1)
    return float(kept.sum() / max(rows.sum(), 1))
