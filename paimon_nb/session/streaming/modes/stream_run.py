"""`StreamRun`: one streaming statement, from its plan to its running query."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.session.core.jobs import StreamJob
from paimon_nb.session.streaming.checkpoints import check_checkpoint_is_free, checkpoint_bytes, record_active
from paimon_nb.session.streaming.lookup.join import release, stop_waiting
from paimon_nb.session.streaming.progress import progress
from paimon_nb.session.streaming.sinks import TableOutput
from paimon_nb.session.streaming.stream_session import CHECKPOINT_INTERVAL, checkpoint_interval_ms
from paimon_nb.session.streaming.windows import late_rows
from paimon_nb.spark.streaming import idle_checkpoint_timer

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.session.core.jobs import Running
    from paimon_nb.session.streaming.stream_statement import StreamStatement


class StreamRun(ABC):
    """A streaming statement in one mode. A subclass is one mode: `of` says whether it is the statement's, `begin` starts it."""

    checkpoint: str | None = None
    """The folder of the checkpoint; None: there is none, or the run has not begun."""

    def __init__(self, statement: StreamStatement) -> None:
        self.statement = statement
        self.plan, self.output = statement.plan, statement.output

    @property
    def interval_ms(self) -> int:
        """The time between the starts of two micro-batches."""
        return checkpoint_interval_ms(self.statement.session)

    @classmethod
    @abstractmethod
    def of(cls, statement: StreamStatement) -> StreamRun | None:
        """The run of the statement, not started; None: it runs in another mode."""

    @abstractmethod
    def begin(self) -> Running:
        """Start the query."""

    def start(self) -> Running:
        """Start the query, as the only one that uses its checkpoint.

        Raises:
            UnsupportedOperation: Spark or the mode does not support the query.
            BadOptionValue: the checkpoint belongs to another table, or a running job uses it.
        """
        session, folder = self.statement.session, self.statement.folder
        check_checkpoint_is_free(session, folder)
        running = self.begin()
        record_active(session, folder, running)
        return running

    def run_idle_checkpoints(self, running: Running, user: str) -> None:
        """Run empty checkpoints if the table handles them: at the session's checkpoint interval, else once a second."""
        output = self.output
        if isinstance(output, TableOutput) and output.handles_empty_checkpoints:
            configured = CHECKPOINT_INTERVAL in self.statement.session.settings
            pause_s = self.interval_ms / 1000 if configured else idle_checkpoint_timer.PAUSE_S
            idle_checkpoint_timer.run_checkpoints_until_end(running, lambda: output.on_idle_checkpoint(user), pause_s)


def stream_job(name: str, running: Running, run: Callable[[], StreamRun]) -> StreamJob:
    """The job of a run that has started. `run`: the current one, as a live SELECT may start again elsewhere."""

    def table_output() -> TableOutput | None:
        output = run().output
        return output if isinstance(output, TableOutput) else None

    return StreamJob(
        name,
        running,
        rows=lambda: run().output.rows,
        progress=lambda query: progress(query, run().plan),
        savepoint=lambda: None if (output := table_output()) is None else output.savepoint(),
        late_rows=late_rows,
        before_stop=stop_waiting,
        after_stop=release,
        state_bytes=lambda: None if (folder := run().checkpoint) is None else checkpoint_bytes(folder),
        last_commit_ms=lambda: None if (output := table_output()) is None else output.last_commit_ms(),
    )


def cannot_resume() -> UnsupportedOperation:
    """The error of a job whose earlier results must be retracted, and are not known after a restart."""
    return UnsupportedOperation(
        "the job cannot resume: it must retract its earlier results, and these are not in the checkpoint",
        hint="INSERT INTO a table with merge-engine 'deduplicate' and the PRIMARY KEY of what the query groups by, or start another job into an empty table ('pipeline.name')",
    )
