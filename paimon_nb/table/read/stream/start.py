"""Start position of a stream: from `scan.mode` and its options, or from a consumer's progress.

Source: docs/spec/merge-semantics.md section 8 (Paimon `AbstractDataTableScan.createStartingScanner`, `TableScanUtils`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, ConsumerNotFound, UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.table.read.plan.snapshot_scan import wants_postponed
from paimon_nb.table.read.plan.time_travel import SCAN_VERSION, check_mode, local_time_ms
from paimon_nb.table.read.stream.chain import starting_position
from paimon_nb.table.read.stream.offset import StreamOffset

if TYPE_CHECKING:
    from collections.abc import Collection

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

_MERGED = ("partial-update", "aggregation", "first-row")
_FIRST_ID = 1
_BATCH_ONLY = {
    opt.SCAN_TAG_NAME.key: "a tag", opt.SCAN_WATERMARK.key: "a watermark", SCAN_VERSION: "a version",
    opt.INCREMENTAL_BETWEEN.key: "an increment", opt.INCREMENTAL_BETWEEN_TIMESTAMP.key: "an increment",
    opt.INCREMENTAL_TO_AUTO_TAG.key: "an increment",
}  # fmt: skip


def check_changelog_producer(store: TableStore, merge_engines: Collection[str], reader: str) -> None:
    """Refuse a table of one of these merge engines without a changelog producer. Raises UnsupportedOperation.

    Args:
        reader: what reads it, for the message.
    """
    engine = store.options.merge_engine
    if store.has_keys and engine in merge_engines and store.options.changelog_producer == "none":
        raise UnsupportedOperation(
            f"{store.name}: {reader} of a {engine} table needs a changelog producer",
            hint="ALTER TABLE ... SET ('changelog-producer' = 'lookup') or 'full-compaction'; "
            "'input' emits the written rows unchanged",
            merge_engine=engine,
        )


def check_streamable(store: TableStore) -> None:
    """Refuse a stream that would deliver wrong changes.

    Raises:
        UnsupportedOperation: a merge engine whose deltas are not changes of the merged rows, without changelog
        producer.
        BadOptionValue: options for one snapshot or one increment, which only batch reads support.
        AccessDenied: the user may not read the table.
    """
    store.check_readable()
    options = store.options
    check_mode(options)
    check_changelog_producer(store, _MERGED, "a stream")
    if options.get(opt.STREAMING_READ_OVERWRITE):
        if not store.has_keys:
            raise BadOptionValue(
                f"{store.name} has no primary key, so 'streaming-read-overwrite' is not supported",
                hint="use 'streaming-read-append-overwrite', which reads the new rows of an overwrite",
                option=opt.STREAMING_READ_OVERWRITE.key,
            )
        if options.changelog_producer in ("lookup", "full-compaction"):
            raise BadOptionValue(
                f"{store.name}: with changelog-producer {options.changelog_producer!r} a stream would emit the changes "
                "of an overwrite twice",
                hint="unset 'streaming-read-overwrite'",
                option=opt.STREAMING_READ_OVERWRITE.key,
            )
    if wants_postponed(store):
        raise UnsupportedOperation(
            f"{store.name}: 'postpone.merge-on-read' is for batch reads; a stream emits rows when they get their bucket",
            hint="set 'postpone.merge-on-read' = 'false' for the stream",
            option=opt.POSTPONE_MERGE_ON_READ.key,
        )
    for key, what in _BATCH_ONLY.items():
        if key in options.raw:
            raise BadOptionValue(
                f"option {key!r} selects {what}; a stream cannot start there",
                hint="use scan.snapshot-id or scan.timestamp, or read it in batch mode",
                option=key,
            )
    if options.get(opt.SCAN_MODE) in ("incremental", "latest-delta"):
        raise BadOptionValue(
            f"scan.mode {options.get(opt.SCAN_MODE)!r} is for batch reads",
            hint="a stream supports latest-full, latest, compacted-full, from-snapshot[-full], from-timestamp or from-file-creation-time",
            option="scan.mode",
        )


class StartPositionFinder:
    """Finds a stream's first position; may have to wait for the table's first snapshot.

    Records whether the table was empty at the start: with `latest`, such a table is read from its first snapshot on.
    """

    def __init__(self, store: TableStore, *, includes_latest: bool = False) -> None:
        """`includes_latest`: with `latest`, the changes of the latest snapshot come first, as in Spark; in Flink those after it."""
        self.store, self.includes_latest = store, includes_latest
        self.began_empty = store.latest() is None

    def position(self) -> StreamOffset | None:
        """The start position; None while there is no snapshot to start from.

        Raises:
            BadOptionValue, CorruptFile. TableReplaced: the table was dropped and created again since the stream was opened.
        """
        self.store.check_identity()
        return first_position(self.store, began_empty=self.began_empty, includes_latest=self.includes_latest)


def first_position(
    store: TableStore, *, began_empty: bool = False, includes_latest: bool = False
) -> StreamOffset | None:
    """See `StartPositionFinder`."""
    if store.starts_chain:
        return starting_position(store)
    o = store.options
    consumer = o.get(opt.CONSUMER_ID)
    if consumer is not None and not o.get(opt.CONSUMER_IGNORE_PROGRESS):
        try:
            return _changes_from(store, store.consumers.next_snapshot(consumer))
        except ConsumerNotFound:
            pass  # the stream's first run
    latest = store.latest()
    if latest is None:
        return None
    match _scan_mode(store):
        case "latest":
            if began_empty:
                return StreamOffset(_FIRST_ID)
            return StreamOffset(latest.id) if includes_latest else StreamOffset.after(latest)
        case "compacted-full":
            return StreamOffset(_newest_compacted(store, latest), full=True)
        case "from-timestamp":
            return StreamOffset(_last_before_ms(store, _start_ms(store), latest) + 1)
        case "from-snapshot":
            return _changes_from(store, _start_snapshot_id(store))
        case "from-snapshot-full":
            return StreamOffset(max(_start_snapshot_id(store), store.snapshots.earliest_id() or _FIRST_ID), full=True)
        case "from-file-creation-time":
            since = o.get(opt.SCAN_FILE_CREATION_TIME_MILLIS)
            if since is None:
                raise missing_option("from-file-creation-time", opt.SCAN_FILE_CREATION_TIME_MILLIS.key)
            return StreamOffset(latest.id, full=True, since_ms=since)
        case "from-creation-timestamp":
            return _from_creation(store, latest)
    return StreamOffset(latest.id, full=True)


def starts_full(store: TableStore) -> bool:
    """Whether a stream on an empty table first delivers a whole state, once there is one."""
    return _scan_mode(store) in ("latest-full", "compacted-full", "from-snapshot-full", "from-file-creation-time")


def _scan_mode(store: TableStore) -> str:
    """`scan.mode`, or the mode implied by the other options."""
    o = store.options
    mode = o.get(opt.SCAN_MODE)
    if mode == "full":
        return "latest-full"
    if mode != "default":
        return str(mode)
    if o.has(opt.SCAN_TIMESTAMP_MILLIS) or o.has(opt.SCAN_TIMESTAMP):
        return "from-timestamp"
    if o.has(opt.SCAN_SNAPSHOT_ID):
        return "from-snapshot"
    if o.has(opt.SCAN_FILE_CREATION_TIME_MILLIS):
        return "from-file-creation-time"
    return "from-creation-timestamp" if o.has(opt.SCAN_CREATION_TIME_MILLIS) else "latest-full"


def _start_snapshot_id(store: TableStore) -> int:
    requested = store.options.get(opt.SCAN_SNAPSHOT_ID)
    if requested is None:
        raise missing_option(str(store.options.get(opt.SCAN_MODE)), opt.SCAN_SNAPSHOT_ID.key)
    return int(requested)


def _start_ms(store: TableStore) -> int:
    o = store.options
    millis = o.get(opt.SCAN_TIMESTAMP_MILLIS)
    if millis is not None:
        return int(millis)
    text = o.get(opt.SCAN_TIMESTAMP)
    if text is None:
        raise missing_option("from-timestamp", opt.SCAN_TIMESTAMP_MILLIS.key)
    return local_time_ms(text, opt.SCAN_TIMESTAMP.key)


def missing_option(mode: str, option: str) -> BadOptionValue:
    """The error of a scan.mode without the option that it needs."""
    return BadOptionValue(f"scan.mode {mode!r} needs the option {option!r}", hint=f"set {option}", option=option)


def _changes_from(store: TableStore, requested: int) -> StreamOffset | None:
    earliest = _earliest_readable(store)
    return None if earliest is None else StreamOffset(max(requested, earliest))


def _earliest_readable(store: TableStore) -> int | None:
    """The oldest snapshot whose changes are still readable."""
    if store.options.changelog_outlives_snapshots:
        oldest = store.changelogs.earliest_id()
        if oldest is not None:
            return oldest
    return store.snapshots.earliest_id()


def snapshot_or_changelog(store: TableStore, snapshot_id: int) -> Snapshot | None:
    """A snapshot, or its long-lived changelog; None if neither exists.

    It is read again each time: after a rollback, another snapshot may have the id of one that this store has read.
    """
    found = store.snapshots.get_again(snapshot_id)
    if found is None and store.options.changelog_outlives_snapshots:
        return store.changelogs.get_again(snapshot_id)
    return found


def _last_before_ms(store: TableStore, ms: int, latest: Snapshot) -> int:
    """The id of the last snapshot older than `ms`; one less than the earliest if there is none."""
    earliest = _earliest_readable(store)
    if earliest is None:
        return latest.id - 1
    low, high = earliest, latest.id
    found = earliest - 1
    while low <= high:
        middle = (low + high) // 2
        snapshot = snapshot_or_changelog(store, middle)
        if snapshot is None or snapshot.time_ms < ms:  # None: expired in the meantime
            found, low = middle, middle + 1
        else:
            high = middle - 1
    return found


def _from_creation(store: TableStore, latest: Snapshot) -> StreamOffset:
    since = store.options.get(opt.SCAN_CREATION_TIME_MILLIS)
    if since is None:
        raise missing_option("from-creation-timestamp", opt.SCAN_CREATION_TIME_MILLIS.key)
    before = _last_before_ms(store, since, latest)
    if before >= (_earliest_readable(store) or _FIRST_ID) and snapshot_or_changelog(store, before + 1) is not None:
        return StreamOffset(before + 1)
    return StreamOffset(latest.id, full=True, since_ms=since)


def _newest_compacted(store: TableStore, latest: Snapshot) -> int:
    """The newest COMPACT snapshot (of a scheduled full compaction, if those are scheduled), else the newest of all."""
    o = store.options
    scheduled = o.changelog_producer == "full-compaction" or o.has(opt.FULL_COMPACTION_DELTA_COMMITS)
    every = (o.get(opt.FULL_COMPACTION_DELTA_COMMITS) or 1) if scheduled else 1
    for snapshot in reversed(store.snapshots.all()):
        due = snapshot.commit_identifier % every == 0 or snapshot.commit_identifier == (1 << 63) - 1
        if snapshot.commit_kind == "COMPACT" and due:
            return snapshot.id
    return latest.id
