"""Outputs of a stream: a Paimon table, a connector's sink, or a buffer for a live SELECT."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.session.streaming.relations import KINDS

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.connectors.api import Sink
    from paimon_nb.spark.streaming.sink import TableSink
    from paimon_nb.table.stream.committer import StreamCommitter
    from paimon_nb.table.table import Table


class Output(Protocol):
    rows: int

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None) -> None:
        """Rows of a micro-batch; a last column `rowkind` has row kinds. `watermark`: epoch ms; None: unknown."""

    def replace(self, result: DataFrame) -> None:
        """The whole new result, which replaces the previous one."""


class TableOutput:
    """Writes upserts and deletes to a Paimon table."""

    def __init__(self, table: Table, align: Callable[[DataFrame, str | None], DataFrame]) -> None:
        """`align`: casts rows to the table's columns; keeps the last column if it is named."""
        self.table, self.align = table, align
        self.rows = 0
        self._sink: TableSink | None = None
        self._before: dict[tuple[Any, ...], dict[str, Any]] | None = None
        self._commits = 0
        self._checkpoints: StreamCommitter | None = None
        self._write_lock = threading.Lock()

    def begin(self, folder: str) -> None:
        """Called before the first micro-batch; `folder`: of the checkpoint."""
        from paimon_nb.spark.streaming.sink import TableSink

        self._sink = TableSink(self.table, kinds=KINDS, folder=folder)

    @property
    def handles_empty_checkpoints(self) -> bool:
        """Whether `on_empty_checkpoint` must be called while the stream runs."""
        from paimon_nb.table.stream.committer import StreamCommitter

        return StreamCommitter.count_without_rows(self.table.store)

    def on_empty_checkpoint(self, user: str) -> None:
        """Called when a checkpoint interval elapsed without input rows. `user`: the query's id."""
        if self._sink is not None:
            self._sink.on_empty_checkpoint(user)
            return
        with self._write_lock:
            if self._checkpoints is not None:
                self.table = self.table.refresh()
                self._checkpoints.on_empty_checkpoint(self.table.store)

    def savepoint(self) -> str | None:
        """Tags the last committed snapshot after a stop and returns the tag's name; None: no savepoint tag is configured."""
        if self._sink is not None:
            return self._sink.savepoint()
        return None if self._checkpoints is None else self._checkpoints.savepoint(self.table.store)

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None) -> None:
        from pyspark.sql import functions as F

        assert self._sink is not None
        if KINDS not in batch.columns:
            batch = batch.withColumn(KINDS, F.lit("+I"))
        # A projection may change the key: then -U deletes the old key's row, and +U inserts the new one.
        stored = F.when(F.col(KINDS) == "-U", "-D").otherwise(F.col(KINDS))
        self._sink(self.align(batch, KINDS).withColumn(KINDS, stored), number, watermark)
        self.rows = self._sink.rows

    def replace(self, result: DataFrame) -> None:
        """Writes only the difference: new and changed rows, and deletes of missing keys."""
        import pyarrow as pa

        from paimon_nb.spark.runtime.arrow_interop import to_arrow
        from paimon_nb.table.stream.committer import StreamCommitter
        from paimon_nb.table.write import TableWrite

        table = self.table = self.table.refresh()
        if not table.primary_keys:
            raise UnsupportedOperation(
                f"{table.name} has no primary key, so it cannot follow results that change",
                hint="give it a PRIMARY KEY of the columns that the query groups by",
            )
        fields = table.schema.fields
        rows = to_arrow(self.align(result, None), fields).to_pylist()
        now = {tuple(_hashable(r[k]) for k in table.primary_keys): r for r in rows}
        before = self._before if self._before is not None else {}
        deleted = [row for key, row in before.items() if key not in now]
        upserted = [row for key, row in now.items() if before.get(key) != row]
        if deleted or upserted:
            with self._write_lock:
                checkpoints = self._checkpoints = self._checkpoints or StreamCommitter(table.store)
                self._commits += 1
                full = checkpoints.is_full(table.store, self._commits)
                with TableWrite(table.store, full=full) as writing:
                    writing.write(
                        pa.Table.from_pylist([*deleted, *upserted], schema=table.schema.arrow.remove_metadata()),
                        pa.array([3] * len(deleted) + [0] * len(upserted), pa.int8()),
                    )
                    checkpoints.commit(table.store, writing.prepare_commit(), self._commits, full=full)
            self.rows += len(deleted) + len(upserted)
        self._before = now


