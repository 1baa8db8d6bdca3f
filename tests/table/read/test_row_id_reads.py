"""`_ROW_ID` in `to_arrow`: as a column and in conditions, of rows that were rewritten, deleted or got new values beside them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import ColumnNotFound

KINDS = {
    "tracked": "'row-tracking.enabled' = 'true'",
    "evolving": "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true'",
}


@pytest.fixture(params=KINDS)
def t(request, tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t (id INT, s STRING) WITH ({KINDS[request.param]})")
    t = wb.table("t")
    for ids in (range(4), range(4, 8)):
        t.append(pa.table({"id": pa.array(ids, pa.int32()), "s": [f"s{i}" for i in ids]}))
    t.delete(where="id = 2")
    t.update({"s": "new"}, where="id = 1")
    return t


def test_conditions_on_row_ids(t):
    rows = t.to_arrow(["_row_id", "id"]).to_pylist()
    assert sorted((r["_ROW_ID"], r["id"]) for r in rows) == [(i, i) for i in (0, 1, 3, 4, 5, 6, 7)]
    asked = {
        "_ROW_ID = 5": [5], "_ROW_ID BETWEEN 1 AND 4": [1, 3, 4], "_ROW_ID IN (2, 3, 99)": [3], "_ROW_ID > 5 AND id < 7": [6],
        "_ROW_ID = 0 OR s = 'new'": [0, 1], "_ROW_ID IS NULL": [], "_ROW_ID < 0": [],
    }  # fmt: skip
    for where, expected in asked.items():
        found = t.to_arrow(where=where)
        assert (found.column_names, sorted(found.column("id").to_pylist())) == (["id", "s"], expected), where
    assert t.to_arrow(["s", "_ROW_ID"], where="_ROW_ID = 1").to_pylist() == [{"s": "new", "_ROW_ID": 1}]
    assert t.to_arrow(["id"], where="_ROW_ID = 2", snapshot=2).to_pylist() == [{"id": 2}]
    with pytest.raises(ColumnNotFound):
        t.to_arrow(["_ROW_ID", "x"])


def test_files_without_the_row_ids_are_not_read(t):
    t.append(pa.table({"id": pa.array([8], pa.int32()), "s": ["s8"]}))
    newest = max(Path(t.path).rglob("data-*.parquet"), key=lambda f: f.stat().st_mtime_ns)
    newest.unlink()
    assert t.to_arrow(["id"], where="_ROW_ID = 6").to_pylist() == [{"id": 6}]


def test_tables_without_row_tracking_have_no_such_column(tmp_path):
    t = paimon_nb.connect(str(tmp_path / "w")).create_table("plain", pa.table({"id": [1]}))
    with pytest.raises(ColumnNotFound):
        t.to_arrow(["_ROW_ID"])
