"""What a committer tidies after each commit, as Java's does: expiry, automatic tags. Never fails the commit."""

from __future__ import annotations

import logging

from paimon_nb.base.errors import PaimonError
from paimon_nb.options import table as opt
from paimon_nb.table.maintain.auto_tags import create_batch_tag, create_due_tags
from paimon_nb.table.maintain.expire import ExpireLimits, expire_changelogs, expire_snapshots
from paimon_nb.table.maintain.tags import expire_tags
from paimon_nb.table.store import TableStore

log = logging.getLogger(__name__)


def tidy(store: TableStore, *, batch: bool = True) -> None:
    """Create due tags, then expire tags, snapshots and changelogs, as the options say. `write-only` tables are left alone.

    The rows are committed already, so an error here is logged and not raised: the next commit tries again.
    """
    if store.options.write_only:
        return
    try:
        create_due_tags(store)
        if batch:
            create_batch_tag(store)
        if store.options.get(opt.TAG_TIME_EXPIRE_ENABLED) and store.tags.names():
            expire_tags(store)
        if _anything_to_expire(store):
            expire_snapshots(store)
        if store.changelogs.ids():
            expire_changelogs(store)
    except (PaimonError, OSError) as error:
        log.warning("%s: tidying after the commit was left for later: %s", store.name, error)


def _anything_to_expire(store: TableStore) -> bool:
    """A cheap look before the real one."""
    oldest, newest = store.snapshots.earliest_id(), store.snapshots.latest_id()
    if oldest is None or newest is None:
        return False
    return newest - oldest >= ExpireLimits.of(store).retain_min
