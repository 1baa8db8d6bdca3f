"""Parses and resolves the version that a read asks for: one snapshot, or an increment between two. Reads no rows.

A version outside the table's history is an error, never an empty result. Source: docs/spec/merge-semantics.md section 8
(Paimon `TimeTravelUtil`, `AbstractDataTableScan.createStartingScanner`).
"""

from __future__ import annotations

import datetime as dt
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.errors import (
    BadOptionValue,
    MissingFile,
    SnapshotExpired,
    SnapshotNotFound,
    TagNotFound,
    TimeTravelError,
)
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.snapshot.directory import same_commit
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

T = TypeVar("T")
OWN_SCHEMA = "paimon-nb.own-schema"
"""Option: read a past snapshot with its own schema, as VERSION AS OF does (docs/spec/merge-semantics.md section 13)."""
SCAN_VERSION = "scan.version"
_KEYS = (
    "scan.snapshot-id", "snapshot-id", "scan.tag-name", "scan.watermark", "scan.timestamp", "scan.timestamp-millis",
)  # fmt: skip
LOOKUP_IGNORES = (*_KEYS, SCAN_VERSION, "scan.file-creation-time-millis")
"""Time travel options without effect on the table of a lookup join. Source: Paimon `BaseDataTableSource.timeTravelDisabledTable`."""
_OLD_NAMES = {"scan.timestamp-millis": "log.scan.timestamp-millis"}
_WATERMARK_PREFIX = "watermark-"
_MODES_WITHOUT_TIME_TRAVEL = ("latest", "latest-full", "full", "compacted-full")
_TIME_TRAVEL_OPTIONS = (
    "scan.timestamp-millis", "scan.timestamp", "scan.file-creation-time-millis", "scan.snapshot-id", "scan.tag-name",
    "incremental-between", "incremental-between-timestamp", "incremental-to-auto-tag",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TimeTravel:
    """Base of the kinds of time travel."""


@dataclass(frozen=True, slots=True)
class Latest(TimeTravel):
    """The newest snapshot; the empty table if there is none."""


@dataclass(frozen=True, slots=True)
class AtSnapshot(TimeTravel):
    id: int


@dataclass(frozen=True, slots=True)
class AtTag(TimeTravel):
    name: str


@dataclass(frozen=True, slots=True)
class AtTime(TimeTravel):
    """The last snapshot committed at or before this time."""

    ms: int


@dataclass(frozen=True, slots=True)
class AtWatermark(TimeTravel):
    """The first snapshot whose watermark is at least this."""

    watermark: int


@dataclass(frozen=True, slots=True)
class AtVersion(TimeTravel):
    """VERSION AS OF: a tag of this name, else `watermark-<n>`, else a snapshot id."""

    text: str


@dataclass(frozen=True, slots=True)
class LastCompacted(TimeTravel):
    """The newest COMPACT snapshot (whose identifier is a multiple of `every`), else the newest of all."""

    every: int = 1


@dataclass(frozen=True, slots=True)
class CreatedSince(TimeTravel):
    """The newest snapshot, restricted to files created at or after this time."""

    ms: int
    or_snapshot: bool = False
    """Use the first snapshot at or after the time instead, if the history is long enough."""


@dataclass(frozen=True, slots=True)
class LatestDelta(TimeTravel):
    """Only the rows that the newest snapshot added."""


def parse_travel(options: TableOptions) -> TimeTravel:
    """The time travel that a table's options (stored and dynamic) specify.

    Raises: BadOptionValue: two versions at once, or a scan.mode that lacks its option or uses no time travel.
    """
    check_mode(options)
    keys = [key for key in _KEYS if key in options.raw]
    mode = options.get(opt.SCAN_MODE)
    if SCAN_VERSION in options.raw:
        return AtVersion(options.raw[SCAN_VERSION])
    if keys:
        return _travel_of_options(options)
    match mode:
        case "compacted-full":
            full = options.changelog_producer == "full-compaction" or options.has(opt.FULL_COMPACTION_DELTA_COMMITS)
            return LastCompacted((options.get(opt.FULL_COMPACTION_DELTA_COMMITS) or 1) if full else 1)
        case "latest-delta":
            return LatestDelta()
        case "from-file-creation-time" | "default" if options.has(opt.SCAN_FILE_CREATION_TIME_MILLIS):
            return CreatedSince(_require(options.get(opt.SCAN_FILE_CREATION_TIME_MILLIS)))
        case "from-creation-timestamp" | "default" if options.has(opt.SCAN_CREATION_TIME_MILLIS):
            return CreatedSince(_require(options.get(opt.SCAN_CREATION_TIME_MILLIS)), or_snapshot=True)
        case (
            "from-timestamp"
            | "from-snapshot"
            | "from-snapshot-full"
            | "from-file-creation-time"
            | "from-creation-timestamp"
        ):
            raise BadOptionValue(
                f"scan.mode {mode!r} needs a start",
                hint="set scan.timestamp-millis, scan.snapshot-id, scan.tag-name or scan.file-creation-time-millis",
                option="scan.mode",
            )
    return Latest()


def check_mode(options: TableOptions) -> None:
    """Raise BadOptionValue for two time travel options, or for one with a `scan.mode` that uses none.

    Source: Paimon `SchemaValidation.validateStartupMode`.
    """
    names = _names_in_options(options, (*_KEYS, SCAN_VERSION))
    if len(names) > 1:
        raise BadOptionValue(
            f"only one time travel option is allowed, found {len(names)}: {', '.join(names)}",
            hint="keep one of them",
            option=names[1],
        )
    mode = options.get(opt.SCAN_MODE)
    if mode in _MODES_WITHOUT_TIME_TRAVEL:
        for key in _names_in_options(options, _TIME_TRAVEL_OPTIONS):
            raise BadOptionValue(
                f"option {key!r}: scan.mode {mode!r} does not use time travel", hint="keep one of the two", option=key
            )


def _names_in_options(options: TableOptions, keys: Iterable[str]) -> list[str]:
    """The names by which these options are set: their keys, or the old name of one."""
    names = (key if key in options.raw else _OLD_NAMES.get(key, key) for key in keys)
    return [name for name in names if name in options.raw]


def _travel_of_options(options: TableOptions) -> TimeTravel:
    if options.has(opt.SCAN_TAG_NAME):
        return AtTag(_require(options.get(opt.SCAN_TAG_NAME)))
    if options.has(opt.SCAN_WATERMARK):
        return AtWatermark(_require(options.get(opt.SCAN_WATERMARK)))
    if options.has(opt.SCAN_TIMESTAMP_MILLIS):
        return AtTime(_require(options.get(opt.SCAN_TIMESTAMP_MILLIS)))
    if options.has(opt.SCAN_TIMESTAMP):
        return AtTime(local_time_ms(_require(options.get(opt.SCAN_TIMESTAMP)), opt.SCAN_TIMESTAMP.key))
    id_option = opt.SCAN_SNAPSHOT_ID if options.has(opt.SCAN_SNAPSHOT_ID) else opt.SCAN_FALLBACK_SNAPSHOT_ID
    return AtSnapshot(_require(options.get(id_option)))


def _require(value: T | None) -> T:
    assert value is not None
    return value


def local_time_ms(text: str, option: str) -> int:
    """Epoch milliseconds of `yyyy-MM-dd[ HH:mm[:ss[.fff]]]` on this process's wall clock, as Java takes it."""
    try:
        from paimon_nb.table.read.predicate.evaluate import parse_nanos

        nanos = parse_nanos(text)
        wall = dt.datetime(1970, 1, 1) + dt.timedelta(microseconds=nanos // 1000)
        return int(wall.astimezone().timestamp() * 1000)
    except (ValueError, OverflowError):
        raise BadOptionValue(
            f"option {option!r} cannot be {text!r}: it is not a time", hint="write '2024-01-31 12:00:00'", option=option
        ) from None


def travels(options: Mapping[str, str]) -> bool:
    """Whether options select a past snapshot."""
    return any(key in options for key in _KEYS)


def reads_own_schema(options: TableOptions) -> bool:
    """Whether a past snapshot is read with its own schema instead of the latest."""
    return SCAN_VERSION in options.raw or options.raw.get(OWN_SCHEMA, "").lower() == "true"


def resolve_time_travel(store: TableStore, travel: TimeTravel) -> Snapshot | None:
    """The snapshot of a time travel; None only for the latest of an empty table.

    Raises:
        SnapshotExpired: it was removed by expiration. TimeTravelError: the version is outside the table's history.
        TagNotFound: with the nearest name.
    """
    store.snapshots.invalidate_cache()  # another process may have rolled back and committed under an id that is cached
    match travel:
        case Latest() | LatestDelta():
            return store.latest()
        case AtSnapshot(requested):
            return snapshot_by_id(store, requested)
        case AtTag(name):
            return store.tags.get(name).snapshot
        case AtVersion(text):
            return resolve_time_travel(store, time_travel_of_version(store, text))
        case AtTime(ms):
            return _snapshot_not_after(store, ms)
        case AtWatermark(watermark):
            return _first_snapshot_with_watermark(store, watermark)
        case LastCompacted(every):
            return _last_compacted_snapshot(store, every)
        case CreatedSince(ms, or_snapshot):
            return (_first_created_since(store, ms) if or_snapshot else None) or store.latest()
    raise TypeError(f"unknown time travel {travel!r}")


def created_since(store: TableStore, travel: TimeTravel) -> int | None:
    """The minimum file creation time of `CreatedSince`; else None."""
    if isinstance(travel, CreatedSince) and not (travel.or_snapshot and _first_created_since(store, travel.ms)):
        return travel.ms
    return None


def snapshot_by_id(store: TableStore, requested: int) -> Snapshot:
    """A snapshot by its id. Raises `SnapshotExpired`, `TimeTravelError` with the available range."""
    try:
        return store.snapshots.get(requested)
    except SnapshotNotFound:
        earliest, latest = store.snapshots.earliest_id(), store.snapshots.latest_id()
        if earliest is None or latest is None:
            raise _no_snapshot_error(store) from None
        expired = requested < earliest
        kind = SnapshotExpired if expired and requested > 0 else TimeTravelError
        raise kind(
            f"{store.name}: snapshot {requested} {'has expired' if expired and requested > 0 else 'does not exist'}. Available: "
            + (f"snapshots {earliest} to {latest}" if earliest != latest else f"snapshot {latest}"),
            hint="create a tag to keep a snapshot, or increase snapshot.num-retained.min"
            if expired
            else f"read snapshot {latest}",
            wanted=requested,
            earliest=earliest,
            latest=latest,
        ) from None


def time_travel_of_version(store: TableStore, text: str) -> TimeTravel:
    if text in store.tags.names():
        return AtTag(text)
    if text.startswith(_WATERMARK_PREFIX) and text[len(_WATERMARK_PREFIX) :].isdecimal():
        return AtWatermark(int(text[len(_WATERMARK_PREFIX) :]))
    if text.isdecimal():
        return AtSnapshot(int(text))
    store.tags.get(text)
    raise TagNotFound(f"no tag {text!r}", hint="a version is a tag, a snapshot id, or watermark-<n>", name=text)


def _last_snapshot_where(store: TableStore, early_enough: Callable[[Snapshot], bool]) -> Snapshot | None:
    """The last snapshot for which the test is true, by bisection: times increase with ids."""
    low, high = store.snapshots.earliest_id(), store.snapshots.latest_id()
    if low is None or high is None:
        raise _no_snapshot_error(store)
    found = None
    while low <= high:
        middle = (low + high) // 2
        try:
            snapshot = store.snapshots.get(middle)
        except SnapshotNotFound:  # expired in the meantime
            low = middle + 1
            continue
        if early_enough(snapshot):
            found, low = snapshot, middle + 1
        else:
            high = middle - 1
    return found


def last_snapshot_not_after(store: TableStore, ms: int) -> Snapshot | None:
    """The last snapshot committed at or before `ms`; None if all are later. Raises TimeTravelError: no snapshot."""
    return _last_snapshot_where(store, lambda s: s.time_ms <= ms)


def _snapshot_not_after(store: TableStore, ms: int) -> Snapshot:
    found = last_snapshot_not_after(store, ms)
    if found is None:
        first = snapshot_by_id(store, _require(store.snapshots.earliest_id()))
        raise TimeTravelError(
            f"{store.name}: no snapshot at or before {_utc_text(ms)}; the earliest snapshot, {first.id}, is from {_utc_text(first.time_ms)}",
            hint="use a later time, or read a tag",
            wanted=ms,
            earliest=first.id,
        )
    return found


def _first_created_since(store: TableStore, ms: int) -> Snapshot | None:
    """The first snapshot since a time; None if there is none, or if the snapshots do not reach back to the time."""
    before = last_snapshot_not_after(store, ms - 1)
    if before is None or before.id == store.snapshots.latest_id():
        return None  # `CreatedSince` then selects files by their creation time
    return snapshot_by_id(store, before.id + 1)


def _first_snapshot_with_watermark(store: TableStore, watermark: int) -> Snapshot:
    for snapshot_id in store.snapshots.ids():
        snapshot = snapshot_by_id(store, snapshot_id)
        if snapshot.watermark is not None and snapshot.watermark >= watermark:
            return snapshot
    raise TimeTravelError(
        f"{store.name}: no snapshot has a watermark of {watermark} or later",
        hint="query snapshot_id and watermark of the $snapshots table",
        wanted=watermark,
    )


def _last_compacted_snapshot(store: TableStore, every: int) -> Snapshot | None:
    for snapshot_id in reversed(store.snapshots.ids()):
        snapshot = snapshot_by_id(store, snapshot_id)
        identifier = snapshot.commit_identifier
        if snapshot.commit_kind == "COMPACT" and (identifier % every == 0 or identifier == (1 << 63) - 1):
            return snapshot
    return store.latest()


def _no_snapshot_error(store: TableStore) -> TimeTravelError:
    return TimeTravelError(f"{store.name} has no snapshot yet", hint="write rows first", path=store.root)


def _utc_text(ms: int) -> str:
    return (dt.datetime(1970, 1, 1) + dt.timedelta(milliseconds=ms)).isoformat(" ", "milliseconds") + " UTC"


# -- increments: between two snapshots


@dataclass(frozen=True, slots=True)
class Increment:
    """Base of the ways to specify an increment."""

    mode: str
    """auto, delta, changelog or diff."""


@dataclass(frozen=True, slots=True)
class Between(Increment):
    """After `start`, up to and including `end`: two snapshot ids or two tags, as text."""

    start: str
    end: str
    tags_as_snapshots: bool = False


@dataclass(frozen=True, slots=True)
class BetweenTimes(Increment):
    """After `start_ms`, up to and including `end_ms`."""

    start_ms: int
    end_ms: int


@dataclass(frozen=True, slots=True)
class ToAutoTag(Increment):
    """From the automatic tag before `tag` to `tag`."""

    tag: str


def parse_incremental(options: TableOptions) -> Increment | None:
    """The increment that a table's options specify; None for a read of one snapshot. Raises `BadOptionValue`."""
    mode = options.get(opt.INCREMENTAL_BETWEEN_SCAN_MODE) or "auto"
    between = options.get(opt.INCREMENTAL_BETWEEN)
    if between is not None:
        start, end = _split_range(between, opt.INCREMENTAL_BETWEEN.key)
        return Between(mode, start, end, bool(options.get(opt.INCREMENTAL_BETWEEN_TAG_TO_SNAPSHOT)))
    times = options.get(opt.INCREMENTAL_BETWEEN_TIMESTAMP)
    if times is not None:
        key = opt.INCREMENTAL_BETWEEN_TIMESTAMP.key
        start, end = _split_range(times, key)
        return BetweenTimes(mode, _epoch_ms(start, key), _epoch_ms(end, key))
    tag = options.get(opt.INCREMENTAL_TO_AUTO_TAG)
    if tag is not None:
        return ToAutoTag(mode, tag)
    if options.get(opt.SCAN_MODE) == "incremental":
        raise BadOptionValue(
            "scan.mode 'incremental' needs a range", hint="set incremental-between", option="scan.mode"
        )
    return None


def _split_range(text: str, option: str) -> tuple[str, str]:
    parts = [p.strip() for p in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise BadOptionValue(
            f"option {option!r} cannot be {text!r}", hint="write start,end: '1,5' or 'tag1,tag2'", option=option
        )
    return parts[0], parts[1]


def _epoch_ms(text: str, option: str) -> int:
    return int(text) if text.lstrip("-").isdecimal() else local_time_ms(text, option)


@contextmanager
def translate_missing_files(store: TableStore, snapshot_id: int) -> Iterator[None]:
    """Context for reading files of the snapshot: raises `SnapshotExpired` if expiry explains a missing file, else
    `MissingFile`.

    A snapshot that a tag or a long-lived changelog retains loses its files for another reason.
    """
    try:
        yield
    except MissingFile as missing:
        earliest, latest = store.snapshots.earliest_id(), store.snapshots.latest_id()
        if earliest is None or snapshot_id >= earliest or _is_retained(store, snapshot_id):
            store.check_identity()  # it was dropped or moved: that says more
            raise MissingFile(missing.facts["path"], hint=_way_out(store, missing.facts["path"])) from missing
        raise SnapshotExpired(
            f"{store.name}: snapshot {snapshot_id} expired while it was read. Available: snapshots {earliest} to {latest}",
            hint="read again; for long reads create a tag or increase 'snapshot.time-retained'",
            wanted=snapshot_id,
            earliest=earliest,
            latest=latest,
            path=missing.facts["path"],
        ) from missing


def _way_out(store: TableStore, path: str) -> str:
    """The hint for a file that is lost, although nothing has expired."""
    if "/manifest/" in path:
        return "the file is lost: roll back to an earlier snapshot, or restore it from a backup"
    return (
        "the file is lost: 'scan.ignore-lost-files' = 'true' reads the other rows, "
        f"CALL sys.remove_unexisting_files('{store.name}') removes it from the table; an older snapshot or tag may do without it"
    )


def _is_retained(store: TableStore, snapshot_id: int) -> bool:
    return snapshot_id in store.changelogs.ids() or any(t.snapshot.id == snapshot_id for t in store.tags.readable())


def retry_on_expiry(store: TableStore, act: Callable[[], T], *, attempts: int | None = None) -> T:
    """Run `act`, which begins with the newest snapshot and changes nothing before it has read all; run it again if files expired meanwhile.

    Args:
        store: the table that `act` reads.
        act: what to run.
        attempts: how often at most; None: as long as others commit.

    Raises:
        MissingFile, SnapshotExpired, SnapshotNotFound: the newest snapshot is not whole either, or all attempts failed.
        TableReplaced: the table was dropped or moved: that says more.
    """
    missed: Snapshot | None = None
    attempt = 0
    while True:
        attempt += 1
        try:
            return act()
        except (MissingFile, SnapshotExpired, SnapshotNotFound):
            store.check_identity()
            store.forget_snapshots()
            newest = store.latest()
            if attempt == attempts or newest is None or (missed is not None and same_commit(missed, newest)):
                raise
            missed = newest
