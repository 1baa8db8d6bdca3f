"""Streaming jobs of a session: names, status, end. Knows no SQL."""

from __future__ import annotations

import threading
import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base import clock
from paimon_nb.base.errors import Cancelled, EngineError, PaimonError, UnknownName
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    import tempfile
    from collections.abc import Callable

    from paimon_nb.table.read.stream import StreamBatch, StreamOffset, TableStream
    from paimon_nb.table.tables.table import Table


class Running(Protocol):
    """The part of Spark's `StreamingQuery` that a job needs; `Loop` implements it, too."""

    @property
    def isActive(self) -> bool: ...  # noqa: N802  Spark's name

    def stop(self) -> None: ...

    def awaitTermination(self, timeout: int | None = None) -> bool | None: ...  # noqa: N802

    def exception(self) -> BaseException | None: ...


@dataclass(frozen=True, slots=True)
class Progress:
    """A stream's progress in one table that it reads."""

    table: str
    at: int
    """The newest processed snapshot; 0: none."""
    newest: int
    """The table's newest snapshot; 0: none."""
    source: Table | None = None
    """The table."""

    @property
    def behind(self) -> int:
        """Snapshots not processed yet."""
        return max(0, self.newest - self.at)

    def __str__(self) -> str:
        if not self.newest:
            return f"{self.table} is empty"
        if not self.behind:
            return f"caught up (snapshot {self.newest})"
        return f"at snapshot {self.at}, {self.behind} behind the latest"


class StreamJob:
    """A streaming INSERT or SELECT. Has the methods of Spark's `StreamingQuery`."""

    def __init__(
        self,
        name: str,
        running: Running,
        rows: Callable[[], int],
        progress: Callable[[Running], tuple[Progress, ...]] | None = None,
        savepoint: Callable[[], str | None] = lambda: None,
        late_rows: Callable[[Running], int] = lambda _: 0,
        before_stop: Callable[[Running], None] = lambda _: None,
        after_stop: Callable[[Running], None] = lambda _: None,
        last_commit_ms: Callable[[], int | None] = lambda: None,
        state_bytes: Callable[[], int | None] = lambda: None,
    ) -> None:
        """A job around a running query.

        Args:
            rows: the number of emitted rows.
            progress: the progress per table that the query reads.
            savepoint: tags the last committed snapshot if the options ask for it, and returns the tag's name.
            late_rows: the number of rows that were dropped as late.
            before_stop: called before the query is stopped, for example to end its waiting.
            after_stop: called after the query was stopped, to release its resources.
            last_commit_ms: the time of its last commit, epoch milliseconds; None: there is none, or it is not known.
            state_bytes: the size of its checkpoint; None: it has none.
        """
        self.savepoint = savepoint
        self._late_rows, self._before_stop, self._after_stop = late_rows, before_stop, after_stop
        self.id = uuid.uuid4().hex
        self.name, self.running, self._rows, self._progress = redact_text(name), running, rows, progress
        self.started_ms = clock.now_ms()
        self.last_commit_ms, self.state_bytes = last_commit_ms, state_bytes
        self.statement = ""
        """The statement that started it, without secrets."""
        self.restarts = 0
        """How often it was started again after an error."""
        self._stopped_by_user = False

    @property
    def rows(self) -> int:
        """Rows emitted since the start."""
        return self._rows()

    @property
    def late(self) -> int:
        """Rows dropped since the start because they arrived after the watermark."""
        return self._late_rows(self.running)

    @property
    def status(self) -> str:
        """RUNNING, FINISHED, FAILED or CANCELED: Flink's words."""
        if self.running.isActive:
            return "RUNNING"
        if self._error_unless_stopped() is not None:
            return "FAILED"
        return "CANCELED" if self._stopped_by_user else "FINISHED"

    @property
    def error(self) -> PaimonError | None:
        """Why it failed."""
        return self._error_unless_stopped()

    def _error_unless_stopped(self) -> PaimonError | None:
        from paimon_nb.spark.errors import paimon_error_of_spark

        exception = self.running.exception()
        if exception is None:
            return None
        error = paimon_error_of_spark(exception) or EngineError(
            f"the stream failed: {exception}", hint="see the error's cause"
        )
        # A job that is stopped while it waits raises Cancelled; that is not a failure.
        return None if self._stopped_by_user and isinstance(error, Cancelled) else error

    def progress(self) -> tuple[Progress, ...]:
        """Progress per table that the job reads; () if unknown."""
        return () if self._progress is None else self._progress(self.running)

    def restarted(self, running: Running) -> None:
        """Attach the job to a restarted query."""
        self.running, self._stopped_by_user = running, False
        self.started_ms = clock.now_ms()

    @property
    def isActive(self) -> bool:  # noqa: N802
        return self.running.isActive

    def stop(self) -> None:
        """Stop the job; committed snapshots stay."""
        self._stopped_by_user = self._stopped_by_user or self.running.isActive
        self._before_stop(self.running)
        self.running.stop()
        self._after_stop(self.running)

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802
        """Wait until the job ends. Returns whether it ended. Raises the error of a failed job."""
        if timeout is None:
            with suppress(Exception):  # `error` has it
                self.running.awaitTermination()
        else:
            deadline = time.monotonic() + timeout
            while self.running.isActive and time.monotonic() < deadline:
                time.sleep(0.05)
        error = self.error
        if error is not None:
            raise error
        return not self.running.isActive

    def process_available(self, timeout: float = 180) -> bool:
        """Wait until all input available at the time of the call is processed. Returns whether it was. Raises the job's error."""
        if isinstance(self.running, Loop):
            loop = self.running
            return self.wait_for(lambda: loop.is_current, timeout)
        # Spark's processAllAvailable() has no timeout, so it runs in a thread, which ends with the query at the latest.
        waiting = threading.Thread(target=_process_available, args=(self.running,), daemon=True)
        waiting.start()
        done = self.wait_for(lambda: not waiting.is_alive(), timeout)
        if self.error is not None:
            raise self.error
        return done

    def wait_for(self, condition: Callable[[], bool], timeout: float = 180) -> bool:
        """Wait until `condition` is true, the job ends or the timeout expires. Raises the job's error."""
        deadline = time.monotonic() + timeout
        while not condition():
            if self.error is not None:
                raise self.error
            if not self.isActive or time.monotonic() > deadline:
                return condition()
            time.sleep(0.05)
        return True

    def __repr__(self) -> str:
        return f"<StreamJob {self.id[:8]} {self.name}: {self.status}, {self.rows} rows>"


