"""Queries through Spark: with six runs a bucket (first on a snapshot, and again) and after compaction.

The peer is plain Spark over plain Parquet of the merged rows: what a scan costs that has nothing to merge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from benchmarks.harness import OURS, Contender, Work
from benchmarks.stage import Stage

PLAIN = "Spark Parquet, same rows"
AGGREGATE = "SELECT count(*), sum(k), sum(i), sum(d), sum(m), max(s), max(t), min(dt) FROM {}"
NARROW = "SELECT count(*), sum(d) FROM {}"
FILTER = "SELECT count(*), sum(d), max(s) FROM {} WHERE i < 10000"
FILTER_KEY = "SELECT count(*), sum(d), max(s) FROM {} WHERE k BETWEEN 100000 AND 100000 + 0.01 * " + "{rows}"


def _work(
    slug: str, title: str, query: str, table: Callable[[Stage], str], most: float, *, first: bool = False
) -> Work:
    def contenders(stage: Stage) -> Iterator[Contender]:
        asked = query.replace("{rows}", str(stage.rows))
        source, plain = table(stage), stage.plain
        name = [source]

        def fresh() -> None:
            name[0] = stage.copy(source)

        def ours() -> list[tuple[object, ...]]:
            return [tuple(r) for r in stage.workbench.sql(asked.format(name[0])).collect()]

        def spark() -> list[tuple[object, ...]]:
            stage.spark.read.parquet(plain).createOrReplaceTempView("plain_rows")
            return [tuple(r) for r in stage.spark.sql(asked.format("plain_rows")).collect()]

        yield Contender(OURS, ours, fresh if first else lambda: None, check=str)
        yield Contender(PLAIN, spark, check=str)

    return Work(slug, title, contenders, {PLAIN: most})


def _runs(stage: Stage) -> str:
    return stage.with_runs


def _compacted(stage: Stage) -> str:
    return stage.compacted


WORKS = [
    _work("scan-merge-first", "Aggregate all columns, 6 runs a bucket, first time", AGGREGATE, _runs, 2.0, first=True),
    _work("scan-merge-again", "Aggregate all columns, 6 runs a bucket, again", AGGREGATE, _runs, 1.2),
    _work("scan-merge-narrow", "Aggregate one column, 6 runs a bucket, again", NARROW, _runs, 3.0),
    _work("filter-merge", "Filter 1 % by value, 6 runs a bucket, again", FILTER, _runs, 1.3),
    _work("filter-merge-key", "Filter 1 % by key, 6 runs a bucket, again", FILTER_KEY, _runs, 1.3),
    _work("scan-compacted", "Aggregate all columns, compacted", AGGREGATE, _compacted, 1.1),
    _work("filter-compacted", "Filter 1 % by value, compacted", FILTER, _compacted, 1.1),
]
