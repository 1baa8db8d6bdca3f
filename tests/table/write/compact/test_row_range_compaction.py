"""Compaction of data-evolution tables: fewer files, the same rows with the same row ids."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import CommitConflict, UnsupportedOperation
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.write.compact import compact, materialize_deletion_vectors

OPTIONS = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true'"
FILES, ROWS = 5, 10


def batch(first: int, **columns: list) -> pa.Table:
    ids = range(first, first + ROWS)
    plain = {"id": pa.array(ids, pa.int32()), "b": pa.array(ids, pa.int32()), "c": [f"c{i}" for i in ids]}
    return pa.table(plain | columns)


@pytest.fixture
def wb(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (id INT, b INT, c STRING) WITH ({OPTIONS})")
    for n in range(FILES):
        wb.table("t").append(batch(n * ROWS))
    return wb


def rows(wb, *columns: str) -> list[dict]:
    names = [*(columns or wb.table("t").schema.names), "_ROW_ID"]
    return sorted(wb.table("t").to_arrow(names).to_pylist(), key=lambda r: r["_ROW_ID"])


def files(wb) -> list[tuple]:
    plan = wb.table("t").scan().plan
    return sorted((f.first_row_id, f.row_count, f.min_sequence, f.max_sequence) for f in plan.files)


def test_the_newest_values_are_in_one_file_and_keep_their_ids(wb):
    wb.table("t").update({"c": "new"}, where="id = 12")
    wb.table("t").delete("id IN (3, 44)")
    wb.table("t").update({"b": 700}, where="id IN (13, 44)")
    before = rows(wb)
    assert len(before) == FILES * ROWS - 2
    wb.run("CALL sys.compact('t')")
    assert rows(wb) == before
    assert files(wb) == [(0, FILES * ROWS, 1, 8)]
    assert wb.table("t").snapshots().to_pylist()[-1]["commit_kind"] == "COMPACT"
    wb.table("t").append(batch(100))
    assert [r["_ROW_ID"] for r in rows(wb) if r["id"] == 100] == [FILES * ROWS]
    wb.table("t").update({"c": "newer"}, where="id = 12")
    wb.table("t").delete("id = 13")
    assert [r for r in rows(wb) if r["id"] in (12, 13)] == [{"id": 12, "b": 12, "c": "newer", "_ROW_ID": 12}]


def test_a_few_files_stay(wb):
    wb.run("ALTER TABLE t SET ('compaction.min.file-num' = '6')")
    before = files(wb)
    assert wb.run("CALL sys.compact('t')").notes == ["nothing to compact in default.t"]
    wb.run(
        "ALTER TABLE t SET ('compaction.min.file-num' = '3', 'target-file-size' = '8 mb')"
    )  # an open file costs 4 mb
    wb.run("CALL sys.compact('t')")
    assert (len(before), [f[:2] for f in files(wb)]) == (5, [(0, 30), (30, 10), (40, 10)])


def test_files_of_one_range_are_merged_whatever_lies_between(tmp_path):
    """Row ids of two partitions alternate, so that only files of the same rows can become one."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        f"CREATE TABLE t (id INT, b INT, c STRING, p INT) PARTITIONED BY (p) WITH ({OPTIONS}, 'compaction.min.file-num' = '3')"
    )
    for n in range(4):
        wb.table("t").append(batch(n * ROWS, p=pa.array([n % 2] * ROWS, pa.int32())))
    wb.table("t").update({"c": "new"}, where="id = 12")
    wb.table("t").update({"b": 7}, where="id = 12")
    before = rows(wb)
    wb.run("CALL sys.compact('t')")
    assert rows(wb) == before
    assert [f[:2] for f in files(wb)] == [(0, 10), (10, 10), (20, 10), (30, 10)]


def test_a_column_that_was_added_later_is_null(wb):
    wb.run("ALTER TABLE t ADD COLUMN d INT; ALTER TABLE t DROP COLUMN b; ALTER TABLE t RENAME COLUMN c TO e")
    before = rows(wb)
    wb.run("CALL sys.compact('t')")
    assert (rows(wb), len(files(wb))) == (before, 1)
    assert before[7] == {"id": 7, "e": "c7", "d": None, "_ROW_ID": 7}


