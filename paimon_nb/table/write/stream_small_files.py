"""Compaction of small files by a stream that writes to a bucket-unaware table.

Source: Paimon `append/AppendCompactCoordinator.java`, which Flink runs beside the writers of a stream.
"""

from __future__ import annotations

import logging
from collections import Counter
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import CommitConflict
from paimon_nb.options import table as opt
from paimon_nb.table.write.compact import uses_clustering
from paimon_nb.table.write.compact.compact import plan_compaction, run_tasks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.write.commit import CommitMessage, TableCommit

log = logging.getLogger(__name__)


class SmallFiles:
    """The partitions in which a stream left small files."""

    def __init__(self) -> None:
        self._new: Counter[bytes] = Counter()
        """New files by partition since the last compaction."""
        self._looked_ms = clock.now_ms()

    def record_new_files(self, store: TableStore, messages: Iterable[CommitMessage]) -> None:
        """Record the files of a commit."""
        if _is_compacted_by_its_streams(store):
            for message in messages:
                self._new[message.partition] += len(message.new_files)

    def compact(self, store: TableStore, commit: TableCommit, identifier: int, watermark: int | None) -> list[int]:
        """Compact the partitions with enough new files, at most once per discovery interval. Returns the snapshots.

        A conflict with another job leaves the files for a later call.
        """
        options, now = store.options, clock.now_ms()
        if not self._new or now - self._looked_ms < options.get(opt.CONTINUOUS_DISCOVERY_INTERVAL):
            return []
        self._looked_ms = now
        due = {p for p, files in self._new.items() if files >= options.get(opt.COMPACTION_MIN_FILE_NUM)}
        messages = run_tasks(store, plan_compaction(store, due, full=False)) if due else []
        if not messages:
            return []
        try:
            made = commit.commit(messages, identifier, watermark=watermark)
        except CommitConflict as error:
            commit.abort(messages)
            log.info("%s: small files are left for later, %s", store.name, error.message)
            return []
        for partition in due:
            del self._new[partition]
        return made


def _is_compacted_by_its_streams(store: TableStore) -> bool:
    options = store.options
    unaware = not store.has_keys and store.bucket_option == -1
    return unaware and not (options.write_only or options.get(opt.DATA_EVOLUTION_ENABLED) or uses_clustering(store))
