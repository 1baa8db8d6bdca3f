"""The compaction of one bucket: which files it takes, and the compaction that follows each write."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Protocol

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile, SnapshotNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.snapshot.directory import same_commit
from paimon_nb.options import table as opt
from paimon_nb.table.lsm import Levels, sections
from paimon_nb.table.lsm.levels import key_decoder
from paimon_nb.table.lsm.pick import PickLimits, Unit, pick_compaction, pick_full
from paimon_nb.table.read.live_files import LIVE_FILES, BucketFiles, index_entries
from paimon_nb.table.read.plan.snapshot_scan import visible_levels
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.bucket_compact.append import compact_append_bucket, pick_append_auto
from paimon_nb.table.write.bucket_compact.cluster import cluster_files, pick_cluster, uses_clustering
from paimon_nb.table.write.bucket_compact.deletion_vectors import BucketVectors
from paimon_nb.table.write.bucket_compact.merge_tree import BucketCompaction
from paimon_nb.table.write.bucket_compact.result import CompactResult
from paimon_nb.table.write.key_index import BucketIndexes
from paimon_nb.table.write.publish.abort import abort_messages
from paimon_nb.table.write.publish.changes import CommitMessage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np

    from paimon_nb.format.manifest import DataFile, IndexEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.live_files import BucketKey

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class KeyBucket:
    """The live files of one bucket of a primary-key table."""

    store: TableStore
    partition: bytes
    bucket: int
    files: tuple[DataFile, ...]
    index: tuple[IndexEntry, ...] = ()
    """Live index files of the table; only this bucket's are used."""

    def levels(self) -> Levels:
        decode = key_decoder([f.type for f in self.store.schema.key_fields])
        return Levels.of(self.files, self.store.options.num_levels, decode)

    def pick_unit(self, *, full: bool, streams: bool = False) -> Unit | None:
        """The unit to compact: everything, or what the strategy picks.

        `streams`: for a long-running writer `compaction.optimization-interval` counts from its last full compaction;
        for a writer of one commit it has always elapsed.
        """
        if not full and not self.store.options.may_need_compaction(len(self.files)):
            return None
        levels = self.levels()
        if full:
            return pick_full(levels, self._must_rewrite)
        return pick_compaction(levels, pick_limits(self.store, _last_full_compaction_ms(levels) if streams else None))

    def compact(self, unit: Unit, *, write_changelog: bool = True) -> CompactResult:
        """Compact; writes files, publishes nothing. `write_changelog`: False in an overwrite, which has no changelog."""
        vectors = self.vectors()
        work = BucketCompaction(
            self.store, self.partition, self.bucket, self.levels(), unit, vectors, self._forces_rewrite, write_changelog
        )
        result = work.run()
        before = {f.file_name for f in result.before}
        self._refresh_indexes(result, [f for f in self.files if f.file_name not in before] + result.after, vectors)
        return result

    def has_current_indexes(self) -> bool:
        """Whether the indexes of the table's columns cover what they can of the bucket."""
        return BucketIndexes(self.store, self.partition, self.bucket, self.index).is_current(self.files)

    def build_indexes(self) -> CompactResult:
        """Build the indexes that the bucket lacks; its files stay."""
        result = CompactResult()
        self._refresh_indexes(result, self.files, self.vectors())
        return result

    def _refresh_indexes(self, result: CompactResult, files: Sequence[DataFile], vectors: BucketVectors | None) -> None:
        """Add index files for the files that a compaction leaves."""

        def deleted(name: str) -> np.ndarray | None:
            vector = vectors.of(name) if vectors is not None else None
            return None if vector is None else vector.positions()

        indexes = BucketIndexes(self.store, self.partition, self.bucket, self.index)
        try:
            new, stale = indexes.refresh(files, deleted)
        except BaseException:
            abort_messages(self.store, [result.attach_to(CommitMessage(self.partition, self.bucket, -1))])
            raise
        result.new_index += new
        result.deleted_index += stale

    def vectors(self) -> BucketVectors | None:
        """The bucket's deletion vectors; None if the table has none."""
        bucket_index = [e for e in self.index if e.partition == self.partition and e.bucket == self.bucket]
        if not self.store.options.deletion_vectors and not any(
            e.index_type == "DELETION_VECTORS" for e in bucket_index
        ):
            return None
        return BucketVectors(self.store, self.partition, self.bucket, bucket_index)

    @property
    def _forces_rewrite(self) -> bool:
        return bool(self.store.options.get(opt.COMPACTION_FORCE_REWRITE_ALL_FILES))

    def _must_rewrite(self, file: DataFile) -> bool:
        if self._forces_rewrite or (file.delete_row_count or 0) > 0:
            return True
        if self.store.options.get(opt.RECORD_LEVEL_EXPIRE_TIME) is not None:
            return True
        deleted = {r.data_file for e in self.index for r in e.dv_ranges or ()}
        return file.file_name in deleted


def pick_limits(store: TableStore, last_full_ms: int | None = None) -> PickLimits:
    """The table's current limits."""
    now = clock.now_ms()
    return PickLimits.of(
        store.options, now_ms=now, hour=datetime.fromtimestamp(now / 1000).hour, last_full_ms=last_full_ms
    )


