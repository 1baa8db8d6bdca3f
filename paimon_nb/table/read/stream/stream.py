"""A table's stream in this process: an iterator that waits for snapshots and records consumer progress."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import VALUE_KIND
from paimon_nb.options import table as opt
from paimon_nb.table.read.row_kinds import ROWKIND, kind_texts
from paimon_nb.table.read.stream.chain import followed_store
from paimon_nb.table.read.stream.consumer import ConsumerRecord
from paimon_nb.table.read.stream.offset import StreamOffset
from paimon_nb.table.read.stream.planner import Idle, next_step, read_step
from paimon_nb.table.read.stream.start import StartPositionFinder, check_streamable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    import pyarrow as pa

    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore


@dataclass(frozen=True, slots=True)
class StreamBatch:
    """The rows or changes of one snapshot."""

    snapshot_id: int
    """Id of the snapshot."""
    rows: pa.Table
    """`rowkind` ('+I', '-U', '+U', '-D') first, then the table's columns."""
    full: bool
    """Whether the rows are the full state of the snapshot; otherwise its changes."""
    watermark: int | None
    """Watermark of the snapshot in epoch milliseconds; None if it has none."""
    position: StreamOffset
    """Offset to resume after these rows."""


class TableStream:
    """An iterator of `StreamBatch`, returned by `Table.stream`. It waits for new snapshots until it is closed.

    Requesting the next batch acknowledges the previous one. Only then the progress of a `consumer-id` advances, so a crashed
    reader gets its last batch again. Only `close` may be called from another thread.

    Examples:
        >>> with t.stream({"scan.mode": "from-snapshot", "scan.snapshot-id": "2"}, idle_s=0) as stream:
        ...     [(b.snapshot_id, b.rows.column("rowkind").to_pylist()) for b in stream]
        [(2, ['+I', '+I'])]
    """

    def __init__(
        self,
        store: TableStore,
        *,
        columns: Sequence[str] | None = None,
        predicate: Predicate | None = None,
        position: StreamOffset | None = None,
        idle_s: float | None = None,
        sequence: bool = False,
    ) -> None:
        """See `Table.stream`. `sequence`: rows have a last column `_SEQUENCE_NUMBER`."""
        check_streamable(store)
        store = followed_store(store, predicate)
        self.store, self.columns, self.predicate = store, columns, predicate
        self.idle_s, self._sequence = idle_s, sequence
        self._first = StartPositionFinder(store)
        self._position = position
        self._closed = threading.Event()
        self._ended = False
        self._record = ConsumerRecord(store)

    @property
    def position(self) -> StreamOffset | None:
        """Offset of the next batch; None before the first snapshot of the table."""
        if self._position is None:
            self._position = self._first.position()
        return self._position

    @property
    def ended(self) -> bool:
        """Whether the stream has ended: it was closed, or `scan.bounded.watermark` was reached."""
        return self._ended or self._closed.is_set()

    def poll(self) -> StreamBatch | None:
        """Read the next batch without waiting.

        Returns:
            The batch, or None if there is no new snapshot or the stream has ended.

        Raises:
            SnapshotExpired: the next snapshot expired before it was read.
            TimeTravelError: the position is after the latest snapshot.
            TableReplaced: the table was dropped and created again.
            ReadError: another stream uses the same consumer.

        Examples:
            >>> stream = t.stream({"scan.mode": "latest"})
            >>> stream.poll() is None
            True
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
            rows = read_step(self.store, step, self.columns, sequence=self._sequence)
            if rows.num_rows or step.full:
                return StreamBatch(step.snapshot.id, _kinds_first(rows), step.full, step.snapshot.watermark, step.after)
        return None

    def seek(self, snapshot: int, *, full: bool = False) -> None:
        """Continue at a snapshot.

        Args:
            snapshot: id of the snapshot.
            full: True starts with the full state of the snapshot, False with its changes.

        Examples:
            >>> stream = t.stream({"scan.mode": "latest"})
            >>> stream.seek(1, full=True)
            >>> stream.poll().rows.num_rows
            2
        """
        self._position = StreamOffset(snapshot, full)

    def acknowledge(self) -> None:
        """Store the current position for the `consumer-id`, if there is one.

        Raises:
            ReadError: another stream uses the same consumer.
        """
        if self._position is not None:
            self._record.record_processed_before(self._position)

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
        """Waiting times between two calls of `poll` that return None.

        Yields:
            Seconds: 0.02 at first, then twice as long each time, at most `continuous.discovery-interval` or 1 s.
        """
        longest = min(self.store.options.get(opt.CONTINUOUS_DISCOVERY_INTERVAL) / 1000, 1.0)
        pause = 0.02
        while True:
            yield pause
            pause = min(pause * 2, longest)

    def close(self) -> None:
        """End the stream. Also ends an iterator that waits in another thread."""
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
