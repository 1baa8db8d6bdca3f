"""Tracks the partitions that a stream writes to, and marks them done after their time and an idle period.

Source: Paimon `flink/sink/listener/PartitionMarkDoneTrigger.java`, `PartitionMarkDoneListener.java`.
"""

from __future__ import annotations

import logging
from datetime import UTC
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError
from paimon_nb.options import table as opt
from paimon_nb.options.write import (
    PARTITION_IDLE_TIME_TO_DONE,
    PARTITION_MARK_DONE_ACTION_MODE,
    PARTITION_TIME_INTERVAL,
)
from paimon_nb.table.write.maintenance.mark_done import mark_done
from paimon_nb.table.write.maintenance.partition_time import partition_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from paimon_nb.table.read.store import TableStore

log = logging.getLogger(__name__)


def marks_idle_partitions(store: TableStore) -> bool:
    """Whether streams into the table mark partitions done: both `partition.idle-time-to-done` and
    `partition.time-interval` are set. As in Java, one of them alone has no effect.
    """
    o = store.options
    both = o.get(PARTITION_IDLE_TIME_TO_DONE) is not None and o.get(PARTITION_TIME_INTERVAL) is not None
    return both and bool(store.schema.partition_keys)


class IdlePartitions:
    """Partitions not marked yet. Time is the clock's, or with `partition.mark-done-action.mode` = `watermark` the
    stream's.
    """

    def __init__(self, pending: Iterable[bytes] = ()) -> None:
        """`pending`: partitions from a restored state; as in Java they count from now."""
        self._written_ms = dict.fromkeys(pending, clock.now_ms())

    @property
    def pending(self) -> list[bytes]:
        return list(self._written_ms)

    def record_written_partitions(self, store: TableStore, partitions: Iterable[bytes], watermark: int | None) -> None:
        """Rows arrived now, or at a watermark."""
        now = watermark if by_watermark(store) else clock.now_ms()
        if now is not None:
            self._written_ms |= dict.fromkeys(partitions, now)

    def mark_complete_partitions(self, store: TableStore, watermark: int | None = None) -> list[bytes]:
        """Mark the partitions that are complete. Returns them. Errors are logged, and the partitions are retried.

        Partitions whose values contain no time are never complete; they are dropped.
        """
        now = watermark if by_watermark(store) else clock.now_ms()
        if now is None:
            return []
        done = []
        for partition, written in list(self._written_ms.items()):
            end = _partition_end_ms(store, partition)
            if end is None:
                log.warning(
                    "%s: partition %s contains no time, so it is not marked done",
                    store.name,
                    store.partition_values(partition),
                )
                del self._written_ms[partition]
            elif now - max(written, end) > (store.options.get(PARTITION_IDLE_TIME_TO_DONE) or 0):
                done.append(partition)
        try:
            if done:
                mark_done(store, done)
        except (PaimonError, OSError) as error:
            log.warning("%s: partitions were not marked done: %s", store.name, error)
            return []
        for partition in done:
            del self._written_ms[partition]
        return done


def by_watermark(store: TableStore) -> bool:
    return store.options.get(PARTITION_MARK_DONE_ACTION_MODE) == "watermark"


def _partition_end_ms(store: TableStore, partition: bytes) -> int | None:
    """End of a partition's time, epoch ms; None: its values contain no time.

    A partition's time is in the local zone; when compared with a watermark, in UTC.
    """
    o = store.options
    start = partition_time(
        store,
        store.partition_values(partition),
        o.get(opt.PARTITION_TIMESTAMP_PATTERN),
        o.get(opt.PARTITION_TIMESTAMP_FORMATTER),
    )
    if start is None:
        return None
    zoned = start.replace(tzinfo=UTC) if by_watermark(store) else start
    return int(zoned.timestamp() * 1000) + (o.get(PARTITION_TIME_INTERVAL) or 0)
