"""Five upserts of a tenth of the rows each into a loaded table: from Arrow, and through Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.data import checksum
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import RUST
from benchmarks.stage import WRITE_ONLY, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

APPEND = "Spark Parquet append"


def from_arrow(stage: Stage) -> Iterator[Contender]:
    target, renew = _fresh(stage)

    def upsert() -> str:
        for rows in stage.upserts:
            stage.table(target[0]).upsert(rows)
        return target[0]

    yield Contender(OURS, upsert, renew, check=lambda name: checksum(stage.table(name).to_arrow()))
    for core, native in stage.cores.items() if stage.peer is not None else ():
        yield _peer(stage, core, native)


def through_spark(stage: Stage) -> Iterator[Contender]:
    sources = stage.upsert_parquet
    target, renew = _fresh(stage)
    plain = [""]

    def upsert() -> str:
        for source in sources:
            stage.spark.read.parquet(source).createOrReplaceTempView("source_rows")
            stage.workbench.run(f"INSERT INTO {target[0]} SELECT * FROM source_rows")
        return target[0]

    def empty() -> None:
        plain[0] = stage.path("append")

    def append() -> None:
        for source in sources:
            stage.spark.read.parquet(source).write.mode("append").parquet(plain[0])

    yield Contender(OURS, upsert, renew, check=lambda name: checksum(stage.table(name).to_arrow()))
    yield Contender(APPEND, append, empty, check=None)


def _fresh(stage: Stage) -> tuple[list[str], Callable[[], None]]:
    """(the name of the table to write to, what makes it anew)."""
    target = [""]

    def renew() -> None:
        target[0] = stage.copy(stage.loaded)

    return target, renew


def _peer(stage: Stage, core: str, native: bool) -> Contender:
    peer, target = stage.peer, [""]
    assert peer is not None

    def renew() -> None:
        target[0] = f"default.{stage.new_name()}"
        peer.ask("load", warehouse=stage.peer_warehouse, name=target[0], native=True, options=WRITE_ONLY, files=[stage.base_arrow])  # fmt: skip

    def upsert() -> Timed:
        done = peer.ask(
            "upsert", warehouse=stage.peer_warehouse, name=target[0], native=native, files=stage.upsert_arrow
        )
        return Timed(done.seconds, target[0], done.cpu)

    def rows(name: str) -> object:
        return peer.ask("checksum", warehouse=stage.peer_warehouse, name=name).answer

    return Contender(core, upsert, renew, check=rows, runs=None if native else 1, warm_up=native)


WORKS = [
    Work("upsert-arrow", "Five upserts from Arrow, without Spark", from_arrow, {RUST: 1.0}, rows=0.5),
    Work("upsert-spark", "Five upserts through Spark", through_spark, {APPEND: 1.0}, rows=0.5),
]
