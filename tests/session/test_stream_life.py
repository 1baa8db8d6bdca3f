"""Jobs over time: stopped and started again, their tables changed, rolled back and altered while they run."""

from __future__ import annotations

import signal

import pyarrow as pa
import pytest
from story_kit import RunProcess

from paimon_nb.base.errors import BadOptionValue, PaimonError, ReadError, TimeTravelError
from paimon_nb.table.write.maintenance import rollback_to_snapshot

pytestmark = pytest.mark.spark
STREAMING = "SET 'execution.runtime-mode' = 'streaming'"
BATCH = "SET 'execution.runtime-mode' = 'batch'"


def rows(wb, table: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def consumers(wb, table: str) -> list[tuple]:
    known = wb.table(table).store.consumers
    return [(name, known.next_snapshot(name)) for name in known.ids()]


def test_a_job_with_a_consumer_and_no_checkpoint_resumes_where_it_was_stopped(swb):
    """As in Flink: the progress is stored with each micro-batch, so nothing is read twice and nothing is skipped."""
    swb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (1), (2)")
    text = "INSERT INTO t SELECT * FROM s /*+ OPTIONS('consumer-id' = 'me', 'consumer.expiration-time' = '1 d') */"
    swb.run(STREAMING)
    job = swb.sql(text)
    assert job.process_available()
    assert (rows(swb, "t"), consumers(swb, "s")) == ([(1,), (2,)], [("me", 2)])
    job.stop()
    swb.run(f"{BATCH}; INSERT INTO s VALUES (3); {STREAMING}")
    job = swb.sql(text)
    assert job.process_available()
    (listed,) = [j for j in swb.run("SHOW JOBS").arrow.to_pylist() if j["job id"] == job.id]
    swb.table("s").store.consumers.set("me", 9)  # another stream with this id
    swb.run(f"{BATCH}; INSERT INTO s VALUES (4); {STREAMING}")
    with pytest.raises(ReadError, match="consumer 'me' was moved to snapshot 9 by another stream"):
        job.wait_for(lambda: False, 120)
    assert rows(swb, "t") == [(1,), (2,), (3,), (4,)]
    assert (listed["position"], listed["snapshots behind"], listed["records behind"]) == ("default.s: snapshot 2", 0, 0)
    assert listed["last commit"] is not None
    assert listed["state bytes"] > 0


@pytest.mark.nightly
def test_a_job_that_starts_at_a_consumer_takes_back_what_earlier_jobs_stored(swb):
    """The target adds up: a changed row must take its earlier value back, which only the table knows."""
    swb.run("CREATE TABLE s (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1')")
    swb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v INT) WITH ('bucket' = '1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum', 'changelog-producer' = 'lookup')")  # fmt: skip
    text = "INSERT INTO t SELECT * FROM s /*+ OPTIONS('consumer-id' = 'me', 'consumer.expiration-time' = '1 d') */"
    swb.run(f"INSERT INTO s VALUES (1, 10), (2, 20); {STREAMING}")
    job = swb.sql(text)
    assert job.process_available()
    job.stop()
    swb.run(f"{BATCH}; INSERT INTO s VALUES (1, 11), (3, 30); DELETE FROM s WHERE k = 2; {STREAMING}")
    job = swb.sql(text)
    assert job.process_available()
    job.stop()
    assert [r for r in rows(swb, "t") if r[1]] == [(1, 11), (3, 30)]


@pytest.mark.parametrize("query", ["SELECT k FROM s", "SELECT DISTINCT k FROM s"], ids=["stateless", "recomputed"])
def test_a_new_column_of_the_target_does_not_end_its_job(swb, query):
    swb.run("CREATE TABLE s (k INT PRIMARY KEY NOT ENFORCED, v INT); CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED)")
    swb.run(f"INSERT INTO s VALUES (1, 1); {STREAMING}")
    job = swb.sql(f"INSERT INTO t (k) {query}")
    assert job.wait_for(lambda: rows(swb, "t") == [(1,)])
    swb.run(f"{BATCH}; ALTER TABLE t ADD z INT; INSERT INTO s VALUES (2, 2); {STREAMING}")
    assert job.wait_for(lambda: rows(swb, "t") == [(1, None), (2, None)])
    job.stop()


def test_a_job_whose_source_was_rolled_back_says_so_first(swb):
    swb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (1); INSERT INTO s VALUES (2)")
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO t SELECT * FROM s")
    assert job.process_available()
    rollback_to_snapshot(swb.table("s").store, 1)
    swb.run(f"{BATCH}; INSERT INTO s VALUES (3); INSERT INTO s VALUES (4); {STREAMING}")
    with pytest.raises(TimeTravelError, match="rolled back"):
        job.awaitTermination()
    (listed,) = swb.run("SHOW JOBS").arrow.to_pylist()
    assert (listed["status"], rows(swb, "t")) == ("FAILED", [(1,), (2,)])
    assert listed["message"].startswith("s: the stream")
    assert "rolled back" in listed["message"]
    assert listed["message"].endswith("resume with: INSERT INTO t SELECT * FROM s")


@pytest.mark.nightly
def test_a_job_that_was_stopped_while_it_wrote_its_first_offset_starts_again(swb, tmp_path):
    """Found by a story: Spark leaves a temporary file and then refuses the checkpoint for ever."""
    swb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (1)")
    swb.run(f"SET 'execution.checkpointing.dir' = '{tmp_path}'; {STREAMING}")
    offsets = tmp_path / "insert-into_default.t" / "offsets"
    offsets.mkdir(parents=True)
    for name in (".0.5f3c.tmp", "..0.5f3c.tmp.crc"):
        (offsets / name).write_text("v1")
    job = swb.sql("INSERT INTO t SELECT * FROM s")
    assert job.process_available()
    assert rows(swb, "t") == [(1,)]


