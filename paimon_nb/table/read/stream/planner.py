"""Plans the next step of a stream: which snapshot, which files, which rows with which kinds.

Source: docs/spec/merge-semantics.md section 8 (Paimon `DataTableStreamScan`, `DeltaFollowUpScanner`,
`ChangelogFollowUpScanner`).
"""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.base.errors import SnapshotExpired, TimeTravelError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import KIND_FIELD, TRACKING_FIELDS, VALUE_KIND
from paimon_nb.format.manifest import ADD, DELETE, ManifestEntry
from paimon_nb.format.types.arrow_builders import empty_table, from_numpy, to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.lsm.merge.merge import without_retracts
from paimon_nb.table.read.live_files import read_changes, read_live
from paimon_nb.table.read.plan.prune import Pruner
from paimon_nb.table.read.plan.snapshot_scan import (
    Split,
    deletion_vectors_of,
    deletion_vectors_of_files,
    files_in_plan_order,
    is_independent,
    pack_bucket_into_splits,
    pack_live_files_into_splits,
    prune_live_files,
)
from paimon_nb.table.read.predicate.evaluate import bind_literals, filter_rows
from paimon_nb.table.read.predicate.model import Predicate, conjuncts_on
from paimon_nb.table.read.split.row_tracking import names_row_ids, split_by_file, tracked_rows
from paimon_nb.table.read.split.split_reader import read_split, read_split_kinds, system_fields
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.read.stream.chain import starting_state
from paimon_nb.table.read.stream.offset import CommitMark, StreamOffset
from paimon_nb.table.read.stream.start import snapshot_or_changelog

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.plan.snapshot_scan import LevelFilter

_FOREVER = 1 << 62


class Idle(Enum):
    """Why there is no step."""

    WAITING = "waiting"
    """The next snapshot does not exist yet, or is too young to deliver."""
    ENDED = "ended"
    """The bounded watermark was reached: the stream has ended."""


@dataclass(frozen=True, slots=True)
class StreamSplit:
    """Rows that one task reads."""

    split: Split
    retracts: bool = False
    """Emit the rows as retractions: the state of a partition before it was overwritten."""


@dataclass(frozen=True, slots=True)
class StreamStep:
    """What one snapshot delivers. If it delivers nothing, only the position advances."""

    snapshot: Snapshot
    full: bool
    """The snapshot's whole state instead of its changes."""
    pieces: tuple[StreamSplit, ...]
    after: StreamOffset
    """The position after the rows are delivered."""
    predicate: Predicate | None = None
    """Bound to the schema; only rows for which it is true are delivered."""

    @property
    def files(self) -> int:
        return sum(len(p.split.files) for p in self.pieces)

    @property
    def size(self) -> int:
        """Bytes to read."""
        return sum(p.split.size for p in self.pieces)

    @property
    def row_count(self) -> int:
        """Stored rows, before merging and filtering."""
        return sum(p.split.row_count for p in self.pieces)


