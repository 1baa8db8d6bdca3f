"""Cold: the tables' files are not in the system's page cache, and nothing was read before by the process that asks.

Without Spark each contender is a process of its own, timed from its start; the libraries themselves may be cached. Through Spark
the session runs already, and ours gets a copy of the table that it has not seen.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks import own_process
from benchmarks.harness import OURS, Contender, Work
from benchmarks.peer import RUST
from benchmarks.works.scan_spark import AGGREGATE, PLAIN

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.stage import Stage

_OURS = "import sys, paimon_nb; t = paimon_nb.open_table(sys.argv[1]); print(len({}))"
_PEER = """
import sys
from pypaimon import CatalogFactory
table = CatalogFactory.create({"warehouse": sys.argv[1]}).get_table(sys.argv[2])
table = table.copy({o: "true" for o in ("read.native.enabled", "scan.native-plan.enabled")})
b = table.new_read_builder()
KEY
print(b.new_read().to_arrow(b.new_scan().plan().splits()).num_rows)
"""
_PYARROW = """
import sys, pyarrow.parquet as pq
print(pq.ParquetDataset(sys.argv[1:]).read(columns=["k", "i", "d", "m", "s", "t", "dt"]).num_rows)
"""
_DUCKDB = """
import sys, duckdb
print(duckdb.sql(f"SELECT k, i, d, m, s, t, dt FROM read_parquet({sys.argv[1:]})").to_arrow_table().num_rows)
"""


def read(stage: Stage) -> Iterator[Contender]:
    name = stage.compacted
    files = stage.live_files(name)
    yield from _processes(stage, name, "t.to_arrow()", "")
    yield _own("pyarrow", stage, sys.executable, _PYARROW, *files)
    yield _own("DuckDB", stage, sys.executable, _DUCKDB, *files)


def merge(stage: Stage) -> Iterator[Contender]:
    yield from _processes(stage, stage.with_runs, "t.to_arrow()", "")


def lookup(stage: Stage) -> Iterator[Contender]:
    key = stage.rows // 3
    found = f"b = b.with_filter(b.new_predicate_builder().equal('k', {key}))"
    yield from _processes(stage, stage.with_runs, f"t.lookup(k={key})", found)


def _processes(stage: Stage, name: str, ours: str, narrowed: str) -> Iterator[Contender]:
    yield _own(OURS, stage, sys.executable, _OURS.format(ours), stage.table(name).path)
    if stage.peer is not None:
        code = _PEER.replace("KEY", narrowed)
        yield _own(RUST, stage, stage.peer.interpreter, code, stage.warehouse, f"default.{name}")


def _own(name: str, stage: Stage, interpreter: str, code: str, *arguments: str) -> Contender:
    return Contender(name, lambda: own_process.run(interpreter, code, *arguments), stage.evict, check=int)


def through_spark(stage: Stage) -> Iterator[Contender]:
    source, plain = stage.with_runs, stage.plain
    name = [source]

    def fresh() -> None:
        name[0] = stage.copy(source)
        stage.evict()

    def ours() -> list[tuple[object, ...]]:
        return [tuple(r) for r in stage.workbench.sql(AGGREGATE.format(name[0])).collect()]

    def spark() -> list[tuple[object, ...]]:
        stage.spark.read.parquet(plain).createOrReplaceTempView("plain_rows")
        return [tuple(r) for r in stage.spark.sql(AGGREGATE.format("plain_rows")).collect()]

    yield Contender(OURS, ours, fresh, check=str)
    yield Contender(PLAIN, spark, stage.evict, check=str)


WORKS = [
    Work("cold-scan", "Cold: aggregate all columns, 6 runs a bucket", through_spark, rows=1.1),
    Work("cold-read", "Cold, from process start: to_arrow, compacted", read, rows=1.1),
    Work("cold-merge", "Cold, from process start: to_arrow, 6 runs a bucket", merge, rows=1.1),
    Work("cold-lookup", "Cold, from process start: point lookup, 6 runs a bucket", lookup),
]
