"""What SQL and names add to the calls of an open table: INSERT ... VALUES of ten rows, and lookups by the table's name."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING, Any

from benchmarks import data
from benchmarks.data import checksum
from benchmarks.harness import OURS, Contender, Timed, Work
from benchmarks.stage import WRITE_ONLY, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

COMMITS, LAST = 60, 20
"""How many in a row, and of how many at their end the median is taken."""
LOOKUPS = 60
APPEND, HANDLE = "append of the same rows", "lookup on one handle"


def inserts(stage: Stage) -> Iterator[Contender]:
    few = [data.few(n) for n in range(COMMITS)]
    values = [", ".join(map(_row, rows.to_pylist())) for rows in few]

    def sql() -> Timed:
        name = stage.create(WRITE_ONLY)
        texts = [f"INSERT INTO {name} VALUES {v}" for v in values]
        return Timed(_last([lambda text=text: stage.workbench.sql(text) for text in texts]), name)

    def append() -> Timed:
        name = stage.create(WRITE_ONLY)
        table = stage.table(name)
        return Timed(_last([lambda rows=rows: table.append(rows) for rows in few]), name)

    def stored(name: str) -> dict[str, Any]:
        rows: pa.Table = stage.table(name).to_arrow()
        return checksum(rows)

    yield Contender(OURS, sql, check=stored)
    yield Contender(APPEND, append, check=stored)


def lookups(stage: Stage) -> Iterator[Contender]:
    name = stage.with_runs
    keys = [n * (stage.rows // LOOKUPS) for n in range(LOOKUPS)]
    table = stage.table(name)

    def by_name() -> Timed:
        return Timed(_last([lambda key=key: stage.table(name).lookup(k=key) for key in keys]), None)

    def by_handle() -> Timed:
        return Timed(_last([lambda key=key: table.lookup(k=key) for key in keys]), None)

    yield Contender(OURS, by_name, check=None)
    yield Contender(HANDLE, by_handle, check=None)


def _last(calls: list[Callable[[], object]]) -> float:
    """The median seconds of the last calls."""
    took = []
    for call in calls:
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return statistics.median(took[-LAST:])


def _row(row: dict[str, Any]) -> str:
    return (
        f"({row['k']}, {row['i']}, {row['d']!r}, {row['m']}, '{row['s']}', TIMESTAMP '{row['t']}', DATE '{row['dt']}')"
    )


WORKS = [
    Work("insert-values", "INSERT ... VALUES of 10 rows, the 60th in a row", inserts, {APPEND: 1.6}),
    Work("lookup-by-name", "Point lookup, the table opened by name each time", lookups, {HANDLE: 1.2}),
]
