"""Curves: what an operation costs as a table grows, from 1 to 1,000 commits, 100,000 files, 1,000 partitions; and where it bends."""

from __future__ import annotations

import json
import statistics
import sys
import time
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from benchmarks import data, own_process
from benchmarks.peer import RUST
from benchmarks.stage import WRITE_ONLY, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

BENT = 2.0
"""A curve bends at the first size that costs so many times the smallest."""
COMMITS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
FILES = (1, 10, 100, 1_000, 10_000, 100_000)
PARTITIONS = (1, 10, 100, 1_000)
FILES_A_PARTITION = 100
ROWS = 100_000
_PLAN = """
import json, sys, time
import paimon_nb, paimon_nb.format.manifest.manifest_batch
from paimon_nb.table.read import Compare, plan_scan
from benchmarks.processes import highest
open_table = paimon_nb.open_table
where = Compare("p", "=", int(sys.argv[2])) if sys.argv[2] else None
open_table(sys.argv[3]).scan(where).plan  # modules are loaded before the clock starts; of the other table nothing is read
before, began, cpu = highest(), time.perf_counter(), time.process_time()
plan = open_table(sys.argv[1]).scan(where).plan
took, cpu = time.perf_counter() - began, time.process_time() - cpu
print(json.dumps({"s": took, "cpu_s": cpu, "mb": (highest() - before) / 1e6, "files": len(plan.files)}))
"""


@dataclass(frozen=True, slots=True)
class Curve:
    """One operation at growing sizes."""

    name: str
    seconds: tuple[float, ...]
    note: str = ""

    def bend(self, sizes: Sequence[int]) -> int | None:
        """The first size that costs more than twice the smallest."""
        return next((x for x, s in zip(sizes, self.seconds, strict=True) if s > BENT * self.seconds[0]), None)


@dataclass(frozen=True, slots=True)
class Growth:
    """Curves over the same sizes."""

    slug: str
    title: str
    over: str
    sizes: tuple[int, ...]
    curves: tuple[Curve, ...]

    def as_json(self) -> dict[str, Any]:
        bends = {c.name: c.bend(self.sizes) for c in self.curves}
        return {**asdict(self), "bends": bends}

    @staticmethod
    def from_json(node: dict[str, Any]) -> Growth:
        curves = tuple(Curve(c["name"], tuple(c["seconds"]), c["note"]) for c in node["curves"])
        return Growth(node["slug"], node["title"], node["over"], tuple(node["sizes"]), curves)


def measure(stage: Stage, most: int | None = None) -> Iterator[Growth]:
    """All curves; `most` cuts the sizes."""
    for made, sizes in ((_commits, COMMITS), (_files, FILES), (_partitions, PARTITIONS)):
        yield made(stage, tuple(s for s in sizes if most is None or s <= most))


def _commits(stage: Stage, sizes: tuple[int, ...]) -> Growth:
    """Each size is the median of the commits around it: the n-th itself and up to five on each side."""
    table, took, planned = stage.table(stage.create(WRITE_ONLY)), [], []
    other = stage.table(stage.create(WRITE_ONLY))
    other.upsert(data.few(0))
    for number in range(sizes[-1]):
        rows = data.few(number)
        took.append(_seconds(lambda rows=rows: table.upsert(rows)))
        if number + 1 in sizes:
            planned.append(_planned(table.path, other.path))
    curves = [Curve("commit of 10 rows", _around(took, sizes)), _curve("plan, in a new process", planned)]
    if stage.peer is not None:
        theirs = stage.peer.ask("commits", warehouse=stage.peer_warehouse, name=f"default.{stage.new_name()}", native=True, options=WRITE_ONLY, count=sizes[-1]).answer  # fmt: skip
        curves.append(Curve(f"commit of 10 rows, {RUST}", _around(theirs, sizes)))
    return Growth(
        "growth-commits", "Small commits, one after the other, without compaction", "commits", sizes, tuple(curves)
    )


