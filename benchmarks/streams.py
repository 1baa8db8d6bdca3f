"""Kafka into a key table, as fast as it goes and at 1 s a commit, and with a lookup join; beside what else reads the same topic.

| contender | what it does with a record |
|---|---|
| paimon_nb | a streaming INSERT into a key table of 4 buckets |
| Spark, Parquet | the same source, Spark's own file sink: appends, merges nothing, has no keys |
| pypaimon | a loop of confluent-kafka, a commit after so many records or a second |
"""

from __future__ import annotations

import itertools
import statistics
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import paimon_nb
from benchmarks.harness import OURS
from benchmarks.kafka_topics import COLUMNS, PARTITIONS, Flow, fill
from benchmarks.peer import RUST, Peer
from benchmarks.processes import cpu_seconds
from paimon_nb.spark.streaming.start import start_query

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

SPARK = "Spark, Parquet"
TABLE = {"bucket": "4"}
MOST = 100_000
"""Records a commit at most."""
DIMENSION = 100_000
_NUMBERS = itertools.count(1)


@dataclass(frozen=True, slots=True)
class Rate:
    """Records that one contender dealt with."""

    work: str
    contender: str
    records: int
    seconds: float
    cpu: float | None
    """Seconds of all cores; None for a peer in a process of its own."""

    @property
    def a_second(self) -> float:
        return self.records / self.seconds


@dataclass(frozen=True, slots=True)
class Latency:
    """From a record's sending to the commit that has it."""

    contender: str
    records: int
    median_s: float
    p95_s: float


class Scene:
    """A workbench, a broker and a folder; names that nobody has used."""

    def __init__(self, wb: paimon_nb.Workbench, broker: Any, folder: Path, peer: Peer | None) -> None:
        self.wb, self.broker, self.folder, self.peer = wb, broker, folder, peer
        wb.run("SET 'execution.runtime-mode' = 'streaming'; SET 'execution.checkpointing.interval' = '1 s'")

    def name(self, what: str) -> str:
        return f"{what}{next(_NUMBERS)}"

    def source(self, topic: str) -> str:
        """A table over a topic, from its beginning."""
        name = self.name("source")
        self.wb.run(f"""CREATE TABLE {name} ({COLUMNS}, at AS PROCTIME()) WITH ('connector' = 'kafka', 'topic' = '{topic}',
            'format' = 'json', 'properties.bootstrap.servers' = '{self.broker.address}',
            'scan.startup.mode' = 'earliest-offset', 'scan.max-records' = '{MOST}')""")
        return name

    def target(self, more: str = "") -> str:
        name = self.name("target")
        given = ", ".join(f"'{k}' = '{v}'" for k, v in TABLE.items())
        self.wb.run(f"CREATE TABLE {name} ({COLUMNS}{more}, PRIMARY KEY (k) NOT ENFORCED) WITH ({given})")
        return name

    def frame(self, source: str) -> Any:
        """The same source as Spark's own streaming DataFrame."""
        return self.wb.stream(f"SELECT k, v, s, sent FROM {source}").frame

    def path(self, what: str) -> str:
        return str(self.folder / self.name(what))


def rates(scene: Scene, records: int, keys: int) -> Iterator[Rate]:
    """Each contender over one full topic; the first micro-batch of a contender starts its processes, and counts."""
    topic = scene.broker.topic("rate", PARTITIONS)
    fill(scene.broker, topic, records, keys)
    target, wanted = scene.target(), _last(records, keys)
    insert = f"INSERT INTO {target} SELECT k, v, s, sent FROM {scene.source(topic)}"
    yield _timed("Kafka -> key table", OURS, records, partial(_all_in, scene, insert, records))
    _same(OURS, _held(scene.wb.table(target)), wanted)
    path = scene.path("parquet")
    frame = scene.frame(scene.source(topic))
    yield _timed("Kafka -> key table", SPARK, records, partial(_into_parquet, scene, frame, path))
    _same(SPARK, scene.wb.session.spark.read.parquet(path).count(), records)
    if scene.peer is not None:
        warehouse, name = scene.path("peer"), "default.target"
        took = scene.peer.ask("kafka", address=scene.broker.address, topic=topic, partitions=PARTITIONS, warehouse=warehouse,
                              name=name, options=TABLE, count=records, most=MOST, every_s=None)  # fmt: skip
        yield Rate("Kafka -> key table", RUST, records, took.seconds, took.cpu)
        _same(RUST, _held(paimon_nb.open_table(f"{warehouse}/default.db/target")), wanted)


