"""A streaming INSERT in a Spark Connect server, which commits the rows of a streaming DataFrame itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.connectors.api import ORDER
from paimon_nb.session.streaming.checkpoints import checkpoint_directory
from paimon_nb.session.streaming.connect_insert import check_runs_in_server
from paimon_nb.session.streaming.frames import changes_frame, query_changes, whole_frame
from paimon_nb.session.streaming.modes.stream_run import StreamRun
from paimon_nb.session.streaming.planner import StreamMode
from paimon_nb.session.streaming.relations import KINDS
from paimon_nb.session.streaming.stream_session import session_copy_for_stream
from paimon_nb.spark.runtime.jvm_bridge import has_bridge
from paimon_nb.spark.streaming.connect_sink import sink_with_package
from paimon_nb.spark.streaming.sink import claim_checkpoint
from paimon_nb.spark.streaming.start import start_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.streaming.sinks import TableOutput
    from paimon_nb.session.streaming.stream_statement import StreamStatement


class ServerRun(StreamRun):
    """The server gets the query as a streaming DataFrame and a pickled sink of its rows."""

    @classmethod
    def of(cls, statement: StreamStatement) -> ServerRun | None:
        """None: the session's Spark runs in this process."""
        return None if has_bridge(statement.session.spark) else cls(statement)

    def __init__(self, statement: StreamStatement) -> None:
        super().__init__(statement)
        self.session = session_copy_for_stream(statement.session)
        self.session.lookups = None  # the query has none, and a streaming DataFrame is analysed once

    def begin(self) -> Running:
        """Raises UnsupportedOperation: see `check_runs_in_server`."""
        output = check_runs_in_server(self.plan, self.statement.query, self.output)
        checkpoint = self.checkpoint = checkpoint_directory(self.statement.session, self.statement.folder)
        claim_checkpoint(checkpoint, output.table)
        output.begin(checkpoint)
        rows, ordered = self._rows(output, checkpoint)
        sink = sink_with_package(output.server_sink(ordered=ordered))
        stateful = self.plan.mode is StreamMode.STATEFUL
        writer = rows.writeStream.outputMode("update" if stateful and self.plan.grouped else "append")
        writer = writer.foreachBatch(sink).trigger(processingTime=f"{self.interval_ms} milliseconds")
        committed = output.committed_rows()
        running = start_query(writer.option("checkpointLocation", checkpoint).start)
        committed.user = str(running.id)
        return running

    def _rows(self, output: TableOutput, checkpoint: str) -> tuple[DataFrame, bool]:
        """The query as a stream of rows for the table, and whether their micro-batches must be sorted."""
        from pyspark.sql import functions as F

        statement, plan = self.statement, self.plan
        if plan.mode is StreamMode.STATEFUL:
            result = whole_frame(statement, self.session)
            kinds = plan.grouped or not any(i.system for i in plan.inputs)
            result = result.withColumn(KINDS, F.lit("+U")) if plan.grouped else result
            return output.rows_to_store(result, kinds=kinds), False
        (only,) = plan.inputs
        batches = {only.ref.parts: changes_frame(self.session, only, checkpoint)}
        if only.append_only:
            return output.rows_to_store(statement.rows(self.session, batches), kinds=only.system is None), False
        changes = query_changes(statement, self.session, batches)
        return output.rows_to_store(changes, kinds=True, order=ORDER), True
