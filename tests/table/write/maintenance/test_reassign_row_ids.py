"""`reassign_row_id`: partitions whose row ids have gaps get consecutive ones; rows, vectors and indexes go with them."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import CommitConflict, UnsupportedOperation
from paimon_nb.table.write.maintenance import reassign_row_ids

OPTIONS = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true'"


def rows(partition: str | None, *ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "x": [b"blob %d" % i for i in ids], "p": pa.array([partition] * len(ids), pa.string())})  # fmt: skip


@pytest.fixture
def wb(tmp_path):
    """Partition 'b' has the row ids 0, 1, 4, 5; 'a' has 2 and 3; NULL has 6."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (id INT, x BYTES COMMENT '__BLOB_FIELD', p STRING) PARTITIONED BY (p) WITH ({OPTIONS}, 'blob.target-file-size' = '1 b')")  # fmt: skip
    for partition, *ids in (("b", 0, 1), ("a", 2, 3), ("b", 4, 5), (None, 6)):
        wb.table("t").append(rows(partition, *ids))
    return wb


def found(wb) -> dict[int, tuple]:
    """Values by row id."""
    return {r["_ROW_ID"]: (r["id"], r["x"], r["p"]) for r in wb.table("t").to_arrow(["id", "x", "p", "_ROW_ID"]).to_pylist()}  # fmt: skip


def test_ids_of_a_partition_become_consecutive(wb):
    before, rows_before = wb.table("t").to_arrow().sort_by("id"), wb.table("t").latest_snapshot().total_record_count
    result = wb.run("CALL sys.reassign_row_id('t')").arrow.to_pylist()
    assert result == [{"result": "Success. Reassigned row IDs for table 'default.t': snapshot 4 -> 5, nextRowId 7 -> 11, files=6, rows=4, indexFiles=0."}]  # fmt: skip
    assert wb.table("t").to_arrow().sort_by("id") == before
    assert {i: v[0] for i, v in found(wb).items()} == {7: 0, 8: 1, 9: 4, 10: 5, 2: 2, 3: 3, 6: 6}
    latest = wb.table("t").latest_snapshot()
    assert (latest.commit_kind, latest.next_row_id, latest.total_record_count) == ("OVERWRITE", 11, rows_before)
    again = wb.run("CALL sys.reassign_row_id('t')").arrow.to_pylist()[0]["result"]
    assert again == "Skipped. Row IDs for table 'default.t' were not reassigned because row IDs are already partition-contiguous: snapshot 5 unchanged, nextRowId=11."  # fmt: skip
    assert wb.table("t").latest_snapshot().id == 5


def test_partitions_are_taken_in_order_and_may_be_named(wb):
    wb.table("t").append(rows("a", 7))
    wb.table("t").append(rows(None, 8))
    wb.run("CALL sys.reassign_row_id('t', 'p=a')")
    assert {i: v[0] for i, v in found(wb).items() if v[2] == "a"} == {9: 2, 10: 3, 11: 7}
    wb.run("CALL sys.reassign_row_id('t')")
    ids = {v[0]: i for i, v in found(wb).items()}
    assert [ids[i] for i in (6, 8, 0, 1, 4, 5)] == [12, 13, 14, 15, 16, 17]  # NULL, then 'b'
    assert [ids[i] for i in (2, 3, 7)] == [9, 10, 11]


def test_writes_go_on_with_the_new_ids(wb):
    t = wb.table("t")
    t.delete(where="id = 1")
    t.update({"x": pa.scalar(b"updated")}, where="id = 4")
    wb.run("CALL sys.reassign_row_id('t')")
    t = wb.table("t")
    assert {i: v[:2] for i, v in found(wb).items() if v[2] == "b"} == {7: (0, b"blob 0"), 9: (4, b"updated"), 10: (5, b"blob 5")}  # fmt: skip
    t.update_by_row_id(pa.table({"_ROW_ID": [10], "x": pa.array([b"by id"], pa.binary())}))
    t.delete(where="id = 0")
    t.append(rows("b", 9))
    assert {i: v[:2] for i, v in found(wb).items() if v[2] == "b"} == {9: (4, b"updated"), 10: (5, b"by id"), 11: (9, b"blob 9")}  # fmt: skip


def test_global_indexes_move_with_their_rows(wb):
    wb.run("CALL sys.create_global_index('t', 'id', 'btree', 'p=a')")
    wb.run("CALL sys.create_global_index('t', 'id', 'btree', 'p=b')")
    wb.table("t").append(rows("a", 7))
    result = wb.run("CALL sys.reassign_row_id('t')").arrow.to_pylist()[0]["result"]
    ranges = [(r["partition"], r["row_range_start"], r["row_range_end"]) for r in wb.table("t").system("table_indexes").to_pylist()]  # fmt: skip
    assert all(end < 8 or start >= 8 for _, start, end in ranges)
    assert f"indexFiles={sum(start >= 8 for _, start, _ in ranges)}." in result
    for i in range(8):
        assert wb.table("t").to_arrow(where=f"id = {i}").column("id").to_pylist() == [i]


def test_long_runs_of_rows_are_left_alone(wb):
    wb.run("ALTER TABLE t SET ('data-evolution.reassign.skip-contiguous-row-count' = '1')")
    assert "Skipped" in wb.run("CALL sys.reassign_row_id('t')").arrow.to_pylist()[0]["result"]


def test_tables_without_ids_or_partitions(wb):
    wb.run("CREATE TABLE plain (id INT)")
    with pytest.raises(UnsupportedOperation, match="row ids"):
        wb.run("CALL sys.reassign_row_id('plain')")
    wb.run(f"CREATE TABLE whole (id INT) WITH ({OPTIONS})")
    with pytest.raises(UnsupportedOperation, match="no rows"):
        wb.run("CALL sys.reassign_row_id('whole')")
    wb.table("whole").append(pa.table({"id": pa.array([1], pa.int32())}))
    assert "table is not partitioned" in wb.run("CALL sys.reassign_row_id('whole')").arrow.to_pylist()[0]["result"]


def test_other_commits_are_taken_up_or_win(wb, monkeypatch):
    """A commit between the plan and the publication makes a new plan; after three of them it is a conflict."""
    from paimon_nb.table.write.maintenance import row_ids

    plan, commits = row_ids._new_ids, [1]

    def with_another_commit(*args):
        found = plan(*args)
        if commits:
            commits.pop()
            wb.table("t").append(rows("b", 20 + len(commits)))
        return found

    monkeypatch.setattr(row_ids, "_new_ids", with_another_commit)
    done = reassign_row_ids(wb.table("t").store)
    assert (done.before, done.rows) == (5, 5)
    assert len(found(wb)) == 8
    wb.table("t").append(rows("a", 30))
    commits = [1, 2, 3]
    with pytest.raises(CommitConflict):
        reassign_row_ids(wb.table("t").store)
