"""Life stories of streaming INSERT jobs and of PySpark streams, against a model: see `story_kit`."""

from __future__ import annotations

import json
import os
import shutil
import signal
import uuid
from collections import Counter
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from process_tree import kill_workers
from s3_proxy import S3Proxy
from story_kit import SOURCES, Model, RunProcess, Story, create, error_of, room, seeds

import paimon_nb
from paimon_nb.base.errors import CommitConflict
from paimon_nb.statements.ddl import AddColumn, AlterColumn, DropColumn, RenameColumn
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.maintenance.expire import ExpireLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from kafka_server import KafkaServer
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark
SOURCE_STEPS = {
    "commit": 30, "delete": 8, "compact": 5, "add_column": 3, "rename_extra_column": 1, "drop_extra_column": 1, "widen_extra_column": 1,
    "expire": 2, "tag": 1, "rollback": 1, "rollback_to_tag": 1, "recreate": 1, "rename_and_back": 1, "jump_of_the_clock": 1,
}  # fmt: skip
TARGET_STEPS = {
    "compact_target": 3,
    "expire_target": 3,
    "column_of_target": 2,
    "rename_column_of_target": 1,
    "rename_target_and_back": 1,
    "rollback_target": 1,
    "recreate_target": 1,
}
JOB_STEPS = {"read": 14, "restart": 5, "stop": 3, "kill": 5, "kill_workers": 1}
MORE_STEPS = {"widen_target": 1, "drop_column_of_target": 1, "tag_target": 2, "branch_of_target": 1, "write_beside": 2}
"""The seeds of earlier stories were drawn without these."""
KEYED_TARGETS = ("upsert", "dynamic", "input", "lookup", "full", "vectors")


