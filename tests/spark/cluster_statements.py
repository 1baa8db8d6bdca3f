"""Forty statements and DataFrame calls on one session; prints the rows that each one leaves as one line of JSON.

`python cluster_statements.py SETTINGS`, where SETTINGS is JSON:

    session: "own" (connect starts Spark), "user" (connect gets a session) or "connect" (a Spark Connect session)
    master, python, warehouse: where tasks run, with which Python, and where the tables are
    kafka: [address, topic] of a broker with 100 records, or null
    worker: process id of the worker whose executors are killed on the way, or null
    steps: names of the steps to run, or null for all forty

Without Kafka the fortieth step is left out. A step that fails has its error as its answer.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import paimon_nb
from paimon_nb.spark.runtime.jvm_cds import sharing_option

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pyspark.sql import SparkSession

KILLS = ("load", "merge", "replaced_by_itself")
"""An executor is killed while a task of these steps writes rows."""
settings: dict[str, Any] = json.loads(sys.argv[1])
STEPS: dict[str, Callable[[], Any]] = {}
EXTRA_STEPS: dict[str, Callable[[], Any]] = {}
"""Steps that run only if the settings name them."""


def connected() -> paimon_nb.Workbench:
    """A workbench on the session that the settings name."""
    os.environ["PYSPARK_PYTHON"] = settings["python"]
    if settings["session"] == "own":
        conf = {"spark.master": settings["master"], "spark.driver.host": "127.0.0.1", **_cluster_settings()}
        return paimon_nb.connect(settings["warehouse"], spark_conf=conf)
    return paimon_nb.connect(settings["warehouse"], spark=_session())


def _cluster_settings() -> dict[str, str]:
    return {
        "spark.executor.memory": "1g",
        "spark.executor.extraJavaOptions": sharing_option(),
        "spark.executor.cores": settings.get("executor_cores", "1"),
        "spark.sql.shuffle.partitions": "4",
        "spark.ui.enabled": "false",
        "spark.ui.liveUpdate.period": "0",  # the status tracker knows a task as soon as it runs
    }


def _session() -> SparkSession:
    from pyspark.sql import SparkSession

    if settings["session"] == "connect":
        return SparkSession.builder.remote(settings["master"]).getOrCreate()
    builder = SparkSession.builder.master(settings["master"]).config("spark.driver.host", "127.0.0.1")
    for key, value in {**_cluster_settings(), "spark.driver.extraJavaOptions": sharing_option()}.items():
        builder = builder.config(key, value)
    return builder.getOrCreate()


def many(count: int, first: int = 0) -> str:
    """A relation `id` that Spark estimates at more bytes than the driver writes by itself, so tasks write its rows."""
    return f"(SELECT a.id FROM range({first}, {first + count}) a CROSS JOIN range({1 + (6 << 20) // count}) b WHERE b.id = 0)"


def rows(text: str) -> list[list[Any]]:
    """A query's rows, sorted."""
    return sorted(([*row] for row in wb.sql(text).collect()), key=repr)


def step(work: Callable[[], Any]) -> Callable[[], Any]:
    STEPS[work.__name__] = work
    return work


