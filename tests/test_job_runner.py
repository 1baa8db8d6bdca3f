"""`paimon-nb run`: jobs of a file are restarted after errors, and their state is served on a loopback port."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import paimon_nb
from paimon_nb import job_runner
from paimon_nb.base import clock
from paimon_nb.base.errors import SourceUnavailable
from paimon_nb.job_runner import JobRunner, SupervisedJob, metrics_text, serve_state
from paimon_nb.session.core.jobs import Loop, StreamJob
from paimon_nb.sql import parse

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


class Failing(Loop):
    """A stream that ends at once."""

    is_current = True

    def _process_until_stopped(self) -> None:
        raise SourceUnavailable("the database does not answer", hint="start it")


def failed_job(wb) -> StreamJob:
    job = wb.session.jobs.add(StreamJob('say "x"', Failing(), lambda: 0))
    job.running.awaitTermination(30)
    return job


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    with paimon_nb.connect(str(tmp_path / "w")) as workbench:
        yield workbench


def test_a_failed_job_is_started_again_after_longer_and_longer_pauses(wb, monkeypatch, capsys):
    now = 1_000_000
    monkeypatch.setattr(clock, "now_ms", lambda: now)
    runner = JobRunner(wb, max_restarts=8)
    (statement,) = parse(
        "CALL sys.mysql_sync_table(`table` => 't', mysql_conf => 'hostname=127.0.0.1,port=1,username=u,password=p,database-name=d')"
    )
    runner.jobs.append(SupervisedJob(statement, {}, failed_job(wb)))
    pauses = []
    while runner.supervise():
        start = runner.jobs[0].next_start_ms
        assert start is not None
        pauses.append((start - now) // 1000)
        now = start
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60]
    said = capsys.readouterr().err
    assert "the database does not answer; start it; restart in 1 s" in said
    assert not runner.healthy


def test_the_state_is_served_to_this_machine_alone(wb):
    runner = JobRunner(wb, max_restarts=0)
    server = serve_state(runner, 0)
    port = server.server_address[1]

    def get(path: str, host: str = "127.0.0.1") -> tuple[int, str]:
        request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", headers={"Host": f"{host}:{port}"})
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    try:
        assert get("/health") == (HTTPStatus.OK, '{"healthy": true, "jobs": []}\n')
        (statement,) = parse("SHOW JOBS")
        runner.jobs.append(SupervisedJob(statement, {}, failed_job(wb)))
        code, text = get("/health")
        (job,) = json.loads(text)["jobs"]
        assert (code, job["status"], job["message"]) == (
            HTTPStatus.SERVICE_UNAVAILABLE,
            "FAILED",
            "the database does not answer; start it",
        )
        metrics = get("/metrics")[1].splitlines()
        assert 'paimon_job_up{job="say \\"x\\""} 0' in metrics
        assert 'paimon_job_restarts_total{job="say \\"x\\""} 0' in metrics
        assert not any(line.startswith("paimon_job_snapshots_behind{") for line in metrics)  # it is not known
        assert get("/metrics", "evil.example")[0] == HTTPStatus.FORBIDDEN
        assert get("/")[0] == HTTPStatus.NOT_FOUND
    finally:
        server.shutdown()
        server.server_close()


def test_metrics_without_jobs():
    assert metrics_text([]).count("# TYPE") == 12


def test_a_file_that_is_not_there(tmp_path, capsys):
    with pytest.raises(SystemExit):
        job_runner.main([str(tmp_path / "x.sql")])
    assert "no such file" in capsys.readouterr().err


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_of_a_file_resumes_in_the_next_process(tmp_path):
    with paimon_nb.connect(str(tmp_path / "w")) as wb:
        wb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (1)")
        file = tmp_path / "jobs.sql"
        file.write_text("SET 'execution.runtime-mode' = 'streaming'; INSERT INTO t SELECT * FROM s")
        environment = os.environ | {"PYTHONPATH": str(Path(paimon_nb.__file__).parents[1])}
        command = [sys.executable, "-m", "paimon_nb.cli", "run", str(file), "--warehouse", str(tmp_path / "w")]
        for expected in ([1], [1, 2]):
            process = subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL)
            while process.poll() is None and sorted(wb.table("t").to_arrow().column("k").to_pylist()) != expected:
                time.sleep(0.2)
            process.send_signal(signal.SIGTERM)
            assert process.wait(120) == 0
            assert sorted(wb.table("t").to_arrow().column("k").to_pylist()) == expected
            wb.run("INSERT INTO s VALUES (2)")
