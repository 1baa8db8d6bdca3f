"""Streaming SQL: jobs, live results, row kinds, lookups, results that change, and the word-count walk."""

from __future__ import annotations

import time
from collections import Counter

import pyarrow as pa
import pytest

from paimon_nb.base.errors import BadOptionValue, ReadError, SqlSyntaxError, UnknownName, UnsupportedOperation

STREAMING = "SET 'execution.runtime-mode' = 'streaming'"


def rows(wb, table: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def keyed(wb, name: str, columns: str = "k INT, v STRING", key: str = "k", **options: str) -> None:
    given = {"bucket": "1"} | {k.replace("_", "-"): v for k, v in options.items()}
    texts = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
    wb.run(f"CREATE TABLE {name} ({columns}, PRIMARY KEY ({key}) NOT ENFORCED) WITH ({texts})")


def folded(changes) -> Counter:
    """The rows that are left when changes are carried out."""
    left: Counter = Counter()
    for table in changes:
        for op, *row in (tuple(r.values()) for r in table.to_pylist()):
            left[tuple(row)] += 1 if op in ("+I", "+U") else -1
    return +left


@pytest.mark.nightly
@pytest.mark.spark
def test_the_word_count_walk(swb):
    """datagen -> aggregate -> batch query -> streaming query, as the first tutorial of many walks it."""
    swb.run("CREATE TABLE word_count (word STRING PRIMARY KEY NOT ENFORCED, cnt BIGINT) WITH ('sink.savepoint.auto-tag' = 'true')")  # fmt: skip
    swb.run("CREATE TEMPORARY TABLE word_table (word STRING) WITH ('connector' = 'datagen', 'fields.word.length' = '1', 'rows-per-second' = '500')")  # fmt: skip
    swb.run("SET 'execution.checkpointing.interval' = '200 ms'")
    job = swb.sql("INSERT INTO word_count SELECT word, COUNT(*) FROM word_table GROUP BY word")
    try:
        assert job.wait_for(lambda: len(rows(swb, "word_count")) == 16)
        assert {word for word, _ in rows(swb, "word_count")} == set("0123456789abcdef")
        listed = swb.run("SHOW JOBS").arrow.to_pylist()
        assert [(j["job id"], j["status"]) for j in listed] == [(job.id, "RUNNING")]
        swb.run("SET 'execution.runtime-mode' = 'batch'")
        once = dict(rows(swb, "word_count"))
        assert swb.sql("SELECT SUM(cnt) FROM word_count").first()[0] >= sum(once.values())
        assert job.wait_for(lambda: all(n > once[w] for w, n in rows(swb, "word_count")))
    finally:
        said = swb.run(f"STOP JOB '{job.id[:8]}' WITH SAVEPOINT").arrow.to_pylist()
    assert said == [{"result": f"job {job.id} stopped after {job.rows} rows"}]
    assert job.status == "CANCELED"
    newest = swb.table("word_count").latest_snapshot()
    [tag] = swb.run("SHOW TAGS word_count").arrow.column(0).to_pylist()
    assert tag == f"savepoint-{newest.commit_identifier}"
    swb.run(STREAMING)
    text = "SELECT `interval`, COUNT(*) AS interval_cnt FROM (SELECT cnt DIV 1000000 AS `interval` FROM word_count) GROUP BY `interval`"  # fmt: skip
    assert swb.run(text).live.collect(limit=1, timeout_s=180).to_pylist() == [
        {"op": "+I", "interval": 0, "interval_cnt": 16}
    ]
    assert not any(j["status"] == "RUNNING" for j in swb.run("SHOW JOBS").arrow.to_pylist())


@pytest.mark.spark
@pytest.mark.nightly
def test_results_that_change_are_followed_down_and_up(swb):
    keyed(swb, "t")
    keyed(swb, "counts", "v STRING, n BIGINT", "v")
    swb.table("t").append(
        swb.run("SELECT 1 AS k, 'a' AS v UNION ALL SELECT 2, 'a' UNION ALL SELECT 3, 'b'").frame.toArrow()
    )
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO counts SELECT v, COUNT(*) FROM t GROUP BY v")
    live = swb.stream("SELECT v, COUNT(*) AS n FROM t GROUP BY v")
    seen = []
    with live:
        changes = iter(live)
        seen.append(next(changes))
        assert job.wait_for(lambda: rows(swb, "counts") == [("a", 2), ("b", 1)])
        swb.run("INSERT INTO t VALUES (1, 'b')")
        assert job.wait_for(lambda: rows(swb, "counts") == [("a", 1), ("b", 2)])
        swb.table("t").delete("v = 'b'")
        assert job.wait_for(lambda: rows(swb, "counts") == [("a", 1)])
        while folded(seen) != Counter({("a", 1): 1}):
            seen.append(next(changes))
    job.stop()
    assert folded(seen[:1]) == Counter({("a", 2): 1, ("b", 1): 1})


@pytest.mark.nightly
@pytest.mark.spark
def test_an_aggregate_of_all_rows_begins_with_the_first_row(swb):
    keyed(swb, "t", "k INT, v INT", "k")
    swb.run("INSERT INTO t VALUES (1, 5)")
    swb.run(STREAMING)
    none = swb.stream("SELECT COUNT(*) AS n, SUM(v) AS s FROM t WHERE v > 10").collect(timeout_s=30, idle_s=1)
    assert none.num_rows == 0
    with swb.stream("SELECT COUNT(*) AS n, SUM(v) AS s FROM t WHERE v > 10") as live:
        swb.table("t").append(pa.table({"k": pa.array([2], pa.int32()), "v": pa.array([20], pa.int32())}))
        changes = iter(live)
        seen = [next(changes)]
        assert folded(seen) == Counter({(1, 20): 1})
        swb.table("t").delete("k = 2")
        seen.append(next(changes))
        assert folded(seen) == Counter({(0, None): 1})


@pytest.mark.spark
def test_row_kinds_ride_along_and_dimensions_are_looked_up_as_they_are(swb):
    keyed(swb, "orders", "id INT, customer INT, amount INT", "id", changelog_producer="lookup")
    keyed(swb, "customers", "c INT, name STRING", "c")
    keyed(swb, "wide", "id INT, amount INT, name STRING", "id")
    swb.run("INSERT INTO customers VALUES (1, 'Ann')")
    swb.run("INSERT INTO orders VALUES (1, 1, 10), (2, 2, 20)")
    swb.run(STREAMING)
    job = swb.sql(
        "INSERT INTO wide SELECT o.id, o.amount * 2, c.name FROM (SELECT *, PROCTIME() AS pt FROM orders WHERE amount < 100) AS o "
        "LEFT JOIN customers FOR SYSTEM_TIME AS OF o.pt AS c ON o.customer = c.c"
    )
    try:
        assert job.wait_for(lambda: rows(swb, "wide") == [(1, 20, "Ann"), (2, 40, None)])
        swb.run("INSERT INTO customers VALUES (2, 'Bob'), (1, 'Anna')")
        swb.run("INSERT INTO orders VALUES (2, 2, 21), (3, 1, 30)")
        # What was told stays; what comes now sees the dimension as it is now.
        assert job.wait_for(lambda: rows(swb, "wide") == [(1, 20, "Ann"), (2, 42, "Bob"), (3, 60, "Anna")])
        swb.table("orders").delete("id = 1")
        assert job.wait_for(lambda: rows(swb, "wide") == [(2, 42, "Bob"), (3, 60, "Anna")])
        swb.run("INSERT INTO orders VALUES (3, 1, 300)")  # it leaves the filter: its -U takes the row away
        assert job.wait_for(lambda: rows(swb, "wide") == [(2, 42, "Bob")])
    finally:
        job.stop()


@pytest.mark.nightly
@pytest.mark.spark
def test_a_query_that_fell_behind_takes_several_snapshots_at_once_and_keeps_their_order(swb):
    keyed(swb, "people", "k INT, seat INT", changelog_producer="input", bucket="2")
    keyed(swb, "seats", "seat INT, k INT", "seat")
    people = swb.table("people")
    people.append(pa.table({"k": pa.array(range(1, 9), pa.int32()), "seat": pa.array(range(1, 9), pa.int32())}))
    sitting = {k: k for k in range(1, 9)}
    for turn in range(
        12
    ):  # everybody moves on by one seat or two, one after the other: a seat changes hands in each commit
        movers = [1 + turn % 8, 1 + (turn + 3) % 8]
        before = {k: sitting[k] for k in movers}
        sitting |= {movers[0]: before[movers[1]], movers[1]: before[movers[0]]}
        with people.write() as writing:
            for seats, kind in ((before, "-U"), (sitting, "+U")):
                moved = [(k, seats[k]) for k in movers]
                columns = {"k": [k for k, _ in moved], "seat": [seat for _, seat in moved]}
                writing.write(pa.table(columns, schema=people.schema.arrow), [kind] * 2)
            people.commit().commit(writing.prepare_commit())
    swb.run(STREAMING)
    first = "/*+ OPTIONS('scan.mode' = 'from-snapshot', 'scan.snapshot-id' = '1') */"
    job = swb.sql(f"INSERT INTO seats SELECT seat, k FROM people {first} WHERE k < 9")
    try:
        assert job.wait_for(lambda: rows(swb, "seats") == sorted((seat, k) for k, seat in sitting.items()))
    finally:
        job.stop()
    assert swb.table("seats").snapshots().num_rows == 1


@pytest.mark.spark
@pytest.mark.nightly
def test_a_stream_of_changes_shows_their_kinds(swb):
    keyed(swb, "t", changelog_producer="input")
    swb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    with swb.stream("SELECT v, k + 1 AS next FROM t /*+ OPTIONS('scan.mode' = 'latest-full') */ WHERE k < 10") as live:
        changes = iter(live)
        first = next(changes)
        swb.table("t").delete("k = 1")
        swb.run("INSERT INTO t VALUES (11, 'no')")
        swb.run("INSERT INTO t VALUES (2, 'B')")
        later = [next(changes), next(changes)]
    assert sorted(map(str, first.to_pylist())) == [
        "{'op': '+I', 'v': 'a', 'next': 2}",
        "{'op': '+I', 'v': 'b', 'next': 3}",
    ]
    assert [t.to_pylist() for t in later] == [[{"op": "-D", "v": "a", "next": 2}], [{"op": "+I", "v": "B", "next": 3}]]


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_of_a_name_goes_on_where_it_stopped(swb, tmp_path):
    keyed(swb, "t", changelog_producer="input")
    swb.run("CREATE TABLE log (k INT, v STRING)")
    swb.run(f"SET 'execution.checkpointing.dir' = '{tmp_path}/c'")
    swb.run("SET 'pipeline.name' = 'copy'")
    swb.run("INSERT INTO t VALUES (1, 'a')")

    def run(expected):
        job = swb.sql(f"{STREAMING}; INSERT INTO log SELECT * FROM t")
        assert (job.name, job.wait_for(lambda: rows(swb, "log") == expected)) == ("copy", True)
        job.stop()

    run([(1, "a")])
    swb.run("INSERT INTO t VALUES (2, 'b')")
    swb.run("INSERT INTO t VALUES (3, 'c')")
    run([(1, "a"), (2, "b"), (3, "c")])
    swb.run("CREATE TABLE other (k INT, v STRING)")
    job = swb.sql("INSERT INTO other SELECT * FROM t")  # of the same name, into another table: from the beginning
    assert job.wait_for(lambda: rows(swb, "other") == [(1, "a"), (2, "b"), (3, "c")])
    job.stop()
    swb.run("DROP TABLE other; CREATE TABLE other (k INT, v STRING)")
    with pytest.raises(
        BadOptionValue, match=r"belongs to a stream into .*other"
    ):  # it would begin behind the rows so far
        swb.run("INSERT INTO other SELECT * FROM t")


@pytest.mark.spark
@pytest.mark.nightly
def test_two_jobs_on_one_consumer_are_noticed(swb):
    """Each would take snapshots from the other: the one that comes second to a move ends with a message."""
    swb.run("CREATE TABLE t (k INT); CREATE TABLE a (k INT); CREATE TABLE b (k INT)")
    swb.run(f"INSERT INTO t VALUES (0); {STREAMING}")
    jobs = [swb.sql(f"INSERT INTO {n} SELECT * FROM t /*+ OPTIONS('consumer-id' = 'me', 'consumer.expiration-time' = '1 d', 'scan.snapshot-id' = '1') */") for n in "ab"]  # fmt: skip

    def noticed() -> bool:
        swb.table("t").append(pa.table({"k": pa.array([1], pa.int32())}))
        return any(j.status == "FAILED" for j in jobs)

    deadline = time.monotonic() + 180
    while not noticed() and time.monotonic() < deadline:
        time.sleep(0.2)
    errors = [j.error for j in jobs if j.error is not None]
    assert [type(e) for e in errors] == [ReadError], errors
    assert "consumer 'me' was moved to snapshot" in str(errors[0])


@pytest.mark.spark
@pytest.mark.nightly
def test_connectors_in_batch_and_as_streams(swb, tmp_path, capfd):
    swb.run("CREATE TEMPORARY TABLE numbers (n BIGINT, twice AS n * 2) WITH ('connector' = 'datagen', 'fields.n.kind' = 'sequence', 'fields.n.start' = '1', 'fields.n.end' = '5')")  # fmt: skip
    swb.run(f"CREATE TEMPORARY TABLE files (n BIGINT, m BIGINT) WITH ('connector' = 'filesystem', 'path' = '{tmp_path}/f', 'format' = 'csv')")  # fmt: skip
    swb.run("CREATE TEMPORARY TABLE shown (n BIGINT, m BIGINT) WITH ('connector' = 'print', 'print-identifier' = 'x')")
    swb.run("CREATE TEMPORARY TABLE nothing (n BIGINT) WITH ('connector' = 'blackhole')")
    assert [tuple(r) for r in swb.sql("SELECT * FROM numbers ORDER BY n").collect()] == [
        (n, 2 * n) for n in range(1, 6)
    ]
    swb.run("INSERT INTO files SELECT * FROM numbers")
    assert swb.sql("SELECT COUNT(*), SUM(m) FROM files").first() == (5, 30)
    swb.run(STREAMING)
    printing = swb.sql("INSERT INTO shown SELECT n, m FROM files WHERE n < 3")
    counting = swb.sql("INSERT INTO nothing SELECT n FROM numbers")
    assert printing.wait_for(lambda: printing.rows == 2)
    assert counting.wait_for(lambda: counting.rows == 5)
    swb.session.jobs.stop_all()
    assert sorted(capfd.readouterr().out.splitlines()) == ["x> +I[1, 2]", "x> +I[2, 4]"]


@pytest.mark.spark
@pytest.mark.nightly
def test_a_job_that_fails_says_why(swb):
    swb.run("CREATE TABLE t (k INT)")
    swb.run("CREATE TABLE target (k INT NOT NULL)")
    swb.run("INSERT INTO t VALUES (CAST(NULL AS INT))")
    job = swb.sql(f"{STREAMING}; INSERT INTO target SELECT k FROM t")
    with pytest.raises(Exception, match="NULL"):
        job.awaitTermination(180)
    assert [j["status"] for j in swb.run("SHOW JOBS").arrow.to_pylist()] == ["FAILED"]


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("INSERT INTO plain SELECT v, COUNT(*) FROM plain2 GROUP BY v", UnsupportedOperation, "no primary key"),
        pytest.param(
            "INSERT INTO plain SELECT v, COUNT(*) FROM kt GROUP BY v", UnsupportedOperation, "no primary key", marks=pytest.mark.spark,
        ),
        ("INSERT INTO plain SELECT a.v, 1 FROM made AS a JOIN kt ON a.v = kt.v", UnsupportedOperation, "cannot group, sort or join"),
        ("SELECT * FROM kafka", BadOptionValue, "either 'topic' or 'topic-pattern'"),
    ],
)  # fmt: skip
def test_what_a_stream_cannot_do_is_said_before_it_starts(wb, text, error, words):
    keyed(wb, "kt")
    wb.run("CREATE TABLE plain (v STRING, n BIGINT); CREATE TABLE plain2 (v STRING)")
    wb.run("CREATE TEMPORARY TABLE made (v STRING) WITH ('connector' = 'datagen')")
    wb.run("CREATE TEMPORARY TABLE kafka (v STRING) WITH ('connector' = 'kafka')")
    wb.run(STREAMING)
    with pytest.raises(error, match=words):
        wb.run(text)
    assert wb.run("SHOW JOBS").arrow.num_rows == 0


