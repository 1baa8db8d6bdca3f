"""The change of an input between two snapshots: exact for each kind of table and commit, and read from what was written."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest
from incremental_kit import change as run

from paimon_nb.incremental.deltas import change_between
from paimon_nb.incremental.operators import WEIGHT

if TYPE_CHECKING:
    import paimon_nb
    from paimon_nb.table.tables.table import Table

KEYED = "CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1'{})"
APPENDED = "CREATE TABLE t (k INT, v INT) WITH ('bucket' = '-1'{})"
FIRST = "INSERT INTO t VALUES (1, 1), (2, 2), (3, 3); INSERT INTO t VALUES (4, 4), (5, 5)"


def state(table: Table, snapshot: int) -> Counter[tuple[object, ...]]:
    return Counter((r["k"], r["v"]) for r in table.to_arrow(snapshot=snapshot).to_pylist())


def change(table: Table, start: int, end: int) -> tuple[Counter[tuple[object, ...]], int]:
    """The change with equal rows added up, and the number of rows that were read for it."""
    first, last = (table.store.snapshots.get(i) for i in (start, end))
    rows = change_between(table, first, last, ["k", "v"]).to_pylist()
    total: Counter[tuple[object, ...]] = Counter()
    for row in rows:
        total[row["k"], row["v"]] += row[WEIGHT]
    return Counter({k: n for k, n in total.items() if n}), len(rows)


@pytest.mark.parametrize(
    ("create", "statement", "most_rows"),
    [
        (KEYED.format(""), "INSERT INTO t VALUES (1, 10), (9, 9)", 3),
        (KEYED.format(""), "DELETE FROM t WHERE k = 2", 1),
        (KEYED.format(""), "UPDATE t SET v = 7 WHERE k > 3", 4),
        (KEYED.format(""), "CALL sys.compact(`table` => 'default.t')", 0),
        (KEYED.format(""), "INSERT INTO t VALUES (1, 1)", 2),
        (KEYED.format(""), "INSERT OVERWRITE t VALUES (1, 1), (8, 8)", 12),
        (KEYED.format(", 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'"), "INSERT INTO t VALUES (1, 10)", 2),
        (KEYED.format(", 'merge-engine' = 'first-row', 'changelog-producer' = 'lookup'"), "INSERT INTO t VALUES (1, 10), (9, 9)", 99),
        (KEYED.format(", 'deletion-vectors.enabled' = 'true'"), "INSERT INTO t VALUES (1, 10), (9, 9)", 99),
        (APPENDED.format(""), "INSERT INTO t VALUES (1, 1)", 1),
        (APPENDED.format(""), "DELETE FROM t WHERE k = 4", 3),
        (APPENDED.format(", 'deletion-vectors.enabled' = 'true'"), "DELETE FROM t WHERE k = 4", 3),
        (APPENDED.format(""), "INSERT OVERWRITE t VALUES (1, 1)", 6),
        (APPENDED.format(""), "CALL sys.compact(`table` => 'default.t')", 0),
        (APPENDED.format(""), "TRUNCATE TABLE t", 5),
    ],
)  # fmt: skip
def test_the_change_of_a_statement(wb: paimon_nb.Workbench, create: str, statement: str, most_rows: int) -> None:
    wb.run(f"{create}; {FIRST}")
    table = wb.table("t")
    before = table.latest_snapshot().id
    run(wb, statement)
    after = table.latest_snapshot().id
    expected = state(table, after)
    expected.subtract(state(table, before))
    found, rows = change(table, before, after)
    assert found == Counter({k: n for k, n in expected.items() if n})
    assert rows <= most_rows
