"""A data file is gone: the error is ours and names the ways out; a race that only looks like it is repeated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from adversary_kit import before_call

import paimon_nb
from paimon_nb.base.errors import (
    BranchNotFound,
    CommitOverwritten,
    MissingFile,
    PaimonError,
    TableNotFound,
    TableReplaced,
)
from paimon_nb.format.schema import SchemaDirectory
from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.live_files import LIVE_FILES
from paimon_nb.table.write.bucket_compact import bucket

if TYPE_CHECKING:
    from pathlib import Path


def test_a_displayed_select(tmp_path: Path) -> None:
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1')")
    for n in (1, 2):
        wb.table("t").append(pa.table({"id": pa.array([n], pa.int32())}))
    next((tmp_path / "default.db/t/bucket-0").iterdir()).unlink()
    wb = paimon_nb.connect(str(tmp_path))
    for query in (
        "SELECT * FROM t",
        "SELECT count(*) AS n FROM t WHERE id > 0",
        "SELECT id, count(*) AS n FROM t GROUP BY id",
    ):
        with pytest.raises(MissingFile, match=r"data-.* is missing") as caught:
            wb.run(query).to_arrow()
        assert "scan.ignore-lost-files" in caught.value.hint
    found = wb.run("SELECT * FROM t /*+ OPTIONS('scan.ignore-lost-files' = 'true') */").to_arrow()
    assert found.num_rows == 1


def test_a_write_that_a_compaction_overtakes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process compacts and expires while this one compacts after its write: the rows are committed all the same."""
    wb, other = paimon_nb.connect(str(tmp_path)), paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'num-sorted-run.compaction-trigger' = '3')"
    )
    for n in range(2):
        wb.table("t").append(pa.table({"id": pa.array([n], pa.int32())}))
    compact, done = bucket.KeyBucket.compact, []

    def overtaken(self, *arguments, **named):
        if not done:
            done.append(1)
            other.run("CALL sys.compact('t', compact_strategy => 'full')")
            other.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")
        return compact(self, *arguments, **named)

    monkeypatch.setattr(bucket.KeyBucket, "compact", overtaken)
    wb.table("t").append(pa.table({"id": pa.array([7], pa.int32())}))
    assert done == [1]
    assert sorted(paimon_nb.connect(str(tmp_path)).table("t").to_arrow().column("id").to_pylist()) == [0, 1, 7]


KEYED = "id INT, v INT, PRIMARY KEY (id) NOT ENFORCED"
KINDS = {
    "key table": (KEYED, "'bucket' = '1', 'num-sorted-run.compaction-trigger' = '3'"),
    "deletion vectors": (KEYED, "'bucket' = '1', 'deletion-vectors.enabled' = 'true'"),
    "first row": (KEYED, "'bucket' = '1', 'merge-engine' = 'first-row', 'changelog-producer' = 'lookup'"),
    "lookup changelog": (KEYED, "'bucket' = '1', 'changelog-producer' = 'lookup'"),
    "full compaction changelog": (KEYED, "'bucket' = '1', 'changelog-producer' = 'full-compaction'"),
    "partial update": (KEYED, "'bucket' = '1', 'merge-engine' = 'partial-update', 'num-sorted-run.compaction-trigger' = '2'"),
    "dynamic buckets": (KEYED, "'bucket' = '-1', 'num-sorted-run.compaction-trigger' = '3'"),
    "postponed buckets": (KEYED, "'bucket' = '-2'"),
    "append table": ("id INT, v INT", "'bucket' = '-1', 'compaction.min.file-num' = '2'"),
    "append table of fixed buckets": ("id INT, v INT", "'bucket' = '1', 'bucket-key' = 'id', 'compaction.min.file-num' = '2'"),
    "data evolution": ("id INT, v INT", "'bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"),
}  # fmt: skip


def pairs(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array(ids, pa.int32())})


OVERTAKEN = """
CALL sys.compact('t', compact_strategy => 'full');
CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)
"""


def appended_with_others_at(kind: str, root: str, call: int) -> tuple[list[int], bool]:
    """An append of row 7 to rows 0 and 1. Before its file call of this number, another process compacts and expires.

    Returns: the rows afterwards, and whether there was such a call.
    """
    columns, options = KINDS[kind]
    wb, other = paimon_nb.connect(root), paimon_nb.connect(root)
    wb.run(f"CREATE TABLE t ({columns}) WITH ({options}, 'write-only' = 'true')")
    for n in range(2):
        wb.table("t").append(pairs(n))
    wb.run("ALTER TABLE t SET ('write-only' = 'false')")
    table = paimon_nb.connect(root).table("t")
    with before_call(call, lambda: other.run(OVERTAKEN)) as is_there:
        table.append(pairs(7))
    found = paimon_nb.connect(root).table("t")
    found.compact()  # postponed rows, too
    return sorted(found.to_arrow().column("id").to_pylist()), is_there()


@pytest.mark.parametrize("kind", ["key table", "deletion vectors", "dynamic buckets"])
@pytest.mark.parametrize("call", [3, 5, 14, 17])
def test_an_append_that_a_compaction_overtakes_at_some_calls(tmp_path, caplog, kind, call):
    assert appended_with_others_at(kind, str(tmp_path), call) == ([0, 1, 7], True)
    assert caplog.text == ""


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
def test_an_append_that_a_compaction_overtakes_at_every_call(tmp_path, caplog, kind):
    call, there = 0, True
    while there:
        call += 1
        found, there = appended_with_others_at(kind, str(tmp_path / str(call)), call)
        assert (call, found, caplog.text) == (call, [0, 1, 7], "")
    assert call > 10


