"""Two hundred commits of ten rows, one after the other: what the last ones take."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from benchmarks import data
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import RUST
from benchmarks.stage import WRITE_ONLY, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMITS, LAST = 200, 20
"""How many in a row, and of how many at their end the median is taken."""
APPEND = "Spark Parquet append"


def contenders(stage: Stage) -> Iterator[Contender]:
    few = [data.few(n) for n in range(COMMITS)]

    def ours() -> Timed:
        table, took = stage.table(stage.create(WRITE_ONLY)), []
        for rows in few:
            began = time.perf_counter()
            table.upsert(rows)
            took.append(time.perf_counter() - began)
        return Timed(statistics.median(took[-LAST:]), None)

    def append() -> Timed:
        source, target, took = stage.path("ten"), stage.path("appended"), []
        pq.write_table(few[0], source)
        frame = stage.spark.read.parquet(source)
        for _ in few:
            began = time.perf_counter()
            frame.write.mode("append").parquet(target)
            took.append(time.perf_counter() - began)
        return Timed(statistics.median(took[-LAST:]), None)

    yield Contender(OURS, ours, check=None)
    peer = stage.peer
    for core, native in stage.cores.items() if peer is not None else ():

        def theirs(native: bool = native) -> Timed:
            assert peer is not None
            return peer.ask("commits", warehouse=stage.peer_warehouse, name=f"default.{stage.new_name()}", native=native, options=WRITE_ONLY, count=COMMITS, last=LAST)  # fmt: skip

        yield Contender(core, theirs, check=None, runs=None if native else 1, warm_up=native)
    yield Contender(APPEND, append, check=None, runs=1)


WORKS = [Work("commit-10", "Commit of 10 rows, the 200th in a row", contenders, {RUST: 0.7})]
