"""First load through Spark: a Parquet file into an empty key table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from benchmarks.data import checksum
from benchmarks.harness import OURS, Contender, Work
from benchmarks.stage import WRITE_ONLY, Stage, by_bucket

if TYPE_CHECKING:
    from collections.abc import Iterator

SORTED = "Spark Parquet, shuffled and sorted"
PLAIN = "Spark Parquet"


def contenders(stage: Stage) -> Iterator[Contender]:
    source = stage.base_parquet

    def load() -> str:
        name = stage.create(WRITE_ONLY)
        stage.spark.read.parquet(source).createOrReplaceTempView("source_rows")
        stage.workbench.run(f"INSERT INTO {name} SELECT * FROM source_rows")
        return name

    def plain(shuffled: bool) -> str:
        path = stage.path("load")
        frame = stage.spark.read.parquet(source)
        (by_bucket(frame) if shuffled else frame).write.parquet(path)
        return path

    yield Contender(OURS, load, check=lambda name: checksum(stage.table(name).to_arrow()))
    yield Contender(SORTED, lambda: plain(True), check=lambda path: checksum(pq.read_table(path)))
    yield Contender(PLAIN, lambda: plain(False), check=lambda path: checksum(pq.read_table(path)))


WORKS = [Work("load-spark", "First load through Spark", contenders, {SORTED: 1.3}, rows=1)]