class ConnectorOutput:
    """Writes to a connector's sink."""

    def __init__(self, sink: Sink, align: Callable[[DataFrame], DataFrame]) -> None:
        self.sink, self.align = sink, align
        self.rows = 0
        self._buffer = BufferOutput()

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None) -> None:
        self.rows += self.sink.store(self.align(batch), number)

    def replace(self, result: DataFrame) -> None:
        from paimon_nb.spark.runtime.arrow_interop import from_arrow

        self._buffer.replace(self.align(result))
        for changes in self._buffer.take():
            kinds = changes.column(0)
            rows = changes.remove_column(0).append_column(KINDS, kinds)
            self.rows += self.sink.store(from_arrow(result.sparkSession, rows))


class BufferOutput:
    """Buffers changes for a live SELECT: `op` first, then the query's columns. The stream waits when the buffer is full."""

    def __init__(self, max_rows: int = 100_000) -> None:
        self.rows, self.max_rows = 0, max_rows
        self._chunks: list[pa.Table] = []
        self._buffered_rows = 0
        self._changed = threading.Condition()
        self._closed = False
        self._before: Counter[tuple[Any, ...]] = Counter()
        self._last_rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        """The rows of the last result, by their hashable form."""

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None) -> None:
        import pyarrow as pa

        from paimon_nb.spark.runtime.arrow_interop import collect

        rows = collect(batch)
        if KINDS in rows.column_names:
            at = rows.schema.get_field_index(KINDS)
            rows = rows.remove_column(at).add_column(0, OP, rows.column(at))
        else:
            rows = rows.add_column(0, OP, pa.array(["+I"] * rows.num_rows, pa.string()))
        self.put(rows)

    def replace(self, result: DataFrame) -> None:
        import pyarrow as pa

        from paimon_nb.spark.runtime.arrow_interop import collect

        rows = collect(result)
        listed = [(tuple(_hashable(v) for v in row.values()), row) for row in rows.to_pylist()]
        now, rows_by_key = Counter(key for key, _ in listed), dict(listed)
        deleted, upserted = self._before - now, now - self._before
        changes_by_row = [("-D", self._last_rows[k]) for k in deleted.elements()] + [
            ("+I", rows_by_key[k]) for k in upserted.elements()
        ]
        self._before, self._last_rows = now, rows_by_key
        changes = pa.Table.from_pylist([row for _, row in changes_by_row], schema=rows.schema)
        self.put(changes.add_column(0, OP, pa.array([kind for kind, _ in changes_by_row], pa.string())))

    def take(self, timeout_s: float = 0) -> list[pa.Table]:
        """The changes since the last call; waits up to `timeout_s` for the first."""
        with self._changed:
            if not self._chunks and not self._closed and timeout_s:
                self._changed.wait(timeout_s)
            taken, self._chunks, self._buffered_rows = self._chunks, [], 0
            self._changed.notify_all()
        return taken

    def close(self) -> None:
        """Wake up all waiting threads; nothing waits after this."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def put(self, rows: pa.Table) -> None:
        """Append changes, `op` first; waits while the buffer is full."""
        if not rows.num_rows:
            return
        with self._changed:
            while self._buffered_rows >= self.max_rows and not self._closed:
                self._changed.wait(1)
            self._chunks.append(rows)
            self._buffered_rows += rows.num_rows
            self.rows += rows.num_rows
            self._changed.notify_all()


OP = "op"
"""Name of the row kind column in displayed changes, as in Flink's SQL client."""


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return tuple((k, _hashable(v)) for k, v in value.items()) if isinstance(value, dict) else value
