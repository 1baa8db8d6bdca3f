"""Partitions that `scan.partitions` selects by their order, in batch reads."""

from __future__ import annotations

import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue

SELECTED = {
    "max_pt()": [5, 6, 7],
    "max_two_pt()": [2, 3, 4, 5, 6, 7],
    "dt=max_pt()": [5, 6, 7],
    "dt=max_pt(),hh=max_pt()": [7],
    "dt=2": [4],  # hh is NULL: it is left out
    "dt=2,hh=1;dt=3,hh=2": [2, 7],
}
"""Text -> the ids of its rows."""


@pytest.fixture
def wb(tmp_path):
    found = paimon_nb.connect(str(tmp_path / "w"))
    found.run("""CREATE TABLE t (id INT, dt STRING, hh INT) PARTITIONED BY (dt, hh);
        INSERT INTO t VALUES (1, '1', 9), (2, '2', 1), (3, '2', 2), (4, '2', CAST(NULL AS INT)), (5, '3', 1), (6, '3', 1), (7, '3', 2)""")
    return found


@pytest.mark.parametrize("text", SELECTED)
def test_the_greatest_partitions_and_those_named(wb, text):
    hint = f"SELECT id FROM t /*+ OPTIONS('scan.partitions' = '{text}') */"
    found = {
        "SQL": wb.run(hint).to_arrow(),
        "Python": wb.table("t").to_arrow(["id"], options={"scan.partitions": text}),
        "audit log": wb.run(hint.replace("FROM t", "FROM `t$audit_log`")).to_arrow(),
    }
    assert {way: sorted(rows["id"].to_pylist()) for way, rows in found.items()} == dict.fromkeys(found, SELECTED[text])


def test_rows_of_a_new_partition_are_the_greatest(wb):
    hint = "SELECT id FROM t /*+ OPTIONS('scan.partitions' = 'max_pt()') */"
    before = wb.run(hint).to_arrow()["id"].to_pylist()
    wb.run("INSERT INTO t VALUES (8, '4', 1)")
    assert (before, wb.run(hint).to_arrow()["id"].to_pylist()) == ([5, 6, 7], [8])


def test_an_empty_table_and_one_without_partitions(wb):
    wb.run("CREATE TABLE e (id INT, dt STRING) PARTITIONED BY (dt); CREATE TABLE n (id INT)")
    assert wb.run("SELECT * FROM e /*+ OPTIONS('scan.partitions' = 'max_pt()') */").to_arrow().num_rows == 0
    with pytest.raises(BadOptionValue, match="no partitions"):
        wb.table("n").copy({"scan.partitions": "max_pt()"}).to_arrow()
