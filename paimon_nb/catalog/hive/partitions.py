"""A table's partitions in the metastore, kept as commits make and drop them (`metastore.partitioned-table`).

Source: Paimon 1.3 `AddPartitionCommitCallback.java`, `HiveCatalog.java` (createPartitions, dropPartitions).
"""

from __future__ import annotations

import copy
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import StoreError
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier
from paimon_nb.catalog.hive.client import NotFound, Refused
from paimon_nb.format.row import partition_names
from paimon_nb.options import table as opt
from paimon_nb.table.commit.live_files import live_entries
from paimon_nb.table.store import TableStore

if TYPE_CHECKING:
    from paimon_nb.catalog.hive.metastore import HiveRegister


@dataclass(frozen=True)
class PartitionSync:
    """Tells the metastore of one table's partitions. Pickles: writers of streams take it along."""

    register: HiveRegister
    name: Identifier

    def added(self, store: TableStore, partitions: Collection[bytes]) -> None:
        """Make entries for partitions that have none."""
        from hive_metastore import ttypes

        table = self.register.entry(self.name)
        if not partitions or table is None:
            return
        now = clock.now_ms() // 1000
        entries = []
        for partition in sorted(partitions):
            entry = ttypes.Partition(
                values=self._values(store, partition), dbName=table.dbName, tableName=table.tableName, createTime=now,
                lastAccessTime=now, sd=copy.copy(table.sd), parameters={},
            )  # fmt: skip
            self.register.place(entry, store.partition_dir(partition))
            entries.append(entry)
        request = ttypes.AddPartitionsRequest(
            dbName=table.dbName, tblName=table.tableName, parts=entries, ifNotExists=True, needResult=False
        )
        try:
            self.register.metastore.change("add_partitions_req", request)
        except Refused as error:
            raise StoreError(
                f"{self.name}: the Hive metastore refused {len(entries)} new partition(s): {error}",
                hint="CALL sys.repair tries again",
            ) from None

    def dropped(self, store: TableStore, partitions: Collection[bytes]) -> None:
        """Take entries away, but those of partitions that another branch still has."""

        kept = self.register.kept_name(self.name)
        others = {b for b in (*store.branches.names(), MAIN_BRANCH) if b != store.branch}
        live: set[bytes] = set()
        for branch in others:
            other = store.on_branch(branch)
            live |= {e.partition for e in live_entries(other, other.latest(), partitions)}
        for partition in sorted(set(partitions) - live):
            try:
                self.register.metastore.change(
                    "drop_partition", kept.database, kept.table, self._values(store, partition), False
                )
            except NotFound:
                continue
            except Refused as error:
                raise StoreError(f"{self.name}: the Hive metastore keeps a dropped partition: {error}") from None

    def _values(self, store: TableStore, partition: bytes) -> list[str]:
        names = partition_names(
            store.schema.partition_fields,
            store.partition_values(partition),
            legacy=store.options.get(opt.PARTITION_LEGACY_NAME),
            default_name=store.options.get(opt.PARTITION_DEFAULT_NAME),
        )
        return list(names.values())
