"""Outputs of a stream: a Paimon table, a connector's sink, or a buffer for a live SELECT."""

from __future__ import annotations

import threading
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base.errors import SnapshotNotFound, UnsupportedOperation
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.table.read.stream.committed_rows import CommittedRows

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.connectors.api import Sink
    from paimon_nb.session.streaming.last_result import LastResult
    from paimon_nb.spark.streaming.sink import TableSink
    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.stream_committer import StreamCommitter


class Output(Protocol):
    @property
    def rows(self) -> int:
        """Rows written since the start."""

    @property
    def takes_update_before(self) -> bool:
        """Whether the output needs -U rows."""

    @property
    def merges(self) -> bool:
        """Whether a replaced result must be retracted: its table merges rows by their values, or its key may change."""

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None, *, kinds: bool = True) -> None:
        """Rows of a micro-batch. `watermark`: epoch ms; None: unknown.

        kinds: a column `rowkind` has the row kinds; otherwise it is a column like any other.
        """

    def replace(self, result: DataFrame) -> None:
        """The whole new result, which replaces the previous one."""


_KIND = "__paimon_kind"
"""The column with the row kinds of rows for a table."""


class TableOutput:
    """Writes upserts and deletes to a Paimon table."""

    def __init__(self, table: Table, align: Callable[[DataFrame, str | None], DataFrame]) -> None:
        """`align`: casts rows to the table's columns; keeps the last column if it is named."""
        self.table, self.align = table, align
        self._fields = table.schema.fields
        """The columns that `align` returns: those of the table when the job started."""
        self._rows = 0
        self._committed: CommittedRows | None = None
        self.changes_keys = False
        """Whether a group's new result may have another key, so that the row of its last one is deleted."""
        self._sink: TableSink | None = None
        self._before: dict[tuple[Any, ...], dict[str, Any]] = {}
        self._counted: Counter[Any] = Counter()
        self._rows_by_values: dict[Any, dict[str, Any]] = {}
        """The rows of the last result, by their values."""
        self._last_result: LastResult | None = None
        self._maybe_stored: dict[tuple[Any, ...], dict[str, Any]] = {}
        """Rows that the job may have stored before its start, until the first result after it."""
        self._commits = 0
        self._checkpoints: StreamCommitter | None = None
        self._write_lock = threading.Lock()

    @property
    def takes_update_before(self) -> bool:
        from paimon_nb.table.write.input_rows import needs_update_before

        return self.table.store.has_keys and needs_update_before(self.table.store)

    @property
    def merges(self) -> bool:
        return self.changes_keys or (
            self.takes_update_before and self.table.options.merge_engine in ("aggregation", "partial-update")
        )

    def begin(self, folder: str) -> None:
        """Called before the first micro-batch; `folder`: of the checkpoint."""
        from paimon_nb.spark.streaming.sink import TableSink

        self._sink = TableSink(self.table, kinds=_KIND, folder=folder)

    def continue_results(self, last: LastResult) -> None:
        """Called before the first `replace` of a job with a checkpoint: continue after the result that it stored last."""
        self._last_result = last
        rows = last.read()
        if rows is not None and not self.takes_update_before:
            self._maybe_stored = {self._primary_key_of(r): r for r in rows.to_pylist()}

    def begin_results(self) -> None:
        """Called if the query did not start after `begin`: `replace` stores whole results, which Spark's sink does not see."""
        self._sink = None

    def has_stored(self, batch: DataFrame, number: int) -> bool:
        """Whether a micro-batch that runs again was committed before."""
        return self._sink is not None and self._sink.has_committed(batch, number)

    @property
    def handles_empty_checkpoints(self) -> bool:
        """Whether `on_idle_checkpoint` must be called while the stream runs."""
        from paimon_nb.table.write.stream_committer import StreamCommitter

        return StreamCommitter.empty_checkpoint_may_commit(self.table.store)

    def on_idle_checkpoint(self, user: str) -> None:
        """Called when a checkpoint interval elapsed without input rows. `user`: the query's id."""
        if self._sink is not None:
            self._sink.on_idle_checkpoint(user)
            return
        with self._write_lock:
            if self._checkpoints is not None:
                self.table = self.table.refresh()
                self._checkpoints.on_idle_checkpoint(self.table.store)

    def savepoint(self) -> str | None:
        """Tags the last committed snapshot after a stop and returns the tag's name; None: no savepoint tag is configured."""
        if self._sink is not None:
            return self._sink.savepoint()
        return None if self._checkpoints is None else self._checkpoints.savepoint(self.table.store)

    def last_commit_ms(self) -> int | None:
        """The time of the last commit since the start, epoch milliseconds; None: there is none."""
        newest = self._sink.snapshots[-1:] if self._sink is not None else []
        if not newest and self._checkpoints is not None and self._checkpoints.snapshot is not None:
            newest = [self._checkpoints.snapshot]
        return commit_time_ms(self.table, newest[0]) if newest else None

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None, *, kinds: bool = True) -> None:
        assert self._sink is not None
        self._sink(self.rows_to_store(batch, kinds=kinds), number, watermark)
        self._rows = self._sink.rows

    def rows_to_store(self, batch: DataFrame, *, kinds: bool, order: str | None = None) -> DataFrame:
        """Rows with the table's columns and a last column of row kinds, as the table's writer takes them.

        Args:
            batch: a micro-batch or a stream.
            kinds: as in `accept`.
            order: name of a column by which `server_sink` sorts each micro-batch; None: no order.
        """
        from pyspark.sql import functions as F

        replaced = [KINDS] if kinds and KINDS in batch.columns else []
        kind = F.col(KINDS) if replaced else F.lit("+I")
        if order is not None:
            replaced.append(order)
            kind = F.struct(kind.alias("kind"), F.col(order).alias("order"))
        batch = batch.withColumn(_KIND, kind).drop(*replaced)
        batch = self.align(batch, _KIND)
        if self.takes_update_before:
            return batch
        kind = F.col(_KIND if order is None else f"{_KIND}.kind")
        if self.table.store.has_keys and self.table.options.merge_engine != "deduplicate":
            batch = batch.where(kind != "-U")
        # A projection may change the key: then -U deletes the old key's row, and +U inserts the new one.
        kind = F.when(kind == "-U", "-D").otherwise(kind)
        return batch.withColumn(_KIND, kind if order is None else F.col(_KIND).withField("kind", kind))

    def server_sink(self, *, ordered: bool) -> Callable[[DataFrame, int], None]:
        """The function that a Spark Connect server calls with each micro-batch of `rows_to_store`; it can be pickled.

        Args:
            ordered: the rows have an order.
        """
        assert self._sink is not None
        return _OrderedSink(self._sink) if ordered else self._sink

    def committed_rows(self) -> CommittedRows:
        """Count `rows` from now on in the snapshots that another process commits. The caller sets the commit user."""
        self._committed = CommittedRows(self.table.store)
        return self._committed

    @property
    def rows(self) -> int:
        """Rows written since the start."""
        return self._rows if self._committed is None else self._committed.count()

    def replace(self, result: DataFrame) -> None:
        """Writes only the difference: new and changed rows, and deletes of missing keys."""
        import pyarrow as pa

        from paimon_nb.spark.runtime.arrow_interop import to_arrow
        from paimon_nb.spark.streaming.sink import at_current_columns
        from paimon_nb.table.write import TableWrite
        from paimon_nb.table.write.stream_committer import StreamCommitter

        table = self.table = self.table.refresh()
        if not table.primary_keys:
            raise UnsupportedOperation(
                f"{table.name} has no primary key, so it cannot follow results that change",
                hint="give it a PRIMARY KEY of the columns that the query groups by",
            )
        fields = table.schema.fields
        result_rows = to_arrow(at_current_columns(self.align(result, None), self._fields, fields), fields)
        if self._last_result is not None:
            self._last_result.begin(result_rows)
        changes = self._changes_from_last_result(result_rows.to_pylist())
        if changes:
            with self._write_lock:
                checkpoints = self._checkpoints = self._checkpoints or StreamCommitter(table.store)
                self._commits += 1
                full = checkpoints.is_full(table.store, self._commits)
                with TableWrite(table.store, full=full) as writing:
                    writing.write(
                        pa.Table.from_pylist([r for _, r in changes], schema=table.schema.arrow.remove_metadata()),
                        [kind for kind, _ in changes],
                    )
                    checkpoints.commit(table.store, writing.prepare_commit(), self._commits, full=full)
            self._rows += len(changes)
        if self._last_result is not None:
            self._last_result.end()

    def _changes_from_last_result(self, rows: list[dict[str, Any]]) -> list[Change]:
        """The difference from the last result. A table that merges rows gets each row, also several of one key."""
        if self.takes_update_before:
            return self._changes_by_value(rows)
        if self.table.options.merge_engine in ("aggregation", "partial-update"):
            return [change for change in self._changes_by_value(rows) if change[0] != "-U"]
        return self._changes_by_key(rows)

    def _changes_by_key(self, rows: list[dict[str, Any]]) -> list[Change]:
        """One row per key; the table finds the row that it replaces."""
        new_rows, old_rows = {self._primary_key_of(r): r for r in rows}, self._before
        maybe_stored, self._maybe_stored = self._maybe_stored, {}
        self._before = new_rows
        removed = [("-D", row) for key, row in {**maybe_stored, **old_rows}.items() if key not in new_rows]
        return removed + [("+I", row) for key, row in new_rows.items() if old_rows.get(key) != row]

    def _changes_by_value(self, rows: list[dict[str, Any]]) -> list[Change]:
        """Each row that is removed and each that came; several rows may have one key. A row that another of its key replaces is -U."""
        rows_with_values = [(_hashable_value(row), row) for row in rows]
        new_counts, by_values = Counter(values for values, _ in rows_with_values), dict(rows_with_values)
        removed, added = self._counted - new_counts, new_counts - self._counted
        removed_rows = [self._rows_by_values[values] for values in removed.elements()]
        added_rows = [by_values[values] for values in added.elements()]
        self._counted, self._rows_by_values = new_counts, by_values
        return _pair_updates(removed_rows, added_rows, self._primary_key_of)

    def _primary_key_of(self, row: dict[str, Any]) -> tuple[Any, ...]:
        return tuple(_hashable_value(row[k]) for k in self.table.primary_keys)


