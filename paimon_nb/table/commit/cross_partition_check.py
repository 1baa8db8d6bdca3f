"""Refuses an overwrite of some partitions that brings keys of other partitions, on tables with cross-partition updates.

A normal write removes such a key from its old partition. An overwrite replaces only its own partitions, so the key
would exist twice. Java refuses it too: the -D would not belong to the overwritten partition.
"""

from __future__ import annotations

from collections.abc import Iterable

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.manifest import ADD, ManifestEntry
from paimon_nb.format.snapshot import Snapshot
from paimon_nb.table.commit.live_files import live_entries
from paimon_nb.table.lsm.superseded import is_in
from paimon_nb.table.store import TableStore


def refuse_moved_keys(
    store: TableStore, latest: Snapshot | None, added: Iterable[ManifestEntry], deleted: Iterable[ManifestEntry]
) -> None:
    """Raises UnsupportedOperation. Reads the keys of the remaining files, as every write to such a table does."""
    new = [e for e in added if e.kind == ADD]
    if latest is None or not new or store.bucket_option != -1 or not store.schema.is_cross_partition:
        return
    from paimon_nb.table.scan.read.bucket_keys import bucket_keys  # imported here: scan depends on commit

    removed = {e.identity for e in deleted}
    stay = [e for e in live_entries(store, latest) if e.identity not in removed]
    if not stay:
        return
    new_keys = pa.concat_arrays([keys for *_, keys in bucket_keys(store, latest, new)])
    for partition, _, keys in bucket_keys(store, latest, stay):
        if is_in(keys, new_keys).any():
            raise UnsupportedOperation(
                f"{store.name}: the overwrite has keys that exist in partition {store.partition_values(partition)}, which is not "
                "overwritten",
                hint="delete those keys first, or use INSERT INTO, which moves keys between partitions",
                partition=store.partition_values(partition),
            )