def next_step(
    store: TableStore, position: StreamOffset, predicate: Predicate | None = None, *, now_ms: int | None = None
) -> StreamStep | Idle:
    """Plan the snapshot at a position.

    Args:
        predicate: unbound; None: all rows. now_ms: for `streaming.read.snapshot.delay`; None = the clock.

    Raises:
        SnapshotExpired: the snapshot has expired. TimeTravelError: the table's history ends before it (rolled back, or
        re-created). TableReplaced: the table was dropped and created again. CorruptFile, MissingFile.
    """
    store = store.for_queries()
    bound = None if predicate is None else bind_literals(predicate, store.schema.fields)
    if not position.full and _bounded_stream_has_ended(store, position.next):
        return Idle.ENDED
    snapshot = snapshot_or_changelog(store, position.next) if position.next or not position.full else None
    if position.full and store.starts_chain and (snapshot is not None or not position.next):
        start = starting_state(store, position, snapshot, bound)
        if start is None:
            return Idle.WAITING
        after = StreamOffset(1) if snapshot is None else StreamOffset.after(snapshot)
        return StreamStep(start[0], True, tuple(map(StreamSplit, start[1])), after, bound)
    if snapshot is None:
        _check_snapshot_may_come(store, position.next)
        check_not_rolled_back(store, position)
        return Idle.WAITING
    if position.behind is None:
        store.check_identity()  # otherwise the commit of the last snapshot shows it
    check_not_rolled_back(store, position)
    if position.full:
        pieces = _full_state_splits(store, snapshot, bound, position.since_ms)
        return StreamStep(snapshot, True, pieces, StreamOffset.after(snapshot), bound)
    if _is_past(store, snapshot):
        return Idle.ENDED
    delay = store.options.get(opt.STREAMING_READ_SNAPSHOT_DELAY)
    if delay is not None and snapshot.time_ms > (clock.now_ms() if now_ms is None else now_ms) - delay:
        return Idle.WAITING
    return StreamStep(snapshot, False, _change_splits(store, snapshot, bound), StreamOffset.after(snapshot), bound)


def newest_position(store: TableStore) -> StreamOffset | None:
    """After the last snapshot that a stream may deliver now, limited by `streaming.read.snapshot.delay` and the bounded
    watermark. None for a table without snapshot.
    """
    latest = store.latest()
    if latest is None:
        return None
    delay = store.options.get(opt.STREAMING_READ_SNAPSHOT_DELAY)
    visible_until_ms = None if delay is None else clock.now_ms() - delay
    end, snapshot = latest.id, latest
    while _is_past(store, snapshot) or (visible_until_ms is not None and snapshot.time_ms > visible_until_ms):
        end -= 1
        before = snapshot_or_changelog(store, end) if end else None
        if before is None:
            break
        snapshot = before
    return StreamOffset(end + 1) if snapshot.id != end else StreamOffset.after(snapshot)


def steps_between(
    store: TableStore, start: StreamOffset, end: StreamOffset, predicate: Predicate | None = None
) -> Iterator[StreamStep]:
    """All steps from one position to another that was reached before; the same rows are delivered again.

    Raises: as `next_step`; TimeTravelError: the history no longer reaches `end`.
    """
    position = start
    while position.next < end.next:
        step = next_step(store, position, predicate, now_ms=_FOREVER)
        if step is Idle.ENDED:
            return
        if isinstance(step, Idle):
            raise TimeTravelError(
                f"{store.name}: the stream had reached snapshot {end.next - 1}, but snapshot {position.next} does not exist",
                hint="the table was rolled back; start the stream again with a new checkpoint",
                wanted=position.next,
            )
        yield step
        position = step.after


def read_step(
    store: TableStore, step: StreamStep, columns: Sequence[str] | None = None, *, sequence: bool = False
) -> pa.Table:
    """All rows of a step with their kinds in a last column `_VALUE_KIND` (int8: 0 +I, 1 -U, 2 +U, 3 -D).

    `columns` may name those of row tracking. `sequence`: of a table with a primary key, also `_SEQUENCE_NUMBER` before the kind.
    """
    tracking = {f.name: f for f in TRACKING_FIELDS}
    fields = store.schema.fields if columns is None else [tracking.get(c) or store.schema.field(c) for c in columns]
    parts = [empty_table([*fields, *system_fields(kinds=True, sequence=sequence)])]
    parts += [read_piece(store, piece, columns, step.predicate, sequence=sequence) for piece in step.pieces]
    return pa.concat_tables(parts)