def commit_time_ms(table: Table, snapshot: int) -> int | None:
    """The time of a snapshot; None if it expired."""
    try:
        return table.store.snapshots.get(snapshot).time_ms
    except SnapshotNotFound:
        return None


def _pair_updates(
    removed: list[dict[str, Any]], added: list[dict[str, Any]], key: Callable[[dict[str, Any]], Any]
) -> list[Change]:
    """Rows that went and came as changes: -U and +U where one of a key replaces another, else -D and +I."""
    added_by_key: dict[Any, list[dict[str, Any]]] = {}
    for row in added:
        added_by_key.setdefault(key(row), []).append(row)
    changes: list[Change] = []
    for row in removed:
        same_key = added_by_key.get(key(row))
        changes += [("-U", row), ("+U", same_key.pop(0))] if same_key else [("-D", row)]
    return changes + [("+I", row) for rows in added_by_key.values() for row in rows]


class _OrderedSink:
    """A table's sink of micro-batches whose row kinds are structs of the kind and the order."""

    def __init__(self, sink: TableSink) -> None:
        self._sink = sink

    def __call__(self, batch: DataFrame, number: int) -> None:
        from pyspark.sql import functions as F

        in_order = batch.coalesce(1).sortWithinPartitions(f"{_KIND}.order")
        self._sink(in_order.withColumn(_KIND, F.col(f"{_KIND}.kind")), number)


