"""A table without keys, through Spark: filled by an INSERT, and read. The peer does the same with plain Parquet."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow.parquet as pq

from benchmarks import data, duck
from benchmarks.data import checksum
from benchmarks.harness import OURS, Contender, Work
from benchmarks.works.scan_spark import AGGREGATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.stage import Stage

PLAIN = "Spark Parquet"


def load(stage: Stage) -> Iterator[Contender]:
    def ours() -> str:
        return _insert(stage)

    def plain() -> str:
        path = stage.path("append-load")
        stage.spark.read.parquet(stage.base_parquet).write.parquet(path)
        return path

    yield Contender(OURS, ours, check=lambda name: checksum(stage.table(name).to_arrow()))
    yield Contender(PLAIN, plain, check=lambda path: checksum(pq.read_table(path)))


def scan(stage: Stage) -> Iterator[Contender]:
    name, plain = _insert(stage), stage.path("append-scan")
    stage.spark.read.parquet(stage.base_parquet).write.parquet(plain)

    def ours() -> list[tuple[object, ...]]:
        return [tuple(r) for r in stage.workbench.sql(AGGREGATE.format(name)).collect()]

    def spark() -> list[tuple[object, ...]]:
        stage.spark.read.parquet(plain).createOrReplaceTempView("plain_rows")
        return [tuple(r) for r in stage.spark.sql(AGGREGATE.format("plain_rows")).collect()]

    yield Contender(OURS, ours, check=str)
    yield Contender(PLAIN, spark, check=str)
    yield duck.contender(AGGREGATE, stage.live_files(name))


def _insert(stage: Stage) -> str:
    name = stage.new_name()
    stage.workbench.run(f"CREATE TABLE {name} ({data.COLUMNS}) WITH ('write-only' = 'true')")
    stage.spark.read.parquet(stage.base_parquet).createOrReplaceTempView("source_rows")
    stage.workbench.run(f"INSERT INTO {name} SELECT * FROM source_rows")
    return name


WORKS = [
    Work("append-load", "Append load through Spark, no keys", load, {PLAIN: 1.1}, rows=1),
    Work("append-scan", "Aggregate all columns, no keys, again", scan, {PLAIN: 1.1}, rows=1),
]
