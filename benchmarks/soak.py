"""Streams that run for a long time: Kafka into a key table, and from there through a lookup join into a second one. Is their memory flat?"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from benchmarks.kafka_topics import PARTITIONS, Flow
from benchmarks.processes import by_program
from paimon_nb.session.streaming.progress import newest_of

if TYPE_CHECKING:
    from benchmarks.streams import Scene

OBJECTS = "JVM, objects alone"
"""What its heap holds once garbage is collected; the heap itself grows as its collector likes."""
KINDS = ("driver", "JVM", OBJECTS, "workers")
COLLECT_EVERY = 15
"""Looks from one collection to the next."""
AT_MOST = 1.1
NAMES = 1000


@dataclass(frozen=True, slots=True)
class Soak:
    """What the processes held while the stream ran, looked at every other second."""

    seconds: float
    records: int
    commits: int
    resident: dict[str, list[int]] = field(default_factory=dict)
    """Bytes, by kind of process, in order; of the workers all together."""

    def growth(self, kind: str) -> float:
        """What was usually held in the second half, in multiples of the first half without its first quarter, in which everything
        starts: medians, for a collector's heap goes up and down."""
        seen = self.resident[kind]
        half = len(seen) // 2
        return statistics.median(seen[half:]) / max(1, statistics.median(seen[half // 4 : half]))


def soak(scene: Scene, seconds: float, a_second: int, keys: int) -> Soak:
    """Let records flow for so long. Raises ValueError: the tables do not have what was sent."""
    wb, names = scene.wb, scene.name("names")
    kept, joined = scene.target(), scene.target(", name STRING")
    wb.run(f"CREATE TABLE {names} (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    wb.table(names).append(pa.table({"id": range(NAMES), "name": [f"name {i}" for i in range(NAMES)]}))
    topic = scene.broker.topic("soak", PARTITIONS)
    flow = Flow(scene.broker, topic, a_second, keys).start()
    jobs = [
        wb.sql(f"INSERT INTO {kept} SELECT k, v, s, sent FROM {scene.source(topic)}"),
        wb.sql(f"""INSERT INTO {joined} SELECT o.k, o.v, o.s, o.sent, n.name FROM (SELECT *, PROCTIME() AS at FROM {kept}) AS o
            JOIN {names} FOR SYSTEM_TIME AS OF o.at AS n ON o.v % {NAMES} = n.id"""),
    ]
    began = time.monotonic()
    resident: dict[str, list[int]] = {kind: [] for kind in KINDS}
    try:
        while time.monotonic() < began + seconds:
            for job in jobs:
                job.wait_for(lambda: False, timeout=1)  # raises its error
            for kind, held in by_program().items():
                resident[kind].append(held)
            if len(resident["driver"]) % COLLECT_EVERY == 0:
                resident[OBJECTS].append(_objects(wb))
    finally:
        flow.stop()
    took = time.monotonic() - began
    wanted = {number * 7919 % keys: number for number in range(flow.sent)}
    _until_equal(scene, kept, wanted, jobs)
    _until_equal(scene, joined, wanted, jobs)
    for job in jobs:
        job.stop()
    return Soak(took, flow.sent, sum(newest_of(wb.table(t)) for t in (kept, joined)), resident)


def _objects(wb: Any) -> int:
    """Bytes of the objects that Spark's JVM still needs."""
    runtime = wb.session.spark._jvm.java.lang.Runtime.getRuntime()
    runtime.gc()
    return int(runtime.totalMemory() - runtime.freeMemory())


def _until_equal(scene: Scene, name: str, wanted: dict[int, int], jobs: list[Any]) -> None:
    """Raises ValueError: the table does not come to it."""

    def equal() -> bool:
        rows = scene.wb.table(name).to_arrow()
        if "name" in rows.column_names:
            told = zip(rows.column("v").to_pylist(), rows.column("name").to_pylist(), strict=True)
            if any(text != f"name {v % NAMES}" for v, text in told):
                raise ValueError(f"{name} has a row with another row's name")
        return dict(zip(rows.column("k").to_pylist(), rows.column("v").to_pylist(), strict=True)) == wanted

    for job in jobs:
        job.process_available(timeout=600)
    if not equal():
        raise ValueError(f"{name} does not have what was sent")
