"""`paimon-nb run FILE.sql`: runs the jobs of a file without a notebook, restarts them after errors, and reports their state over HTTP."""

from __future__ import annotations

import argparse
import datetime as dt
import json
import signal
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError
from paimon_nb.base.redact import redact_text
from paimon_nb.session.streaming.job_list import job_row

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.statements import Statement
    from paimon_nb.workbench import Workbench

_CHECK_S = 0.2
_FIRST_PAUSE_MS, _LONGEST_PAUSE_MS = 1000, 60_000
_CHECKPOINTS = ("execution.checkpointing.dir", "state.checkpoints.dir")
_HOSTS = ("127.0.0.1", "localhost")


class SupervisedJob:
    """One statement of the file that starts a job, and the job that it started last."""

    def __init__(self, statement: Statement, settings: Mapping[str, str], job: StreamJob) -> None:
        """`settings`: of the session when the statement ran; a restart uses them again."""
        self.statement, self.settings, self.job = statement, dict(settings), job
        self.failures = 0
        """Restarts in a row without new rows."""
        self.next_start_ms: int | None = None
        """When it is started again; None: it runs, or it has ended for good."""

    def pause_ms(self) -> int:
        """The time before the next restart: twice as long after each failure without new rows."""
        return min(_LONGEST_PAUSE_MS, _FIRST_PAUSE_MS << min(self.failures, 6))


class JobRunner:
    """Starts and supervises the jobs of one file."""

    def __init__(self, workbench: Workbench, max_restarts: int) -> None:
        """`max_restarts`: restarts in a row without new rows, after which a job stays failed."""
        self._workbench, self._max_restarts = workbench, max_restarts
        self.jobs: list[SupervisedJob] = []

    def run(self, text: str) -> None:
        """Run the statements of a text; jobs continue in the background. Raises PaimonError: a statement failed."""
        from paimon_nb.session.executor import run_statement
        from paimon_nb.sql import parse

        session = self._workbench.session
        for statement in parse(text):
            before = set(session.jobs.all)
            run_statement(session, statement, text, {}, displayed=True)
            started = [job for number, job in session.jobs.all.items() if number not in before]
            self.jobs += [SupervisedJob(statement, session.settings, job) for job in started]

    def supervise(self) -> bool:
        """Restart the jobs whose pause is over. Returns whether a job runs or will be restarted, or tables are kept fresh."""
        now = clock.now_ms()
        for supervised in self.jobs:
            if supervised.job.status != "FAILED":
                continue
            if supervised.next_start_ms is None:
                self._plan_restart(supervised, now)
            elif now >= supervised.next_start_ms:
                self._restart(supervised, now)
        running = any(s.job.isActive or s.next_start_ms is not None for s in self.jobs)
        return running or bool(self.materialized_tables)

    @property
    def materialized_tables(self) -> list[str]:
        """The materialized tables that the session keeps fresh."""
        from paimon_nb.session.materialized.refresher import Refresher

        refresher = self._workbench.session.refresher
        return [".".join(name) for name in refresher.tables] if isinstance(refresher, Refresher) else []

    def _plan_restart(self, supervised: SupervisedJob, now: int) -> None:
        job = supervised.job
        supervised.failures = 0 if job.rows else supervised.failures
        if supervised.failures >= self._max_restarts:
            return
        supervised.next_start_ms = now + supervised.pause_ms()
        assert job.error is not None
        _log(f"{job.name} failed: {job.error.one_line}; restart in {supervised.pause_ms() / 1000:.0f} s")

    def _restart(self, supervised: SupervisedJob, now: int) -> None:
        from paimon_nb.session.executor import run_statement

        session, last = self._workbench.session, supervised.job
        supervised.failures += 1
        settings, session.settings = session.settings, dict(supervised.settings)
        try:
            result = run_statement(session, supervised.statement, supervised.statement.text, {}, displayed=True)
        except PaimonError as error:  # for example a database that does not answer yet
            supervised.next_start_ms = now + supervised.pause_ms() if supervised.failures < self._max_restarts else None
            _log(f"{last.name} cannot start: {error.one_line}")
            return
        finally:
            session.settings = settings
        assert result.job is not None
        supervised.job, supervised.next_start_ms = result.job, None
        result.job.restarts = last.restarts + 1
        session.jobs.all.pop(last.id, None)

    def rows(self) -> list[dict[str, Any]]:
        """The lines of SHOW JOBS."""
        return [job_row(s.job) for s in self.jobs]

    @property
    def healthy(self) -> bool:
        """Whether no job has failed."""
        return all(s.job.status != "FAILED" for s in self.jobs)


_METRICS = (
    ("rows", "paimon_job_rows_total", "counter", "rows written since the last start"),
    ("late rows", "paimon_job_late_rows_total", "counter", "rows dropped as late since the last start"),
    ("snapshots behind", "paimon_job_snapshots_behind", "gauge", "snapshots of the sources that are not read"),
    ("records behind", "paimon_job_records_behind", "gauge", "records in these snapshots"),
    ("seconds behind", "paimon_job_seconds_behind", "gauge", "age of the oldest of these snapshots"),
    ("last commit", "paimon_job_last_commit_timestamp_seconds", "gauge", "time of the last commit"),
    ("restarts", "paimon_job_restarts_total", "counter", "restarts after errors"),
    ("changed values", "paimon_job_changed_values_total", "counter", "values that did not fit and were changed"),
    ("dead letters", "paimon_job_dead_letters_total", "counter", "records in tables of dead letters"),
    ("state bytes", "paimon_job_state_bytes", "gauge", "size of the checkpoint"),
    ("skipped", "paimon_job_skipped_records_total", "counter", "records that skip_record names"),
)


