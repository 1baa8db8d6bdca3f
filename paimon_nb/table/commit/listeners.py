"""Notifies a listener, such as a metastore that lists partitions, about published commits."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from paimon_nb.base.errors import PaimonError
from paimon_nb.table.store import CommitWatcher, TableStore

log = logging.getLogger(__name__)


def notify_partitions_added(store: TableStore, partitions: Collection[bytes]) -> None:
    """Called after a snapshot with new files in these partitions was published."""
    _notify(store, lambda watcher: watcher.added(store, partitions))


def notify_partitions_dropped(store: TableStore, partitions: Collection[bytes]) -> None:
    """Called after these partitions were dropped."""
    _notify(store, lambda watcher: watcher.dropped(store, partitions))


def _notify(store: TableStore, event: Callable[[CommitWatcher], None]) -> None:
    """The snapshot is published; a listener error does not undo it."""
    if store.watcher is None:
        return
    try:
        event(store.watcher)
    except (PaimonError, OSError) as error:
        log.warning("%s: the catalog's partition list was not updated, run CALL sys.repair: %s", store.name, error)