def test_files_of_large_columns_stay(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"""CREATE TABLE t (id INT, b INT, c STRING, x BYTES COMMENT '__BLOB_FIELD', v VECTOR<FLOAT, 2>)
               WITH ({OPTIONS}, 'blob.target-file-size' = '20 b', 'vector.file.format' = 'parquet')""")
    for n in range(FILES):
        large = {
            "x": pa.array([b"x" * i for i in range(ROWS)], pa.binary()),
            "v": pa.array([[i, n] for i in range(ROWS)], pa.list_(pa.float32(), 2)),
        }
        wb.table("t").append(batch(n * ROWS, **large))
    wb.table("t").delete("id = 21")
    wb.table("t").update({"x": b"new", "b": 7}, where="id = 12")

    def large() -> set[str]:
        return {
            f.file_name
            for f in wb.table("t").scan().plan.files
            if ".vector." in f.file_name or f.file_name.endswith(".blob")
        }

    before, dedicated = rows(wb), large()
    wb.run("CALL sys.compact('t')")
    assert (rows(wb), large()) == (before, dedicated)
    normal = [f for f in wb.table("t").scan().plan.files if f.file_name not in dedicated]
    assert [(f.row_count, f.write_cols) for f in normal] == [(FILES * ROWS, ("id", "b", "c"))]
    wb.run("CALL sys.materialize_deletion_vectors('t')")
    assert [r | {"_ROW_ID": 0} for r in rows(wb)] == [r | {"_ROW_ID": 0} for r in before]
    assert not large() & dedicated


def test_an_index_finds_the_same_rows(wb):
    wb.run("CALL sys.create_global_index('t', 'b', 'btree')")
    wb.table("t").update({"c": "new"}, where="id = 12")
    wb.run("CALL sys.compact('t')")
    plan = wb.table("t").scan("b = 12").plan
    assert (plan.skipped.stages[-1].remaining, plan.files[0].write_cols_sequences) == (1, (5, 5, 7))
    assert wb.table("t").to_arrow(where="b = 12").to_pylist() == [{"id": 12, "b": 12, "c": "new"}]
    assert len(index_entries(wb.table("t").store, wb.table("t").store.latest())) == 1


@pytest.mark.parametrize("change", ["update", "delete"])
def test_another_writer_changes_the_rows_meanwhile(wb, change):
    messages = compact(wb.table("t").store)
    if change == "update":
        wb.table("t").update({"c": "new"}, where="id = 12")
    else:
        wb.table("t").delete("id = 12")
    with pytest.raises(CommitConflict):
        wb.table("t").commit().commit(messages)
    assert [r["c"] for r in rows(wb) if r["id"] == 12] == (["new"] if change == "update" else [])


def test_rows_are_not_sorted(wb):
    with pytest.raises(UnsupportedOperation, match="cannot be sorted"):
        wb.run("CALL sys.compact(`table` => 't', order_strategy => 'order', order_by => 'b')")


def test_deleted_rows_are_removed_and_the_others_of_their_files_get_new_ids(wb):
    wb.run("CALL sys.create_global_index('t', 'b', 'btree')")
    wb.table("t").update({"c": "new"}, where="id = 12")
    wb.table("t").delete("id IN (13, 44)")
    before = {r.pop("_ROW_ID"): r for r in rows(wb)}
    wb.run("CALL sys.materialize_deletion_vectors('t')")
    after = {r.pop("_ROW_ID"): r for r in rows(wb)}
    assert sorted(map(str, after.values())) == sorted(map(str, before.values()))
    assert sorted(after) == [*range(10), *range(20, 40), *range(50, 68)]
    assert index_entries(wb.table("t").store, wb.table("t").store.latest()) == []
    assert [f.row_count for f in wb.table("t").scan().plan.files] == [10, 10, 10, 18]
    notes = wb.run("CALL sys.materialize_deletion_vectors('t')").notes
    assert notes == ["no row of default.t is marked as deleted"]


@pytest.mark.parametrize("change", ["update", "delete"])
def test_another_writer_changes_rows_that_are_written_again(wb, change):
    wb.table("t").delete("id = 13")
    messages = materialize_deletion_vectors(wb.table("t").store)
    if change == "update":
        wb.table("t").update({"c": "new"}, where="id = 12")
    else:
        wb.table("t").delete("id = 12")
    with pytest.raises(CommitConflict):
        wb.table("t").commit().commit(messages)
    assert [r["c"] for r in rows(wb) if r["id"] == 12] == (["new"] if change == "update" else [])


def test_only_tables_with_data_evolution_and_vectors_have_them_materialized(wb):
    wb.run("CREATE TABLE plain (id INT)")
    with pytest.raises(UnsupportedOperation, match="only tables with data evolution"):
        wb.run("CALL sys.materialize_deletion_vectors('plain')")