MEANWHILE = {
    "renamed": "ALTER TABLE t RENAME TO u",
    "dropped": "DROP TABLE t",
    "replaced": "DROP TABLE t; CREATE TABLE t (id INT, v INT)",
    "rolled back": "CALL sys.rollback('t', '1'); INSERT INTO t VALUES (8, 8)",
}


def appended_with_changes_at(meanwhile: str, kind: str, root: str, call: int) -> tuple[str, list[int], bool]:
    """An append of row 7 to rows 0 and 1, the second one updated. Before its file call of this number, the table changes.

    Returns: the error's name, the rows of the table that was opened, and whether there was such a call.
    """
    columns, options = KINDS[kind]
    wb, other = paimon_nb.connect(root), paimon_nb.connect(root)
    wb.run(f"CREATE TABLE t ({columns}) WITH ({options}, 'write-only' = 'true')")
    for n in range(3):
        wb.table("t").append(pairs(n))
    wb.run("ALTER TABLE t SET ('write-only' = 'false')")
    table, error = paimon_nb.connect(root).table("t"), ""
    with before_call(call, lambda: other.run(MEANWHILE[meanwhile])) as is_there:
        try:
            table.append(pairs(7))
        except PaimonError as raised:
            error = type(raised).__name__
    LIVE_FILES.invalidate_cache()
    now = paimon_nb.connect(root)
    if is_there() and meanwhile in ("dropped", "replaced"):
        if "t" in now.tables():
            now.run("ALTER TABLE t RENAME TO other")
        now.run("UNDROP TABLE t")
    found = now.table("u" if "u" in now.tables() else "t")
    try:
        found.compact()  # what readers see of a table of deletion vectors
    except CommitOverwritten:  # told once: the rollback took an acknowledged row away
        assert (meanwhile, error) == ("rolled back", "")
        found.compact()
    return error, sorted(found.to_arrow().column("id").to_pylist()), is_there()


def check_change_at(meanwhile: str, kind: str, root: str, call: int) -> bool:
    """The row is in the table that was opened, or the writer got an error that names what has happened."""
    error, found, there = appended_with_changes_at(meanwhile, kind, root, call)
    rows = [0, 8] if meanwhile == "rolled back" and there else [0, 1, 2]
    allowed = {("", tuple(sorted([*rows, 7])))}
    if meanwhile == "rolled back":
        # Acknowledged before the rollback, which took the row away.
        allowed |= {(e, tuple(rows)) for e in ("", "CommitConflict", "CommitOverwritten", "CommitError")}
    else:
        allowed |= {(e, tuple(rows)) for e in ("TableReplaced", "TableNotFound")}
    assert (error, tuple(found)) in allowed, (meanwhile, kind, call)
    return there


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("call", [9, 22])
def test_an_append_beside_a_change_of_the_table_at_some_calls(tmp_path, meanwhile, call):
    assert check_change_at(meanwhile, "key table", str(tmp_path), call)


@pytest.mark.nightly
@pytest.mark.parametrize(
    "kind", ["key table", "deletion vectors", "lookup changelog", "dynamic buckets", "append table of fixed buckets"]
)
@pytest.mark.parametrize("meanwhile", MEANWHILE)
def test_an_append_beside_a_change_of_the_table_at_every_call(tmp_path, meanwhile, kind):
    call = 1
    while check_change_at(meanwhile, kind, str(tmp_path / str(call)), call):
        call += 1
    assert call > 10


def test_maintenance_beside_that_of_another_process_says_nothing(tmp_path: Path, monkeypatch, caplog) -> None:
    wb, other = paimon_nb.connect(str(tmp_path)), paimon_nb.connect(str(tmp_path))
    options = "'bucket' = '-1', 'snapshot.num-retained.min' = '1', 'snapshot.num-retained.max' = '2'"
    wb.run(f"CREATE TABLE t (id INT) WITH ({options}, 'write-only' = 'true')")
    for n in range(4):
        wb.table("t").append(pa.table({"id": pa.array([n], pa.int32())}))
    wb.run("ALTER TABLE t SET ('write-only' = 'false')")
    read, done = LocalFileIO.read, []

    def reading(self, path: str) -> bytes:
        if "manifest-list" in path and not done and (tmp_path / "default.db/t/snapshot/snapshot-5").exists():
            done.append(1)
            other.run("CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)")
        return read(self, path)

    monkeypatch.setattr(LocalFileIO, "read", reading)
    paimon_nb.connect(str(tmp_path)).table("t").append(pa.table({"id": pa.array([9], pa.int32())}))
    assert "maintenance after the commit failed" not in caplog.text
    assert sorted(paimon_nb.connect(str(tmp_path)).table("t").to_arrow().column("id").to_pylist()) == [0, 1, 2, 3, 9]


@pytest.mark.parametrize("meanwhile", ["DROP TABLE t", "ALTER TABLE t RENAME TO u"])
@pytest.mark.parametrize("name", ["t", "t$branch_b"])
def test_a_table_that_goes_while_it_is_opened_is_not_a_broken_file(tmp_path, monkeypatch, name, meanwhile):
    """The schema was listed and is gone when it is read: nobody has to restore a backup."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); CALL sys.create_branch('t', 'b')")
    wb.run("ALTER TABLE t ADD COLUMN v INT; ALTER TABLE `t$branch_b` ADD COLUMN v INT")
    latest_id, once = SchemaDirectory.latest_id, [1]

    def interrupted(self: SchemaDirectory) -> int | None:
        found = latest_id(self)
        if once:
            once.pop()
            paimon_nb.connect(str(tmp_path)).run(meanwhile)
        return found

    other = paimon_nb.connect(str(tmp_path))
    monkeypatch.setattr(SchemaDirectory, "latest_id", interrupted)
    with pytest.raises((TableNotFound, TableReplaced, BranchNotFound)):
        other.table(name).to_arrow()
