"""Displayed questions in the shapes of TPC-H's Q1, Q3 and Q6, answered without Spark: with six runs a bucket, compacted, and from process start."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pyarrow as pa

from benchmarks import duck, own_process
from benchmarks.harness import OURS, Contender, Work

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from benchmarks.stage import Stage

SPARK = "paimon_nb through Spark"
RUST = "pypaimon-rust"
_IN_DATAFUSION = {
    "year(dt)": "CAST(date_part('year', dt) AS INT)",
    **{text: f"CAST({text} AS DECIMAL(3, 2))" for text in ("0.95", "1.08", "0.05")},
    "100.00": "CAST(100 AS DECIMAL(5, 2))",
}
"""What pypaimon-rust's SQL spells otherwise; its numbers with a point are DOUBLE."""
PRICING = """SELECT i % 4 AS flag, year(dt) AS y, sum(m) AS price, sum(m * 0.95) AS reduced, sum(m * 0.95 * 1.08) AS charged, avg(i) AS i,
    count(*) AS n FROM {} WHERE dt <= DATE '2030-01-01' GROUP BY i % 4, year(dt) ORDER BY 1, 2"""
JOINED = """SELECT g.name AS name, sum(r.m) AS price FROM {} AS r JOIN {} AS g ON r.i % 1000 = g.number WHERE g.name < 'name 5'
    GROUP BY g.name ORDER BY price DESC, name LIMIT 10"""
REVENUE = "SELECT sum(m * 0.05) AS revenue FROM {} WHERE dt < DATE '2023-12-01' AND i BETWEEN 100000 AND 700000 AND m > 100.00"
SUMS = "SELECT count(*) AS n, sum(i) AS i, max(s) AS s FROM {}"
_FIRST = """
import sys, paimon_nb
wb = paimon_nb.connect(sys.argv[1])
print(wb.run(sys.argv[2]).arrow.num_rows)
assert not wb.session.spark_started
"""
_FIRST_DUCKDB = "import sys, duckdb; print(len(duckdb.sql(sys.argv[1]).fetchall()))"


def _work(slug: str, title: str, query: str, table: Callable[[Stage], str], most: dict[str, float]) -> Work:
    def contenders(stage: Stage) -> Iterator[Contender]:
        name, groups = table(stage), _groups(stage)
        asked = query.format(name, "groups")

        def ours() -> list[tuple[object, ...]]:
            answer = stage.workbench.run(asked).arrow
            assert answer is not None, "answered by Spark"
            return list(zip(*(c.to_pylist() for c in answer.columns), strict=True))

        yield Contender(OURS, ours, check=_numbers)
        yield Contender(SPARK, lambda: [tuple(r) for r in stage.workbench.sql(asked).collect()], check=_numbers)
        yield duck.contender(
            query.replace("{}", "{0}", 1).replace("{}", f"read_parquet('{groups}')"),
            _files(stage, name),
            check=_numbers,
        )
        peer = stage.peer
        if peer is not None:
            theirs = query.format(f"paimon.default.{name}", "paimon.default.groups")
            for text, by in _IN_DATAFUSION.items():
                theirs = theirs.replace(text, by)
            yield Contender(RUST, lambda: peer.ask("question", warehouse=stage.warehouse, text=theirs), check=_numbers)

    return Work(slug, title, contenders, most, rows=1.1)


def _first(stage: Stage, query: str, table: Callable[[Stage], str]) -> Iterator[Contender]:
    """A query in new processes."""
    name = table(stage)
    files = ", ".join(f"'{f}'" for f in _files(stage, name))
    ours, theirs = query.format(name), query.format(f"read_parquet([{files}])")
    yield Contender(OURS, lambda: own_process.run(sys.executable, _FIRST, stage.warehouse, ours), check=int)
    yield Contender(duck.DUCKDB, lambda: own_process.run(sys.executable, _FIRST_DUCKDB, theirs), check=int)


def _numbers(rows: Sequence[Sequence[object]]) -> list[list[object]]:
    """The rows, numbers of all types as floats."""
    return [[v if isinstance(v, str) else round(float(v), 4) for v in row] for row in rows]  # type: ignore[arg-type]


def _files(stage: Stage, name: str) -> list[str]:
    return stage.live_files(name) if name == stage.compacted else [f"{stage.plain}/*.parquet"]


def _groups(stage: Stage) -> str:
    """A table `groups` of a thousand rows; the path of its file."""
    if "groups" not in stage.workbench.tables():
        rows = pa.table({"number": pa.array(range(1000), pa.int32()), "name": [f"name {n}" for n in range(1000)]})
        stage.workbench.create_table("groups", rows)
    return stage.live_files("groups")[0]


WORKS = [
    *(
        _work(f"question-{slug}-{state}", f"{title}, {words}", query, table, most)
        for slug, title, query in (("q1", "Groups", PRICING), ("q3", "Join", JOINED), ("q6", "Filtered sum", REVENUE))
        for state, words, table, most in (
            ("compacted", "compacted", lambda stage: stage.compacted, {duck.DUCKDB: 1.5}),
            ("merge", "6 runs a bucket", lambda stage: stage.with_runs, {RUST: 1.0}),
        )
    ),
    Work(
        "question-first",
        "Groups, compacted, from process start",
        lambda stage: _first(stage, PRICING, lambda s: s.compacted),
        {},
        rows=1.0,
    ),
    Work(
        "question-first-merge",
        "Sums, 6 runs a bucket, from process start",
        lambda stage: _first(stage, SUMS, lambda s: s.with_runs),
        {},
        rows=1.0,
    ),
]
