"""The whole table as Arrow, without Spark: with six runs a bucket, and compacted. All read the same files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from benchmarks import duck
from benchmarks.data import SCHEMA, checksum
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import RUST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.stage import Stage

PYARROW = "pyarrow"


def with_runs(stage: Stage) -> Iterator[Contender]:
    yield from _contenders(stage, stage.with_runs)


def compacted(stage: Stage) -> Iterator[Contender]:
    name = stage.compacted
    kept = stage.live_files(name)
    yield from _contenders(stage, name)
    yield Contender(PYARROW, lambda: pq.ParquetDataset(kept).read(columns=SCHEMA.names), check=checksum)
    yield duck.contender(f"SELECT {', '.join(SCHEMA.names)} FROM {{}}", kept, arrow=True, check=checksum)


def _contenders(stage: Stage, name: str) -> Iterator[Contender]:
    yield Contender(OURS, lambda: stage.table(name).to_arrow(), check=checksum)
    peer = stage.peer
    if peer is None:
        return
    for core, native in stage.cores.items():

        def read(native: bool = native) -> Timed:
            return peer.ask("read", warehouse=stage.warehouse, name=f"default.{name}", native=native)

        yield Contender(core, read, runs=None if native else 1, warm_up=native)


WORKS = [
    Work("to-arrow-merge", "to_arrow, 6 runs a bucket", with_runs, {RUST: 0.8}, rows=1.1),
    Work("to-arrow-compacted", "to_arrow, compacted", compacted, {PYARROW: 1.5}, rows=1.1),
]