class JobStory(Story):
    """A job from `s` to `t`. Subclasses start it."""

    kinds: Iterable[str] = SOURCES
    targets: Iterable[str] | None = None
    """Kinds of the target; None: those that fit the source."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        super().__init__(wb, seed, self.kinds)
        self.checkpoints = where / f"checkpoints-{seed}"
        append = not self.model.keyed
        self.grouped = self.targets is None and self.chance.random() < 0.25
        self.least = self.chance.choice((None, None, 10))
        fitting = ("append", "sum") if append and not self.grouped else KEYED_TARGETS
        self.target = self.chance.choice(list(self.targets or fitting))
        create(wb, "t", self.target)
        self.columns_of_target = 0
        self.job: Any = None

    @property
    def query(self) -> str:
        where = "" if self.least is None else f" WHERE k >= {self.least}"
        return f"SELECT k, SUM(v) AS v FROM s{where} GROUP BY k" if self.grouped else f"SELECT k, v FROM s{where}"

    def start(self) -> None:
        raise NotImplementedError

    def read(self) -> None:
        """Process all that is there."""
        raise NotImplementedError

    def end_job(self) -> None:
        raise NotImplementedError

    def stop(self) -> None:
        if self.job is not None:
            self.end_job()
            error, self.job = getattr(self.job, "error", None), None
            if error is not None:
                raise error

    def restart(self) -> None:
        self.stop()
        self.start()

    def kill(self) -> None:
        """What is left if the process is killed after it committed to the table, before it noted that in the checkpoint."""
        self.stop()
        for commits in self.checkpoints.rglob("commits"):
            done = sorted((f for f in commits.iterdir() if f.name.isdecimal()), key=lambda f: int(f.name))
            for file in done[-1:]:
                file.unlink()
                (commits / f".{file.name}.crc").unlink(missing_ok=True)

    def kill_workers(self) -> None:
        """Spark's Python workers, in the middle of a micro-batch: the job may stop, and goes on when it is started again."""

    def look(self) -> None:
        self.read()

    # -- the target

    @property
    def target_store(self) -> Any:
        return self.wb.table("t").store

    def compact_target(self) -> None:
        with suppress(CommitConflict):  # the job compacted first
            self.wb.table("t").compact(full=self.chance.random() < 0.5)

    def expire_target(self) -> None:
        expire_snapshots(self.target_store, ExpireLimits(1, 1, 0, 50))

    def column_of_target(self) -> None:
        if self.columns_of_target < 2:
            self.wb.session.catalog.alter_table(self.wb.table("t").name, [AddColumn((f"z{self.columns_of_target}",), "INT", None)])  # fmt: skip
            self.columns_of_target += 1

    def rename_column_of_target(self) -> None:
        """Not of a table that names it in its options. A statement that starts meanwhile does not find the column."""
        if self.target in ("sum", "moving"):
            return
        self.excuses.add("column of target renamed")
        name = self.wb.table("t").name
        self.wb.session.catalog.alter_table(name, [RenameColumn(("v",), "w")])
        try:
            if self.chance.random() < 0.7:
                self.look()
        finally:
            self.wb.session.catalog.alter_table(name, [RenameColumn(("w",), "v")])

    def drop_column_of_target(self) -> None:
        """One that the job does not name; the last of them, so that the names of the others stay free."""
        if self.columns_of_target:
            self.columns_of_target -= 1
            self.wb.session.catalog.alter_table(self.wb.table("t").name, [DropColumn((f"z{self.columns_of_target}",))])

    def widen_target(self) -> None:
        """The job writes INT into a column that is BIGINT from now on."""
        if self.target != "moving":  # a partition column keeps its type
            self.wb.session.catalog.alter_table(self.wb.table("t").name, [AlterColumn(("v",), type="BIGINT")])

    def tag_target(self) -> None:
        newest = self.target_store.snapshots.latest_id()
        if newest is not None:
            self.wb.table("t").tags.create(f"own{len(self.log)}", newest)

    def branch_of_target(self) -> None:
        """Rows of a branch are not those of the table."""
        newest = self.target_store.snapshots.latest_id()
        if newest is not None:
            name = f"b{len(self.log)}"
            self.wb.table("t").tags.create(f"for_{name}", newest)
            self.wb.table("t").branches.create(name, f"for_{name}")
            branch = self.wb.table(f"t$branch_{name}")
            branch.append(branch.to_arrow().slice(0, 1))

    def write_beside(self) -> None:
        """Somebody else commits to the target of the job: nothing, in a snapshot of their own."""
        table = self.wb.table("t")
        table.append(table.to_arrow().slice(0, 0))

    def rename_target_and_back(self) -> None:
        """A job that commits meanwhile may stop."""
        self.excuses.add("target renamed")
        self.wb.run("ALTER TABLE t RENAME TO elsewhere")
        try:
            self.commit()
            if self.chance.random() < 0.6:
                self.look()
        finally:
            self.wb.run("ALTER TABLE elsewhere RENAME TO t")

    def rollback_target(self) -> None:
        ids = self.target_store.snapshots.ids()
        if len(ids) > 1:
            rollback_to_snapshot(self.target_store, self.chance.choice(ids[:-1]))
            self.excuses.add("target rolled back")
            self.target_is_cut = True

    target_is_cut = False
    """The target lacks rows that somebody removed: only a job that runs notices it."""

    def recreate_target(self) -> None:
        self.wb.run("DROP TABLE t")
        create(self.wb, "t", self.target)
        self.columns_of_target = 0
        self.excuses.add("target recreated")
        self.target_is_cut = True

    # -- the end

    def finish(self) -> None:
        if self.kind in ("lookup", "full", "vectors", "first-row", "partial", "sum", "input-vectors"):
            self.source.compact(full=True)  # the changes of young files come with their compaction
        self.read()
        self.stop()
        if self.target in ("lookup", "full", "vectors", "sum", "postponed", "input-vectors"):
            self.wb.table("t").compact(full=True)
        if self.target_is_cut:
            return
        self.expect(self.found(), self.expected())

    def found(self) -> list[tuple[Any, ...]]:
        return [(r["k"], r["v"]) for r in self.wb.table("t").to_arrow().to_pylist()]

    def expected(self) -> list[tuple[Any, ...]]:
        rows = [r for r in self.model.rows() if self.least is None or r[0] >= self.least]
        if self.grouped or self.target == "sum":
            sums = Model("sum")
            sums.log = [(1, "write", rows)]
            return sums.rows()
        return rows


