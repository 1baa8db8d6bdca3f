"""CALL sys.merge_branch: new rows of a branch come to another one, once; tables that allow it do nothing but grow."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, BranchNotFound, PaimonError, SchemaMismatch, UnsupportedOperation
from paimon_nb.table.write.maintenance import remove_orphans

MERGING = "'branch-merge.enabled' = 'true'"


@pytest.fixture
def wb(tmp_path):
    """A table of one row with a branch `dev` that has a second one."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (id INT, v STRING, p STRING) PARTITIONED BY (p) WITH ({MERGING})")
    wb.run(
        "INSERT INTO t VALUES (1, 'a', 'x'); CALL sys.create_tag('t', 'one'); CALL sys.create_branch('t', 'dev', 'one')"
    )
    wb.run("INSERT INTO `t$branch_dev` VALUES (2, 'b', 'x'), (3, 'c', 'y')")
    return wb


def ids(wb, table="t"):
    return sorted(wb.table(table).to_arrow().column("id").to_pylist())


def test_new_rows_come_once_and_both_branches_stay(wb):
    wb.run("INSERT INTO t VALUES (4, 'd', 'x')")

    answer = wb.run("CALL sys.merge_branch('t', 'dev')")
    again = wb.run("CALL sys.merge_branch(table => 't', source_branch => 'dev')")

    assert (answer.arrow.to_pylist(), again.arrow.to_pylist()) == ([{"result": "Success"}], [{"result": True}])
    assert (ids(wb), ids(wb, "t$branch_dev")) == ([1, 2, 3, 4], [1, 2, 3])
    snapshots = wb.table("t").system("snapshots").select(["snapshot_id", "commit_kind", "delta_record_count"])
    assert snapshots.to_pylist()[-1] == {"snapshot_id": 3, "commit_kind": "APPEND", "delta_record_count": 2}


def test_both_ways_and_between_branches(wb):
    wb.run("CALL sys.create_branch('t', 'other', 'one'); INSERT INTO t VALUES (4, 'd', 'x')")
    for source, target in (("main", "dev"), ("dev", "main"), ("dev", "other"), ("other", "main")):
        wb.run(f"CALL sys.merge_branch('t', '{source}', '{target}')")
    assert ids(wb) == ids(wb, "t$branch_dev") == ids(wb, "t$branch_other") == [1, 2, 3, 4]


def test_the_merged_rows_outlive_the_branch(wb):
    wb.run("CALL sys.merge_branch('t', 'dev'); CALL sys.delete_branch('t', 'dev'); CALL sys.delete_tag('t', 'one')")
    wb.run("CALL sys.expire_snapshots('t', 1)")
    remove_orphans(wb.table("t").store, 2**62)
    assert ids(wb) == [1, 2, 3]


def test_rows_get_ids_of_the_target(tmp_path):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (id INT) WITH ({MERGING}, 'row-tracking.enabled' = 'true'); INSERT INTO t VALUES (1)")
    wb.run("CALL sys.create_tag('t', 'one'); CALL sys.create_branch('t', 'dev', 'one')")
    wb.run("INSERT INTO `t$branch_dev` VALUES (2), (3); INSERT INTO t VALUES (4)")

    wb.run("CALL sys.merge_branch('t', 'dev'); INSERT INTO t VALUES (5)")

    rows = wb.table("t").system("row_tracking").to_pylist()
    assert sorted((r["id"], r["_ROW_ID"]) for r in rows) == [(1, 0), (2, 2), (3, 3), (4, 1), (5, 4)]


def test_two_merges_at_once_add_the_rows_once(wb, tmp_path):
    def merge(_):
        paimon_nb.connect(str(tmp_path)).run("CALL sys.merge_branch('t', 'dev')")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(merge, range(4)))
    assert (ids(wb), wb.table("t").latest_snapshot().id) == ([1, 2, 3], 2)


def test_a_branch_whose_columns_are_others_is_refused_until_the_target_has_them(wb):
    wb.run("ALTER TABLE `t$branch_dev` ADD (n INT); INSERT INTO `t$branch_dev` VALUES (5, 'e', 'x', 50)")
    with pytest.raises(SchemaMismatch, match="schema 1 of branch 'dev'"):
        wb.run("CALL sys.merge_branch('t', 'dev')")
    assert ids(wb) == [1]

    wb.run("ALTER TABLE t ADD (n INT); CALL sys.merge_branch('t', 'dev')")
    assert wb.table("t").to_arrow(["id", "n"], "n = 50").to_pylist() == [{"id": 5, "n": 50}]

    wb.run("ALTER TABLE t ADD (m INT); ALTER TABLE `t$branch_dev` ADD (m STRING)")
    with pytest.raises(SchemaMismatch, match="schema 2"):
        wb.run("CALL sys.merge_branch('t', 'dev')")


@pytest.mark.parametrize(
    "statement",
    [
        "CALL sys.compact('t')",
        "INSERT OVERWRITE t VALUES (9, 'z', 'x')",
        "TRUNCATE TABLE t",
        "ALTER TABLE t DROP PARTITION (p = 'x')",
    ],
)
def test_what_would_take_files_away_is_refused(wb, tmp_path, statement):
    wb.run("INSERT INTO t VALUES (4, 'd', 'x')")
    before = files(tmp_path)
    with pytest.raises(UnsupportedOperation, match="only appends are allowed"):
        wb.run(statement)
    assert (ids(wb), files(tmp_path)) == ([1, 4], before)


def files(folder):
    return sorted(str(p) for p in folder.rglob("data-*"))


def test_manifests_may_be_joined(wb):
    wb.run("INSERT INTO t VALUES (4, 'd', 'x'); CALL sys.compact_manifest('t'); CALL sys.merge_branch('t', 'dev')")
    assert ids(wb) == [1, 2, 3, 4]


def test_writers_leave_compaction_alone(wb):
    for i in range(12):
        wb.run(f"INSERT INTO t VALUES ({10 + i}, 'x', 'x')")
    assert set(wb.table("t").system("snapshots").column("commit_kind").to_pylist()) == {"APPEND"}


@pytest.mark.parametrize(
    ("statement", "kind", "words"),
    [
        ("CALL sys.merge_branch('t', 'de')", BranchNotFound, "dev"),
        ("CALL sys.merge_branch('t', 'dev', 'dev')", UnsupportedOperation, "into itself"),
        ("CALL sys.merge_branch('plain', 'dev')", UnsupportedOperation, "'branch-merge.enabled' = 'true'"),
        (f"CREATE TABLE k (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ({MERGING})", BadOptionValue, "primary key"),
        (f"CREATE TABLE k (id INT) WITH ({MERGING}, 'deletion-vectors.enabled' = 'true')", BadOptionValue, "deletion-vectors"),
        ("ALTER TABLE t SET ('branch-merge.enabled' = 'false')", PaimonError, "branch-merge.enabled"),
    ],
)  # fmt: skip
def test_what_cannot_be(wb, statement, kind, words):
    wb.run("CREATE TABLE plain (id INT); INSERT INTO plain VALUES (1); CALL sys.create_tag('plain', 'one')")
    wb.run("CALL sys.create_branch('plain', 'dev', 'one')")
    with pytest.raises(kind, match=re.escape(words)):
        wb.run(statement)
