"""Automatic tags: one per day, hour or other period, by process time or watermark.

Source: docs/spec/merge-semantics.md section 7 (Paimon `tag/TagAutoCreation.java`, `TagPeriodHandler.java`).
"""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from paimon_nb.base import clock
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.options import table as opt
from paimon_nb.table.read.tag_period import Period
from paimon_nb.table.write.maintenance.atomic import undone_on_error
from paimon_nb.table.write.maintenance.tags import create_tag, delete_tag

if TYPE_CHECKING:
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore


def create_due_tags(store: TableStore) -> list[str]:
    """Create the automatic tags that are due since the last one. Returns their names."""
    mode = str(store.options.get(opt.TAG_AUTOMATIC_CREATION))
    if mode not in ("process-time", "watermark"):
        return []
    period, delay = Period.of(store), timedelta(milliseconds=store.options.get(opt.TAG_CREATION_DELAY))
    if delay >= period.length:
        raise BadOptionValue(
            f"tag.creation-delay of {delay} must be shorter than the tag's period of {period.length}",
            hint="shorten the delay, or choose a longer tag.creation-period",
        )
    with undone_on_error(store) as changing:
        made = _create_tags_of_periods(changing, period, delay, mode)
        if made:
            _expire_oldest_tags(changing, period)
    return made


def _create_tags_of_periods(store: TableStore, period: Period, delay: timedelta, mode: str) -> list[str]:
    made: list[str] = []
    auto = _automatic_tags(store, period)
    expected = auto[-1][0] + period.length if auto else None
    first = auto[-1][1].id + 1 if auto else 0
    for snapshot_id in store.snapshots.ids():
        if snapshot_id < first:
            continue
        snapshot = store.snapshots.get(snapshot_id)
        time = _snapshot_time(store, snapshot, mode)
        if time is None or (expected is not None and time - delay < expected + period.length):
            continue
        starts = [period.floor(time) - period.length]
        if expected is not None and store.options.get(opt.TAG_AUTOMATIC_COMPLETION):
            starts = _period_starts(expected, time - delay - period.length, period.length)
        for start in starts:
            name = period.name(start)
            if create_tag(store, name, snapshot.id, ignore_if_exists=True):
                made.append(name)
        expected = starts[-1] + period.length
    return made


def tag_needs_snapshot(store: TableStore) -> bool:
    """Whether a tag by process time is due and only a snapshot is missing: a stream without rows creates one then.

    Source: Paimon `tag/TagAutoCreation.java` (forceCreatingSnapshot).
    """
    if not creates_tags_by_process_time(store):
        return False
    period, delay = Period.of(store), timedelta(milliseconds=store.options.get(opt.TAG_CREATION_DELAY))
    named = _names_by_period(store, period)
    now = _wall_time(clock.now_ms(), store.options.get(opt.SINK_PROCESS_TIME_ZONE))
    return not named or now - delay >= named[-1][0] + 2 * period.length


def creates_tags_by_process_time(store: TableStore) -> bool:
    """Whether commits create tags by process time."""
    return store.options.get(opt.TAG_AUTOMATIC_CREATION) == "process-time" and not store.options.write_only


def create_batch_tag(store: TableStore) -> str | None:
    """The tag of a finished batch job (`tag.automatic-creation` = batch): the latest state under the job's name."""
    if str(store.options.get(opt.TAG_AUTOMATIC_CREATION)) != "batch":
        return None
    custom = store.options.get(opt.TAG_BATCH_CUSTOMIZED_NAME)
    snapshot = store.latest()
    if snapshot is None:
        return None
    day = datetime.fromtimestamp(snapshot.time_ms / 1000).strftime("%Y-%m-%d")
    name = custom or f"batch-write-{day}"
    if name in store.tags.names():
        delete_tag(store, name)
    create_tag(store, name, snapshot.id)
    _expire_oldest_of_all_tags(store)
    return name


def _automatic_tags(store: TableStore, period: Period) -> list[tuple[datetime, Snapshot]]:
    """Automatic tags, oldest first."""
    auto = [(start, store.tags.get(name).snapshot) for start, name in _names_by_period(store, period)]
    return sorted(auto, key=lambda item: (item[1].id, item[0]))


def _names_by_period(store: TableStore, period: Period) -> list[tuple[datetime, str]]:
    """Names of automatic tags with their period start, oldest first."""
    return sorted((start, name) for name in store.tags.names() if (start := period.start(name)) is not None)


def _expire_oldest_tags(store: TableStore, period: Period) -> None:
    max_tags = store.options.get(opt.TAG_NUM_RETAINED_MAX)
    if max_tags is None:
        return
    auto = [name for _, name in _names_by_period(store, period)]
    for name in auto[: max(len(auto) - max_tags, 0)]:
        delete_tag(store, name)


def _expire_oldest_of_all_tags(store: TableStore) -> None:
    """After a batch tag, Java counts every tag, manual ones too."""
    max_tags = store.options.get(opt.TAG_NUM_RETAINED_MAX)
    if max_tags is None:
        return
    tags = sorted((store.tags.get(name).snapshot.id, name) for name in store.tags.names())
    for _, name in tags[: max(len(tags) - max_tags, 0)]:
        delete_tag(store, name)


def _snapshot_time(store: TableStore, snapshot: Snapshot, mode: str) -> datetime | None:
    """The wall clock time of a snapshot, in the configured zone."""
    if mode == "watermark":
        if snapshot.watermark is None or snapshot.watermark < 0:
            return None
        return _wall_time(snapshot.watermark, store.options.get(opt.SINK_WATERMARK_TIME_ZONE))
    return _wall_time(snapshot.time_ms, store.options.get(opt.SINK_PROCESS_TIME_ZONE))


def _wall_time(millis: int, zone: str | None) -> datetime:
    """`zone`: None is this machine's zone."""
    return datetime.fromtimestamp(millis / 1000, ZoneInfo(zone) if zone else None).replace(tzinfo=None)


def _period_starts(first: datetime, last: datetime, length: timedelta) -> list[datetime]:
    out = [first]
    while out[-1] + length <= last:
        out.append(out[-1] + length)
    return out