def _executors() -> list[int]:
    """Process ids of the worker's executors."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if parent == settings["worker"] and b"CoarseGrainedExecutorBackend" in command:
            found.append(int(folder.name))
    return sorted(found)


@contextmanager
def executor_killed(module: str = "table_write.py") -> Iterator[None]:
    """Kill an executor as soon as a task runs inside the block that a module of ours began; fails if none ran."""
    killed, ended, stages_seen = threading.Event(), threading.Event(), set[str]()

    def kill_at_first_task() -> None:
        tracker = wb.spark.sparkContext.statusTracker()
        while not ended.is_set():
            stages = [tracker.getStageInfo(i) for i in tracker.getActiveStageIds()]
            stages_seen.update(s.name for s in stages if s is not None and s.numActiveTasks)
            # A stage has the name of the call that began it.
            if any(s is not None and s.numActiveTasks and module in s.name for s in stages):
                os.kill(_executors()[0], signal.SIGKILL)
                killed.set()
                return
            time.sleep(0.005)

    thread = threading.Thread(target=kill_at_first_task)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
    assert killed.is_set(), f"no task of {module} ran, but tasks of {stages_seen}"


# -- loads and row changes of a primary-key table


@step
def load() -> Any:
    wb.run("CREATE TABLE t (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT, s STRING) WITH ('bucket' = '2')")
    wb.run(f"INSERT INTO t SELECT id, id, repeat('x', 20) FROM {many(20_000)}")
    return rows("SELECT count(*), sum(n), min(s) FROM t")


@step
def upsert() -> Any:
    wb.run(f"INSERT INTO t SELECT id, -id, 'second' FROM {many(20_000, 5_000)}")
    return rows("SELECT s, count(*), sum(n) FROM t GROUP BY s")


@step
def merge() -> Any:
    wb.run(f"""
        MERGE INTO t USING (SELECT id, rand() AS r FROM {many(2_000, 24_000)}) x ON t.id = x.id
        WHEN MATCHED THEN UPDATE SET s = 'matched' WHEN NOT MATCHED THEN INSERT (id, n, s) VALUES (x.id, 1, 'new')
    """)
    return rows("SELECT s, count(*), sum(n) FROM t GROUP BY s")


@step
def delete() -> Any:
    wb.run("DELETE FROM t WHERE id % 5 = 0")
    return rows("SELECT s, count(*), sum(n) FROM t GROUP BY s")


@step
def update() -> Any:
    wb.run("UPDATE t SET n = n + 1, s = concat(s, '!') WHERE id % 7 = 0")
    return rows("SELECT s, count(*), sum(n) FROM t GROUP BY s")


@step
def time_travel() -> Any:
    return rows("SELECT count(*), sum(n) FROM t VERSION AS OF 1")


@step
def incremental() -> Any:
    return rows("SELECT s, count(*) FROM t /*+ OPTIONS('incremental-between' = '2,3') */ GROUP BY s")


@step
def compact() -> Any:
    wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
    return rows("SELECT level, count(*) FROM `t$files` GROUP BY level") + rows("SELECT count(*), sum(n) FROM t")


# -- tables without a primary key


@step
def append() -> Any:
    wb.run(
        "CREATE TABLE plain (id BIGINT, n BIGINT, p INT) PARTITIONED BY (p) WITH ('deletion-vectors.enabled' = 'true')"
    )
    wb.run(f"INSERT INTO plain SELECT id, id, CAST(id % 3 AS INT) FROM {many(9_000)}")
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


@step
def append_delete() -> Any:
    wb.run("DELETE FROM plain WHERE id % 2 = 0")
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


@step
def append_update() -> Any:
    wb.run("UPDATE plain SET n = -1 WHERE id % 9 = 1")
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


@step
def append_merge() -> Any:
    wb.run(f"""
        MERGE INTO plain USING (SELECT id FROM {many(100, 8_950)}) x ON plain.id = x.id
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT (id, n, p) VALUES (x.id, 7, 2)
    """)
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


@step
def rewritten_files() -> Any:
    wb.run("""CREATE TABLE files (id BIGINT, n BIGINT, d DECIMAL(20, 3), at TIMESTAMP_NTZ, instant TIMESTAMP, day DATE, b BINARY,
        a ARRAY<INT>, m MAP<STRING, BIGINT>, r STRUCT<x: INT, y: STRING>)""")
    wb.run("""INSERT INTO files SELECT id, id, id / 8, TIMESTAMP_NTZ '2024-01-01 00:00:00' + make_dt_interval(0, id), timestamp_micros(id),
        date_from_unix_date(CAST(id AS INT)), CAST(CAST(id AS STRING) AS BINARY), array(1, NULL, CAST(id AS INT)), map('k', id),
        named_struct('x', CAST(id AS INT), 'y', IF(id % 2 = 0, 'even', NULL)) FROM range(1000)""")
    wb.run("DELETE FROM files WHERE id < 100; UPDATE files SET n = 0 WHERE id >= 900")
    wb.run(f"MERGE INTO files USING {many(100, 850)} x ON files.id = x.id WHEN MATCHED THEN UPDATE SET n = -1")
    return rows("SELECT count(*), sum(n), sum(hash(id, d, at, instant, day, b, a, map_entries(m), r)) FROM files")


@step
def overwrite() -> Any:
    wb.run(f"INSERT OVERWRITE plain PARTITION (p = 1) SELECT id, id FROM {many(50)}")
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


@step
def dynamic_overwrite() -> Any:
    frame = wb.spark.sql("SELECT id, id AS n, 0 AS p FROM range(20)")
    frame.writeTo("plain").overwritePartitions()
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


@step
def sort_compact() -> Any:
    wb.run("CALL sys.compact(`table` => 'plain', order_strategy => 'zorder', order_by => 'n,id')")
    return rows("SELECT p, count(*), sum(n) FROM plain GROUP BY p")


# -- merge engines and buckets


@step
def partial_update() -> Any:
    wb.run("""CREATE TABLE pu (id BIGINT PRIMARY KEY NOT ENFORCED, a BIGINT, g BIGINT, b STRING)
        WITH ('merge-engine' = 'partial-update', 'fields.g.sequence-group' = 'b', 'bucket' = '2')""")
    wb.run(f"INSERT INTO pu SELECT id, id, 2, 'new' FROM {many(1_000)}")
    wb.run(f"INSERT INTO pu SELECT id, NULL, 1, 'old' FROM {many(1_000, 500)}")
    return rows("SELECT b, count(*), sum(a) FROM pu GROUP BY b")


@step
def aggregation() -> Any:
    wb.run("""CREATE TABLE ag (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT, m BIGINT) WITH ('bucket' = '2',
        'merge-engine' = 'aggregation', 'fields.n.aggregate-function' = 'sum', 'fields.m.aggregate-function' = 'max')""")
    for first in (0, 300, 600):
        wb.run(f"INSERT INTO ag SELECT id, 1, id + {first} FROM {many(1_000, first)}")
    return rows("SELECT n, count(*), sum(m) FROM ag GROUP BY n")


@step
def first_row() -> Any:
    wb.run("""CREATE TABLE fr (id BIGINT PRIMARY KEY NOT ENFORCED, s STRING)
        WITH ('bucket' = '2', 'merge-engine' = 'first-row', 'changelog-producer' = 'lookup')""")
    wb.run(f"INSERT INTO fr SELECT id, 'first' FROM {many(1_000)}")
    wb.run(f"INSERT INTO fr SELECT id, 'second' FROM {many(1_000, 500)}")
    return rows("SELECT s, count(*) FROM fr GROUP BY s")


@step
def lookup_changelog() -> Any:
    wb.run("""CREATE TABLE cl (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT)
        WITH ('bucket' = '2', 'changelog-producer' = 'lookup', 'deletion-vectors.enabled' = 'true')""")
    wb.run(f"INSERT INTO cl SELECT id, 0 FROM {many(500)}")
    wb.run(f"INSERT INTO cl SELECT id, 1 FROM {many(500, 250)}")
    return rows("SELECT rowkind, n, count(*) FROM `cl$audit_log` GROUP BY rowkind, n") + rows(
        "SELECT rowkind, n, count(*) FROM `cl$audit_log` /*+ OPTIONS('incremental-between' = '2,4') */ GROUP BY rowkind, n"
    )


@step
def dynamic_bucket() -> Any:
    wb.run("""CREATE TABLE db (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT)
        WITH ('bucket' = '-1', 'dynamic-bucket.target-row-num' = '400')""")
    wb.run(f"INSERT INTO db SELECT id, 1 FROM {many(1_000)}")
    wb.run(f"INSERT INTO db SELECT id, 2 FROM {many(1_000, 500)}")
    return rows("SELECT n, count(*) FROM db GROUP BY n")


@step
def cross_partition() -> Any:
    wb.run("""CREATE TABLE cp (id BIGINT PRIMARY KEY NOT ENFORCED, p INT, n BIGINT) PARTITIONED BY (p)
        WITH ('bucket' = '-1')""")
    wb.run(f"INSERT INTO cp SELECT id, 0, 1 FROM {many(1_000)}")
    wb.run(f"INSERT INTO cp SELECT id, 1, 2 FROM {many(1_000, 500)}")
    return rows("SELECT p, n, count(*) FROM cp GROUP BY p, n")


@step
def postponed_bucket() -> Any:
    wb.run("""CREATE TABLE pb (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT)
        WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false', 'postpone.default-bucket-num' = '2')""")
    wb.run(f"INSERT INTO pb SELECT id, id FROM {many(1_000)}")
    before = rows("SELECT count(*) FROM pb")
    wb.run("CALL sys.compact('pb')")
    return before + rows("SELECT count(*), sum(n) FROM pb")