def lookups(scene: Scene, records: int, keys: int) -> Iterator[Rate]:
    """Each record finds its row in a table of 100,000 keys; beside Spark's join with the same rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    topic = scene.broker.topic("lookups", PARTITIONS)
    fill(scene.broker, topic, records, keys)
    dimension, joined = scene.name("dimension"), scene.target(", name STRING")
    scene.wb.run(
        f"CREATE TABLE {dimension} (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '4')"
    )
    rows = pa.table({"id": range(DIMENSION), "name": [f"name {i}" for i in range(DIMENSION)]})
    scene.wb.table(dimension).append(rows)
    source = scene.source(topic)
    insert = f"INSERT INTO {joined} SELECT o.k, o.v, o.s, o.sent, d.name FROM {source} AS o JOIN {dimension} FOR SYSTEM_TIME AS OF o.at AS d ON o.v % {DIMENSION} = d.id"  # fmt: skip
    yield _timed("Kafka -> lookup join -> key table", OURS, records, partial(_all_in, scene, insert, records))
    found = scene.wb.table(joined).to_arrow().to_pylist()
    _same(OURS, all(r["name"] == f"name {r['v'] % DIMENSION}" for r in found), True)
    _same(OURS, len(found), len(_last(records, keys)))
    file, path = scene.path("dimension"), scene.path("parquet")
    pq.write_table(rows, file)
    spark = scene.wb.session.spark
    frame = (
        scene.frame(scene.source(topic)).selectExpr("*", f"v % {DIMENSION} AS id").join(spark.read.parquet(file), "id")
    )
    yield _timed("Kafka -> lookup join -> key table", SPARK, records, partial(_into_parquet, scene, frame, path))
    _same(SPARK, spark.read.parquet(path).count(), records)


def latencies(scene: Scene, a_second: int, seconds: float, keys: int) -> Iterator[Latency]:
    """One contender after the other, each with a topic that fills at this rate; the first seconds, while it starts, do not count."""
    topic = scene.broker.topic("latency", PARTITIONS)
    target = scene.target()
    flow = Flow(scene.broker, topic, a_second, keys).start()
    job = scene.wb.sql(f"INSERT INTO {target} SELECT k, v, s, sent FROM {scene.source(topic)}")
    began = _flowing(flow, seconds, lambda: job.rows, lambda: job.error)
    _until(lambda: job.rows >= flow.sent, job)
    job.stop()
    yield _latency(OURS, _of_table(scene.wb.table(target)), began)
    topic, path = scene.broker.topic("latency", PARTITIONS), scene.path("parquet")
    flow = Flow(scene.broker, topic, a_second, keys).start()
    query = _parquet_query(scene, scene.frame(scene.source(topic)), path, "1 second")
    began = _flowing(flow, seconds, lambda: len(list(Path(path, "_spark_metadata").glob("[0-9]*"))), query.exception)
    query.processAllAvailable()
    query.stop()
    yield _latency(SPARK, _of_parquet(path), began)
    if scene.peer is not None:
        topic, warehouse = scene.broker.topic("latency", PARTITIONS), scene.path("peer")
        flow = Flow(scene.broker, topic, a_second, keys).start()
        began = time.time() + 3
        scene.peer.ask("kafka", address=scene.broker.address, topic=topic, partitions=PARTITIONS, warehouse=warehouse,
                       name="default.target", options=TABLE, count=int(a_second * (seconds + 3)), most=MOST, every_s=1.0)  # fmt: skip
        flow.stop()
        yield _latency(RUST, _of_table(paimon_nb.open_table(f"{warehouse}/default.db/target")), began)


# -- runs


def _timed(work: str, contender: str, records: int, run: Callable[[], None]) -> Rate:
    used, began = cpu_seconds(), time.perf_counter()
    run()
    took = time.perf_counter() - began
    return Rate(work, contender, records, took, None if used is None else (cpu_seconds() or 0.0) - used)


def _all_in(scene: Scene, insert: str, records: int) -> None:
    job = scene.wb.sql(insert)
    _until(lambda: job.rows >= records, job)
    job.stop()


def _until(done: Callable[[], bool], job: Any) -> None:
    if not job.wait_for(done, timeout=1800):
        raise TimeoutError(f"{job} did not take all records within half an hour")


def _parquet_query(scene: Scene, frame: Any, path: str, every: str) -> Any:
    writer = frame.writeStream.format("parquet").option("checkpointLocation", scene.path("checkpoint"))
    return start_query(lambda: writer.trigger(processingTime=every).start(path))


def _into_parquet(scene: Scene, frame: Any, path: str) -> None:
    query = _parquet_query(scene, frame, path, "1 second")
    query.processAllAvailable()
    query.stop()


def _flowing(flow: Flow, seconds: float, taken: Callable[[], int], error: Callable[[], BaseException | None]) -> float:
    """Let records flow for so long, from the moment on when the contender has taken the first. Returns it, epoch seconds. Raises
    the contender's error."""
    while not taken():
        if (failed := error()) is not None:
            flow.stop()
            raise failed
        time.sleep(0.05)
    began = time.time()
    time.sleep(seconds)
    flow.stop()
    return began