class ConnectorOutput:
    """Writes to a connector's sink."""

    takes_update_before = True
    merges = False

    def __init__(self, sink: Sink, align: Callable[[DataFrame], DataFrame]) -> None:
        self.sink, self.align = sink, align
        self.rows = 0
        self._buffer = BufferOutput()

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None, *, kinds: bool = True) -> None:
        if not kinds:
            batch = batch.toDF(*(f"__c{i}" for i in range(len(batch.columns))))  # columns are aligned by position
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

    takes_update_before = True
    merges = False

    def __init__(self, max_rows: int = 100_000, keys: Sequence[int] | None = None) -> None:
        """`keys`: the positions of the columns that identify a row of the result; None: not known."""
        self._keys = keys
        self.rows, self.max_rows = 0, max_rows
        self._chunks: list[pa.Table] = []
        self._buffered_rows = 0
        self._changed = threading.Condition()
        self._closed = False
        self._before: Counter[tuple[Any, ...]] = Counter()
        self._last_rows: dict[tuple[Any, ...], dict[str, Any]] = {}
        """The rows of the last result, by their hashable form."""

    def accept(self, batch: DataFrame, number: int, watermark: int | None = None, *, kinds: bool = True) -> None:
        import pyarrow as pa

        from paimon_nb.spark.runtime.arrow_interop import collect

        rows = collect(batch)
        if kinds and KINDS in rows.column_names:
            at = rows.schema.get_field_index(KINDS)
            rows = rows.remove_column(at).add_column(0, OP, rows.column(at))
        else:
            rows = rows.add_column(0, OP, pa.array(["+I"] * rows.num_rows, pa.string()))
        self.append_changes(rows)

    def replace(self, result: DataFrame) -> None:
        import pyarrow as pa

        from paimon_nb.spark.runtime.arrow_interop import collect

        named = collect(result)
        rows = named.rename_columns([str(i) for i in range(named.num_columns)])  # the names need not be unique
        listed = [(tuple(_hashable_value(v) for v in row.values()), row) for row in rows.to_pylist()]
        now, rows_by_key = Counter(key for key, _ in listed), dict(listed)
        deleted, upserted = self._before - now, now - self._before
        old_rows = [self._last_rows[k] for k in deleted.elements()]
        new_rows = [rows_by_key[k] for k in upserted.elements()]
        if self._keys is None:
            changes_by_row: list[Change] = [("-D", row) for row in old_rows] + [("+I", row) for row in new_rows]
        else:
            keys = [str(k) for k in self._keys]
            changes_by_row = _pair_updates(old_rows, new_rows, lambda row: tuple(_hashable_value(row[k]) for k in keys))
        self._before, self._last_rows = now, rows_by_key
        changes = pa.Table.from_pylist([row for _, row in changes_by_row], schema=rows.schema)
        changes = changes.rename_columns(named.column_names)
        self.append_changes(changes.add_column(0, OP, pa.array([kind for kind, _ in changes_by_row], pa.string())))

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

    def append_changes(self, rows: pa.Table) -> None:
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


Change = tuple[str, dict[str, Any]]
"""A row kind and a row."""
OP = "op"
"""Name of the row kind column in displayed changes, as in Flink's SQL client."""


def _hashable_value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_hashable_value, value))
    return tuple((k, _hashable_value(v)) for k, v in value.items()) if isinstance(value, dict) else value
