"""Memory of a load and of a compaction, each in processes of its own, at the base's rows and at ten times as many."""

from __future__ import annotations

import sys
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from benchmarks import own_process
from benchmarks.processes import Memory

if TYPE_CHECKING:
    from pathlib import Path

AT_MOST = 1.3
TIMES = 10
_SOURCE = """
import sys, pyarrow.parquet as pq
from benchmarks import data
pq.write_table(data.base(int(sys.argv[1])), sys.argv[2], row_group_size=250_000, compression="zstd")
print("made")
"""
_CREATE = """
import sys, paimon_nb, pyarrow as pa, pyarrow.parquet as pq
from benchmarks import data
from benchmarks.stage import WRITE_ONLY
wb = paimon_nb.connect(sys.argv[1])
given = ", ".join(f"'{k}' = '{v}'" for k, v in WRITE_ONLY.items())
name, source = sys.argv[2:4]
if "upserts" not in sys.argv and "compact" not in sys.argv:
    wb.run(f"CREATE TABLE {name} ({data.COLUMNS}, PRIMARY KEY (k) NOT ENFORCED) WITH ({given})")
"""
_LOAD = (
    _CREATE
    + """
table = wb.table(name)
with table.write() as writing:
    for batch in pq.ParquetFile(source, pre_buffer=False).iter_batches(65_536):
        writing.write(pa.Table.from_batches([batch]))
    table.commit().commit(writing.prepare_commit())
print("done")
"""
)
_SPARK = (
    _CREATE
    + """
wb.session.spark.read.parquet(source).createOrReplaceTempView("source_rows")
wb.run(f"INSERT INTO {name} SELECT * FROM source_rows")
print("done")
"""
)
_UPSERTS = (
    _CREATE
    + """
for number in range(data.UPSERTS):
    wb.table(name).upsert(data.upsert(int(source), number))
print("done")
"""
)
_COMPACT = (
    _CREATE
    + """
wb.table(name).copy({"write-only": "false"}).compact()
print("done")
"""
)


@dataclass(frozen=True, slots=True)
class Bounded:
    """Peak memory of a work at two sizes."""

    title: str
    rows: tuple[int, int]
    peak: tuple[int, int]
    """Bytes of the process and its descendants."""

    @property
    def ratio(self) -> float:
        return self.peak[1] / self.peak[0]

    def as_json(self) -> dict[str, Any]:
        return {**asdict(self), "ratio": round(self.ratio, 3), "at_most": AT_MOST}

    @staticmethod
    def from_json(node: dict[str, Any]) -> Bounded:
        return Bounded(node["title"], tuple(node["rows"]), tuple(node["peak"]))


def measure(directory: Path, rows: int) -> list[Bounded]:
    """Loads without Spark and through Spark, and a full compaction of six runs a bucket."""
    peaks: dict[str, list[int]] = {
        "Load from Arrow": [],
        "Load through Spark": [],
        "Full compaction, 6 runs a bucket": [],
    }
    warehouse, sizes = str(directory / "bounded"), (rows, rows * TIMES)
    for size in sizes:
        source = str(directory / f"bounded-{size}.parquet")
        own_process.run(sys.executable, _SOURCE, str(size), source)
        arrow, spark, compact = peaks.values()
        arrow.append(_peak(_LOAD, warehouse, f"a{size}", source))
        spark.append(_peak(_SPARK, warehouse, f"s{size}", source))
        own_process.run(sys.executable, _UPSERTS, warehouse, f"a{size}", str(size), "upserts")
        compact.append(_peak(_COMPACT, warehouse, f"a{size}", "", "compact"))
    return [Bounded(title, sizes, (small, large)) for title, (small, large) in peaks.items()]


def _peak(code: str, *arguments: str) -> int:
    with Memory() as memory:
        own_process.run(sys.executable, code, *arguments)
    return memory.growth
