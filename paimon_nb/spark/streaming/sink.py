"""Micro-batches into a table, each exactly once: the query's id is the commit user, the batch's number the identifier."""

from __future__ import annotations

import json
import posixpath
import threading
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, EngineError, MissingFile
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.spark.errors import packed_errors
from paimon_nb.spark.runtime.jvm_bridge import local_property
from paimon_nb.spark.write.table_write import WriteResult, write
from paimon_nb.table.commit import TableCommit
from paimon_nb.table.stream.committer import StreamCommitter

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.table.table import Table

INLINE_ROWS = 100_000
"""Micro-batches of at most so many rows are written in the driver: starting tasks costs more than the work."""
_TOO_MANY = "more rows than the micro-batch before"
_OWNER = "paimon_sink.json"


class TableSink:
    """What `foreachBatch` calls. Keeps nothing that a restart needs: that lies in the table's snapshots.

    A batch that was committed before the driver died comes again after the restart, with the same number: the table's
    newest snapshot of this query tells that it is in already.
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
        """
        Args:
            complete: each batch is the whole result and replaces the rows before it.
            kinds: name of the column that holds row kinds; None: all rows are upserts or appends.
            folder: the query's checkpoint; None: it is not kept.
            ends: the query takes what is there and is over.
        """
        self.table = table.copy(options) if options else table
        self.complete, self.kinds = complete, kinds
        self.rows = 0
        """Rows stored since the start."""
        self.snapshots: list[int] = []
        """The last few snapshots made."""
        self._folder, self._ends = folder, ends
        self._checkpoints: StreamCommitter | None = None
        self._one_at_a_time = threading.Lock()
        self._watermark: int | None = None
        """Of the present micro-batch."""
        self._checked = False
        self._few = False
        """The micro-batch before was a small one, so the next is taken for one."""

    def __call__(self, batch: DataFrame, batch_id: int, watermark: int | None = None) -> None:
        """Store a micro-batch. `watermark`: that of its rows' stream, epoch ms."""
        with packed_errors(), self._one_at_a_time:
            self._watermark = watermark
            self._store(batch, batch_id)

    @property
    def handles_empty_checkpoints(self) -> bool:
        """Whether `quiet` is to be called while the query runs."""
        return not self._ends and StreamCommitter.count_without_rows(self.table.store)

    def on_empty_checkpoint(self, user: str) -> None:
        """The time between two checkpoints is over. Does what Flink's do without rows. `user`: the query's id."""
        with self._one_at_a_time:
            table = self.table = self.table.refresh()
            self._keep(self._of(user).on_empty_checkpoint(table.store))

    def savepoint(self) -> str | None:
        """As of `StreamCommitter`."""
        with self._one_at_a_time:
            return None if self._checkpoints is None else self._checkpoints.savepoint(self.table.store)

    def _of(self, user: str) -> StreamCommitter:
        if self._checkpoints is None:
            self._checkpoints = StreamCommitter(self.table.store, user, self._folder, ends=self._ends)
        return self._checkpoints

    def _keep(self, snapshots: Sequence[int]) -> None:
        self.snapshots = [*self.snapshots, *snapshots][-100:]

    def _store(self, batch: DataFrame, batch_id: int) -> None:
        user, identifier = query_id(batch), batch_id + 1  # identifiers begin with 1, as checkpoints do
        if not self._checked:
            self._checked = True
            if not TableCommit(self.table.store, user).filter_committed([identifier]):
                return
        table = self.table = self.table.refresh()
        done = self._in_driver(batch, table, user, identifier) if self._few else None
        if done is None:
            done = self._counted_first(batch, table, user, identifier)
        self._few = done.rows <= INLINE_ROWS
        self.rows += done.rows
        self._keep(done.snapshots)

    def _in_driver(self, batch: DataFrame, table: Table, user: str, identifier: int) -> WriteResult | None:
        """Without counting, which takes Spark longer than all the rest. None: there are far more rows than in the one before."""
        try:
            return self._write(_few_of(batch), table, user, identifier, inline=True)
        except EngineError as error:
            if _TOO_MANY not in str(error):
                raise
            return None

    def _counted_first(self, batch: DataFrame, table: Table, user: str, identifier: int) -> WriteResult:
        batch = batch.persist()  # counted and written from the same rows, though the source may be read only once
        try:
            count = batch.count()
            if not count and not self.complete:
                made = (
                    self._of(user).on_empty_checkpoint(table.store, identifier)
                    if self.handles_empty_checkpoints
                    else []
                )
                return WriteResult(tuple(made), 0, True)
            return self._write(batch, table, user, identifier, inline=count <= INLINE_ROWS)
        finally:
            batch.unpersist()

    def _write(self, batch: DataFrame, table: Table, user: str, identifier: int, *, inline: bool) -> WriteResult:
        return write(
            batch,
            table,
            overwrite="static" if self.complete else None,
            checkpoints=self._of(user),
            kinds=self.kinds,
            identifier=identifier,
            watermark=self._watermark,
            inline_bytes=(1 << 64) if inline else 0,  # Spark says 2^63 - 1 where it does not know
        )


def _few_of(batch: DataFrame) -> DataFrame:
    """The same rows; a task that comes to more than `INLINE_ROWS` of them fails, before they fill the driver's memory."""
    from pyspark.sql import functions as F

    in_partition = F.monotonically_increasing_id().bitwiseAND((1 << 33) - 1)
    return batch.filter(F.when(in_partition < INLINE_ROWS, True).otherwise(F.raise_error(F.lit(_TOO_MANY))))


def query_id(batch: DataFrame) -> str:
    """The id of the streaming query that a micro-batch belongs to; it survives restarts from the checkpoint."""
    found = local_property(batch, "sql.streaming.queryId")
    assert found, "a micro-batch belongs to a query"
    return str(found)


def claim_checkpoint(location: str, table: Table) -> None:
    """Note in a checkpoint which table it feeds. Raises BadOptionValue: it feeds another one."""
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
            hint="give each stream a checkpointLocation (in SQL a 'pipeline.name') of its own; a table that was made anew needs a new one",
            option="checkpointLocation",
        )
