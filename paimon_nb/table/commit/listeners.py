"""What a published commit did, told to the one who watches the table, such as a metastore that lists its partitions."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection

from paimon_nb.base.errors import PaimonError
from paimon_nb.table.store import CommitWatcher, TableStore

log = logging.getLogger(__name__)


def tell_added(store: TableStore, partitions: Collection[bytes]) -> None:
    """A snapshot with new files in these partitions was published."""
    _tell(store, lambda watcher: watcher.added(store, partitions))


def tell_dropped(store: TableStore, partitions: Collection[bytes]) -> None:
    """These partitions were dropped as such."""
    _tell(store, lambda watcher: watcher.dropped(store, partitions))


def _tell(store: TableStore, news: Callable[[CommitWatcher], None]) -> None:
    """The snapshot is published: a watcher that cannot be reached does not take it back."""
    if store.watcher is None:
        return
    try:
        news(store.watcher)
    except (PaimonError, OSError) as error:
        log.warning("%s: the catalog was not told of its partitions, CALL sys.repair: %s", store.name, error)