class InsertStory(JobStory):
    """`INSERT INTO t (k, v) SELECT ...` in streaming mode, with a checkpoint folder."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        super().__init__(wb, seed, where)
        self.limit = self.chance.choice((None, None, 1, 2))
        """Snapshots of a micro-batch."""
        wb.run(f"SET 'execution.checkpointing.dir' = '{self.checkpoints}'; SET 'execution.runtime-mode' = 'streaming'")
        self.start()

    @property
    def query(self) -> str:
        if self.limit is None:
            return super().query
        return super().query.replace(" FROM s", f" FROM s /*+ OPTIONS('scan.max-snapshot.count' = '{self.limit}') */")

    def start(self) -> None:
        if self.job is None:
            self.job = self.wb.sql(f"INSERT INTO t (k, v) {self.query}")

    def read(self) -> None:
        self.start()
        assert self.job.process_available(120), (self.kind, self.log, self.job)

    def kill_workers(self) -> None:
        self.start()
        self.commit()
        kill_workers(os.getpid())
        error = error_of(self.read)
        if error is not None:
            assert error.hint, (self.log, error)
            self.job = None

    def end_job(self) -> None:
        self.wb.run(f"STOP JOB '{self.job.id}'{self.chance.choice(('', ' WITH SAVEPOINT'))}")


class LookupStory(InsertStory):
    """The rows of `s`, each with what the table `d` had for its key when it was read. `d` changes only while all rows are read."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        create(wb, "d", "upsert")
        self.names: dict[int, int] = {}
        self.seen: list[tuple[Any, ...]] = []
        """The rows that were read before the last change of `d`, with what it had then."""
        super().__init__(wb, seed, where)

    kinds = ("append", "append-bucket")
    targets = ("append",)

    @property
    def query(self) -> str:
        where = "" if self.least is None else f" WHERE s.k >= {self.least}"
        return f"SELECT s.k, d.v FROM (SELECT *, PROCTIME() AS pt FROM s) AS s LEFT JOIN d FOR SYSTEM_TIME AS OF s.pt ON s.k = d.k{where}"

    def dimension(self) -> None:
        self.read()
        self.seen += self.joined()
        self.model.log.clear()
        keys = self.chance.sample(range(30), 10)
        rows: list[tuple[int, int | None]] = [(k, self.chance.randrange(50)) for k in keys]
        self.names |= dict(rows)
        self.wb.table("d").append(pa.table({n: pa.array([r[i] for r in rows], pa.int32()) for i, n in enumerate("kv")}))
        if self.chance.random() < 0.3:
            self.wb.table("d").compact(full=True)

    def joined(self) -> list[tuple[Any, ...]]:
        return [(k, self.names.get(k)) for k, _ in self.model.rows() if self.least is None or k >= self.least]

    def expected(self) -> list[tuple[Any, ...]]:
        return [*self.seen, *self.joined()]


class JoinStory(InsertStory):
    """The rows of `s` joined with those of `r`, both of which change: in Spark's state without keys, else computed anew."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        keyed = seed % 3 != 0
        self.kinds = ("upsert", "dynamic", "input", "lookup") if keyed else ("append", "append-bucket")
        self.right = Model("upsert" if keyed else "append")
        create(wb, "r", self.right.kind)
        super().__init__(wb, seed, where)

    @property
    def query(self) -> str:
        self.grouped = False
        hint = "" if self.limit is None else f" /*+ OPTIONS('scan.max-snapshot.count' = '{self.limit}') */"
        where = "" if self.least is None else f" WHERE s.k >= {self.least}"
        return f"SELECT s.k, r.v FROM s{hint} JOIN r ON s.k = r.k{where}"

    def commit_right(self) -> None:
        rows: list[tuple[int, int | None]] = [
            (k, self.chance.randrange(50)) for k in self.chance.sample(range(30), self.chance.choice((1, 5)))
        ]
        self.right.log.append((0, "write", rows))
        self.wb.table("r").append(pa.table({n: pa.array([r[i] for r in rows], pa.int32()) for i, n in enumerate("kv")}))

    def expected(self) -> list[tuple[Any, ...]]:
        rows = [
            (k, v)
            for k, _ in self.model.rows()
            for other, v in self.right.rows()
            if k == other and k >= (self.least or 0)
        ]
        if self.target == "sum":
            sums = Model("sum")
            sums.log = [(1, "write", rows)]
            return sums.rows()
        return rows


class KilledStory(JobStory):
    """The INSERT in `paimon-nb run`, whose process and JVM are killed. Its tables show what was written at once."""

    kinds = ("append", "append-bucket", "upsert", "dynamic", "input")

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        super().__init__(wb, seed, where)
        if self.target not in self.kinds:
            wb.run("DROP TABLE t")
            self.target = self.chance.choice(("upsert", "input")) if self.model.keyed or self.grouped else "append"
            create(wb, "t", self.target)
        self.process = RunProcess(where, Path(room(where, seed)), 300)

    def start(self) -> None:
        self.process.start(
            f"SET 'execution.checkpointing.dir' = '{self.checkpoints}'; SET 'execution.runtime-mode' = 'streaming'; "
            f"INSERT INTO t (k, v) {self.query}"
        )

    def read(self) -> None:
        self.start()
        self.process.until(self.is_equal, lambda: (self.kind, self.log, self.found(), self.expected()))

    def stop(self) -> None:
        self.process.end(signal.SIGTERM)

    def kill(self) -> None:
        self.process.end(signal.SIGKILL)

    def end_job(self) -> None:
        self.stop()

    def is_equal(self) -> bool:
        return self.target_is_cut or Counter(self.found()) == Counter(self.expected())


class MoreKindsStory(InsertStory):
    """Partitions, keys that move between them, buckets that are chosen later."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        keyed = seed % 3 != 0
        self.kinds = ("moving", "input-vectors", "upsert", "input") if keyed else ("append-partitions", "append")
        self.targets = ("moving", "postponed", "input-vectors") if keyed else ("append-partitions", "append")
        super().__init__(wb, seed, where)


