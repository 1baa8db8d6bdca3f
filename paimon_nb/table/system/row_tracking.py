"""`t$row_tracking`: the table's rows with the id that each keeps through rewrites, and its sequence number."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.types import Atomic, DataField
from paimon_nb.format.types.arrow import arrow_schema
from paimon_nb.table.scan import load_vector, plan_scan, read_split
from paimon_nb.table.scan.splits import Split
from paimon_nb.table.store import TableStore
from paimon_nb.table.system.shape import SystemTable

ROW_ID = DataField(2147483642, "_ROW_ID", Atomic("BIGINT"))
SEQUENCE = DataField(2147483646, "_SEQUENCE_NUMBER", Atomic("BIGINT"))


def _fields(store: TableStore) -> tuple[DataField, ...]:
    return (*store.schema.fields, ROW_ID, SEQUENCE)


def _read(store: TableStore) -> pa.Table:
    if store.has_keys or store.options.raw.get("row-tracking.enabled", "false").lower() != "true":
        raise UnsupportedOperation(
            f"{store.name} does not track its rows", hint="create an append table with 'row-tracking.enabled' = 'true'"
        )
    plan = plan_scan(store)
    parts = [arrow_schema((*plan.schema.fields, ROW_ID, SEQUENCE), nullable=True).empty_table()]
    for split in plan.splits:
        parts += [_file(plan.store, split, i) for i in range(len(split.files))]
    return pa.concat_tables(parts)


def _file(store: TableStore, split: Split, index: int) -> pa.Table:
    file = split.files[index]
    vectors = split.deletion_vectors
    alone = Split(split.snapshot_id, split.partition, split.bucket, split.total_buckets, (file,), vectors, True)
    rows = read_split(store, alone)
    ids = np.arange(file.row_count) + (file.first_row_id or 0)
    ref = (vectors or {}).get(file.file_name)
    if ref is not None:
        ids = ids[~load_vector(store, ref).mask(file.row_count)]
    known = file.first_row_id is not None
    row_ids = pa.array(ids, pa.int64()) if known else pa.nulls(rows.num_rows, pa.int64())
    sequence = pa.array(np.full(rows.num_rows, file.max_sequence), pa.int64())
    return rows.append_column(ROW_ID.name, row_ids).append_column(SEQUENCE.name, sequence)


ROW_TRACKING = SystemTable(_fields, _read)
