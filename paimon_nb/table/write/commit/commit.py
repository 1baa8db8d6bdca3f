"""TableCommit: publishes messages, then runs the maintenance that the table's options ask for.

Source: docs/spec/format.md section 3; docs/spec/merge-semantics.md section 11.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import Cancelled, CommitConflict, CommitError, MissingFile, PaimonError, UnsupportedOperation
from paimon_nb.options.table import VISIBILITY_CALLBACK_ENABLED
from paimon_nb.options.write import END_INPUT_WATERMARK
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.attempt import CommitMeta
from paimon_nb.table.write.publish.changes import BATCH_IDENTIFIER, CommitMessage
from paimon_nb.table.write.publish.overwrite import Overwrite, overwrite_change
from paimon_nb.table.write.publish.publisher import SnapshotPublisher

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from paimon_nb.format.snapshot import Snapshot

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

    def commit(
        self,
        messages: Iterable[CommitMessage],
        identifier: int = BATCH_IDENTIFIER,
        *,
        overwrite: Overwrite | None = None,
        properties: Mapping[str, str] | None = None,
        watermark: int | None = None,
        expected_rows: int | None = None,
        ignore_empty: bool = True,
        run_maintenance: bool = True,
        check: Callable[[Snapshot | None], None] | None = None,
    ) -> list[int]:
        """Publish messages as snapshots. Retries if other writers commit at the same time.

        Args:
            messages: the messages of one or more writers (`TableWrite.prepare_commit`).
            identifier: number of the commit in its job, increasing; the default is for batch writes.
            overwrite: the partitions to replace (INSERT OVERWRITE); None appends.
            properties: properties of the snapshots.
            watermark: epoch milliseconds; the default of a batch write is the option `end-input.watermark`.
            expected_rows: number of rows of the source. The commit fails if the writers received another number.
            ignore_empty: False creates an APPEND snapshot even without changes.
            run_maintenance: afterwards expire snapshots and create automatic tags according to the options. It cannot
                fail the commit.
            check: called before each attempt with the snapshot that the commit would follow; a CommitConflict that it raises
                ends the commit.

        Returns:
            The ids of the new snapshots: none, one, or two (APPEND and COMPACT).

        Raises:
            CommitConflict: another commit changed the same files. Nothing is committed; the files of the messages are
                deleted.
            CommitGaveUp: other commits won every retry.
            CommitOverwritten: the last snapshot of this process was replaced by another engine.
            TableReplaced: the table was dropped and created again.
            CommitError: the row counts differ; or the rows are committed, but were not visible in time
                (`visibility-callback.enabled`).
            Cancelled: cancellation was requested.
            UnsupportedOperation: this process has committed or discarded the messages before, or the table does not
                accept the change.
        """
        messages = self.checked_messages(messages, expected_rows)
        if watermark is None and identifier == BATCH_IDENTIFIER:
            watermark = self.store.options.get(END_INPUT_WATERMARK)
        meta = CommitMeta(self.user, identifier, properties, watermark)
        messages, before = self._assign_postponed_buckets(messages, meta, overwrite=overwrite is not None)
        done = self.publish_messages(messages, meta, overwrite=overwrite, ignore_empty=ignore_empty, check=check)
        if isinstance(done.compaction_error, CommitConflict):
            return [*before, *done.ids, *self._compact_again(messages, meta)]
        if done.ids and run_maintenance and done.compaction_error is None:
            self._maintain(meta, messages, done.ids)
        if done.ids and identifier == BATCH_IDENTIFIER and self.store.options.get(VISIBILITY_CALLBACK_ENABLED):
            from paimon_nb.table.write.maintenance.visibility import wait_until_visible

            wait_until_visible(self.store, messages)
        return [*before, *done.ids]

    def _assign_postponed_buckets(
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

        try:
            return assign_buckets(self.store, messages, publish, overwrite=overwrite)
        except MissingFile:
            self.store.check_identity()  # it was dropped or moved: that says more
            raise

    def _compact_again(self, messages: Sequence[CommitMessage], meta: CommitMeta) -> list[int]:
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

    def _maintain(self, meta: CommitMeta, messages: Sequence[CommitMessage], made: Sequence[int]) -> None:
        from paimon_nb.table.write.maintenance.post_commit import run_post_commit

        batch = meta.identifier == BATCH_IDENTIFIER
        partitions = {m.partition for m in messages if m.new_files}
        compacted = any(m.has_compact for m in messages)
        if run_post_commit(
            self.store,
            batch=batch,
            looked_ms=self._looked_ms,
            partitions=partitions,
            newest=made[-1],
            compacted=compacted,
        ):
            self._looked_ms = clock.now_ms()
