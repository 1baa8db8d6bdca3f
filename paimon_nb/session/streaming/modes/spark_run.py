"""A streaming query of Spark whose micro-batches are handled in this process."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.session.streaming.checkpoints import (
    checkpoint_directory,
    is_resumed,
    last_offsets,
    remove_unfinished_start,
)
from paimon_nb.session.streaming.consumers import recording_consumers
from paimon_nb.session.streaming.modes.server import ServerRun
from paimon_nb.session.streaming.modes.stream_run import StreamRun
from paimon_nb.session.streaming.sinks import TableOutput
from paimon_nb.session.streaming.stream_session import session_copy_for_stream
from paimon_nb.spark.errors import first_sentence
from paimon_nb.spark.streaming.sink import claim_checkpoint
from paimon_nb.spark.streaming.start import start_query

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.streaming.stream_statement import StreamStatement


class SparkRun(StreamRun):
    """Subclasses have the DataFrame of the stream, and what is done with its micro-batches."""

    output_mode = "append"
    """Spark's output mode."""
    checkpoint: str = ""
    resumed: bool
    """Whether an earlier query of the checkpoint finished a micro-batch."""

    def __init__(self, statement: StreamStatement) -> None:
        super().__init__(statement)
        self.session = session_copy_for_stream(statement.session)

    def begin(self) -> Running:
        from pyspark.errors import AnalysisException

        server = ServerRun.of(self.statement)
        if server is not None:
            return server.begin()
        self._open_checkpoint()
        self.prepare()
        frame = self.frame()
        store = recording_consumers(self.plan.inputs, lambda: last_offsets(self.checkpoint), self.store)
        writer = frame.writeStream.outputMode(self.output_mode).foreachBatch(store)
        writer = writer.trigger(processingTime=f"{self.interval_ms} milliseconds")
        try:
            running = start_query(writer.option("checkpointLocation", self.checkpoint).start)
        except AnalysisException as error:  # the query itself was analyzed before: Spark has no such streaming operator
            return self.begin_otherwise(error)
        self.started(running)
        self.run_idle_checkpoints(running, str(running.id))
        return running

    def _open_checkpoint(self) -> None:
        self.checkpoint = checkpoint_directory(self.statement.session, self.statement.folder)
        remove_unfinished_start(self.checkpoint)
        self.resumed = is_resumed(self.checkpoint)
        if isinstance(self.output, TableOutput):
            claim_checkpoint(self.checkpoint, self.output.table)
            self.output.begin(self.checkpoint)

    def prepare(self) -> None:
        """Called when the checkpoint is known, before the stream is made."""

    @abstractmethod
    def frame(self) -> DataFrame:
        """The stream whose micro-batches `store` gets."""

    @abstractmethod
    def store(self, batch: DataFrame, number: int) -> None:
        """Hand a micro-batch to the output. `number`: of the micro-batch; the same rows have the same number again."""

    def started(self, running: Running) -> None:
        """Called with the query that has started."""

    def begin_otherwise(self, error: Exception) -> Running:
        """Called if Spark refuses the stream. Raises UnsupportedOperation if there is no other way."""
        raise UnsupportedOperation(
            f"Spark cannot run this query as a stream: {first_sentence(str(error))}",
            hint="load the rows into a table with a simpler INSERT, and query that table",
        ) from error
