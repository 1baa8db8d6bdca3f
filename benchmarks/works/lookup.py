"""One row by its key, without Spark, on an open table: the median of twenty, in runs and compacted."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator

import numpy as np

from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import CORES, RUST
from benchmarks.stage import Stage

LOOKUPS = 20


def _work(slug: str, title: str, chosen: Callable[[Stage], str]) -> Work:
    def contenders(stage: Stage) -> Iterator[Contender]:
        name = chosen(stage)
        keys = [int(k) for k in np.random.default_rng(5).integers(0, stage.rows, LOOKUPS)]

        def ours() -> Timed:
            table, took, found = stage.table(name), [], []
            for key in keys:
                began = time.perf_counter()
                rows = table.lookup(k=key)
                took.append(time.perf_counter() - began)
                found.append(rows.column("i").to_pylist())
            return Timed(statistics.median(took), found)

        yield Contender(OURS, ours)
        peer = stage.peer
        if peer is None:
            return
        for core, native in CORES.items():

            def theirs(native: bool = native) -> Timed:
                return peer.ask("lookup", warehouse=stage.warehouse, name=f"default.{name}", native=native, keys=keys)

            yield Contender(core, theirs, runs=None if native else 1, warm_up=native)

    return Work(slug, title, contenders, {RUST: 0.5})


WORKS = [
    _work("lookup-merge", "Point lookup, 6 runs a bucket", lambda stage: stage.with_runs),
    _work("lookup-compacted", "Point lookup, compacted", lambda stage: stage.compacted),
]