def read_piece(
    store: TableStore,
    piece: StreamSplit,
    columns: Sequence[str] | None = None,
    predicate: Predicate | None = None,
    *,
    sequence: bool = False,
) -> pa.Table:
    """One split's rows; see `read_step`. `predicate` is bound to the schema."""
    split = piece.split
    if columns is not None and names_row_ids(store, columns, None):
        rows = _tracked_rows(store, split, columns, predicate)
        return rows.append_column(VALUE_KIND, from_numpy(np.zeros(rows.num_rows, np.int8)))
    store = store.for_queries()
    if split.changes:
        return read_split_kinds(store, split, columns, predicate, sequence=sequence)
    if (split.raw and not sequence) or not store.has_keys:
        rows = read_split(store, split, columns, predicate)
        rows = rows.append_column(VALUE_KIND, from_numpy(np.zeros(rows.num_rows, np.int8)))
    else:
        rows = without_retracts(read_split_kinds(store, split, columns, predicate, sequence=sequence))
    return _as_retractions(rows) if piece.retracts else rows


def _tracked_rows(store: TableStore, split: Split, columns: Sequence[str], predicate: Predicate | None) -> pa.Table:
    """A split's rows with columns of row tracking, file by file."""
    fields = store.schema.fields
    used = {*columns, *(() if predicate is None else predicate.columns())}
    read = [f.name for f in fields if f.name in used] or [fields[0].name]
    rows = [tracked_rows(store, one, read) for one in split_by_file(split, store)]
    return pa.concat_tables([filter_rows(predicate, r, fields).select(list(columns)) for r in rows])


def _as_retractions(rows: pa.Table) -> pa.Table:
    """+I becomes -D and +U becomes -U."""
    kinds = np.where(to_numpy(rows.column(VALUE_KIND)) == 0, 3, 1).astype(np.int8)
    return rows.set_column(rows.schema.get_field_index(VALUE_KIND), VALUE_KIND, pa.array(kinds))


# -- files of a snapshot


def _full_state_splits(
    store: TableStore, snapshot: Snapshot, bound: Predicate | None, since_ms: int | None
) -> tuple[StreamSplit, ...]:
    """The state of a snapshot. With producers that emit the changes of young files later, those files are skipped."""
    independent = is_independent(store)
    pruner = Pruner(store, bound, independent=independent)
    entries = prune_live_files(store, snapshot, pruner, changelog_levels(store), since_ms)
    merged = pack_live_files_into_splits(store, snapshot, entries, independent=independent, as_stored=tuple)
    return (*map(StreamSplit, merged), *_postponed_splits(store, snapshot, bound, since_ms))


def _postponed_splits(
    store: TableStore, snapshot: Snapshot, bound: Predicate | None, since_ms: int | None
) -> tuple[StreamSplit, ...]:
    """Postponed rows belong to a stream's first state, as written, if no changelog emits them later."""
    if store.bucket_option != POSTPONE_BUCKET or store.options.changelog_producer != "none":
        return ()
    pruner = _key_pruner(store, bound)
    waiting = [e for e in read_live(store, snapshot, pruner.keep_manifests).entries if e.bucket == POSTPONE_BUCKET]
    entries = pruner.prune_by_stats(pruner.prune_created_before(pruner.prune_partitions(waiting), since_ms))
    return _splits_as_written(store, snapshot, entries)


def postponed_rows(store: TableStore, snapshot: Snapshot) -> pa.Table:
    """The rows without a bucket that a stream starting at a snapshot delivers, as written, with their kinds as `read_step`."""
    parts = [read_piece(store, piece) for piece in _postponed_splits(store, snapshot, None, None)]
    return pa.concat_tables([empty_table([*store.schema.fields, KIND_FIELD]), *parts])


def changelog_levels(store: TableStore) -> LevelFilter | None:
    """The levels whose rows a stream has delivered: its changelog emits those of the others later. None: all."""
    match store.options.changelog_producer if store.has_keys else "none":
        case "lookup":
            return lambda level: level > 0
        case "full-compaction":
            top = store.options.num_levels - 1
            return lambda level: level == top
    return None


