"""A table's stream in this process: an iterator that waits for snapshots and records consumer progress."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import TracebackType

import pyarrow as pa

from paimon_nb.format.data import VALUE_KIND
from paimon_nb.options import table as opt
from paimon_nb.table.scan.predicate.model import Predicate
from paimon_nb.table.store import TableStore
from paimon_nb.table.stream.consumer import ConsumerRecord
from paimon_nb.table.stream.offset import StreamOffset
from paimon_nb.table.stream.planner import Idle, next_step, read_step
from paimon_nb.table.stream.start import FirstLook, check_streamable
from paimon_nb.table.system.audit_log import ROWKIND, kind_texts


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The rows of one snapshot."""

    snapshot_id: int
    rows: pa.Table
    """`rowkind` ('+I', '-U', '+U', '-D') first, then the table's columns."""
    full: bool
    """The snapshot's whole state, the start of many streams; else its changes."""
    watermark: int | None
    """Commit time in epoch milliseconds."""
    position: StreamOffset
    """Offset to resume after these rows."""


class TableStream:
    """Iterate to get `StreamBatch` after `StreamBatch`. The iterator waits for new snapshots until it is closed.

    Requesting the next batch acknowledges the previous one: only then a `consumer-id` advances, so a crashed reader
    gets its last batch again. Not thread-safe except for `close`.
    """

    def __init__(
        self,
        store: TableStore,
        *,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        position: StreamOffset | None = None,
        idle_s: float | None = None,
    ) -> None:
        """See `Table.stream`."""
        check_streamable(store)
        self.store, self.columns, self.predicate = store, columns, predicate
        self.idle_s = idle_s
        self._first = FirstLook(store)
        self._position = position
        self._closed = threading.Event()
        self._ended = False
        self._record = ConsumerRecord(store)

    @property
    def position(self) -> StreamOffset | None:
        """The next position; None before the table's first snapshot."""
        if self._position is None:
            self._position = self._first.position()
        return self._position

    @property
    def ended(self) -> bool:
        """True if the stream has ended: the bounded watermark was reached, or the stream was closed."""
        return self._ended or self._closed.is_set()

    def poll(self) -> StreamBatch | None:
        """The next batch if it is available now, else None.

        Raises: SnapshotExpired, TimeTravelError, TableReplaced: see `next_step`. ReadError: another stream uses the
            consumer.
        """
        self.acknowledge()
        while not self.ended:
            position = self.position
            if position is None:
                return None
            step = next_step(self.store, position, self.predicate)
            if step is Idle.WAITING:
                return None
            if step is Idle.ENDED:
                self._ended = True
                return None
            assert not isinstance(step, Idle)
            self._position = step.after
            if not step.pieces:
                continue
            rows = read_step(self.store, step, self.columns)
            if rows.num_rows or step.full:
                return StreamBatch(step.snapshot.id, _kinds_first(rows), step.full, step.snapshot.watermark, step.after)
        return None

    def seek(self, snapshot: int, *, full: bool = False) -> None:
        """Continue with the changes of a snapshot, or with its whole state."""
        self._position = StreamOffset(snapshot, full)

    def acknowledge(self) -> None:
        """Record in the consumer's file that all delivered rows were processed.

        Raises: ReadError: another stream moved the consumer.
        """
        if self._position is not None:
            self._record.keep(self._position)

    def __iter__(self) -> Iterator[StreamBatch]:
        return self

    def __next__(self) -> StreamBatch:
        deadline = None if self.idle_s is None else time.monotonic() + self.idle_s
        pauses = self.pauses()
        while True:
            batch = self.poll()
            if batch is not None:
                return batch
            left = None if deadline is None else deadline - time.monotonic()
            if self.ended or (left is not None and left <= 0):
                raise StopIteration
            pause = next(pauses)
            self._closed.wait(pause if left is None else min(pause, left))

    def pauses(self) -> Iterator[float]:
        """Seconds to wait after each `poll` without a batch: short after new data, longer while nothing happens."""
        longest = min(self.store.options.get(opt.CONTINUOUS_DISCOVERY_INTERVAL) / 1000, 1.0)
        pause = 0.02
        while True:
            yield pause
            pause = min(pause * 2, longest)

    def close(self) -> None:
        """End the stream; also ends an iterator that waits in another thread."""
        self._closed.set()

    def __enter__(self) -> TableStream:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _kinds_first(rows: pa.Table) -> pa.Table:
    at = rows.schema.get_field_index(VALUE_KIND)
    return rows.remove_column(at).add_column(0, ROWKIND.name, kind_texts(rows.column(at)))
