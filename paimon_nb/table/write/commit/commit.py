"""TableCommit: publishes messages, then runs the maintenance that the table's options ask for.

Source: docs/spec/format.md section 3; docs/spec/merge-semantics.md section 11.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import Cancelled, CommitConflict, CommitError, PaimonError, UnsupportedOperation
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import BATCH_IDENTIFIER, CommitMessage
from paimon_nb.table.write.publish.overwrite import Overwrite, overwrite_change
from paimon_nb.table.write.publish.publisher import SnapshotPublisher

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.write.publish.attempt import CommitMeta

log = logging.getLogger(__name__)
_COMPACT_AGAIN = 5
"""Attempts while other writers keep changing the same buckets."""


class TableCommit(SnapshotPublisher):
    """Commits messages of writers; returned by `Table.commit`.

    After a commit it expires snapshots and creates automatic tags according to the options of the table.

    Args:
        store: the table.
        commit_user: identity of a job across its commits; None is a new UUID, as for a batch write.
    """

    def __init__(self, store: TableStore, commit_user: str | None = None) -> None:
        super().__init__(store, commit_user)
        self._looked_ms = clock.now_ms()

    def _before_commit(
        self, messages: list[CommitMessage], meta: CommitMeta, *, overwrite: bool
    ) -> tuple[list[CommitMessage], list[int]]:
        """Where batch writes give postponed rows their buckets: with these, and the snapshots of a rescale before it."""
        if meta.identifier != BATCH_IDENTIFIER or not any(
            m.bucket == POSTPONE_BUCKET and m.new_files for m in messages
        ):
            return messages, []
        from paimon_nb.table.write.compact.postponed_batch import assign_buckets, assigns_buckets_in_batch

        if not assigns_buckets_in_batch(self.store):
            return messages, []

        def publish(changed: list[CommitMessage], scope: Overwrite) -> list[int]:
            try:
                return self._publish_until_won(
                    lambda latest: overwrite_change(self.store, latest, changed, scope), meta
                )
            except (CommitError, Cancelled, UnsupportedOperation):
                abort_messages(self.store, changed)
                raise

        return assign_buckets(self.store, messages, publish, overwrite=overwrite)

    def _after_lost_compaction(self, messages: Sequence[CommitMessage], meta: CommitMeta) -> list[int]:
        """Compact again if reads skip level 0: committed rows would stay invisible until the next compaction.

        The rows are committed, so an error here is logged and not raised.
        """
        from paimon_nb.table.read.plan.snapshot_scan import visible_levels
        from paimon_nb.table.write.compact import compact

        if visible_levels(self.store) is None:
            return []
        partitions = {m.partition for m in messages if m.has_compact}
        buckets = {m.bucket for m in messages if m.has_compact}
        for _ in range(_COMPACT_AGAIN):
            try:
                done = compact(self.store, partitions.__contains__, full=False, buckets=buckets)
                return self.commit(
                    done,
                    meta.identifier,
                    properties=meta.properties,
                    watermark=meta.watermark,
                    run_maintenance=False,
                )
            except CommitConflict:
                continue
            except (PaimonError, OSError) as error:
                log.warning("%s: compaction of new rows is postponed: %s", self.store.name, error)
                break
        return []

    def _after_commit(self, meta: CommitMeta, partitions: set[bytes]) -> None:
        from paimon_nb.table.write.maintenance.post_commit import run_post_commit

        batch = meta.identifier == BATCH_IDENTIFIER
        if run_post_commit(self.store, batch=batch, looked_ms=self._looked_ms, partitions=partitions):
            self._looked_ms = clock.now_ms()
