"""`t$row_tracking`: the table's rows with the id that each keeps through rewrites, and its sequence number."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.data import TRACKING_FIELDS, read_data_file
from paimon_nb.format.types import DataField
from paimon_nb.format.types.arrow import arrow_schema
from paimon_nb.table.scan import load_vector, plan_scan, read_split
from paimon_nb.table.scan.splits import Split
from paimon_nb.table.scan.tracked import held, tracks_rows, with_tracking
from paimon_nb.table.store import TableStore
from paimon_nb.table.system.shape import SystemTable


def _fields(store: TableStore) -> tuple[DataField, ...]:
    return (*store.schema.fields, *TRACKING_FIELDS)


def _read(store: TableStore) -> pa.Table:
    if not tracks_rows(store):
        raise UnsupportedOperation(
            f"{store.name} does not track its rows", hint="create an append table with 'row-tracking.enabled' = 'true'"
        )
    plan = plan_scan(store)
    parts = [arrow_schema((*plan.schema.fields, *TRACKING_FIELDS), nullable=True).empty_table()]
    for split in plan.splits:
        parts += [_file(plan.store, split, i) for i in range(len(split.files))]
    return pa.concat_tables(parts)


def _file(store: TableStore, split: Split, index: int) -> pa.Table:
    file = split.files[index]
    vectors = split.deletion_vectors
    alone = Split(split.snapshot_id, split.partition, split.bucket, split.total_buckets, (file,), vectors, True)
    rows = read_split(store, alone)
    path = store.data_path(split.partition, split.bucket, file)
    kept = held(file)
    ids = read_data_file(store.fs, path, kept) if kept else pa.table({"": pa.nulls(file.row_count)})
    ids = with_tracking(ids, file).select([f.name for f in TRACKING_FIELDS])
    ref = (vectors or {}).get(file.file_name)
    if ref is not None:
        ids = ids.filter(pa.array(~load_vector(store, ref).mask(file.row_count)))
    for field in TRACKING_FIELDS:
        rows = rows.append_column(field.name, ids.column(field.name))
    return rows


ROW_TRACKING = SystemTable(_fields, _read)
