"""The endless job of `CALL sys.compact` in streaming mode: it compacts a table after each commit of the table's writers."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict, UnsupportedOperation
from paimon_nb.options import table as opt
from paimon_nb.procedures.procedure import Context, success
from paimon_nb.spark.write.compact import compact
from paimon_nb.table.read.store import POSTPONE_BUCKET
from paimon_nb.table.write.compact import uses_clustering

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from paimon_nb.table.tables.table import Table

log = logging.getLogger(__name__)

COMPACTS = {opt.WRITE_ONLY.key: "false"}
"""The options of a table in a compaction job."""
_PAUSE_S = 10.0
"""Pause between two rounds before the first table is found."""
_LOOK_S = 0.1


class ContinuousCompaction:
    """Compacts one table whenever it has new snapshots."""

    def __init__(
        self, table: Table, spark: SparkSession | None, partitions: Callable[[bytes], bool] | None, buckets: Collection[int] | None
    ) -> None:  # fmt: skip
        self._table, self._spark, self._partitions, self._buckets = table, spark, partitions, buckets
        self.seen: int | None = None
        """The newest snapshot that was compacted or needed no compaction."""
        self._full_at = 0
        """The newest snapshot at the last full compaction."""

    @property
    def is_current(self) -> bool:
        return self.seen == self._table.store.snapshots.latest_id()

    @property
    def pause_s(self) -> float:
        return self._table.options.get(opt.CONTINUOUS_DISCOVERY_INTERVAL) / 1000

    def compact_new(self) -> None:
        """Compact if there are new snapshots. Of a conflict with another job nothing is committed; the next call tries again."""
        newest = self._table.store.snapshots.latest_id()
        if newest is None or newest == self.seen:
            return
        self._table = self._table.refresh()
        full = self._is_full_due(newest)
        try:
            made = compact(self._table, self._spark, partitions=self._partitions, full=full, buckets=self._buckets)
        except CommitConflict as error:
            log.info("%s: compaction again, %s", self._table.name, error.message)
            return
        own = len(made.snapshots)
        self.seen = newest + own if newest + own == self._table.store.snapshots.latest_id() else newest
        if full:
            self._full_at = newest + own

    def _is_full_due(self, newest: int) -> bool:
        """Whether the changelog of `full-compaction` is due: after each N-th commit. Other tables compact what their strategy picks."""
        options = self._table.options
        if options.get(opt.CHANGELOG_PRODUCER) != "full-compaction":
            return False
        return newest - self._full_at >= (options.get(opt.FULL_COMPACTION_DELTA_COMMITS) or 1)


class CompactionJob:
    """Runs compactions in turn until it is stopped. Has the job interface of a Spark StreamingQuery."""

    def __init__(self, current: Callable[[], Collection[ContinuousCompaction]]) -> None:
        """`current`: the compactions; asked in each round, as tables may be new."""
        self._current = current
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="paimon-compaction", daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802  Spark's name
        return self._thread.is_alive()

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(60)

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802
        self._thread.join(timeout)
        return not self.isActive

    def processAllAvailable(self) -> None:  # noqa: N802
        """Wait until every snapshot that exists is compacted."""
        while self.isActive and not all(c.is_current for c in list(self._current())):
            self._stop.wait(_LOOK_S)

    def exception(self) -> BaseException | None:
        return self._error

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                running = list(self._current())
                for compaction in running:
                    if not self._stop.is_set():
                        compaction.compact_new()
                self._stop.wait(min((c.pause_s for c in running), default=_PAUSE_S))
        except BaseException as error:
            self._error = error


def check_streamable(table: Table) -> None:
    """Raises UnsupportedOperation: the table's compaction exists in batch mode only."""
    batch = "SET 'execution.runtime-mode' = 'batch' before it"
    clusters = uses_clustering(table.store) and table.options.get(opt.BUCKET) == -1
    if table.options.get(opt.BUCKET) == POSTPONE_BUCKET or clusters:
        what = "incremental clustering" if clusters else "the compaction of postponed buckets"
        raise UnsupportedOperation(f"{table.name}: {what} needs batch mode", hint=batch)


def start_job(context: Context, name: str, current: Callable[[], Collection[ContinuousCompaction]]) -> pa.Table:
    """Start the job; the session lists and stops it. Raises as `current`."""
    current()
    context.add_job(name, CompactionJob(current), lambda: 0)
    context.notes.append("it compacts after each commit; SHOW JOBS lists it; STOP JOB '<id>' ends it")
    return success()
