"""Queries through Spark: with six runs a bucket (first on a snapshot, and again) and after compaction.

Beside plain Spark over the same files, which then counts rows that others replaced (in runs, that is what a figure may be at most
so many times of), and over plain Parquet of the merged rows, whose answer is the same.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks import duck
from benchmarks.harness import OURS, Contender, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from benchmarks.stage import Stage

PLAIN = "Spark Parquet, same rows"
SAME_FILES = "Spark Parquet, same files, not merged"
AGGREGATE = "SELECT count(*), sum(k), sum(i), sum(d), sum(m), max(s), max(t), min(dt) FROM {}"
NARROW = "SELECT count(*), sum(d) FROM {}"
FILTER = "SELECT count(*), sum(d), max(s) FROM {} WHERE i < 10000"
FILTER_KEY = "SELECT count(*), sum(d), max(s) FROM {} WHERE k BETWEEN 100000 AND 100000 + 0.01 * " + "{rows}"


def _work(
    slug: str, title: str, query: str, table: Callable[[Stage], str], most: dict[str, float], *, first: bool = False
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

        def unmerged() -> list[tuple[object, ...]]:
            stage.spark.read.parquet(*stage.live_files(source)).createOrReplaceTempView("file_rows")
            return [tuple(r) for r in stage.spark.sql(asked.format("file_rows")).collect()]

        yield Contender(PLAIN, spark, check=str)
        if source != stage.compacted:
            yield Contender(SAME_FILES, unmerged, check=None)
        yield duck.contender(asked, _files(stage, source))

    return Work(slug, title, contenders, most, rows=1.1)


def _files(stage: Stage, name: str) -> list[str]:
    """What DuckDB reads, which merges nothing: the table's own files once it is compacted, else plain ones of the merged rows."""
    return stage.live_files(name) if name == stage.compacted else [f"{stage.plain}/*.parquet"]


def _runs(stage: Stage) -> str:
    return stage.with_runs


def _compacted(stage: Stage) -> str:
    return stage.compacted


WORKS = [
    _work(
        "scan-merge-first",
        "Aggregate all columns, 6 runs a bucket, first time",
        AGGREGATE,
        _runs,
        {SAME_FILES: 2.0},
        first=True,
    ),
    _work("scan-merge-again", "Aggregate all columns, 6 runs a bucket, again", AGGREGATE, _runs, {SAME_FILES: 1.2}),
    _work("scan-merge-narrow", "Aggregate one column, 6 runs a bucket, again", NARROW, _runs, {}),
    _work("filter-merge", "Filter 1 % by value, 6 runs a bucket, again", FILTER, _runs, {PLAIN: 1.3}),
    _work("filter-merge-key", "Filter 1 % by key, 6 runs a bucket, again", FILTER_KEY, _runs, {PLAIN: 1.3}),
    _work("scan-compacted", "Aggregate all columns, compacted", AGGREGATE, _compacted, {PLAIN: 1.1}),
    _work("filter-compacted", "Filter 1 % by value, compacted", FILTER, _compacted, {PLAIN: 1.1}),
]
