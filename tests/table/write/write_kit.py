"""Real tables in a directory: made, written and read back through the product's own rooms below `Table`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.data import SEQUENCE_NUMBER, VALUE_KIND
from paimon_nb.format.schema import SchemaDirectory, create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.fs import FileIO, LocalFileIO
from paimon_nb.table.lsm.levels import newest_first
from paimon_nb.table.lsm.merge import MergeSpec, merge
from paimon_nb.table.lsm.superseded import drop_superseded
from paimon_nb.table.read.live_files import by_bucket, index_entries, live_entries
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.bucket_compact.append import append_rows, in_arrival_order
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
from paimon_nb.table.write.bucket_compact.sorted_run_reader import file_rows, in_kv_column_order
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import compact

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.table.write.publish.overwrite import Overwrite

Row = dict[str, Any]


def make_table(
    root: str,
    columns: Mapping[str, str],
    keys: Sequence[str] = (),
    partitions: Sequence[str] = (),
    fs: FileIO | None = None,
    **options: str,
) -> TableStore:
    fs = fs or LocalFileIO()
    schema = create_schema(
        [(n, parse_type(t), None, None) for n, t in columns.items()],
        list(partitions), list(keys), {k.replace("_", "-"): v for k, v in options.items()}, None,
    )  # fmt: skip
    assert SchemaDirectory(fs, root).create(schema)
    return TableStore.open(fs, root)


def arrow(store: TableStore, rows: Sequence[Row]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), schema=store.schema.arrow.remove_metadata() if rows else store.schema.arrow)


def put(
    store: TableStore,
    rows: Sequence[Row] | pa.Table,
    kinds: Sequence[str] | None = None,
    overwrite: Overwrite | None = None,
) -> list[int]:
    """Write and commit rows; returns the snapshot ids."""
    table = rows if isinstance(rows, pa.Table) else arrow(store, rows)
    with TableWrite(store, overwrite=overwrite is not None) as write:
        write.write(table, None if kinds is None else pa.array(kinds))
        messages = write.prepare_commit()
    return TableCommit(store).commit(messages, overwrite=overwrite, expected_rows=table.num_rows)


def compact_all(store: TableStore, full: bool = True) -> list[int]:
    return TableCommit(store).commit(compact(store, full=full))


def rows_of(store: TableStore) -> list[Row]:
    """All rows now, by the plainest possible reading: every file of a bucket merged at once."""
    snapshot = store.latest()
    index = index_entries(store, snapshot)
    out: list[Row] = []
    for (partition, bucket), entries in by_bucket(live_entries(store, snapshot)).items():
        vectors = BucketVectors(store, partition, bucket, index)
        files = [e.file for e in entries]
        if not store.has_keys:
            where = entries[0]
            for table in append_rows(store, where, in_arrival_order(files), vectors):
                out += table.to_pylist()
            continue
        if store.options.deletion_vectors or store.options.merge_engine == "first-row":
            files = [f for f in files if f.level > 0]
        files.sort(key=lambda f: (-f.level, *(-n if isinstance(n, int) else n for n in newest_first(f)[:2])))
        leveled = [(f.level, t) for f in files for t in [_whole(store, partition, bucket, f, vectors)] if t.num_rows]
        tables = [t for _, t in leveled]
        if not tables:
            continue
        if store.options.need_lookup:
            tables = drop_superseded(leveled, store.schema.key_fields)
        merged = merge(tables, MergeSpec.of(store.schema, store.options), drop_delete=True)
        out += merged.drop_columns([SEQUENCE_NUMBER, VALUE_KIND]).to_pylist()
    return out


def _whole(store: TableStore, partition: bytes, bucket: int, file: Any, vectors: BucketVectors) -> pa.Table:
    parts = list(file_rows(store, partition, bucket, file, vectors))
    return pa.concat_tables(parts) if parts else in_kv_column_order(_empty_kv(store), store)


def _empty_kv(store: TableStore) -> pa.Table:
    table = store.schema.arrow.empty_table()
    return table.append_column(SEQUENCE_NUMBER, pa.array([], pa.int64())).append_column(
        VALUE_KIND, pa.array([], pa.int8())
    )


def by_key(rows: Sequence[Row], *keys: str) -> dict[Any, Row]:
    found = {tuple(r[k] for k in keys): r for r in rows}
    assert len(found) == len(rows), "a key occurs twice"
    return found


def levels(store: TableStore) -> list[tuple[int, int, int]]:
    """(bucket, level, rows) of every live file."""
    return sorted((e.bucket, e.file.level, e.file.row_count) for e in live_entries(store, store.latest()))


def history(store: TableStore) -> list[str]:
    store.snapshots.invalidate_cache()
    return [store.snapshots.get(i).commit_kind for i in store.snapshots.ids()]