def _change_splits(store: TableStore, snapshot: Snapshot, bound: Predicate | None) -> tuple[StreamSplit, ...]:
    """The changes of a snapshot, one by one, as written or from its changelog."""
    producer = store.options.changelog_producer
    if snapshot.commit_kind == "OVERWRITE" and _shows_overwrites(store):
        return _overwrite_splits(store, snapshot, bound)
    if producer == "none":
        name = snapshot.delta_manifest_list if snapshot.commit_kind == "APPEND" else None
    else:
        name = snapshot.changelog_manifest_list
    return _written_splits(store, snapshot, name, bound) if name is not None else ()


def _written_splits(
    store: TableStore, snapshot: Snapshot, manifests: str, bound: Predicate | None
) -> tuple[StreamSplit, ...]:
    return _splits_as_written(store, snapshot, [e for e in _pruned_changes(store, manifests, bound) if e.kind == ADD])


def _splits_as_written(
    store: TableStore, snapshot: Snapshot, added: Sequence[ManifestEntry]
) -> tuple[StreamSplit, ...]:
    pieces = []
    for (partition, bucket, total), files in files_in_plan_order(store, added):
        # Rows of one bucket stay in write order: no splitting by key.
        for members in (
            [files] if store.has_keys else [group for group, _ in pack_bucket_into_splits(store, files, True)]
        ):
            split = Split(
                snapshot.id, partition, bucket, total, tuple(members), None, not store.has_keys, store.has_keys
            )
            pieces.append(StreamSplit(split))
    return tuple(pieces)


def _overwrite_splits(store: TableStore, snapshot: Snapshot, bound: Predicate | None) -> tuple[StreamSplit, ...]:
    """What an overwrite deleted and added; for a table without primary key only what it added."""
    if not store.has_keys:
        return _written_splits(store, snapshot, snapshot.delta_manifest_list, bound)
    if not store.fs.exists(store.manifest_path(snapshot.delta_manifest_list)):
        raise _expired_error(
            store, snapshot.id
        )  # a long-lived changelog does not retain rows that an overwrite deleted
    entries = _pruned_changes(store, snapshot.delta_manifest_list, bound)
    removed = dict(files_in_plan_order(store, [e for e in entries if e.kind == DELETE]))
    added = dict(files_in_plan_order(store, [e for e in entries if e.kind == ADD]))
    before = snapshot_or_changelog(store, snapshot.id - 1)
    pieces = []
    for source, retracts, state in ((removed, True, before), (added, False, snapshot)):
        vectors = deletion_vectors_of(store, state)
        for (partition, bucket, total), files in source.items():
            split = Split(
                snapshot.id,
                partition,
                bucket,
                total,
                tuple(files),
                deletion_vectors_of_files(vectors, partition, files),
                raw=False,
            )
            pieces.append(StreamSplit(split, retracts))
    # A bucket's old rows directly precede its new ones: the sort is stable.
    return tuple(sorted(pieces, key=lambda p: (p.split.partition, p.split.bucket)))


def _pruned_changes(store: TableStore, manifests: str, bound: Predicate | None) -> Sequence[ManifestEntry]:
    """Entries of one commit."""
    pruner = _key_pruner(store, bound)
    entries = pruner.prune_buckets(
        pruner.prune_partitions(read_changes(store, manifests, pruner.keep_manifests).entries)
    )
    return pruner.prune_by_stats(_without_postponed_entries(store, entries))


def _key_pruner(store: TableStore, bound: Predicate | None) -> Pruner:
    """An update can be two rows of which only one matches: so only key conditions skip files of a primary-key table."""
    keys = frozenset((*store.schema.primary_keys, *store.schema.partition_keys))
    return Pruner(store, conjuncts_on(bound, keys) if store.has_keys else bound, independent=not store.has_keys)


def _without_postponed_entries(store: TableStore, entries: Sequence[ManifestEntry]) -> Sequence[ManifestEntry]:
    """Without postponed rows if a changelog emits them later."""
    if store.bucket_option != POSTPONE_BUCKET or store.options.changelog_producer == "none":
        return entries
    return [e for e in entries if e.bucket >= 0]


