"""`$files` of a table of 200 commits: in a running process, and from the start of one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

from benchmarks import data
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.peer import CORES
from benchmarks.stage import WRITE_ONLY, Stage

COMMITS = 200
SPARK_START = "Spark start"
_OURS = "import sys, paimon_nb; print(paimon_nb.open_table(sys.argv[1]).files().num_rows)"
_PEER = """
import sys
from pypaimon import CatalogFactory
b = CatalogFactory.create({"warehouse": sys.argv[1]}).get_table(sys.argv[2] + "$files").new_read_builder()
print(b.new_read().to_arrow(b.new_scan().plan().splits()).num_rows)
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


def from_start(stage: Stage) -> Iterator[Contender]:
    name = _table(stage)
    path = stage.table(name).path
    yield Contender(OURS, lambda: _run(sys.executable, _OURS, path), check=int)
    if stage.peer is not None:
        peer = stage.peer.interpreter
        yield Contender(next(iter(CORES)), lambda: _run(peer, _PEER, stage.warehouse, f"default.{name}"), check=int)
    yield Contender(SPARK_START, lambda: _run(sys.executable, _SPARK), check=None, runs=3)


def _table(stage: Stage) -> str:
    if stage not in _tables:
        name = stage.create(WRITE_ONLY)
        for number in range(COMMITS):
            stage.table(name).upsert(data.few(number))
        _tables[stage] = name
    return _tables[stage]


def _run(*command: str) -> str:
    interpreter, code, *arguments = command
    done = subprocess.run([interpreter, "-c", code, *arguments], capture_output=True, text=True, env=os.environ)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip().splitlines()[-1]


WORKS = [
    Work("files-warm", "`$files` of 200 commits, warm", warm, {"pypaimon": 1.0}),
    Work("files-start", "`$files` of 200 commits, from process start", from_start, {"pypaimon": 1.0, SPARK_START: 0.1}),
]