class Loop:
    """A stream in a thread of this process, with the methods of Spark's `StreamingQuery`."""

    seen: Any = None
    """The newest processed snapshot of each table; not a list before the first."""

    def __init__(self) -> None:
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run_and_keep_error, name="paimon-stream", daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802
        return self._thread.is_alive()

    @property
    def is_current(self) -> bool:
        """Whether all available input is processed."""
        raise NotImplementedError

    def stop(self) -> None:
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(60)

    def awaitTermination(self, timeout: int | None = None) -> bool:  # noqa: N802
        self._thread.join(timeout)
        return not self.isActive

    def exception(self) -> BaseException | None:
        return self._error

    def _process_until_stopped(self) -> None:
        """Process input until `_stop` is set or the input ends."""
        raise NotImplementedError

    def _run_and_keep_error(self) -> None:
        try:
            self._process_until_stopped()
        except BaseException as error:
            self._error = error


class RefreshLoop(Loop):
    """Calls `refresh` whenever `version` has changed."""

    def __init__(self, version: Callable[[], Any], refresh: Callable[[], None], pause_s: float) -> None:
        self._version, self._refresh, self._pause_s = version, refresh, pause_s
        super().__init__()

    @property
    def is_current(self) -> bool:
        return bool(self.seen == self._version())

    def _process_until_stopped(self) -> None:
        while not self._stop.is_set():
            version = self._version()
            if version != self.seen:
                self._refresh()
                self.seen = version
            self._stop.wait(self._pause_s)


class TableLoop(Loop):
    """Hands the batches of one table's stream to `accept`."""

    def __init__(self, stream: TableStream, accept: Callable[[StreamBatch], None]) -> None:
        self._stream, self._accept = stream, accept
        self._at: StreamOffset | None = None
        """The stream's offset after the last processed batch."""
        self._waits = False
        """Whether there was nothing to read when it last looked."""
        super().__init__()

    @property
    def seen(self) -> list[int] | None:
        return None if self._at is None else [self._at.next - 1]

    @property
    def is_current(self) -> bool:
        from paimon_nb.table.read.stream import newest_position

        if self._stream.ended:
            return True
        at, newest = self._at, newest_position(self._stream.store)
        if newest is None:
            return self._waits and at is None  # a position in an empty table is an error that the loop is about to find
        if at is None or at.full or at.next < newest.next:
            return False
        latest = newest if at.next == newest.next else self._newest_snapshot()
        return at.next == latest.next and at.behind in (None, latest.behind)  # otherwise the table was rolled back

    def _newest_snapshot(self) -> StreamOffset:
        """After the latest snapshot, also if the stream may not deliver it now."""
        from paimon_nb.table.read.stream import StreamOffset

        latest = self._stream.store.latest()
        return StreamOffset(1) if latest is None else StreamOffset.after(latest)

    def _process_until_stopped(self) -> None:
        pauses = self._stream.pauses()
        while not (self._stop.is_set() or self._stream.ended):
            batch = self._stream.poll()
            self._waits = batch is None
            if batch is not None:
                self._accept(batch)
                self._at = batch.position
                pauses = self._stream.pauses()
            else:
                self._at = self._stream.position
                self._stop.wait(next(pauses))


class Jobs:
    """The jobs of one session, ended ones included."""

    def __init__(self) -> None:
        self.all: dict[str, StreamJob] = {}
        self.folders: list[tempfile.TemporaryDirectory[str]] = []
        """Temporary checkpoint directories, deleted with the session."""

    def add(self, job: StreamJob) -> StreamJob:
        self.all[job.id] = job
        return job

    def find(self, name: str) -> StreamJob:
        """By id, the beginning of an id, or name. Raises UnknownName."""
        for job in self.all.values():
            if name in (job.id, job.name) or (len(name) >= 4 and job.id.startswith(name)):
                return job
        known = [j.id for j in self.all.values()] + [j.name for j in self.all.values()]
        raise UnknownName(f"no job {name!r}", hint=did_you_mean(name, known) or "SHOW JOBS lists them", name=name)

    def stop_all(self) -> None:
        for job in self.all.values():
            if job.isActive:
                job.stop()
        while self.folders:
            self.folders.pop().cleanup()


def _process_available(query: Any) -> None:
    with suppress(Exception):  # the job reports the query's error
        query.processAllAvailable()