def _around(took: Sequence[float], sizes: Sequence[int]) -> tuple[float, ...]:
    return tuple(statistics.median(took[max(0, n - 6) : n + 5]) for n in sizes)


def _files(stage: Stage, sizes: tuple[int, ...]) -> Growth:
    """Files that are there in the metadata alone: planning reads no others. A hundred a partition."""
    whole, one, theirs = [], [], []
    small = stage.table(_many_files(stage, 1)).path
    for size in sizes:
        name = _many_files(stage, size)
        path = stage.table(name).path
        whole.append(_planned(path, small))
        one.append(_planned(path, small, "0"))
        if stage.peer is not None:
            theirs.append(stage.peer.ask("plan", warehouse=stage.warehouse, name=f"default.{name}").seconds)
    curves = [_curve("plan all", whole), _curve("plan one partition", one)]
    if theirs:
        curves.append(Curve(f"plan all, {RUST}", tuple(theirs)))
    return Growth("growth-files", "Planning a scan, nothing read before", "files", sizes, tuple(curves))


def _many_files(stage: Stage, count: int) -> str:
    from paimon_nb.format.row import serialize
    from paimon_nb.table.write.commit import CommitMessage

    name = stage.new_name()
    stage.workbench.run(f"CREATE TABLE {name} (p INT, k BIGINT, v STRING) PARTITIONED BY (p)")
    table = stage.table(name)
    with table.write() as writing:
        writing.write(pa.table({"p": pa.array([0], pa.int32()), "k": pa.array([1]), "v": ["x"]}))
        (made,) = writing.prepare_commit()
    (pattern,) = made.new_files
    types, messages = [table.schema.field("p").type], []
    for first in range(0, count, FILES_A_PARTITION):
        some = range(first, min(count, first + FILES_A_PARTITION))
        files = tuple(replace(pattern, file_name=f"data-{name}-{i}-0.parquet") for i in some)
        partition = serialize(types, (first // FILES_A_PARTITION,))
        messages.append(CommitMessage(partition, made.bucket, made.total_buckets, new_files=files))
    table.commit().commit(messages)
    return name


def _partitions(stage: Stage, sizes: tuple[int, ...]) -> Growth:
    load, whole, one = [], [], []
    keys = np.arange(ROWS)
    for size in sizes:
        rows = pa.table({"p": pa.array((keys % size).astype("int32")), "k": keys, "v": [f"{k:020d}" for k in keys]})
        name = stage.new_name()
        stage.workbench.run(f"CREATE TABLE {name} (p INT, k BIGINT, v STRING) PARTITIONED BY (p)")
        table = stage.table(name)
        load.append(_seconds(lambda table=table, rows=rows: table.append(rows)))
        whole.append(_seconds(lambda table=table: table.to_arrow()))
        one.append(_seconds(lambda table=table: table.to_arrow(where="p = 0")))
    curves = (
        Curve("load", tuple(load)),
        Curve("read all", tuple(whole)),
        Curve("read one partition", tuple(one)),
    )
    return Growth(
        "growth-partitions", f"{ROWS:,} rows in more and more partitions, without Spark", "partitions", sizes, curves
    )


def _planned(path: str, other: str, partition: str = "") -> dict[str, float]:
    """Medians of five new processes. `other`: a table that each plans before its clock starts."""
    found = [json.loads(own_process.run(sys.executable, _PLAN, path, partition, other)) for _ in range(5)]
    return {what: statistics.median(f[what] for f in found) for what in found[0]}


def _curve(name: str, planned: Sequence[dict[str, float]]) -> Curve:
    last = planned[-1]
    note = f"{last['files']:,.0f} files: {last['s']:.2f} s, {last['cpu_s']:.2f} s of CPU, {last['mb']:.0f} MB"
    return Curve(name, tuple(p["s"] for p in planned), note)


def _seconds(action: Callable[[], object]) -> float:
    began = time.perf_counter()
    action()
    return time.perf_counter() - began