@step
def rescale() -> Any:
    wb.run("ALTER TABLE ag SET ('bucket' = '3'); CALL sys.rescale('ag', 3)")
    return rows("SELECT DISTINCT bucket FROM `ag$files`") + rows("SELECT n, count(*), sum(m) FROM ag GROUP BY n")


# -- definitions


@step
def created_as() -> Any:
    wb.run("CREATE TABLE made AS SELECT id, n, s FROM t WHERE id % 2 = 0")
    return rows("SELECT count(*), sum(n) FROM made")


@step
def replaced_by_itself() -> Any:
    wb.run(f"""CREATE OR REPLACE TABLE made AS
        SELECT made.id * 10 AS id, n FROM made JOIN {many(40_000)} x ON made.id = x.id WHERE n > 0""")
    return rows("SELECT count(*), sum(id) FROM made")


@step
def schema_change() -> Any:
    wb.run("ALTER TABLE made ADD COLUMN c STRING; INSERT INTO made VALUES (1, 1, 'c')")
    return rows("SELECT c, count(*), sum(n) FROM made GROUP BY c")


# -- maintenance


@step
def statistics() -> Any:
    wb.run("ANALYZE TABLE t COMPUTE STATISTICS FOR COLUMNS n, s")
    return rows("SELECT mergedRecordCount FROM `t$statistics`")


