"""DuckDB over plain Parquet files: what a quick engine without Spark needs that merges nothing. A limit, not a peer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.harness import Contender

if TYPE_CHECKING:
    from collections.abc import Callable

DUCKDB = "DuckDB over the Parquet files"


def contender(query: str, files: list[str], *, arrow: bool = False, check: Callable[[Any], Any] = str) -> Contender:
    """`query`, whose `{}` is what it reads, answered as tuples as Spark's `collect` gives them, or as an Arrow table."""
    import duckdb

    listed = ", ".join(f"'{f}'" for f in files)
    text = query.format(f"read_parquet([{listed}])")

    def run() -> Any:
        with duckdb.connect() as connection:
            answer = connection.sql(text)
            return answer.to_arrow_table() if arrow else answer.fetchall()

    return Contender(DUCKDB, run, check=check)
