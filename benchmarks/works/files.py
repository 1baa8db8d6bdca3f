"""`$files` of a table of 200 commits, in a running process, and from the start of one; there `$snapshots`, too."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks import data, own_process
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import CORES
from benchmarks.stage import WRITE_ONLY, Stage

if TYPE_CHECKING:
    from collections.abc import Iterator

COMMITS = 200
SPARK_START = "Spark start"
ALONE = "pypaimon-rust"
_OURS = "import sys, paimon_nb; print(paimon_nb.open_table(sys.argv[1]).system(sys.argv[2]).num_rows)"
_PEER = """
import sys
from pypaimon import CatalogFactory
b = CatalogFactory.create({"warehouse": sys.argv[1]}).get_table(f"{sys.argv[2]}${sys.argv[3]}").new_read_builder()
print(b.new_read().to_arrow(b.new_scan().plan().splits()).num_rows)
"""
_PEER_RUST = """
import sys
from pypaimon_rust.datafusion import SQLContext
c = SQLContext()
c.register_catalog("paimon", {"warehouse": sys.argv[1]})
print(sum(b.num_rows for b in c.sql(f"SELECT * FROM paimon.default.`{sys.argv[2]}${sys.argv[3]}`")))
"""
_SPARK = """
import paimon_nb
wb = paimon_nb.connect(); print(wb.session.spark.range(1).count()); wb.close()
"""
_tables: dict[Stage, str] = {}


def warm(stage: Stage) -> Iterator[Contender]:
    name = _table(stage)
    yield Contender(OURS, lambda: stage.table(name).files().num_rows)
    peer = stage.peer
    if peer is not None:

        def theirs() -> Timed:
            return peer.ask("files", warehouse=stage.warehouse, name=f"default.{name}")

        yield Contender(next(iter(CORES)), theirs)
        yield Contender(ALONE, lambda: peer.ask("files_rust", warehouse=stage.warehouse, name=name))


def from_start(stage: Stage, system: str) -> Iterator[Contender]:
    name = _table(stage)
    path = stage.table(name).path
    yield Contender(OURS, lambda: own_process.run(sys.executable, _OURS, path, system), check=int)
    if stage.peer is not None:
        peer = stage.peer.interpreter
        full = f"default.{name}"
        yield Contender(
            next(iter(CORES)), lambda: own_process.run(peer, _PEER, stage.warehouse, full, system), check=int
        )
        yield Contender(ALONE, lambda: own_process.run(peer, _PEER_RUST, stage.warehouse, name, system), check=int)


def from_start_and_spark(stage: Stage) -> Iterator[Contender]:
    yield from from_start(stage, "files")
    yield Contender(SPARK_START, lambda: own_process.run(sys.executable, _SPARK), check=None, runs=3)


def _table(stage: Stage) -> str:
    if stage not in _tables:
        name = stage.create(WRITE_ONLY)
        for number in range(COMMITS):
            stage.table(name).upsert(data.few(number))
        _tables[stage] = name
    return _tables[stage]


WORKS = [
    Work("files-warm", "`$files` of 200 commits, warm", warm, {ALONE: 0.5}),
    Work("files-start", "`$files` of 200 commits, from process start", from_start_and_spark, {ALONE: 1.2}),
    Work(
        "snapshots-start",
        "`$snapshots` of 200 commits, from process start",
        lambda stage: from_start(stage, "snapshots"),
        {ALONE: 1.2},
    ),
]
