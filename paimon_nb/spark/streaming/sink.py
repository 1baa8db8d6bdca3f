"""Writes micro-batches into a table exactly once. The commit user is the query id, the commit identifier the batch number."""

from __future__ import annotations

import json
import posixpath
import threading
import uuid
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import BadOptionValue, EngineError, MissingFile
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.spark.errors import encode_raised_errors
from paimon_nb.spark.runtime.jvm_bridge import has_bridge, local_property
from paimon_nb.spark.write.table_write import WriteResult, write
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.stream_committer import StreamCommitter

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.table.tables.table import Table

INLINE_ROWS = 100_000
"""Rows of a micro-batch up to which the driver writes it: starting tasks would cost more."""
_TOO_MANY_ROWS = "more rows than the micro-batch before"
_OWNER = "paimon_sink.json"


class TableSink:
    """The function for `foreachBatch`. All state that a restart needs is in the table's snapshots.

    If the driver ends after a commit, Spark runs the batch again after the restart, with the same number. The latest snapshot
    of the query then shows that the batch is already committed.
    """

    def __init__(
        self,
        table: Table,
        *,
        complete: bool = False,
        kinds: str | None = None,
        options: Mapping[str, str] | None = None,
        folder: str | None = None,
        ends: bool = False,
    ) -> None:
        """Open a table for a query.

        Args:
            table: the table.
            complete: each batch is the whole result and replaces all rows.
            kinds: name of the column with row kinds; None: all rows are inserts or upserts.
            options: dynamic table options.
            folder: the query's checkpoint location; None: a temporary one.
            ends: the query ends when all available data is processed.
        """
        self.table = table.copy(options) if options else table
        self._fields = self.table.schema.fields
        """The columns of the micro-batches: those that the table had when the query started."""
        self.complete, self.kinds = complete, kinds
        self.rows = 0
        """Rows written since the start."""
        self.snapshots: list[int] = []
        """Ids of the latest snapshots, at most 100."""
        self._folder, self.ends = folder, ends
        self._server_user = str(uuid.uuid4())
        """Commit user in a Spark Connect server without a checkpoint location, whose query never restarts."""
        self._stream_committer: StreamCommitter | None = None
        self._lock = threading.Lock()
        self._watermark: int | None = None
        """Watermark of the current micro-batch."""
        self._checked = False
        self._is_small = False
        """Whether the previous micro-batch was small, so that the next one is expected to be small."""

    def __call__(self, batch: DataFrame, batch_id: int, watermark: int | None = None) -> None:
        """Write a micro-batch. `watermark`: the stream's watermark, epoch milliseconds."""
        with encode_raised_errors(), self._lock:
            self._watermark = watermark
            self._write_batch(batch, batch_id)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock())

    def commit_user(self, batch: DataFrame) -> str:
        """The commit user: the id of a micro-batch's query. In a Spark Connect server only the checkpoint has it."""
        if has_bridge(batch):
            return query_id(batch)
        if self._folder is None:
            return self._server_user
        metadata = open_fs(self._folder, {}).read(posixpath.join(without_scheme(self._folder), "metadata"))
        return str(json.loads(metadata)["id"])

    @property
    def handles_empty_checkpoints(self) -> bool:
        """Whether `on_idle_checkpoint` must be called periodically while the query runs."""
        return not self.ends and StreamCommitter.empty_checkpoint_may_commit(self.table.store)

    def on_idle_checkpoint(self, user: str) -> None:
        """Commit what a Flink checkpoint without rows commits. `user`: the query's id."""
        with self._lock:
            table = self.table = self.table.refresh()
            self._record_snapshots(self._get_committer(user).on_idle_checkpoint(table.store))

    def has_committed(self, batch: DataFrame, batch_id: int) -> bool:
        """Whether a micro-batch was committed before; only the first one after a start can have been."""
        if self._checked:
            return False
        return not TableCommit(self.table.store, self.commit_user(batch)).filter_committed([batch_id + 1])

    def savepoint(self) -> str | None:
        """See `StreamCommitter.savepoint`."""
        with self._lock:
            return None if self._stream_committer is None else self._stream_committer.savepoint(self.table.store)

    def _get_committer(self, user: str) -> StreamCommitter:
        if self._stream_committer is None:
            self._stream_committer = StreamCommitter(self.table.store, user, self._folder, ends=self.ends)
        return self._stream_committer

    def _record_snapshots(self, snapshots: Sequence[int]) -> None:
        self.snapshots = [*self.snapshots, *snapshots][-100:]

    def _write_batch(self, batch: DataFrame, batch_id: int) -> None:
        user, identifier = self.commit_user(batch), batch_id + 1  # identifiers start with 1, as checkpoint ids
        self._get_committer(user)  # from now on it notices commits of another process with this checkpoint
        if not self._checked:
            self._checked = True
            if not TableCommit(self.table.store, user).filter_committed([identifier]):
                return
        table = self.table = self.table.refresh()
        batch = at_current_columns(batch, self._fields, table.schema.fields)
        done = self._write_small_batch_in_driver(batch, table, user, identifier) if self._is_small else None
        if done is None:
            done = self._write_counted(batch, table, user, identifier)
        self._is_small = done.rows <= INLINE_ROWS
        self.rows += done.rows
        self._record_snapshots(done.snapshots)

    def _write_small_batch_in_driver(
        self, batch: DataFrame, table: Table, user: str, identifier: int
    ) -> WriteResult | None:
        """Write a small batch without counting its rows, which takes most of the time. None: the batch has too many rows."""
        try:
            return self._write_rows(_fail_beyond_inline_rows(batch), table, user, identifier, inline=True)
        except EngineError as error:
            if _TOO_MANY_ROWS not in str(error):
                raise
            return None

    def _write_counted(self, batch: DataFrame, table: Table, user: str, identifier: int) -> WriteResult:
        batch = batch.persist()  # read twice, and some sources can be read only once
        try:
            count = batch.count()
            if not count and not self.complete:
                made = (
                    self._get_committer(user).on_idle_checkpoint(table.store, identifier)
                    if self.handles_empty_checkpoints
                    else []
                )
                return WriteResult(tuple(made), 0, True)
            return self._write_rows(batch, table, user, identifier, inline=count <= INLINE_ROWS)
        finally:
            batch.unpersist()

    def _write_rows(self, batch: DataFrame, table: Table, user: str, identifier: int, *, inline: bool) -> WriteResult:
        return write(
            batch,
            table,
            overwrite="static" if self.complete else None,
            checkpoints=self._get_committer(user),
            kinds=self.kinds,
            identifier=identifier,
            watermark=self._watermark,
            inline_bytes=(1 << 64) if inline else 0,  # Spark estimates 2^63 - 1 for an unknown size
        )


