"""Data evolution with deletion vectors: a vector belongs to all files of the same rows, whichever columns they hold."""

import pytest
from golden_tables import golden_table

from paimon_nb.table.read import read_plan

ROWS = [(0, 100, "c0"), (3, 3, "x"), (4, 4, "c4"), (5, 5, "c5"), (6, 6, "c6"), (8, 8, "c8")]
"""What pypaimon 2.1.0 and pypaimon-rust 0.4.0 read."""


@pytest.fixture
def t(tmp_path):
    return golden_table(tmp_path, "pypaimon-2.1", "evolved_deleted")


def read(t, **how):
    return sorted(tuple(r.values()) for r in t.to_arrow(**how).to_pylist())


def test_deleted_rows_stay_deleted_in_every_column(t):
    assert read(t) == ROWS
    for column, values in zip(("id", "b", "c"), zip(*ROWS, strict=True), strict=True):
        assert read(t, columns=[column]) == sorted((v,) for v in values)
    assert read(t, columns=[]) == [()] * 6


def test_conditions_see_the_newest_values_of_rows_that_are_there(t):
    for where, found in {
        "b = 101": [],
        "b = 100": [0],
        "c = 'x'": [3],
        "id IN (2, 7, 8)": [8],
        "b > 4 OR c = 'c0'": [0, 5, 6, 8],
    }.items():
        assert read(t, columns=["id"], where=where) == [(i,) for i in found], where


def test_ids_of_rows_that_are_there(t):
    told = t.system("row_tracking").select(["id", "_ROW_ID", "_SEQUENCE_NUMBER"]).to_pylist()
    assert sorted(r["_ROW_ID"] for r in told) == [0, 3, 4, 5, 6, 8]
    assert all(r["id"] == r["_ROW_ID"] for r in told)


def test_earlier_snapshots_have_their_own_vectors(t):
    counts = [t.to_arrow(snapshot=s).num_rows for s in range(1, 8)]
    assert counts == [6, 10, 9, 9, 7, 7, 6]


def test_split_by_split(t):
    plan = t.scan().plan
    parts = [read_plan(type(plan)(plan.store, plan.snapshot, (s,), plan.skipped)) for s in plan.splits]
    assert sum(p.num_rows for p in parts) == 6
