"""New values of columns beside the rows: by row id, by a function, and backfills that continue where they ended."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import ColumnNotFound, CommitConflict, SchemaMismatch, UnsupportedOperation

EVOLVES = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true'"


@pytest.fixture
def t(tmp_path):
    """Ids 0 to 9 in two files and partitions; the rows 3 and 7 are deleted."""
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t (id INT, n INT, s STRING, p STRING) PARTITIONED BY (p) WITH ({EVOLVES})")
    t = wb.table("t")
    for ids in (range(6), range(6, 10)):
        t.append(pa.table({"id": pa.array(ids, pa.int32()), "n": pa.array(ids, pa.int32()), "s": [f"s{i}" for i in ids],
                           "p": ["x"] * len(ids)}))  # fmt: skip
    t.delete(where="id = 3 OR id = 7")
    return t


def values(t, column, **how):
    return {r["id"]: r[column] for r in t.to_arrow(["id", column], **how).to_pylist()}


def ids_of(t):
    rows = t.system("row_tracking").to_pylist()
    return {r["id"]: r["_ROW_ID"] for r in rows}


def test_new_values_by_row_id(t):
    ids = ids_of(t)
    rows = pa.table({"_ROW_ID": [ids[8], ids[0], ids[5]], "n": [80, 100, None], "S": ["eight", None, "five"]})
    assert len(t.update_by_row_id(rows)) == 1
    assert values(t, "n") == {0: 100, 1: 1, 2: 2, 4: 4, 5: None, 6: 6, 8: 80, 9: 9}
    assert values(t, "s")[8] == "eight"
    assert values(t, "s")[0] is None
    assert ids_of(t) == ids
    assert values(t, "n", snapshot=2)[8] == 8


def test_a_deleted_row_stays_deleted(t):
    t.update_by_row_id(pa.table({"_ROW_ID": [3, 4], "n": [33, 44]}))
    assert values(t, "n") == {0: 0, 1: 1, 2: 2, 4: 44, 5: 5, 6: 6, 8: 8, 9: 9}


@pytest.mark.parametrize(
    ("rows", "error", "why"),
    [
        ({"_ROW_ID": [1, 1], "n": [1, 2]}, SchemaMismatch, "twice"),
        ({"_ROW_ID": [1, 99], "n": [1, 2]}, SchemaMismatch, "1 of 2 values"),
        ({"_ROW_ID": [1, None], "n": [1, 2]}, SchemaMismatch, "1 NULLs"),
        ({"_ROW_ID": [1], "n": ["a"]}, SchemaMismatch, "column 'n'"),
        ({"_ROW_ID": [1], "m": [1]}, ColumnNotFound, "'m'"),
        ({"_ROW_ID": [1]}, SchemaMismatch, "at least one column"),
        ({"n": [1]}, SchemaMismatch, "need _ROW_ID"),
        ({"_ROW_ID": [1], "p": ["y"]}, UnsupportedOperation, "partition column"),
    ],
)
def test_rows_that_cannot_be_updated(t, rows, error, why):
    before = t.latest_snapshot().id
    with pytest.raises(error, match=why):
        t.update_by_row_id(pa.table(rows))
    assert t.refresh().latest_snapshot().id == before


def test_other_tables_are_refused(tmp_path):
    t = paimon_nb.connect(str(tmp_path / "w")).create_table("plain", pa.table({"id": [1]}))
    with pytest.raises(UnsupportedOperation, match=r"data-evolution\.enabled"):
        t.update_by_row_id(pa.table({"_ROW_ID": [0], "id": [2]}))
    with pytest.raises(UnsupportedOperation, match=r"data-evolution\.enabled"):
        t.backfill({"id": lambda rows: rows["id"]}, ["id"])


def test_a_function_of_the_matching_rows(t):
    t.update(
        {"n": lambda rows: [len(s) + i for s, i in zip(rows["s"].to_pylist(), rows["id"].to_pylist(), strict=True)]},
        where="id > 5",
    )
    assert values(t, "n") == {0: 0, 1: 1, 2: 2, 4: 4, 5: 5, 6: 8, 8: 10, 9: 11}
    with pytest.raises(SchemaMismatch, match="1 values for 5 rows"):
        t.update({"n": lambda _: [1]}, where="id < 6")


def test_a_backfill_goes_file_by_file_and_continues(t):
    t = t.add_column("v", "VECTOR<FLOAT, 2>").add_column("m", "INT")
    t.append(
        pa.table({"id": pa.array([20], pa.int32()), "v": [[5.0, 5.0]], "m": pa.array([7], pa.int32()), "p": ["y"]})
    )
    seen, steps = [], []

    def vector(rows):
        assert rows.column_names == ["id", "s"]
        seen.append(rows["id"].to_pylist())
        if len(seen) == 2:
            raise RuntimeError("the model is gone")
        ids = rows["id"].to_numpy()
        return np.stack([ids, -ids], axis=1).astype("float32")

    def backfill():
        m = lambda rows: rows["id"]  # noqa: E731
        return t.backfill({"v": vector, "m": m}, ["id", "s"], rows_per_commit=1, progress=lambda *s: steps.append(s))

    with pytest.raises(RuntimeError, match="the model is gone"):
        backfill()
    assert (seen, steps) == ([[0, 1, 2, 4, 5], [6, 8, 9]], [(6, 10)])
    assert len(backfill()) == 1
    assert (seen[2:], steps[1:]) == ([[6, 8, 9]], [(4, 4)])
    assert backfill() == []
    expected = {i: [i, -i] for i in (0, 1, 2, 4, 5, 6, 8, 9)} | {20: [5.0, 5.0]}
    assert values(t, "v") == expected
    assert values(t, "m") == {i: i for i in expected} | {20: 7}
    assert len(t.backfill({"m": lambda rows: [0] * len(rows)}, ["id"], overwrite=True)) == 1
    assert set(values(t, "m").values()) == {0}


def test_columns_that_changed_meanwhile_are_a_conflict_and_others_are_not(t):
    t = t.add_column("m", "INT")

    def late(column):
        def value(rows):
            t.update({column: 5}, where="id = 1")
            return rows["id"]

        return value

    for column, read in (("m", ["id"]), ("n", ["id", "n"])):
        with pytest.raises(CommitConflict):
            t.backfill({"m": late(column)}, read, overwrite=True)
        assert set(values(t.refresh(), "m").values()) == {None, 5}
    t.refresh().backfill({"m": late("n")}, ["id"], overwrite=True)
    assert values(t.refresh(), "m") == {i: i for i in values(t.refresh(), "m")}
    assert values(t.refresh(), "n")[1] == 5