def _shows_overwrites(store: TableStore) -> bool:
    key = opt.STREAMING_READ_OVERWRITE if store.has_keys else opt.STREAMING_READ_APPEND_OVERWRITE
    return bool(store.options.get(key))


# -- end of the stream


def _is_past(store: TableStore, snapshot: Snapshot) -> bool:
    """Whether the snapshot is past `scan.bounded.watermark`."""
    bound = store.options.get(opt.SCAN_BOUNDED_WATERMARK)
    return bound is not None and snapshot.watermark is not None and snapshot.watermark > bound


def _bounded_stream_has_ended(store: TableStore, snapshot_id: int) -> bool:
    """Whether the previous snapshot, which was delivered in full, was already past the bounded watermark."""
    if store.options.get(opt.SCAN_BOUNDED_WATERMARK) is None:
        return False
    before = snapshot_or_changelog(store, snapshot_id - 1)
    return before is not None and _is_past(store, before)


def _check_snapshot_may_come(store: TableStore, requested: int) -> None:
    """Raise if waiting for a snapshot is useless."""
    earliest, latest = store.snapshots.earliest_id(), store.snapshots.latest_id()
    store.check_identity()  # after reading the ids: those of a table that is being dropped are unreliable
    if earliest is not None and requested < earliest and snapshot_or_changelog(store, requested) is None:
        raise _expired_error(store, requested)
    if requested > (latest or 0) + 1 and snapshot_or_changelog(store, requested) is None:
        raise TimeTravelError(
            f"{store.name}: the stream waits for snapshot {requested}, but the newest is {latest or 'none'}",
            hint="the table was rolled back or re-created; restart the stream",
            wanted=requested,
            latest=latest,
        )


def check_not_rolled_back(store: TableStore, position: StreamOffset) -> None:
    """Raise TimeTravelError if snapshot `position.next - 1` is no longer the one whose rows were delivered.

    If it has expired, the next one shows how many rows it had; a rollback after which there were as many is not noticed.
    """
    if position.behind is None:
        return
    delivered = position.next - 1
    now = snapshot_or_changelog(store, delivered)
    if now is None and not _follows(snapshot_or_changelog(store, position.next), position.behind):
        raise TimeTravelError(
            f"{store.name}: the stream has read a snapshot {delivered} that was rolled back; today's snapshot {position.next} "
            "does not follow it",
            hint="rows of the snapshots that were rolled back are already delivered, and snapshots that came in their place "
            "may have expired. Start the stream again with a new checkpoint",
            wanted=position.next,
        )
    if now is not None and CommitMark.of(now) != position.behind:
        raise TimeTravelError(
            f"{store.name}: the stream has read a snapshot {delivered} that was rolled back; today's snapshot {delivered} "
            "is of another commit",
            hint=f"rows of the snapshots that were rolled back are already delivered. Start the stream again: "
            f"with a new checkpoint, or from 'scan.snapshot-id' = '{delivered}' or earlier for the new rows only",
            wanted=position.next,
        )


def _follows(snapshot: Snapshot | None, mark: CommitMark) -> bool:
    """Whether a snapshot may be the next one after a commit: it states the rows before it."""
    if snapshot is None or snapshot.commit_kind == "OVERWRITE":  # a repair counts again
        return True
    total, delta = snapshot.total_record_count, snapshot.delta_record_count
    return mark.rows is None or total is None or delta is None or total - delta == mark.rows


def _expired_error(store: TableStore, requested: int) -> SnapshotExpired:
    earliest, latest = store.snapshots.earliest_id(), store.snapshots.latest_id()
    return SnapshotExpired(
        f"{store.name}: the stream needs snapshot {requested}, which has expired; available: snapshots {earliest} to {latest}",
        hint=f"restart with 'scan.mode' = 'latest-full' or 'scan.snapshot-id' = '{earliest}'; to retain "
        "unread snapshots, set a 'consumer-id' or increase 'snapshot.time-retained'",
        wanted=requested,
        earliest=earliest,
        latest=latest,
    )
