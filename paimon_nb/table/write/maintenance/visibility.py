"""`visibility-callback.enabled`: a batch commit waits until a compaction has made its rows visible.

Source: Paimon 2.1 `VisibilityWaitCallback`.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import CommitError
from paimon_nb.options import table as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.store import POSTPONE_BUCKET

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.publish.changes import CommitMessage


def wait_until_visible(store: TableStore, messages: Sequence[CommitMessage]) -> None:
    """Wait until none of the new files waits for a compaction, which another writer must do.

    Files wait that have no bucket, and those of level 0 where there are deletion vectors.

    Args:
        messages: what was committed.

    Raises: CommitError: they still waited after `visibility-callback.timeout`. The rows are committed.
    """
    options = store.options
    marked = options.get(opt.DELETION_VECTORS_ENABLED)

    def needs_compaction(bucket: int, file: DataFile) -> bool:
        return bucket == POSTPONE_BUCKET or bool(marked and store.has_keys and file.level == 0)

    waiting = {(m.partition, f.file_name) for m in messages for f in m.new_files if needs_compaction(m.bucket, f)}
    partitions = {partition for partition, _ in waiting}
    limit = options.get(opt.VISIBILITY_CALLBACK_TIMEOUT)
    interval = options.get(opt.VISIBILITY_CALLBACK_CHECK_INTERVAL)
    began = clock.monotonic_s()
    while waiting:
        live = live_entries(store, store.latest(), partitions)
        if waiting.isdisjoint((e.partition, e.file.file_name) for e in live if needs_compaction(e.bucket, e.file)):
            return  # a compaction may have raised the level of a file without a rewrite
        if clock.monotonic_s() - began >= limit / 1000:
            raise CommitError(
                f"{store.name}: the rows are committed, but no compaction has made them visible in {limit / 1000:g} s",
                hint="CALL sys.compact makes them visible; the statement must not run again",
                files=len(waiting),
            )
        time.sleep(interval / 1000)
