"""Maintenance after each commit, as in Java: mark partitions done, expiry, automatic tags. Never fails the commit."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import MissingFile, PaimonError, SnapshotNotFound, TableReplaced, TagNotFound
from paimon_nb.options import table as opt
from paimon_nb.table.read.side_by_side import in_threads_on_object_store
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.write.maintenance.auto_tags import create_batch_tag, create_due_tags
from paimon_nb.table.write.maintenance.consumers import expire_consumers
from paimon_nb.table.write.maintenance.expire import ExpireLimits, expire_changelogs, expire_snapshots
from paimon_nb.table.write.maintenance.mark_done import mark_done
from paimon_nb.table.write.maintenance.partitions import expire_partitions
from paimon_nb.table.write.maintenance.tags import expire_tags

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore

log = logging.getLogger(__name__)
_SNAPSHOTS_PER_LOOK = 10


def run_post_commit(
    store: TableStore,
    *,
    batch: bool = True,
    looked_ms: int | None = None,
    partitions: Collection[bytes] = (),
    newest: int | None = None,
    compacted: bool = False,
) -> bool:
    """Expire consumers and partitions, create due tags, then expire tags, snapshots and changelogs, as configured.

    `write-only` tables are skipped. Consumers expire first, because they retain snapshots.

    Args:
        batch: the commit ends a batch job. looked_ms: time of the committer's last partition expiry check; None: just
            now.
        partitions: those with new rows: `partition.end-input-to-done` marks them at the end of a batch job.
        newest: id of the snapshot of the commit; None: it is looked for.
        compacted: whether the commit compacted.

    Returns whether partition expiry was checked.

    The rows are committed already, so an error here is logged and not raised: the next commit tries again.
    """
    o, own = store.options, not store.options.write_only
    looks = own and _partitions_are_due(store, batch, looked_ms)
    done = batch and bool(store.schema.partition_keys) and o.get(opt.PARTITION_END_INPUT_TO_DONE)
    tags = o.get(opt.TAG_AUTOMATIC_CREATION)
    due_steps: dict[str, bool] = {}
    steps: list[tuple[bool, Callable[[TableStore], object]]] = [
        (done, lambda s: mark_done(s, partitions)),
        (own and o.get(opt.CONSUMER_EXPIRATION_TIME) is not None, expire_consumers),
        (looks, expire_partitions),
        (own and tags in ("process-time", "watermark"), create_due_tags),
        (own and batch and tags == "batch", create_batch_tag),
        (own, lambda s: due_steps.update(_due_expiries(s, newest, compacted=compacted))),
        (own, lambda s: expire_tags(s) if due_steps.get("tags") else None),
        (own, lambda s: expire_snapshots(s) if due_steps.get("snapshots") else None),
        (own, lambda s: expire_changelogs(s) if due_steps.get("changelogs") else None),
    ]
    for due, step in steps:
        if due:
            _run_step(store, step)
    return looks


def _run_step(store: TableStore, step: Callable[[TableStore], object]) -> None:
    """Run a step; an error is logged, so that it does not prevent the others."""
    for last in (False, True):
        try:
            step(store)
            return
        except TableReplaced as error:
            log.debug("%s: no maintenance: %s", store.name, error)
            return
        except (PaimonError, OSError) as error:
            if not last and isinstance(error, MissingFile | SnapshotNotFound | TagNotFound):
                continue  # mostly the maintenance of another process has deleted it: look at what is there now
            log.warning("%s: maintenance after the commit failed, the next commit retries: %s", store.name, error)
            return


def _due_expiries(store: TableStore, newest: int | None, *, compacted: bool) -> dict[str, bool]:
    """What may have expired. Mostly nothing has.

    On an object store this is one round of requests for each tenth snapshot; in between only what this process knows of the oldest
    snapshot can start an expiry, or the option `snapshot.num-retained.max`.
    """
    if store.fs.is_object_store and newest is not None and not looks_after(newest, compacted=compacted):
        known = store.snapshots.oldest_known
        if known is None:
            due = store.options.has(opt.SNAPSHOT_NUM_RETAINED_MAX) and _has_expired_snapshots(store, newest)
        else:
            due = _is_beyond(store, newest, known) and _has_expired_snapshots(store, newest)
        return {"snapshots": due and not _has_postponed_rows(store)}
    history = not _has_postponed_rows(store)
    tags, snapshots, changelogs = in_threads_on_object_store(
        store.fs,
        lambda: bool(store.options.get(opt.TAG_TIME_EXPIRE_ENABLED)) and _has_tags(store),
        lambda: history and _has_expired_snapshots(store, newest),
        lambda: history and store.options.changelog_outlives_snapshots and bool(store.changelogs.ids()),
    )
    return {"tags": tags, "snapshots": snapshots, "changelogs": changelogs}


def looks_after(newest: int, *, compacted: bool) -> bool:
    """Also for a job whose snapshots, all of compactions, have odd ids only, since another one commits in between."""
    return newest % _SNAPSHOTS_PER_LOOK == 0 or (compacted and newest % _SNAPSHOTS_PER_LOOK == 1)


def _has_tags(store: TableStore) -> bool:
    """Whether there are tags, which may expire. Only a listing shows them."""
    return (store.versions is not None or bool(store.fs.names(store.tags.root))) and bool(store.tags.names())


def _has_postponed_rows(store: TableStore) -> bool:
    """Whether the commit wrote rows that wait for a compaction, which then expires snapshots. As in Java's Flink writer."""
    newest = store.latest() if store.options.get(opt.BUCKET) == POSTPONE_BUCKET else None
    return newest is not None and newest.commit_kind != "COMPACT"


def _has_expired_snapshots(store: TableStore, newest: int | None) -> bool:
    """Whether the oldest snapshot is beyond the limits. Consumers, which may retain it, are not read."""
    if newest is None:
        newest, oldest = in_threads_on_object_store(store.fs, store.snapshots.latest_id, store.snapshots.earliest)
    else:
        oldest = store.snapshots.earliest()
    return newest is not None and oldest is not None and _is_beyond(store, newest, oldest)


def _is_beyond(store: TableStore, newest: int, oldest: Snapshot) -> bool:
    if newest - oldest.id < store.options.get(opt.SNAPSHOT_NUM_RETAINED_MIN):
        return False
    limits = ExpireLimits.of(store)
    beyond = newest - oldest.id
    return bool(beyond >= limits.retain_max or (beyond >= limits.retain_min and oldest.time_ms < limits.older_than_ms))


def _partitions_are_due(store: TableStore, batch: bool, looked_ms: int | None) -> bool:
    """As in Java, a committer checks once per interval, counted from its start; a batch job only if configured."""
    o = store.options
    if o.get(opt.PARTITION_EXPIRATION_TIME) is None or not store.schema.partition_keys:
        return False
    interval = o.get(opt.PARTITION_EXPIRATION_CHECK_INTERVAL)
    if interval == 0 or (batch and o.get(opt.END_INPUT_CHECK_PARTITION_EXPIRE)):
        return True
    return looked_ms is not None and clock.now_ms() - looked_ms > interval