def _last_full_compaction_ms(levels: Levels) -> int | None:
    """Time of the last full compaction in epoch ms, derived from the files; None: there was none."""
    made = [f.creation_time_ms for r in levels.runs if r.level == levels.max_level for f in r.run.files]
    # File times are wall clock: only differences can be compared.
    return clock.now_ms() - (clock.local_now_ms() - max(t or 0 for t in made)) if made else None


class StateBeforeWrite(Protocol):
    """The table's state at the start of the write."""

    @property
    def snapshot(self) -> Snapshot | None: ...

    def files(self, key: tuple[bytes, int]) -> list[DataFile]: ...


def compact_after_write(
    store: TableStore,
    messages: Sequence[CommitMessage],
    before: StateBeforeWrite,
    *,
    write_changelog: bool = True,
    full: bool | None = None,
) -> list[CommitMessage]:
    """Messages with their compact increments. `before` holds the live files at the start of the write.

    Args:
        store: the table with a schema that has all columns of the files.
        write_changelog: False in an overwrite, which has no changelog with any producer.
        full: whether this commit of a stream is a full compaction; None for a batch job.

    If another process has replaced and deleted files since the write began, the messages stay as they are: the next commit compacts.
    Where readers see compacted files only, the rows are compacted with the files that are there now.
    """
    while True:
        try:
            return _compact_after_write(store, messages, before, write_changelog, full)
        except (MissingFile, SnapshotNotFound):
            newest, buckets, totals = LIVE_FILES.at_newest(store, store.latest())
            if newest is None or (before.snapshot is not None and same_commit(newest, before.snapshot)):
                store.check_identity()  # it was dropped or moved: that says more
                raise  # nothing has happened meanwhile: the file is lost
            if any(totals.get(m.partition, m.total_buckets) != m.total_buckets for m in messages):
                raise  # rescaled: the rows belong to other buckets now
            log.debug("%s: another process has compacted the bucket", store.name)
            if visible_levels(store) is None:
                return list(messages)
            before = _Now(newest, buckets)
            messages = [replace(m, base_snapshot=newest.id) for m in messages]


@dataclass(frozen=True, slots=True)
class _Now:
    """The table's state at the newest snapshot."""

    snapshot: Snapshot | None
    buckets: Mapping[BucketKey, BucketFiles]

    def files(self, key: BucketKey) -> list[DataFile]:
        return [e.file for e in self.buckets.get(key, BucketFiles()).entries]


def _compact_after_write(
    store: TableStore,
    messages: Sequence[CommitMessage],
    before: StateBeforeWrite,
    write_changelog: bool,
    full: bool | None,
) -> list[CommitMessage]:
    snapshot = before.snapshot
    indexed = store.options.deletion_vectors or store.has_key_indexes
    index = tuple(index_entries(store, snapshot)) if indexed else ()
    out: list[CommitMessage] = []
    try:
        for message in messages:
            files = before.files((message.partition, message.bucket))
            compacted = _compacted(store, message, files, index, write_changelog, full)
            out.append(compacted)
    except BaseException:
        abort_messages(store, out, compaction_only=True)
        raise
    return out


def _compacted(
    store: TableStore,
    message: CommitMessage,
    before: Sequence[DataFile],
    index: tuple[IndexEntry, ...],
    write_changelog: bool,
    full: bool | None,
) -> CommitMessage:
    """The message with the compaction of its bucket, if one is due."""
    if message.bucket == POSTPONE_BUCKET:
        return message
    files = (*before, *message.new_files)
    if uses_clustering(store) and store.bucket_option > 0:
        due = pick_cluster(store, files, full=False)
        return cluster_files(store, message, due).attach_to(message) if due else message
    if not store.has_keys:
        picked = pick_append_auto(store, files) if store.bucket_option > 0 else []
        # Deleted rows must not come back with the merged files.
        vectors = BucketVectors(store, message.partition, message.bucket, index) if picked and index else None
        return compact_append_bucket(store, message, picked, vectors).attach_to(message) if picked else message
    bucket = KeyBucket(store, message.partition, message.bucket, files, index)
    unit = bucket.pick_unit(
        full=store.options.needs_full_compaction_each_time if full is None else full, streams=full is not None
    )
    if unit is not None:
        return bucket.compact(unit, write_changelog=write_changelog).attach_to(message)
    return message if bucket.has_current_indexes() else bucket.build_indexes().attach_to(message)


def upgrade_to_max_level(store: TableStore, message: CommitMessage) -> CommitMessage:
    """Files of an overwrite go straight to the max level if they share no key and hold no delete.

    Source: docs/spec/format.md section 3 (`overwrite-upgrade`).
    """
    files = message.new_files
    if not store.has_keys or not files or message.bucket == POSTPONE_BUCKET:
        return message
    if any(f.level != 0 or f.delete_row_count != 0 for f in files):
        return message
    key = key_decoder([f.type for f in store.schema.key_fields])
    if any(len(section) > 1 for section in sections(files, key)):
        return message
    top = store.options.num_levels - 1
    return replace(message, new_files=tuple(replace(f, level=top) for f in files))
