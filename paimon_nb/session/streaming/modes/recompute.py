"""Groups, joins and sorts over changing tables: the query runs again for each new snapshot, the output gets the difference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.options.table import SCAN_MODE, SCAN_SNAPSHOT_ID
from paimon_nb.session.core.jobs import RefreshLoop
from paimon_nb.session.streaming.checkpoints import configured_checkpoint
from paimon_nb.session.streaming.last_result import LastResult
from paimon_nb.session.streaming.lookup.join import tables_with_retry
from paimon_nb.session.streaming.modes.stream_run import StreamRun, cannot_resume
from paimon_nb.session.streaming.normalize import with_postponed_rows
from paimon_nb.session.streaming.planner import StreamMode, without_row_for_no_input
from paimon_nb.session.streaming.sinks import TableOutput
from paimon_nb.session.streaming.stream_session import session_copy_for_stream
from paimon_nb.spark.runtime.arrow_interop import session_zone
from paimon_nb.spark.streaming.sink import claim_checkpoint
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.stream import StreamOffset, changelog_levels, postponed_rows

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.fs import FileIO
    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.streaming.stream_statement import StreamStatement
    from paimon_nb.table.tables.table import Table

_FIRST_RESULT = "first-result"
"""A file in a checkpoint: the job has stored a result."""


class RecomputeRun(StreamRun):
    """A loop in this process that looks for new snapshots."""

    @classmethod
    def of(cls, statement: StreamStatement) -> RecomputeRun | None:
        return cls(statement) if statement.plan.mode is StreamMode.RECOMPUTE else None

    def __init__(self, statement: StreamStatement) -> None:
        super().__init__(statement)
        self.session = session_copy_for_stream(statement.session)
        self.session.lookups = None
        self._tables = [i.table for i in self.plan.inputs if i.table is not None]
        self._had_rows = False
        self._first_result: tuple[FileIO, str] | None = None

    def begin(self) -> Running:
        self._check_reads_latest()
        self._check_follows_changes()
        self._open_checkpoint()
        self._tables += tables_with_retry(self.session, self.statement.query, self.statement.text)
        loop = RefreshLoop(self._version, self._rerun_query, min(self.interval_ms, 1000) / 1000)
        self.run_idle_checkpoints(loop, "")
        return loop

    def _check_reads_latest(self) -> None:
        for table in self._tables:
            mode = table.options.get(SCAN_MODE)
            if mode not in ("default", "latest-full", "full") or table.options.has(SCAN_SNAPSHOT_ID):
                raise UnsupportedOperation(
                    f"{table.name}: a streaming query that groups, joins or sorts changing rows always reads the latest snapshot",
                    hint="remove scan.mode and scan.snapshot-id",
                )

    def _check_follows_changes(self) -> None:
        if isinstance(self.output, TableOutput) and not self.output.table.primary_keys:
            raise UnsupportedOperation(
                f"{self.output.table.name} has no primary key, so it cannot follow results that change",
                hint="give it a PRIMARY KEY of the columns that the query groups by",
            )

    def _open_checkpoint(self) -> None:
        """Continue after the last stored result, if the session has a checkpoint directory."""
        checkpoint = configured_checkpoint(self.statement.session, self.statement.folder)
        if not isinstance(self.output, TableOutput) or checkpoint is None:
            return
        self.checkpoint = checkpoint
        claim_checkpoint(checkpoint, self.output.table)
        fs, marker = open_fs(checkpoint, {}), f"{without_scheme(checkpoint)}/{_FIRST_RESULT}"
        if self.output.merges and fs.exists(marker):
            raise cannot_resume()
        self._first_result = fs, marker
        self.output.continue_results(LastResult(checkpoint))

    def _version(self) -> list[StreamOffset | None]:
        # With the commit: after a rollback another snapshot may have the number of the last one.
        newest = (t.latest_snapshot() for t in self._tables)
        return [None if s is None else StreamOffset.after(s) for s in newest]

    def _rerun_query(self) -> None:
        states = self._partly_streamed_states()
        rewrite = None if self._had_rows else without_row_for_no_input
        result = self.statement.rows(self.session, states, rewrite=rewrite)
        self._had_rows = self._had_rows or self.plan.keys != () or not result.isEmpty()
        self._mark_first_result()
        self.output.replace(result)

    def _mark_first_result(self) -> None:
        """Raises UnsupportedOperation: another job with this checkpoint has stored a result that this one would have to retract."""
        if self._first_result is not None:
            (fs, marker), self._first_result = self._first_result, None
            if not fs.put_if_absent(marker, b"{}") and self.output.merges:
                raise cannot_resume()

    def _partly_streamed_states(self) -> dict[tuple[str, ...], DataFrame]:
        """What a stream of each table has delivered, where that is not the table's rows in batch mode.

        A later compaction emits the changes of some files; rows without a bucket are delivered before they have one.
        """
        states = {}
        for stream_input in self.plan.inputs:
            if stream_input.table is None or stream_input.system is not None:
                continue
            table = self.session.table(stream_input.ref.parts, stream_input.ref.options)
            state = _partly_streamed_state(self.session, table)
            if state is not None:
                states[stream_input.ref.parts] = state
        return states


def _partly_streamed_state(session: Session, table: Table) -> DataFrame | None:
    from paimon_nb.spark.scan.table_scan import to_dataframe
    from paimon_nb.table.read.strategy.planned_scan import plan_table_scan

    levels, snapshot = changelog_levels(table.store), table.latest_snapshot()
    if snapshot is None:
        return None
    if levels is None:
        waiting = postponed_rows(table.store, snapshot)
        return with_postponed_rows(session.spark, table, waiting) if waiting.num_rows else None
    if all(levels(entry.file.level) for entry in live_entries(table.store, snapshot)):
        return None
    return to_dataframe(session.spark, plan_table_scan(table, zone=session_zone(session.spark), levels=levels))