def at_current_columns(batch: DataFrame, start: Sequence[DataField], now: Sequence[DataField]) -> DataFrame:
    """Rows with the columns that a table had when the query started, with those that it has now, as in a running job of Flink.

    New columns are NULL; renamed columns are found by their id. Columns of the batch that the table never had stay.
    """
    if start == now:
        return batch
    from pyspark.sql import functions as F

    from paimon_nb.base.identifier import quote
    from paimon_nb.spark.types import spark_type

    names = {f.id: f.name for f in start}
    columns = [
        (F.col(quote(names[f.id])) if f.id in names else F.lit(None)).cast(spark_type(f.type)).alias(f.name)
        for f in now
    ]
    others = [c for c in batch.columns if c not in names.values()]
    return batch.select(*columns, *(F.col(quote(c)) for c in others))


def _fail_beyond_inline_rows(batch: DataFrame) -> DataFrame:
    """The same rows, with an error in a task with more than `INLINE_ROWS` rows, before they fill the driver's memory."""
    from pyspark.sql import functions as F

    in_partition = F.monotonically_increasing_id().bitwiseAND((1 << 33) - 1)
    return batch.filter(F.when(in_partition < INLINE_ROWS, True).otherwise(F.raise_error(F.lit(_TOO_MANY_ROWS))))


def query_id(batch: DataFrame) -> str:
    """The id of a micro-batch's streaming query; the same after a restart from the checkpoint. Not in Spark Connect."""
    found = local_property(batch, "sql.streaming.queryId")
    assert found, "a micro-batch belongs to a query"
    return str(found)


def claim_checkpoint(location: str, table: Table) -> None:
    """Record the target table in a checkpoint location. Raises BadOptionValue: the checkpoint belongs to another table."""
    fs = open_fs(location, {})
    path = posixpath.join(without_scheme(location), _OWNER)
    identity = {"table": table.path, "identity": table.store.identity[:12]}
    try:
        owner = json.loads(fs.read(path))
    except MissingFile:
        fs.overwrite(path, json.dumps(identity).encode())
        return
    if owner.get("identity") != identity["identity"]:
        raise BadOptionValue(
            f"the checkpoint at {location} belongs to a stream into {owner.get('table')}",
            hint="use a separate checkpointLocation (in SQL 'pipeline.name') for each stream, and a new one for a recreated table",
            option="checkpointLocation",
        )
