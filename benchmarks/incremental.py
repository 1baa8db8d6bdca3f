"""What one changed row costs an incremental table, beside computing its query again: `python -m benchmarks.incremental 200000 2000000`.

`--large 100000` changes so many rows at a time instead, beside the upserts that change them, whose compactions count for both.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

import paimon_nb
from benchmarks.processes import highest
from paimon_nb import incremental
from paimon_nb.incremental.batch import batch_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

GROUPS, CHANGES = 1_000, 7
LARGE_CHANGES = 10
"""So many of them, because some have a compaction."""
QUERIES = {
    "aggregate": "SELECT g, count(*) AS n, sum(x) AS s FROM facts GROUP BY g",
    "minimum": "SELECT g, min(x) AS low FROM facts GROUP BY g",
    "join": "SELECT f.id, f.x, d.name FROM facts AS f JOIN dimension AS d ON f.g = d.k",
    "top 3": "SELECT id, g, x FROM (SELECT id, g, x, row_number() OVER (PARTITION BY g ORDER BY x DESC, id) AS r FROM facts) WHERE r <= 3",
}
TARGETS = {
    "aggregate": "g INT, n BIGINT, s BIGINT, PRIMARY KEY (g) NOT ENFORCED",
    "minimum": "g INT, low BIGINT, PRIMARY KEY (g) NOT ENFORCED",
    "join": "id BIGINT, x BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED",
    "top 3": "id BIGINT, g INT, x BIGINT, PRIMARY KEY (id) NOT ENFORCED",
}


@dataclass(frozen=True)
class Cost:
    """CPU seconds and megabytes."""

    query: str
    rows: int
    build_s: float
    change_s: float
    again_s: float
    memory_mb: float
    """What the changes add to the highest memory of the process."""

    def line(self) -> str:
        times = f"{self.again_s / self.change_s:>6.0f}x" if self.change_s else ""
        return (
            f"{self.query:<10}{self.rows:>12,}{self.build_s:>10.2f}{self.change_s * 1000:>12.0f}{self.again_s * 1000:>14.0f}"
            f"{times:>9}{self.memory_mb:>10.0f}"
        )


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", nargs="*", type=int, default=[200_000, 2_000_000])
    parser.add_argument("--large", type=int, help="rows of one change")
    arguments = parser.parse_args()
    if arguments.large:
        print("query             rows     changed  upsert ms  refresh ms   records/s of an upsert   (CPU; the mean)")
        for rows in arguments.rows:
            for line in measure_large(rows, arguments.large):
                print(line, flush=True)
        return 0
    print(
        "query             rows   build s  change ms  recompute ms            memory MB   (CPU; changes: the median of some)"
    )
    for rows in arguments.rows:
        for cost in measure(rows):
            print(cost.line(), flush=True)
    return 0


def measure(rows: int) -> list[Cost]:
    """The costs of all queries over tables of one size."""
    with tempfile.TemporaryDirectory(prefix="paimon-nb-incremental-") as folder:
        workbench = paimon_nb.connect(folder)
        _create_tables(workbench, rows)
        costs = []
        for number, (name, text) in enumerate(QUERIES.items()):
            workbench.run(f"CREATE TABLE t{number} ({TARGETS[name]}) WITH ('bucket' = '1')")
            costs.append(_measure(workbench, name, text, f"t{number}", rows))
        return costs


def measure_large(rows: int, changed: int) -> Iterator[str]:
    """A line for each query: changes of many rows, beside the upserts of the same rows."""
    with tempfile.TemporaryDirectory(prefix="paimon-nb-incremental-") as folder:
        workbench = paimon_nb.connect(folder)
        _create_tables(workbench, rows)
        random = np.random.default_rng(2)
        for number, name in enumerate(("aggregate", "join")):
            workbench.run(f"CREATE TABLE t{number} ({TARGETS[name]}) WITH ('bucket' = '1')")
            plan = incremental.analyse(workbench.session, QUERIES[name])
            plan.refresh(f"t{number}")
            upserts, refreshes = 0.0, 0.0
            for _ in range(LARGE_CHANGES):
                ids = random.choice(rows, changed, replace=False).astype(np.int64)
                groups = random.integers(0, GROUPS, changed).astype(np.int32)
                some = pa.table({"id": ids, "g": groups, "x": random.integers(0, 1 << 30, changed)})
                upserts += cpu_seconds(lambda some=some: workbench.table("facts").append(some))
                refreshes += cpu_seconds(lambda plan=plan, to=f"t{number}": plan.refresh(to))
            upsert, refresh = (1000 * t / LARGE_CHANGES for t in (upserts, refreshes))
            yield f"{name:<10}{rows:>12,}{changed:>12,}{upsert:>11.0f}{refresh:>12.0f}{upsert / refresh:>24.2f}x"


def _create_tables(workbench: paimon_nb.Workbench, rows: int) -> None:
    random = np.random.default_rng(1)
    ids = np.arange(rows, dtype=np.int64)
    facts = {"id": ids, "g": random.integers(0, GROUPS, rows).astype(np.int32), "x": random.integers(0, 1 << 30, rows)}
    options = {"bucket": "1"}
    workbench.create_table("facts", pa.table(facts), primary_key="id", options=options).compact()
    names = pa.table({"k": np.arange(GROUPS, dtype=np.int32), "name": [f"n{i}" for i in range(GROUPS)]})
    workbench.create_table("dimension", names, primary_key="k", options=options)


def _measure(workbench: paimon_nb.Workbench, name: str, text: str, target: str, rows: int) -> Cost:
    def refresh() -> None:
        incremental.analyse(workbench.session, text).refresh(target)

    build = cpu_seconds(refresh)
    _change(workbench, rows, 0)
    refresh()
    before = highest()
    costs: list[float] = []
    for number in range(1, CHANGES):
        _change(workbench, rows, number)
        costs.append(cpu_seconds(refresh))
    memory = highest() - before
    again = cpu_seconds(lambda: batch_rows(incremental.analyse(workbench.session, text)))
    return Cost(name, rows, build, statistics.median(costs), again, memory / 1e6)


def _change(workbench: paimon_nb.Workbench, rows: int, number: int) -> None:
    """Change one row."""
    key = number * (rows // CHANGES) + 3
    row = {"id": pa.array([key], pa.int64()), "g": pa.array([number], pa.int32()), "x": pa.array([number], pa.int64())}
    workbench.table("facts").append(pa.table(row))


def cpu_seconds(work: Callable[[], object]) -> float:
    """CPU time of this process."""
    before = time.process_time()
    work()
    return time.process_time() - before


if __name__ == "__main__":
    raise SystemExit(main())