def metrics_text(rows: Sequence[Mapping[str, Any]]) -> str:
    """The lines of SHOW JOBS in Prometheus' text format. Values that are not known are left out."""
    labels = _labels(rows)
    lines = ["# HELP paimon_job_up whether the job runs", "# TYPE paimon_job_up gauge"]
    lines += [
        f"paimon_job_up{label} {int(row['status'] == 'RUNNING')}" for label, row in zip(labels, rows, strict=True)
    ]
    for column, name, kind, text in _METRICS:
        lines += [f"# HELP {name} {text}", f"# TYPE {name} {kind}"]
        for label, row in zip(labels, rows, strict=True):
            value = row[column]
            if isinstance(value, dt.datetime):
                value = value.replace(tzinfo=dt.UTC).timestamp()
            if value is not None:
                lines.append(f"{name}{label} {value}")
    return "\n".join(lines) + "\n"


def _labels(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """The labels of each job: Prometheus rejects two samples with the same ones, so a second job of a name has its number, too."""
    seen, labels = Counter[str](), []
    for row in rows:
        name = str(row["job name"]).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        seen[name] += 1
        labels.append(f'{{job="{name}"}}' if seen[name] == 1 else f'{{job="{name}",number="{seen[name]}"}}')
    return labels


def serve_state(runner: JobRunner, port: int) -> ThreadingHTTPServer:
    """Serve /health, /jobs and /metrics on a loopback port in a thread; port 0: a free one. Raises OSError: it is in use."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            host = self.headers.get("Host", "").rpartition(":")[0]
            if host not in _HOSTS:  # a page in a browser that uses another name for this address
                self._answer(403, "text/plain", "only for 127.0.0.1\n")
            elif self.path == "/metrics":
                self._answer(200, "text/plain; version=0.0.4", metrics_text(runner.rows()))
            elif self.path in ("/health", "/jobs"):
                rows = runner.rows()
                state = {"healthy": runner.healthy, "jobs": rows}
                code = 200 if self.path == "/jobs" or runner.healthy else 503
                self._answer(code, "application/json", json.dumps(state, default=str) + "\n")
            else:
                self._answer(404, "text/plain", "/health, /jobs and /metrics\n")

        def _answer(self, code: int, kind: str, text: str) -> None:
            body = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: Any) -> None:
            """Requests are not logged."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, name="paimon-state", daemon=True).start()
    return server


def main(arguments: Sequence[str]) -> int:
    """The command. Returns 0 if it was stopped or all jobs have finished, 1 if a job stays failed."""
    parser = argparse.ArgumentParser(
        prog="paimon-nb run", description="Run the statements of a file, and its jobs until they end."
    )
    parser.add_argument("file", type=Path, metavar="FILE.sql")
    parser.add_argument("--warehouse", default="warehouse")
    parser.add_argument("--config", metavar="FILE.yaml", help="catalog definition or Flink settings")
    parser.add_argument(
        "--port", type=int, metavar="N", help="serve /health, /jobs and /metrics on 127.0.0.1:N; 0: a free port"
    )
    parser.add_argument(
        "--max-restarts", type=int, default=10, metavar="N",
        help="restarts of a job in a row without new rows; then it stays failed; default %(default)s",
    )  # fmt: skip
    parser.add_argument(
        "--checkpoints", type=Path, metavar="DIR",
        help="checkpoints of streaming INSERTs, unless the file sets execution.checkpointing.dir; default FILE.sql.checkpoints",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    for file in [options.file, *([Path(options.config)] if options.config else [])]:
        if not file.is_file():
            parser.error(f"no such file: {file}")
    if options.max_restarts < 0:
        parser.error(f"--max-restarts {options.max_restarts}: must be 0 or more")
    import paimon_nb

    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    with paimon_nb.connect(options.warehouse) as wb:
        if options.config:
            wb.configure(Path(options.config))
        # With it a restarted job, also of another process, resumes where it was.
        if not any(key in wb.session.settings for key in _CHECKPOINTS):
            folder = options.checkpoints or options.file.with_name(f"{options.file.name}.checkpoints")
            wb.session.settings[_CHECKPOINTS[0]] = str(folder.resolve())
        runner = JobRunner(wb, options.max_restarts)
        server = None if options.port is None else serve_state(runner, options.port)
        if server is not None:
            _log(f"state on http://127.0.0.1:{server.server_address[1]}/health, /jobs and /metrics")
        try:
            runner.run(options.file.read_text())
            _log(f"{len(runner.jobs)} job{'s' * (len(runner.jobs) != 1)} started")
            if tables := runner.materialized_tables:
                _log(f"keeping fresh: {', '.join(tables)}")
            while not stopped.is_set() and runner.supervise():
                stopped.wait(_CHECK_S)
            failed = [s.job for s in runner.jobs if s.job.status == "FAILED"]
        finally:
            wb.session.jobs.stop_all()
            if server is not None:
                server.shutdown()
    for job in failed:
        _log(f"{job.name} failed: {'' if job.error is None else job.error.one_line}")
    return 1 if failed else 0


def _log(line: str) -> None:
    sys.stderr.write(redact_text(line) + "\n")
    sys.stderr.flush()
