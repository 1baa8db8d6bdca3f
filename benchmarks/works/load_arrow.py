"""First load from an Arrow table in memory, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import checksum
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import RUST
from benchmarks.stage import WRITE_ONLY, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator


def contenders(stage: Stage) -> Iterator[Contender]:
    rows = stage.base

    def load() -> str:
        name = stage.create(WRITE_ONLY)
        stage.table(name).append(rows)
        return name

    yield Contender(OURS, load, check=lambda name: checksum(stage.table(name).to_arrow()))
    peer = stage.peer
    if peer is None:
        return

    for core, native in stage.cores.items():

        def load_there(native: bool = native) -> Timed:
            name = f"default.{stage.new_name()}"
            done = peer.ask("load", warehouse=stage.peer_warehouse, name=name, native=native, options=WRITE_ONLY, files=[stage.base_arrow])  # fmt: skip
            return Timed(done.seconds, name, done.cpu)

        # Without the core it takes 80 s for 2M rows: once is enough to know.
        yield Contender(
            core,
            load_there,
            check=lambda name: peer.ask("checksum", warehouse=stage.peer_warehouse, name=name).answer,
            runs=None if native else 1,
            warm_up=native,
        )


WORKS = [Work("load-arrow", "First load from Arrow, without Spark", contenders, {RUST: 1.0}, rows=1)]