class RestartedStory(KilledStory):
    """`paimon-nb run` that starts its job again: its JVM is killed alone, and the process is paused."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        super().__init__(wb, seed, where)
        self.process = RunProcess(where, Path(room(where, seed)), 300, restarts=5)

    def kill_jvm(self) -> None:
        """In the middle of a micro-batch; the job goes on without a word from outside."""
        self.start()
        self.commit()
        self.process.kill_jvm()

    def pause(self) -> None:
        with self.process.paused():
            self.commit()
            self.compact()


class KafkaStory(InsertStory):
    """The rows of a topic in a real broker, which is restarted; the table `s` is not read."""

    kinds = ("append", "upsert")

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path, broker: KafkaServer) -> None:
        self.broker, self.topic = broker, broker.topic("story")
        super().__init__(wb, seed, where)

    @property
    def query(self) -> str:
        self.grouped = self.grouped and not self.model.keyed  # refused: groups over the changes of a connector
        return super().query.replace(" FROM s", " FROM q")

    def start(self) -> None:
        if self.job is None:
            self.wb.run(
                f"CREATE TEMPORARY TABLE IF NOT EXISTS q (k INT, v INT) WITH ('connector' = 'kafka', 'topic' = '{self.topic}', "
                f"'properties.bootstrap.servers' = '{self.broker.address}', 'scan.startup.mode' = 'earliest-offset', 'format' = 'debezium-json')"
            )
        super().start()

    def commit(self) -> None:
        values = (None, *range(50))
        rows = [
            (self.chance.randrange(30), self.chance.choice(values)) for _ in range(self.chance.choice((1, 1, 3, 20)))
        ]
        for k, v in rows:
            self.send(None if self.kind == "append" else self.model.row(k), (k, v))
            self.model.log.append((0, "write", [(k, v)]))

    def delete(self) -> None:
        old = self.model.row(self.chance.randrange(30)) if self.model.keyed else None
        if old is not None:
            self.send(old, None)
            self.model.log.append((0, "delete", [old]))

    def send(self, old: tuple[int, Any] | None, new: tuple[int, Any] | None) -> None:
        before, after = (None if row is None else {"k": row[0], "v": row[1]} for row in (old, new))
        self.broker.send(self.topic, [json.dumps({"op": "c" if old is None else "d" if new is None else "u", "before": before, "after": after})])  # fmt: skip

    def restart_broker(self) -> None:
        """The job waits for it; one that is just starting would stop."""
        self.read()
        self.broker.stop()
        self.broker.start()
        self.commit()


class SparkStreamStory(JobStory):
    """`readStream` and `writeStream.toTable`, run until all input is processed, with limits of a micro-batch."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, where: Path) -> None:
        super().__init__(wb, seed, where)
        self.grouped = False
        if not self.model.keyed and self.target not in ("append", "sum"):
            wb.run("DROP TABLE t")
            self.target = "append"
            create(wb, "t", self.target)
        self.limits: dict[str, Any] = self.chance.choice(({}, {"read.stream.maxFilesPerTrigger": 1}, {"read.stream.maxRowsPerTrigger": 2}, {"read.stream.maxBytesPerTrigger": 1}))  # fmt: skip

    def start(self) -> None:
        """Runs only in `read`."""

    def end_job(self) -> None:
        """It has ended."""

    def read(self) -> None:
        from paimon_nb.spark.errors import paimon_error_of_spark

        try:
            self.run_query()
        except Exception as error:  # the source may have another name while the query is made
            raise paimon_error_of_spark(error) or error from None

    def run_query(self) -> None:
        reader = (
            self.wb.spark.readStream.format("paimon").options(**self.limits).option("read.changelog", self.model.keyed)
        )
        frame = reader.table("s").select(*(["rowkind"] if self.model.keyed else []), "k", "v")
        if self.least is not None:
            frame = frame.where(f"k >= {self.least}")
        for i in range(self.columns_of_target):
            frame = frame.selectExpr("*", f"CAST(NULL AS INT) AS z{i}")
        writer = frame.writeStream.format("paimon").option("checkpointLocation", str(self.checkpoints / "stream"))
        writer.trigger(availableNow=True).toTable("t").awaitTermination(180)


