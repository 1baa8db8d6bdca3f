"""H2O's ten group-by questions on generated rows: `python -m benchmarks.h2o --rows 1000000`. Ours without a JVM, plain Spark and DuckDB.

`rows_of` draws each column by itself, as the benchmark's generator does: three texts and three numbers as keys, of which the small ones have K kinds and the
large ones rows / K, two small integers and a fraction as values.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.query_suite import Suite, run

if TYPE_CHECKING:
    from pathlib import Path

_SEED, _KINDS = 108, 100


def _files(directory: Path, rows: int) -> dict[str, Path]:
    pq.write_table(rows_of(rows), directory / "x.parquet")
    return {"x": directory / "x.parquet"}


def rows_of(rows: int) -> pa.Table:
    """The rows of the questions, with 100 small groups."""
    random = np.random.default_rng(_SEED)
    many = max(rows // _KINDS, 1)

    def texts(kinds: int) -> pa.Array:
        names = pa.array([f"id{n:0{len(str(kinds))}d}" for n in range(1, kinds + 1)])
        return names.take(pa.array(random.integers(0, kinds, rows)))

    def numbers(kinds: int) -> pa.Array:
        return pa.array(random.integers(1, kinds + 1, rows), pa.int32())

    return pa.table(
        {
            "id1": texts(_KINDS), "id2": texts(_KINDS), "id3": texts(many), "id4": numbers(_KINDS), "id5": numbers(_KINDS), "id6": numbers(many),
            "v1": numbers(5), "v2": numbers(15), "v3": pa.array(np.round(random.random(rows) * 100, 6)),
        }
    )  # fmt: skip


_TEXTS = (
    "SELECT id1, sum(v1) AS v1 FROM x GROUP BY id1",
    "SELECT id1, id2, sum(v1) AS v1 FROM x GROUP BY id1, id2",
    "SELECT id3, sum(v1) AS v1, avg(v3) AS v3 FROM x GROUP BY id3",
    "SELECT id4, avg(v1) AS v1, avg(v2) AS v2, avg(v3) AS v3 FROM x GROUP BY id4",
    "SELECT id6, sum(v1) AS v1, sum(v2) AS v2, sum(v3) AS v3 FROM x GROUP BY id6",
    "SELECT id4, id5, median(v3) AS middle, stddev(v3) AS deviation FROM x GROUP BY id4, id5",
    "SELECT id3, max(v1) - min(v2) AS span FROM x GROUP BY id3",
    """SELECT id6, v3 AS largest FROM (SELECT id6, v3, row_number() OVER (PARTITION BY id6 ORDER BY v3 DESC) AS place FROM x WHERE v3 IS NOT NULL) AS y
        WHERE place <= 2""",
    "SELECT id2, id4, corr(v1, v2) * corr(v1, v2) AS r2 FROM x GROUP BY id2, id4",
    "SELECT count(*) AS groups, sum(n) AS n, sum(v3) AS v3 FROM (SELECT id1, id2, id3, id4, id5, id6, sum(v3) AS v3, count(*) AS n FROM x "
    "GROUP BY id1, id2, id3, id4, id5, id6) AS g",
)
QUERIES = dict(enumerate(_TEXTS, 1))
"""The questions in their order. The groups of the tenth, one for nearly each row, are counted instead of shown."""

SUITE = Suite(
    "h2o", "H2O's group-by questions beside Spark and DuckDB.", "rows", 1_000_000, "rows", _files, QUERIES,
    lambda rows: f"H2O's group-by questions, {rows:,} rows", lambda rows: f"h2o-{rows}.md", digits=9,
)  # fmt: skip


if __name__ == "__main__":
    sys.exit(run(SUITE))
