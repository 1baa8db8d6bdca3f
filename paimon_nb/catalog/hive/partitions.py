"""Synchronises a table's partitions to the metastore on commits (`metastore.partitioned-table`).

Source: Paimon 1.3 `AddPartitionCommitCallback.java`, `HiveCatalog.java` (createPartitions, dropPartitions).
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base import clock
from paimon_nb.base.errors import StoreError
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.hive.client import HiveMetastoreClient, NotFound, Refused
from paimon_nb.table.read.format_table import partition_path_of
from paimon_nb.table.read.live_files import live_entries

if TYPE_CHECKING:
    from collections.abc import Collection

    from paimon_nb.table.read.store import TableStore


class PartitionedTables(Protocol):
    """The part of `HiveMetastore` that partitions need."""

    client: HiveMetastoreClient

    def entry(self, name: Identifier) -> Any | None:
        """A table's entry."""

    def stored_name(self, name: Identifier) -> Identifier:
        """The name as the metastore stores it."""

    def set_location(self, entry: Any, path: str) -> None:
        """Set a partition's location."""


@dataclass(frozen=True)
class PartitionSync:
    """A commit listener that synchronises one table's partitions. Pickles, because streaming writers carry it."""

    metastore: PartitionedTables
    name: Identifier

    def added(self, store: TableStore, partitions: Collection[bytes]) -> None:
        """Add entries for new partitions."""
        from hive_metastore import ttypes

        table = self.metastore.entry(self.name)
        if not partitions or table is None:
            return
        now = clock.now_ms() // 1000
        entries = []
        for partition in sorted(partitions):
            entry = ttypes.Partition(
                values=self._partition_values(store, partition), dbName=table.dbName, tableName=table.tableName, createTime=now,
                lastAccessTime=now, sd=copy.copy(table.sd), parameters={},
            )  # fmt: skip
            self.metastore.set_location(entry, _directory_of(store, partition))
            entries.append(entry)
        request = ttypes.AddPartitionsRequest(
            dbName=table.dbName, tblName=table.tableName, parts=entries, ifNotExists=True, needResult=False
        )
        try:
            self.metastore.client.execute("add_partitions_req", request)
        except Refused as error:
            raise StoreError(
                f"{self.name}: the Hive metastore refused {len(entries)} new partition(s): {error}",
                hint="run CALL sys.repair",
            ) from None

    def dropped(self, store: TableStore, partitions: Collection[bytes]) -> None:
        """Remove entries of dropped partitions, unless another branch has the partition."""

        stored_name = self.metastore.stored_name(self.name)
        branches = () if store.is_format_table else (*store.branches.names(), MAIN_BRANCH)
        others = {b for b in branches if b != store.branch}
        live: set[bytes] = set()
        for branch in others:
            other = store.on_branch(branch)
            live |= {e.partition for e in live_entries(other, other.latest(), partitions)}
        for partition in sorted(set(partitions) - live):
            try:
                self.metastore.client.execute(
                    "drop_partition",
                    stored_name.database,
                    stored_name.table,
                    self._partition_values(store, partition),
                    False,
                )
            except NotFound:
                continue
            except Refused as error:
                raise StoreError(f"{self.name}: the Hive metastore did not drop a partition: {error}") from None

    def _partition_values(self, store: TableStore, partition: bytes) -> list[str]:
        return list(store.partition_texts(store.partition_values(partition)).values())


def _directory_of(store: TableStore, partition: bytes) -> str:
    """The directory of a partition's files."""
    if store.is_format_table:
        return partition_path_of(store, store.partition_values(partition))
    return store.partition_dir(partition)
