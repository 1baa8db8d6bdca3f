"""Each field of SHOW JOBS, of the panel of jobs and of the metrics, for a reader that is behind and for a sync with values that do not fit."""

from __future__ import annotations

import datetime as dt
import json
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from paimon_nb.base import clock
from paimon_nb.base.errors import BadMessage
from paimon_nb.job_runner import JobRunner, metrics_text
from paimon_nb.notebook.widgets.jobs import JobsView
from paimon_nb.session.core.jobs import Loop, StreamJob
from paimon_nb.session.streaming.job_list import job_row

if TYPE_CHECKING:
    import paimon_nb

STARTED = dt.datetime(2026, 1, 2, 3, 4, 5)


class Clock:
    """Milliseconds since 1970; it stands until it is moved."""

    def __init__(self) -> None:
        self.ms = int(STARTED.replace(tzinfo=dt.UTC).timestamp() * 1000)

    def now(self) -> int:
        return self.ms


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(clock, "now_ms", made.now)
    return made


def append(wb: paimon_nb.Workbench, *keys: int) -> None:
    wb.table("t").append(pa.table({"k": pa.array(keys, pa.int32())}))


def shown(wb: paimon_nb.Workbench) -> list[dict[str, Any]]:
    return list(wb.run("SHOW JOBS").arrow.to_pylist())


def value_of(metrics: str, name: str) -> str:
    (line,) = (line for line in metrics.splitlines() if line.startswith(f"paimon_job_{name}{{"))
    return line.rpartition(" ")[2]


def test_a_reader_that_is_behind(wb, at):
    """Its newest snapshots are younger than the delay of its table: it does not read them yet."""
    wb.run("CREATE TABLE t (k INT); SET 'execution.runtime-mode' = 'streaming'")
    append(wb, 1)
    live = wb.stream("SELECT * FROM t /*+ OPTIONS('streaming.read.snapshot.delay' = '1 h') */").start()
    assert live.job.wait_for(lambda: live.job.rows == 1, 120)
    at.ms += 10_000
    append(wb, 2, 3)
    at.ms += 5_000
    append(wb, 4, 5, 6)
    wb.table("t").compact(full=True)
    at.ms += 30_000
    (row,) = shown(wb)
    newest = wb.table("t").store.snapshots.latest_id()
    assert row == {
        "job id": live.job.id, "job name": live.job.name, "status": "RUNNING", "start time": STARTED, "rows": 1, "late rows": 0,
        "position": "default.t: snapshot 1", "snapshots behind": newest - 1, "records behind": 5, "seconds behind": 35.0,
        "last commit": None, "restarts": 0, "changed values": 0, "dead letters": 0, "skipped": 0, "state bytes": None, "message": None,
    }  # fmt: skip
    (line,) = JobsView(wb).view["jobs"]
    assert (line["status"], line["rows"], line["lag"]) == (
        "RUNNING",
        1,
        f"at snapshot 1, {newest - 1} behind the latest",
    )
    assert line["facts"] == ["default.t: snapshot 1", "5 records behind", "35 s behind"]
    metrics = metrics_text([job_row(live.job)])
    assert {n: value_of(metrics, n) for n in ("up", "rows_total", "snapshots_behind", "records_behind", "seconds_behind")} == {
        "up": "1", "rows_total": "1", "snapshots_behind": str(newest - 1), "records_behind": "5", "seconds_behind": "35.0",
    }  # fmt: skip
    live.stop()
    (row,) = shown(wb)
    assert (row["status"], row["message"]) == ("CANCELED", f"resume with: {live.job.statement}")


def test_a_sync_with_values_that_do_not_fit_and_a_record_that_it_stepped_over(wb, at):
    """A message that cannot be parsed stops it; after that it steps over the message, and counts it."""
    pytest.importorskip("confluent_kafka")
    from mock_broker import MockBroker

    broker = MockBroker()
    conf = f"properties.bootstrap.servers={broker.address},topic=t,value.format=canal-json,scan.startup.mode=earliest-offset"
    types = {"k": "int", "v": "decimal(5,2)"}

    def message(k: int, v: str) -> tuple[str, str]:
        return "same", json.dumps({"database": "d", "table": "t", "type": "INSERT", "isDdl": False, "mysqlType": types,
                                   "pkNames": ["k"], "data": [{"k": k, "v": v}], "old": None})  # fmt: skip

    runner = JobRunner(wb, max_restarts=3)
    call = f"CALL sys.kafka_sync_table(`table` => 't', kafka_conf => '{conf}', primary_keys => 'k', interval => '20 ms', on_value_error => '%s'%s)"
    broker.send("t", [message(1, "1.25"), message(2, "12345.6"), message(3, "1.005")])
    runner.run(call % ("dead-letter", ""))
    (supervised,) = runner.jobs
    assert supervised.job.wait_for(lambda: supervised.job.last_commit_ms() is not None, 120)
    (row,) = shown(wb)
    assert (row["rows"], row["changed values"], row["dead letters"], row["skipped"]) == (1, 0, 2, 0)
    assert row["position"]
    assert row["last commit"] == STARTED
    broker.send("t", [("same", "{no message"), message(4, "4.00")])
    with pytest.raises(BadMessage) as stopped:
        supervised.job.wait_for(lambda: False, 120)
    failed = job_row(supervised.job)
    assert (failed["status"], failed["message"].partition("; ")[0]) == ("FAILED", stopped.value.message)
    assert failed["message"].endswith(f"resume with: {call % ('dead-letter', '')}")
    for _ in range(2):  # the first plans the restart
        assert runner.supervise()
        at.ms += 1000
    with pytest.raises(BadMessage):
        supervised.job.wait_for(lambda: False, 120)
    assert (job_row(supervised.job)["restarts"], runner.healthy) == (1, False)
    assert value_of(metrics_text(runner.rows()), "restarts_total") == "1"
    (record,) = re.findall("skip_record => '([^']+)'", stopped.value.hint)
    stepped = JobRunner(wb, max_restarts=0)
    stepped.run(call % ("java", f", skip_record => '{record}'"))
    job = stepped.jobs[0].job
    assert job.wait_for(lambda: job.rows == 1, 120)
    broker.send("t", [message(5, "NaN")])
    assert job.wait_for(lambda: job.rows == 2, 120)
    (row,) = stepped.rows()
    assert [row[n] for n in ("status", "rows", "changed values", "dead letters", "skipped")] == ["RUNNING", 2, 1, 0, 1]
    assert row["message"].startswith("default.t.v: 1 value did not fit: ")
    metrics = metrics_text(stepped.rows())
    assert [value_of(metrics, f"{n}_total") for n in ("changed_values", "dead_letters", "skipped_records")] == [
        "1",
        "0",
        "1",
    ]
    (line,) = (line for line in JobsView(wb).view["jobs"] if line["status"] == "RUNNING")
    assert {"1 changed values", "1 skipped records"} <= set(line["facts"])
    job.stop()
    assert sorted(wb.table("t").to_arrow().column("k").to_pylist()) == [1, 4, 5]


def test_metrics_of_two_jobs_with_one_name_are_two_series():
    """Prometheus rejects a page that has a sample twice."""
    job = StreamJob("select", Ended(), lambda: 3)
    metrics = metrics_text([job_row(job), job_row(job)])
    assert metrics.count('paimon_job_rows_total{job="select"} 3') == 1
    assert metrics.count('paimon_job_rows_total{job="select",number="2"} 3') == 1


class Ended(Loop):
    """A stream that ends at once."""

    is_current = True

    def _process_until_stopped(self) -> None:
        """There is nothing to read."""
