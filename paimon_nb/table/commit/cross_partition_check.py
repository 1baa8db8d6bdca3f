"""An overwrite of some partitions may not bring keys that lie in others, where keys move between partitions.

A write takes such a key away from where it lay; an overwrite replaces its own partitions and touches no other, so the key would
be there twice. Java refuses it too, for the -D would not belong to the overwritten partition.
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
    """Raises UnsupportedOperation. Reads the keys of what stays, as every write into such a table does."""
    new = [e for e in added if e.kind == ADD]
    if latest is None or not new or store.bucket_option != -1 or not store.schema.is_cross_partition:
        return
    from paimon_nb.table.scan.read.bucket_keys import bucket_keys  # scans know commits

    gone = {e.identity for e in deleted}
    stay = [e for e in live_entries(store, latest) if e.identity not in gone]
    if not stay:
        return
    wanted = pa.concat_arrays([keys for *_, keys in bucket_keys(store, latest, new)])
    for partition, _, keys in bucket_keys(store, latest, stay):
        if is_in(keys, wanted).any():
            raise UnsupportedOperation(
                f"{store.name}: the overwrite brings keys that partition {store.partition_values(partition)} holds, which stays "
                "as it is",
                hint="delete them there first, or INSERT INTO, which moves keys from partition to partition",
                partition=store.partition_values(partition),
            )