@step
def tag_and_rollback() -> Any:
    wb.run("CALL sys.create_tag('files', 'before'); DELETE FROM files WHERE id < 500")
    after = rows("SELECT count(*) FROM files")
    wb.run("CALL sys.rollback('files', 'before')")
    return after + rows("SELECT count(*) FROM files") + rows("SELECT count(*) FROM files VERSION AS OF 'before'")


@step
def branch() -> Any:
    wb.run("CALL sys.create_branch('files', 'b', 'before')")
    wb.run("INSERT INTO `files$branch_b` (id, n) SELECT id, 1 FROM range(5000, 5010)")
    before = rows("SELECT count(*) FROM files") + rows("SELECT count(*) FROM `files$branch_b`")
    wb.run("CALL sys.fast_forward('files', 'b')")
    return before + rows("SELECT count(*) FROM files")


@step
def expired_snapshots() -> Any:
    wb.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 2, retain_min => 2)")
    return rows("SELECT count(*) FROM `t$snapshots`") + rows("SELECT count(*), sum(n) FROM t")


@step
def orphans() -> Any:
    return [[*row] for row in wb.sql("CALL sys.remove_orphan_files(`table` => 't', dry_run => true)").collect()]


@step
def clone() -> Any:
    wb.run(
        "CALL sys.clone(database => 'default', `table` => 'files', target_database => 'default', target_table => 'copy')"
    )
    return rows("SELECT count(*), sum(n) FROM copy")


# -- DataFrames


@step
def frame_read() -> Any:
    old = wb.spark.read.format("paimon").option("scan.snapshot-id", "1").load(wb.table("ag").path)
    joined = wb.spark.table("ag").join(old.select("id"), "id").groupBy("n").count()
    return sorted([*row] for row in joined.collect())


@step
def frame_write() -> Any:
    frame = wb.spark.range(300).selectExpr("id", "id % 3 AS k")
    frame.write.format("paimon").mode("append").option("primary-key", "id").option("bucket", "2").saveAsTable("framed")
    frame.where("id < 10").selectExpr("id", "k + 10 AS k").write.mode("append").saveAsTable("framed")
    return rows("SELECT k, count(*) FROM framed GROUP BY k")


@step
def frame_merge() -> Any:
    from pyspark.sql import functions as F

    source = wb.spark.range(290, 310).alias("x")
    merged = source.mergeInto("framed", F.expr("framed.id = x.id"))
    merged.whenMatched().delete().whenNotMatched().insert({"id": F.expr("x.id"), "k": F.lit(99)}).merge()
    return rows("SELECT k, count(*) FROM framed GROUP BY k")


@step
def python_function() -> Any:
    from pyspark.sql import functions as F

    doubled = F.udf(lambda n: 2 * n, "bigint")
    found = wb.spark.table("ag").select(doubled("id").alias("d")).agg(F.sum("d"))
    return [[*row] for row in found.collect()]