def test_a_second_job_with_the_checkpoint_of_a_running_one_is_refused(swb, tmp_path):
    """Spark would stop the first one without a word."""
    swb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (1)")
    swb.run(f"SET 'execution.checkpointing.dir' = '{tmp_path}'; {STREAMING}")
    first = swb.sql("INSERT INTO t SELECT * FROM s")
    with pytest.raises(BadOptionValue, match="a running job uses the checkpoint") as refused:
        swb.sql("INSERT INTO t SELECT k + 1 FROM s")
    assert "pipeline.name" in refused.value.hint
    swb.run("SET 'pipeline.name' = 'second'")
    second = swb.sql("INSERT INTO t SELECT k + 1 FROM s")
    assert first.process_available()
    assert second.process_available()
    assert (first.status, rows(swb, "t")) == ("RUNNING", [(1,), (2,)])


@pytest.mark.nightly
def test_a_select_does_not_resume_from_another_select(swb, tmp_path):
    """A checkpoint folder is for jobs: a SELECT begins with all rows, as in Flink."""
    swb.run("CREATE TABLE s (k INT); INSERT INTO s VALUES (1), (2)")
    swb.run(f"SET 'execution.checkpointing.dir' = '{tmp_path}'; {STREAMING}")
    for _ in range(2):
        found = swb.stream("SELECT k + 0 AS k FROM s").collect(timeout_s=120, idle_s=0.1)
        assert sorted(found.column("k").to_pylist()) == [1, 2]


def test_a_job_whose_target_was_rolled_back_stops_and_says_so(swb):
    swb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (1)")
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO t SELECT * FROM s")
    assert job.process_available()
    swb.run(f"{BATCH}; INSERT INTO s VALUES (2); {STREAMING}")
    assert job.process_available()
    rollback_to_snapshot(swb.table("t").store, 1)
    swb.run(f"{BATCH}; INSERT INTO s VALUES (3); {STREAMING}")
    with pytest.raises(TimeTravelError, match="t: the table was rolled back to before snapshot 2"):
        job.awaitTermination()
    assert rows(swb, "t") == [(1,)]


def test_groups_that_vanish_while_a_job_is_stopped_are_deleted_when_it_resumes(swb, tmp_path):
    """The query runs again as a whole; what it had stored before is in the checkpoint."""
    swb.run(
        "CREATE TABLE s (k INT PRIMARY KEY NOT ENFORCED, g INT, v INT); CREATE TABLE t (g INT PRIMARY KEY NOT ENFORCED, v BIGINT)"
    )
    swb.run("INSERT INTO s VALUES (1, 1, 5), (2, 2, 6); INSERT INTO t VALUES (9, 9)")
    swb.run(f"SET 'execution.checkpointing.dir' = '{tmp_path}'; {STREAMING}")
    text = "INSERT INTO t SELECT g, SUM(v) FROM s GROUP BY g"
    job = swb.sql(text)
    assert job.process_available()
    job.stop()
    swb.run(f"{BATCH}; DELETE FROM s WHERE k = 1; {STREAMING}")
    job = swb.sql(text)
    assert job.process_available()
    assert rows(swb, "t") == [(2, 6), (9, 9)]
    job.stop()


@pytest.mark.nightly
@pytest.mark.parametrize("key", ["", ", PRIMARY KEY (k) NOT ENFORCED"], ids=["append", "keys"])
def test_a_target_that_somebody_else_overwrites_keeps_its_job(swb, key):
    """What the job stores later is there; what was replaced stays replaced."""
    swb.run(f"CREATE TABLE s (k INT); CREATE TABLE t (k INT{key}); INSERT INTO s VALUES (1)")
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO t SELECT * FROM s")
    assert job.process_available()
    swb.run(f"{BATCH}; INSERT OVERWRITE t VALUES (100); INSERT INTO s VALUES (2); {STREAMING}")
    assert job.process_available()
    swb.run(f"{BATCH}; INSERT INTO s VALUES (3); {STREAMING}")
    assert job.process_available()
    assert (job.status, rows(swb, "t")) == ("RUNNING", [(2,), (3,), (100,)])


@pytest.mark.nightly
def test_two_processes_with_one_checkpoint_store_nothing_twice(swb, tmp_path):
    """The second one is another process of `paimon-nb run`; one of the two stops and says why."""
    swb.run("CREATE TABLE s (k INT); CREATE TABLE t (k INT); INSERT INTO s VALUES (0)")
    checkpoints = tmp_path / "checkpoints"
    settings = f"SET 'execution.checkpointing.dir' = '{checkpoints}'; {STREAMING}"
    swb.run(settings)
    job = swb.sql("INSERT INTO t SELECT * FROM s")
    assert job.process_available()
    other = RunProcess(tmp_path, tmp_path / "w", 300)
    said = ""
    try:
        other.start(f"{settings}; INSERT INTO t SELECT * FROM s")
        swb.run(BATCH)
        for k in range(1, 500):
            swb.table("s").append(pa.table({"k": pa.array([k], pa.int32())}))
            try:
                other.until(lambda k=k: (k,) in rows(swb, "t") or not job.isActive, lambda: (job, rows(swb, "t")))
            except PaimonError as error:
                said = error.message
            if said or not job.isActive:
                break
        said = said or str(job.error)
        assert "checkpoint" in said, said
        other.end(signal.SIGKILL)
        job.stop()
        swb.run(settings)
        again = swb.sql("INSERT INTO t SELECT * FROM s")
        assert again.process_available()
        assert rows(swb, "t") == rows(swb, "s")
    finally:
        other.end(signal.SIGKILL)