def test_jobs_by_name(wb):
    with pytest.raises(UnknownName, match="no job 'x'"):
        wb.run("STOP JOB 'x'")
    with pytest.raises(SqlSyntaxError):
        wb.run("STOP JOB x")


@pytest.mark.spark
def test_an_endless_source_is_refused_in_batch_mode_alone(swb):
    swb.run("CREATE TEMPORARY TABLE made (v STRING) WITH ('connector' = 'datagen')")
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    with pytest.raises(UnsupportedOperation, match="never ends"):
        swb.run("SELECT * FROM made")


@pytest.mark.spark
def test_what_sparks_streams_lack_is_computed_for_each_snapshot(swb):
    """Set operations and outer joins of append tables; two result columns may share a name."""
    swb.run(f"CREATE TABLE t (c INT); INSERT INTO t VALUES (1), (2); {STREAMING}")
    common = swb.run("SELECT c FROM t INTERSECT SELECT 1 FROM t").live
    assert folded([common.collect(limit=1, timeout_s=180)]) == {(1,): 1}
    joined = swb.run("SELECT a.c, b.c FROM t a LEFT JOIN t b ON a.c = b.c AND b.c > 1").live
    found = joined.collect(limit=2, timeout_s=180)
    assert sorted(zip(found.column(1).to_pylist(), found.column(2).to_pylist(), strict=True)) == [(1, None), (2, 2)]


@pytest.mark.spark
def test_a_stream_that_spark_lacks_is_tagged_when_it_stops(swb):
    swb.run("CREATE TABLE t (c INT); INSERT INTO t VALUES (1), (2)")
    swb.run("CREATE TABLE common (c INT PRIMARY KEY NOT ENFORCED) WITH ('sink.savepoint.auto-tag' = 'true')")
    swb.run(STREAMING)
    job = swb.sql("INSERT INTO common SELECT c FROM t INTERSECT SELECT 1 FROM t")
    assert job.wait_for(lambda: rows(swb, "common") == [(1,)])
    swb.run(f"STOP JOB '{job.id}' WITH SAVEPOINT")
    assert len(swb.table("common").tags()) == 1
