"""Streams that start in the past, and lookups that ignore time travel, as in Flink."""

import time

import pytest

pytestmark = pytest.mark.spark


def changes(live, count: int) -> list[tuple]:
    return [tuple(r.values()) for r in live.collect(count, timeout_s=60).to_pylist()]


def wall_time(wb, ms: int) -> str:
    """A time in the session's zone."""
    return wb.spark.sql(f"SELECT date_format(timestamp_millis({ms}), 'yyyy-MM-dd HH:mm:ss.SSS')").first()[0]


def test_a_stream_from_a_time_waits_for_the_first_snapshot(swb):
    swb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING)")
    now = wall_time(swb, int(time.time() * 1000))[:19]
    with swb.stream(f"SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '{now}'") as live:
        swb.run("INSERT INTO t VALUES (1, 'hello')")
        swb.run("INSERT INTO t VALUES (1, 'apache')")
        assert changes(live, 3) == [("+I", 1, "hello"), ("-U", 1, "hello"), ("+U", 1, "apache")]


def test_a_stream_from_a_time_has_the_schema_of_that_time(swb):
    swb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    made = swb.table("t").latest_snapshot().time_ms
    then = wall_time(swb, made + 1)
    time.sleep(0.005)  # a snapshot's time has whole milliseconds
    swb.run("ALTER TABLE t ADD w STRING; INSERT INTO t VALUES (3, 'c', 'C')")
    with swb.stream(f"SELECT * FROM t FOR SYSTEM_TIME AS OF TIMESTAMP '{then}'") as live:
        assert changes(live, 1) == [("+I", 3, "c")]
    with swb.stream(f"SELECT * FROM t /*+ OPTIONS('scan.timestamp-millis' = '{made + 1}') */") as live:
        assert changes(live, 1) == [("+I", 3, "c", "C")]


@pytest.mark.parametrize("mode", ["batch", "streaming"])
def test_a_lookup_reads_the_latest_rows_whatever_its_scan_options_are(swb, mode):
    swb.run("""
        CREATE TABLE d (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('scan.snapshot-id' = '1');
        INSERT INTO d VALUES (1, 'old'); INSERT INTO d VALUES (1, 'new');
        CREATE TABLE f (k INT); INSERT INTO f VALUES (1);
        CREATE TABLE wide (k INT, v STRING, w STRING)
    """)
    hint = "/*+ OPTIONS('scan.mode' = 'latest', 'scan.snapshot-id' = '1', 'scan.tag-name' = 'nope') */"
    swb.run(f"SET 'execution.runtime-mode' = '{mode}'")
    job = swb.run(f"""
        INSERT INTO wide SELECT f.k, a.v, b.v FROM (SELECT *, PROCTIME() AS pt FROM f) AS f
        JOIN d FOR SYSTEM_TIME AS OF f.pt AS a ON f.k = a.k JOIN d {hint} FOR SYSTEM_TIME AS OF f.pt AS b ON f.k = b.k
    """).job
    if job is not None:
        assert job.process_available()
        job.stop()
    assert swb.table("wide").to_arrow().to_pylist() == [{"k": 1, "v": "new", "w": "new"}]


def test_latest_has_the_last_changes_in_spark_and_what_follows_in_flink(swb):
    swb.run("CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '1')")
    for value in ("a", "b", "c"):
        swb.run(f"INSERT INTO t VALUES (1, '{value}'), ({ord(value)}, '{value}')")
    read = swb.spark.readStream.format("paimon").option("scan.mode", "latest").table("t")
    query = read.writeStream.format("memory").queryName("latest_changes").outputMode("append").start()
    try:
        with swb.stream(
            "SELECT * FROM t /*+ OPTIONS('scan.mode' = 'latest', 'scan.remove-normalize' = 'true') */"
        ) as live:
            live.start().job.process_available()
            query.processAllAvailable()
            swb.run("INSERT INTO t VALUES (2, 'd')")
            query.processAllAvailable()
            assert changes(live, 1) == [("+I", 2, "d")]
        rows = [tuple(r) for r in swb.spark.sql("SELECT * FROM latest_changes").collect()]
        assert sorted(rows) == [(1, "c"), (2, "d"), (99, "c")]
    finally:
        query.stop()
