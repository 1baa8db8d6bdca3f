"""Running streams of a session: their names, how they are, how they end. Knows no SQL."""

from __future__ import annotations

import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from paimon_nb.base import clock
from paimon_nb.base.errors import EngineError, PaimonError, UnknownName
from paimon_nb.base.registry import did_you_mean

if TYPE_CHECKING:
    from pyspark.sql.streaming import StreamingQuery

    from paimon_nb.session.stream_standing import Standing


class Running(Protocol):
    """What a job needs of a `StreamingQuery`; `RefreshLoop` has the same."""

    @property
    def isActive(self) -> bool: ...  # noqa: N802  Spark's name

    def stop(self) -> None: ...

    def awaitTermination(self, timeout: int | None = None) -> bool | None: ...  # noqa: N802

    def exception(self) -> BaseException | None: ...


class StreamJob:
    """A streaming INSERT or SELECT that runs. Also answers as Spark's `StreamingQuery` does."""

    def __init__(
        self,
        name: str,
        running: Running,
        rows: Callable[[], int],
        standings: Callable[[Running], tuple[Standing, ...]] | None = None,
    ) -> None:
        self.id = uuid.uuid4().hex
        self.name, self.running, self._rows, self._standings = name, running, rows, standings
        self.started_ms = clock.now_ms()
        self._stopped = False

    @property
    def rows(self) -> int:
        """Rows that went out since the start."""
        return self._rows()

    @property
    def status(self) -> str:
        """RUNNING, FINISHED, FAILED or CANCELED, as Flink says it."""
        if self.running.isActive:
            return "RUNNING"
        if self.running.exception() is not None:
            return "FAILED"
        return "CANCELED" if self._stopped else "FINISHED"

    @property
    def error(self) -> PaimonError | None:
        """Why it failed."""
        from paimon_nb.engine.errors import translate

        found = self.running.exception()
        if found is None:
            return None
        return translate(found) or EngineError(f"the stream failed: {found}", hint="see the error's cause")

    def standings(self) -> tuple[Standing, ...]:
        """How far behind each table it reads it is; () where that is not known."""
        return () if self._standings is None else self._standings(self.running)

    def again(self, running: Running) -> None:
        """The same job, begun anew somewhere else."""
        self.running, self._stopped = running, False
        self.started_ms = clock.now_ms()

    @property
    def isActive(self) -> bool:  # noqa: N802
        return self.running.isActive

    def stop(self) -> None:
        """End it; what was committed stays."""
        self._stopped = self._stopped or self.running.isActive
        self.running.stop()

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802
        """Wait for its end. Returns whether it ended. Raises its error, if it failed."""
        if timeout is None:
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
        """Wait until all that was there when it was called went out. Returns whether it did. Raises the job's error."""
        if isinstance(self.running, RefreshLoop):
            loop = self.running
            return self.wait_for(lambda: loop.is_current, timeout)
        # Spark's own way to wait knows no deadline, so it waits in a thread that ends with the query at the latest.
        waiting = threading.Thread(target=_process_available, args=(self.running,), daemon=True)
        waiting.start()
        done = self.wait_for(lambda: not waiting.is_alive(), timeout)
        if self.error is not None:
            raise self.error
        return done

    def wait_for(self, condition: Callable[[], bool], timeout: float = 180) -> bool:
        """Wait until something is true, the job ended, or the time is over. Raises the job's error."""
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


class RefreshLoop:
    """Calls `refresh` in a thread of its own whenever `version` has changed."""

    def __init__(self, version: Callable[[], Any], refresh: Callable[[], None], pause_s: float) -> None:
        self._version, self._refresh, self._pause_s = version, refresh, pause_s
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._seen: Any = object()
        self._thread = threading.Thread(target=self._run, name="paimon-refresh", daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802
        return self._thread.is_alive()

    @property
    def seen(self) -> Any:
        """The version of the last refresh."""
        return self._seen

    @property
    def is_current(self) -> bool:
        """The last refresh was of the version that is newest now."""
        return self._seen == self._version()

    def stop(self) -> None:
        self._stop.set()
        if threading.current_thread() is not self._thread:
            self._thread.join(60)

    def awaitTermination(self, timeout: int | None = None) -> bool:  # noqa: N802
        self._thread.join(timeout)
        return not self.isActive

    def exception(self) -> BaseException | None:
        return self._error

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                version = self._version()
                if version != self._seen:
                    self._refresh()
                    self._seen = version
                self._stop.wait(self._pause_s)
        except BaseException as error:
            self._error = error


class Jobs:
    """The jobs of one session, ended ones included."""

    def __init__(self) -> None:
        self.all: dict[str, StreamJob] = {}
        self.folders: list[tempfile.TemporaryDirectory[str]] = []
        """Checkpoints of jobs that will not be started again."""

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
    with suppress(Exception):  # the query's own error is told by the job
        query.processAllAvailable()


def query_of(job: StreamJob) -> StreamingQuery | None:
    """Spark's query behind a job, for those who need its progress; None for a job that refreshes."""
    return None if isinstance(job.running, RefreshLoop) else job.running  # type: ignore[return-value]
