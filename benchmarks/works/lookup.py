"""One row by its key, without Spark, on an open table: the median of twenty keys, other ones each round; in runs and compacted."""

from __future__ import annotations

import statistics
import time
from itertools import count
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import RUST

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.stage import Stage

LOOKUPS = 20


def _keys(stage: Stage, seed: int) -> list[int]:
    return [int(k) for k in np.random.default_rng(seed).integers(0, stage.rows, LOOKUPS)]


def _work(slug: str, title: str, chosen: Callable[[Stage], str]) -> Work:
    def contenders(stage: Stage) -> Iterator[Contender]:
        name = chosen(stage)
        table, asked = stage.table(name), _keys(stage, 5)
        ours_rounds, their_rounds = count(100), count(100)

        def ours() -> Timed:
            took = []
            for key in _keys(stage, next(ours_rounds)):
                began = time.perf_counter()
                table.lookup(k=key)
                took.append(time.perf_counter() - began)
            return Timed(statistics.median(took), [table.lookup(k=key).column("i").to_pylist() for key in asked])

        yield Contender(OURS, ours)
        peer = stage.peer
        if peer is None:
            return
        for core, native in stage.cores.items():

            def theirs(native: bool = native) -> Timed:
                keys = _keys(stage, next(their_rounds)) if native else _keys(stage, 99)
                return peer.ask("lookup", warehouse=stage.warehouse, name=f"default.{name}", native=native, keys=keys, asked=asked)  # fmt: skip

            yield Contender(core, theirs, runs=None if native else 1, warm_up=native)

    return Work(slug, title, contenders, {RUST: 0.5})


WORKS = [
    _work("lookup-merge", "Point lookup, 6 runs a bucket", lambda stage: stage.with_runs),
    _work("lookup-compacted", "Point lookup, compacted", lambda stage: stage.compacted),
]
