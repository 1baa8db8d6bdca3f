"""Table maintenance: expiry, tags, branches, rollback, orphan files. Every deletion checks `reachable_from_all_branches` first."""

from paimon_nb.table.write.maintenance.analyze import analyze
from paimon_nb.table.write.maintenance.branches import create_branch, delete_branch, fast_forward, rename_branch
from paimon_nb.table.write.maintenance.consumers import clear_consumers, delete_consumer, reset_consumer
from paimon_nb.table.write.maintenance.expire import (
    ExpireLimits,
    delete_changelogs,
    expire_changelogs,
    expire_snapshots,
)
from paimon_nb.table.write.maintenance.manifests import (
    compact_manifests,
    describe_manifests,
    remove_missing_files,
    remove_missing_manifests,
)
from paimon_nb.table.write.maintenance.mark_done import mark_partitions_done
from paimon_nb.table.write.maintenance.merge_branch import merge_branch
from paimon_nb.table.write.maintenance.orphans import ORPHAN_AGE_MS, Orphan, find_orphans, remove_orphans
from paimon_nb.table.write.maintenance.partitions import (
    drop_partitions,
    expire_partitions,
    expired_by_values,
    missing_partitions,
    refuse_existing_partitions,
    refuse_missing_partitions,
    truncate,
)
from paimon_nb.table.write.maintenance.purge import purge
from paimon_nb.table.write.maintenance.reachable import Reachable, reachable_from_all_branches
from paimon_nb.table.write.maintenance.restore import restore_as_latest
from paimon_nb.table.write.maintenance.rollback import rollback_to_snapshot, rollback_to_tag
from paimon_nb.table.write.maintenance.row_ids import Reassigned, reassign_row_ids
from paimon_nb.table.write.maintenance.tags import (
    create_tag,
    delete_tag,
    delete_tags,
    expire_tags,
    rename_tag,
    replace_tag,
)

__all__ = [
    "ORPHAN_AGE_MS", "ExpireLimits", "Orphan", "Reachable", "Reassigned", "analyze", "clear_consumers", "compact_manifests", "create_branch",
    "create_tag", "delete_branch", "delete_changelogs", "delete_consumer", "delete_tag", "delete_tags", "describe_manifests", "drop_partitions", "expired_by_values", "expire_changelogs",
    "expire_partitions", "expire_snapshots", "expire_tags", "fast_forward", "find_orphans", "mark_partitions_done", "missing_partitions",
    "merge_branch",
    "purge", "reachable_from_all_branches", "reassign_row_ids", "refuse_existing_partitions", "refuse_missing_partitions", "remove_missing_files", "remove_missing_manifests", "remove_orphans", "rename_branch", "rename_tag", "replace_tag",
    "reset_consumer", "restore_as_latest", "rollback_to_snapshot", "rollback_to_tag", "truncate",
]  # fmt: skip