# -- streams


@step
def stream_read() -> Any:
    stream = wb.spark.readStream.format("paimon").load(wb.table("t").path)
    query = stream.writeStream.format("memory").queryName("seen").trigger(availableNow=True).start()
    query.awaitTermination()
    return [[*row] for row in wb.spark.sql("SELECT count(*), sum(n) FROM seen").collect()]


@step
def stream_write() -> Any:
    wb.run("CREATE TABLE streamed (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('bucket' = '2')")
    stream = wb.spark.readStream.format("paimon").table("cl")
    checkpoint = str(Path(settings["warehouse"]).parent / f"{Path(settings['warehouse']).name}-checkpoint")
    query = stream.writeStream.format("paimon").option("checkpointLocation", checkpoint).trigger(availableNow=True)
    query.toTable("streamed").awaitTermination()
    return rows("SELECT n, count(*) FROM streamed GROUP BY n")


@step
def kafka_to_table() -> Any:
    address, topic = settings["kafka"]
    wb.run(f"""CREATE TABLE topic (id BIGINT, v STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}',
        'properties.bootstrap.servers' = '{address}', 'format' = 'json', 'scan.startup.mode' = 'earliest-offset',
        'scan.bounded.mode' = 'latest-offset')""")
    wb.run("CREATE TABLE landed (id BIGINT PRIMARY KEY NOT ENFORCED, v STRING) WITH ('bucket' = '2')")
    wb.run("SET 'execution.runtime-mode' = 'streaming'")
    wb.sql("INSERT INTO landed SELECT * FROM topic").awaitTermination(120)
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    return rows("SELECT count(*), sum(id), min(v) FROM landed")


# -- many lost executors


def twenty_kills() -> Any:
    """The rows after loads, full compactions and micro-batches that lost an executor each, and the number of the lost ones."""
    from paimon_nb.spark.write.compact import compact

    wb.run("CREATE TABLE loaded (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT) WITH ('bucket' = '4')")
    wb.run("CREATE TABLE source (id BIGINT, n BIGINT); CREATE TABLE arrived (id BIGINT, n BIGINT)")
    wb.run(f"INSERT INTO loaded SELECT id, -1 FROM {many(20_000)}")
    checkpoint, killed = f"{settings['warehouse']}-kills", 0
    for turn in range(7):
        with executor_killed():
            wb.run(f"INSERT INTO loaded SELECT id, {turn} FROM {many(20_000, 5_000 * turn)}")
        with executor_killed("task_runner.py"):
            compact(wb.table("loaded"), wb.spark, inline_bytes=0)
        killed += 2
        if turn == 6:
            continue
        # More rows than the driver writes.
        wb.run(f"INSERT INTO source SELECT id, {turn} FROM range({120_000 * turn}, {120_000 * (turn + 1)})")
        with executor_killed("clientserver.py"):  # the stages of a micro-batch have the name of Py4J's callback
            stream = wb.spark.readStream.table("source").writeStream.trigger(availableNow=True)
            stream.option("checkpointLocation", checkpoint).toTable("arrived").awaitTermination()
        killed += 1
    levels = rows("SELECT DISTINCT level FROM `loaded$files`")
    return [
        killed,
        levels,
        rows("SELECT n, count(*), sum(id) FROM loaded GROUP BY n"),
        rows("SELECT n, count(*), count(DISTINCT id) FROM arrived GROUP BY n"),
    ]


EXTRA_STEPS["twenty_kills"] = twenty_kills


def answer(name: str) -> Any:
    """What a step returns, or its error."""
    run = STEPS.get(name) or EXTRA_STEPS[name]
    try:
        if name in KILLS and settings["worker"] is not None:
            with executor_killed():
                return run()
        return run()
    except Exception as error:
        return f"{type(error).__name__}: {error}"


wb = connected()
names = [n for n in settings["steps"] or STEPS if settings["kafka"] or n != "kafka_to_table"]
answers = {}
for name in names:
    began = time.monotonic()
    answers[name] = answer(name)
    sys.stderr.write(f"{name} {time.monotonic() - began:.1f} s: {answers[name]}\n")
wb.close()
sys.stdout.write(json.dumps(answers, default=str) + "\n")
sys.stdout.flush()
