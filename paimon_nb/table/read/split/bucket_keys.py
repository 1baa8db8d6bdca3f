"""The primary keys of a table, bucket by bucket: for writes and commits that need the location of a key."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.table.lsm.superseded import key_ids
from paimon_nb.table.read.live_files import group_by_bucket
from paimon_nb.table.read.plan.snapshot_scan import Split, deletion_vectors_of, deletion_vectors_of_files
from paimon_nb.table.read.split.split_reader import read_split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import pyarrow as pa

    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


def bucket_keys(
    store: TableStore, snapshot: Snapshot, entries: Iterable[ManifestEntry]
) -> Iterator[tuple[bytes, int, pa.Array]]:
    """(partition, bucket, `key_ids` of its rows) for the buckets of these files.

    Rows are merged, because the meaning of a -D depends on the merge engine.
    """
    vectors, fields = deletion_vectors_of(store, snapshot), store.schema.key_fields
    for (partition, bucket, total), files in group_by_bucket(entries):
        deleted = deletion_vectors_of_files(vectors, partition, files)
        split = Split(snapshot.id, partition, bucket, total, tuple(files), deleted, raw=False)
        yield partition, bucket, key_ids(read_split(store, split, [f.name for f in fields]), fields)
