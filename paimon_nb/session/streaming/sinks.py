"""Where a stream's rows go: a Paimon table, a connector's sink, or a buffer that somebody looks at."""

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
        """Rows of a micro-batch; a last column `rowkind` tells kinds. `watermark`: epoch ms; None: not known."""

    def replace(self, result: DataFrame) -> None:
        """The whole result as it is now, where another one was before."""


class IntoTable:
    """Upserts and deletes of a Paimon table."""

    def __init__(self, table: Table, align: Callable[[DataFrame, str | None], DataFrame]) -> None:
        """`align`: rows with the table's columns; it keeps a last column that is named to it."""
        self.table, self.align = table, align
        self.rows = 0
        self._sink: TableSink | None = None
        self._before: dict[tuple[Any, ...], dict[str, Any]] | None = None
        self._commits = 0
        self._checkpoints: StreamCommitter | None = None
        self._one_at_a_time = threading.Lock()

    def begin(self, folder: str) -> None:
        """Micro-batches will come; `folder`: of their checkpoint."""
        from paimon_nb.spark.streaming.sink import TableSink

        self._sink = TableSink(self.table, kinds=KINDS, folder=folder)

    @property
    def counts_quiet(self) -> bool:
        """Whether `quiet` is to be called while the stream runs."""
        from paimon_nb.table.stream.committer import StreamCommitter

        return StreamCommitter.count_without_rows(self.table.store)

    def quiet(self, user: str) -> None:
        """The time between two checkpoints is over. `user`: the query's id."""
        if self._sink is not None:
            self._sink.quiet(user)
            return
        with self._one_at_a_time:
            if self._checkpoints is not None:
                self.table = self.table.refresh()
                self._checkpoints.quiet(self.table.store)

    def savepoint(self) -> str | None:
        """The tag of what the stream made last, once it was stopped; None: no tag was asked for."""
        if self._sink is not None:
            return self._sink.savepoint()
        return None if self._checkpoints is None else self._checkpoints.savepoint(self.table.store)

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None) -> None:
        from pyspark.sql import functions as F

        assert self._sink is not None
        if KINDS not in batch.columns:
            batch = batch.withColumn(KINDS, F.lit("+I"))
        # A projection may have changed the key that -U names: then its row is gone, and +U brings another.
        stored = F.when(F.col(KINDS) == "-U", "-D").otherwise(F.col(KINDS))
        self._sink(self.align(batch, KINDS).withColumn(KINDS, stored), number, watermark)
        self.rows = self._sink.rows

    def replace(self, result: DataFrame) -> None:
        """Only the keys that changed are written: new and changed rows, and deletes of those that are gone."""
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
        gone = [row for key, row in before.items() if key not in now]
        come = [row for key, row in now.items() if before.get(key) != row]
        if gone or come:
            with self._one_at_a_time:
                checkpoints = self._checkpoints = self._checkpoints or StreamCommitter(table.store)
                self._commits += 1
                full = checkpoints.is_full(table.store, self._commits)
                with TableWrite(table.store, full=full) as writing:
                    writing.write(
                        pa.Table.from_pylist([*gone, *come], schema=table.schema.arrow.remove_metadata()),
                        pa.array([3] * len(gone) + [0] * len(come), pa.int8()),
                    )
                    checkpoints.commit(table.store, writing.prepare(), self._commits, full=full)
            self.rows += len(gone) + len(come)
        self._before = now


class IntoSink:
    """A connector's sink."""

    def __init__(self, sink: Sink, align: Callable[[DataFrame], DataFrame]) -> None:
        self.sink, self.align = sink, align
        self.rows = 0
        self._buffer = IntoBuffer()

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None) -> None:
        self.rows += self.sink.store(self.align(batch), number)

    def replace(self, result: DataFrame) -> None:
        from paimon_nb.spark.runtime.arrow_interop import from_arrow

        self._buffer.replace(self.align(result))
        for changes in self._buffer.take():
            kinds = changes.column(0)
            told = changes.remove_column(0).append_column(KINDS, kinds)
            self.rows += self.sink.store(from_arrow(result.sparkSession, told))


class IntoBuffer:
    """Changes kept until somebody takes them: `op` first, then the query's columns. Bounded: the stream waits when it is full."""

    def __init__(self, most: int = 100_000) -> None:
        self.rows, self.most = 0, most
        self._waiting: list[pa.Table] = []
        self._held = 0
        self._changed = threading.Condition()
        self._closed = False
        self._before: Counter[tuple[Any, ...]] = Counter()
        self._shown: dict[tuple[Any, ...], dict[str, Any]] = {}
        """The rows of the last result, by what tells them apart."""

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
        now, shown = Counter(key for key, _ in listed), dict(listed)
        gone, come = self._before - now, now - self._before
        told = [("-D", self._shown[k]) for k in gone.elements()] + [("+I", shown[k]) for k in come.elements()]
        self._before, self._shown = now, shown
        changes = pa.Table.from_pylist([row for _, row in told], schema=rows.schema)
        self.put(changes.add_column(0, OP, pa.array([kind for kind, _ in told], pa.string())))

    def take(self, timeout_s: float = 0) -> list[pa.Table]:
        """What came since the last call; waits for something, at most so long."""
        with self._changed:
            if not self._waiting and not self._closed and timeout_s:
                self._changed.wait(timeout_s)
            taken, self._waiting, self._held = self._waiting, [], 0
            self._changed.notify_all()
        return taken

    def close(self) -> None:
        """Let nobody wait any more."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def put(self, rows: pa.Table) -> None:
        """Changes, `op` first."""
        if not rows.num_rows:
            return
        with self._changed:
            while self._held >= self.most and not self._closed:
                self._changed.wait(1)
            self._waiting.append(rows)
            self._held += rows.num_rows
            self.rows += rows.num_rows
            self._changed.notify_all()


OP = "op"
"""Name of the column of kinds in what is shown, as Flink's client shows it."""


def _hashable(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable, value))
    return tuple((k, _hashable(v)) for k, v in value.items()) if isinstance(value, dict) else value