# -- answers


def _last(records: int, keys: int) -> dict[int, int]:
    """The last value of each key."""
    return {number * 7919 % keys: number for number in range(records)}


def _held(table: Any) -> dict[int, int]:
    rows = table.to_arrow()
    return dict(zip(rows.column("k").to_pylist(), rows.column("v").to_pylist(), strict=True))


def _same(contender: str, found: Any, wanted: Any) -> None:
    if found == wanted:
        return
    if isinstance(found, dict):
        differing = {k: (found.get(k), v) for k, v in wanted.items() if found.get(k) != v}
        wanted, found = f"{len(wanted)} keys", f"{len(found)}, and other values (found, sent) at {len(differing)}: {list(differing.items())[:5]}"  # fmt: skip
    raise ValueError(f"{contender}: {wanted} were sent, and it has {found}: its figures say nothing")


def _of_table(table: Any) -> Iterator[tuple[float, float]]:
    """(sent, committed) of each record, epoch seconds, by the snapshot that brought it."""
    at = {s.id: s.time_ms / 1000 for s in map(table.store.snapshots.get, table.store.snapshots.ids())}
    for batch in table.stream({"scan.mode": "from-snapshot", "scan.snapshot-id": "1"}, idle_s=0.5):
        for sent in batch.rows.column("sent").to_pylist():
            yield sent / 1000, at[batch.snapshot_id]


def _of_parquet(path: str) -> Iterator[tuple[float, float]]:
    """The same, by the log of Spark's file sink: a micro-batch is there once its entry is."""
    import json
    from urllib.parse import unquote, urlparse

    import pyarrow.parquet as pq

    for entry in Path(path, "_spark_metadata").glob("[0-9]*"):
        if not entry.name.isdecimal():
            continue
        for line in entry.read_text().splitlines()[1:]:
            file = unquote(urlparse(json.loads(line)["path"]).path)
            for sent in pq.read_table(file, columns=["sent"]).column(0).to_pylist():
                yield sent / 1000, entry.stat().st_mtime


def _latency(contender: str, found: Iterator[tuple[float, float]], began: float) -> Latency:
    waits: Sequence[float] = sorted(committed - sent for sent, committed in found if sent >= began)
    return Latency(contender, len(waits), statistics.median(waits), waits[int(len(waits) * 0.95)])