def story(
    spark: SparkSession,
    where: Path,
    seed: int,
    kind: Callable[..., JobStory] | None = None,
    more: Mapping[str, int] | None = None,
    steps: Mapping[str, int] = SOURCE_STEPS | TARGET_STEPS | JOB_STEPS,
    warehouse: str | None = None,
    options: Mapping[str, str] | None = None,
) -> str:
    wb = paimon_nb.connect(warehouse or room(where, seed), spark=spark, options=options)
    told = None
    patch = pytest.MonkeyPatch()
    try:
        # Odd seeds are PySpark streams.
        made = kind or (SparkStreamStory if seed % 2 else InsertStory)
        told = made(wb, seed, where)
        told.patch = patch
        return told.run({**steps, **(more or {})}, 16)
    except AssertionError as error:
        raise AssertionError(
            f"seed {seed}, {told and (type(told).__name__, told.query, told.target)}: {error}"
        ) from error
    finally:
        patch.undo()
        if isinstance(told, KilledStory):
            told.kill()
        wb.session.jobs.stop_all()
        shutil.rmtree(where, ignore_errors=True)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 600))
def test_stories_of_jobs(spark, tmp_path, seed):
    story(spark, tmp_path, seed)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 100))
def test_stories_of_lookup_joins(spark, tmp_path, seed):
    story(spark, tmp_path, seed, LookupStory, {"dimension": 12})


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 100))
def test_stories_of_joins(spark, tmp_path, seed):
    story(spark, tmp_path, seed, JoinStory, {"commit_right": 15})


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 100))
def test_stories_of_more_kinds(spark, tmp_path, seed):
    story(spark, tmp_path, seed, MoreKindsStory, MORE_STEPS)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 100))
def test_stories_of_altered_targets(spark, tmp_path, seed):
    story(spark, tmp_path, seed, more={step: 3 * weight for step, weight in MORE_STEPS.items()})


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 50))
def test_stories_of_a_broker(spark, tmp_path, broker, seed):
    steps = {"commit": 30, "delete": 8, "restart_broker": 3} | TARGET_STEPS | JOB_STEPS
    story(spark, tmp_path, seed, partial(KafkaStory, broker=broker), steps=steps)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 30))
def test_stories_in_a_slow_store(spark, tmp_path, s3, seed):
    """Each request of the object store takes 20 ms more."""
    with closing(S3Proxy(s3["s3.endpoint"], delay_s=0.02)) as slow:
        options = s3 | {"s3.endpoint": slow.endpoint}
        story(spark, tmp_path, seed, warehouse=f"s3://lake/{uuid.uuid4().hex}", options=options)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 12))
def test_stories_of_killed_machines(spark, tmp_path, seed):
    story(spark, tmp_path, seed, RestartedStory, {"kill_jvm": 6, "pause": 6})


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 12))
def test_stories_of_killed_processes(spark, tmp_path, seed):
    story(spark, tmp_path, seed, KilledStory)
