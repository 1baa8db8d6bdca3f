"""Purges a table: deletes rows, history, tags, branches and consumers; columns and options stay.

Source: Paimon `PurgeFilesProcedure`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.table.write.maintenance.atomic import undone_on_error
from paimon_nb.table.write.maintenance.branches import check_not_read, delete_branch
from paimon_nb.table.write.maintenance.consumers import clear_consumers
from paimon_nb.table.write.maintenance.expire import ExpireLimits, delete_changelogs, expire_snapshots
from paimon_nb.table.write.maintenance.partitions import truncate
from paimon_nb.table.write.maintenance.tags import delete_tag

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

_EVER = 1 << 62


def purge(store: TableStore) -> int | None:
    """Delete everything but the table. Returns the id of the snapshot that emptied it; None for a table without rows.

    Only referenced files are deleted; `remove_orphans` deletes the others.
    """
    for branch in store.branches.names():
        check_not_read(store, branch)
    with undone_on_error(store) as changing:
        for branch in store.branches.names():
            delete_branch(changing, branch)
        for tag in store.tags.names():
            delete_tag(changing, tag)
        clear_consumers(changing)
        made = truncate(changing)
        only_newest = ExpireLimits.of(store, retain_min=1, retain_max=1, older_than_ms=_EVER, max_deletes=_EVER)
        expire_snapshots(changing, only_newest)
        delete_changelogs(changing)
    return made
