"""UPDATE and DELETE on every kind of table, statement by statement as sqlite has it; real Java Paimon reads what they leave."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from change_kit import AS_SQLITE, KINDS, MERGE, SCRIPT, SOURCE, UPDATED, Mirror, create

import paimon_nb
from paimon_nb.base.errors import CommitConflict, NullNotAllowed, PaimonError, SqlAnalysisError, UnsupportedOperation
from paimon_nb.table.write.commit import TableCommit

pytestmark = pytest.mark.spark


def stored(wb, name: str = "t") -> list[tuple]:
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow().to_pylist()), key=repr)


def files_of(wb) -> list[Path]:
    return sorted(p for p in Path(wb.table("t").path).rglob("*") if p.is_file())


@pytest.fixture(scope="module")
def left(tmp_path_factory) -> Path:
    """A warehouse of the tables that `play` leaves, each with the rows that it should hold beside it."""
    return tmp_path_factory.mktemp("left")


@pytest.mark.parametrize("kind", [k if k in UPDATED else pytest.param(k, marks=pytest.mark.nightly) for k in KINDS])
def test_rows_are_those_of_plain_sql(swb, kind, left):
    play(swb, kind, left)


@pytest.mark.nightly
@pytest.mark.java
@pytest.mark.parametrize("kinds", [UPDATED, KINDS], ids=["some", "all"])
def test_java_reads_what_they_leave(spark, left, tmp_path, shared, kinds):
    """New files, deletion vectors and retractions, after MERGE INTO, too."""
    for kind in kinds:
        if not (left / f"w.db/{kind}.jsonl").exists():  # this test was asked for alone
            play(paimon_nb.connect(str(tmp_path / kind), spark=spark), kind, left)
    done = subprocess.run(
        [sys.executable, str(shared / "oracle" / "read_check.py"), str(left)], capture_output=True, text=True, check=False
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr[-2000:]
    assert done.stdout.splitlines()[-1] == f"SUMMARY {{'equal': {len(kinds)}}}", done.stdout


def play(swb, kind: str, left: Path) -> None:
    mirror = Mirror()
    swb.run(f"{create('t', kind)}; {'; '.join(SOURCE)}")
    for text in SCRIPT:
        before = swb.table("t").latest_snapshot()
        result = swb.run(text)
        mirror.run(text)
        assert stored(swb) == mirror.rows(), text
        newest = swb.table("t").latest_snapshot()
        assert [i for _, i in result.snapshots] == list(range((before.id if before else 0) + 1, newest.id + 1)), text
        if not swb.table("t").primary_keys:  # key tables count every version of a row
            assert newest.total_record_count == len(mirror.rows()) + hidden(swb)
    assert sorted((tuple(r) for r in swb.sql("SELECT * FROM t").collect()), key=repr) == mirror.rows()
    swb.run(MERGE)
    for text in AS_SQLITE:
        mirror.run(text)
    assert stored(swb) == mirror.rows()
    shutil.copytree(swb.table("t").path, left / "w.db" / kind)
    swb.run("CALL sys.compact('t')")
    assert stored(swb) == mirror.rows()
    lines = [json.dumps(dict(zip(("id", "v", "n", "p"), row, strict=True))) + "\n" for row in mirror.rows()]
    (left / f"w.db/{kind}.jsonl").write_text("".join(lines))


def hidden(wb) -> int:
    """Rows that deletion vectors mark, which `totalRecordCount` counts."""
    index = wb.table("t").system("table_indexes").to_pylist()
    return sum(r["_CARDINALITY"] for i in index for r in i["dv_ranges"] or ())


def test_what_the_statements_say(swb):
    swb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    swb.run("INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'c')")
    said = [
        swb.run(text).arrow.column(0)[0].as_py()
        for text in (
            "UPDATE t SET v = 'x' WHERE id < 3", "UPDATE t SET v = 'x' WHERE id = 9", "DELETE FROM t WHERE id = 1",
            "DELETE FROM t WHERE id = 1", "DELETE FROM t", "DELETE FROM t",
        )
    ]  # fmt: skip
    assert said == [
        "2 rows updated in default.t in snapshot 2",
        "0 rows updated in default.t (no new snapshot)",
        "1 row deleted from default.t in snapshot 3",
        "0 rows deleted from default.t (no new snapshot)",
        "rows deleted from default.t in snapshot 4",
        "rows deleted from default.t (no new snapshot)",
    ]


@pytest.mark.nightly
def test_every_way_to_name_a_column(swb):
    swb.run("CREATE TABLE t (id INT, v STRING, r ROW<x INT, y ROW<z INT>>, `a b` INT DEFAULT '5')")
    swb.run("INSERT INTO t VALUES (1, 'a', named_struct('x', 1, 'y', named_struct('z', 2)), 0)")
    swb.run("UPDATE default.t SET default.t.v = upper(t.v), T.r.y.z = default.t.r.y.z + 1, R.X = 7, `a b` = DEFAULT")
    assert stored(swb) == [(1, "A", {"x": 7, "y": {"z": 3}}, 5)]
    swb.run("UPDATE paimon.default.t AS q SET q.v = concat(q.v, :s), `a b` = :n WHERE q.`a b` = 5", s="'; --", n=6)
    assert stored(swb) == [(1, "A'; --", {"x": 7, "y": {"z": 3}}, 6)]
    swb.run("UPDATE t SET v = /* note */ 'b' -- last\n WHERE id = 1 -- end")
    assert stored(swb)[0][1] == "b"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("UPDATE t SET vv = 1", PaimonError),
        ("UPDATE t SET v = vv", SqlAnalysisError),
        ("UPDATE t SET v = 'a', v = 'b'", SqlAnalysisError),
        ("UPDATE t SET k = NULL WHERE id = 1", NullNotAllowed),
        ("UPDATE t SET k = 'abc'", PaimonError),
        ("UPDATE t /*+ OPTIONS('scan.snapshot-id' = '1') */ SET v = 'a'", UnsupportedOperation),
        ("DELETE FROM t WHERE idd = 1", SqlAnalysisError),
        ("DELETE FROM t WHERE k / 0 = 1", PaimonError),
    ],
)
@pytest.mark.parametrize("options", ["", "'deletion-vectors.enabled' = 'true'"], ids=["plain", "marked"])
def test_a_refused_statement_changes_nothing(swb, text, kind, options):
    swb.run(
        f"CREATE TABLE t (id INT, v STRING, k INT NOT NULL) WITH ({options})"
        if options
        else "CREATE TABLE t (id INT, v STRING, k INT NOT NULL)"
    )
    swb.run("INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2)")
    files = files_of(swb)
    with pytest.raises(kind) as caught:
        swb.run(text)
    assert caught.value.hint
    assert files_of(swb) == files
    assert stored(swb) == [(1, "a", 1), (2, "b", 2)]


@pytest.mark.parametrize("kind", ["plain", "marked"])
def test_somebody_deletes_the_same_rows_meanwhile(swb, kind, monkeypatch):
    swb.run(create("t", kind))
    swb.run("INSERT INTO t VALUES (1, 'a', 1, 'x'), (2, 'b', 2, 'x')")
    commit = TableCommit.commit

    def slow(self, messages, *args, **how):
        monkeypatch.setattr(TableCommit, "commit", commit)
        swb.run("DELETE FROM t WHERE id = 2")
        return commit(self, messages, *args, **how)

    monkeypatch.setattr(TableCommit, "commit", slow)
    with pytest.raises(CommitConflict) as caught:
        swb.run("UPDATE t SET n = 5 WHERE id <= 2")
    assert caught.value.snapshot == 2
    assert stored(swb) == [(1, "a", 1, "x")]


def test_only_touched_files_are_written_anew(swb):
    swb.run("CREATE TABLE t (id INT, v STRING)")
    for n in range(3):
        swb.run(f"INSERT INTO t SELECT id, 'v' FROM range({n * 10}, {n * 10 + 10})")
    before = set(swb.table("t").files().column("file_path").to_pylist())
    swb.run("DELETE FROM t WHERE id = 12")
    after = set(swb.table("t").files().column("file_path").to_pylist())
    assert (len(before & after), len(after - before)) == (2, 1)


@pytest.mark.nightly
def test_many_rows_go_through_tasks(swb, monkeypatch):
    from paimon_nb.spark.scan import located_rows
    from paimon_nb.spark.write import row_level_write

    monkeypatch.setattr(located_rows, "INLINE_BYTES", 0)
    monkeypatch.setattr(row_level_write, "INLINE_BYTES", 0)
    for kind in ("plain_parts", "marked_b2"):
        swb.run(create(kind, kind))
        ids = range(5000)
        rows = {
            "id": pa.array(ids, pa.int32()),
            "v": ["v"] * 5000,
            "n": pa.array(ids, pa.int32()),
            "p": ["x", "y"] * 2500,
        }
        swb.table(kind).append(pa.table(rows))
        swb.run(f"UPDATE {kind} SET n = -1 WHERE id % 2 = 0")
        swb.run(f"DELETE FROM {kind} WHERE id % 5 = 0")
        assert sorted(stored(swb, kind)) == [(i, "v", i if i % 2 else -1, "xy"[i % 2]) for i in ids if i % 5]


def test_whole_partitions_are_dropped_without_reading(swb):
    swb.run("""CREATE TABLE t (id INT, d DATE, PRIMARY KEY (id, d) NOT ENFORCED) PARTITIONED BY (d)
               WITH ('bucket' = '1', 'merge-engine' = 'first-row', 'partition.legacy-name' = 'false');
               INSERT INTO t VALUES (1, DATE '2024-01-01'), (2, DATE '2024-01-02')""")
    result = swb.run("DELETE FROM t WHERE year(d) = 2024 AND d < DATE '2024-01-02'")
    newest = swb.table("t").latest_snapshot()
    assert (result.snapshots, newest.commit_kind) == ([("default.t", newest.id)], "OVERWRITE")
    assert swb.table("t").partition_specs() == [{"d": "2024-01-02"}]
    assert swb.run("DELETE FROM t WHERE d IN (SELECT max(d) + INTERVAL 1 DAY FROM t)").snapshots == []
    swb.run("DELETE FROM t WHERE rand() < 2")
    assert swb.table("t").to_arrow().num_rows == 0


def test_compaction_after_a_write_leaves_marked_rows_out(swb):
    swb.run(create("t", "marked_b2").replace("'bucket' = '2'", "'bucket' = '1'"))
    for n in range(3):
        swb.run(f"INSERT INTO t VALUES ({n}, 'a', {n}, 'x'), ({n + 10}, 'a', {n}, 'x')")
    swb.run("DELETE FROM t WHERE id < 2")
    swb.table("t").append(swb.table("t").to_arrow(where="id = 2"))
    swb.table("t").append(swb.table("t").to_arrow(where="id = 12"))
    assert swb.table("t").latest_snapshot().commit_kind == "COMPACT"
    assert sorted(r[0] for r in stored(swb)) == [2, 2, 10, 11, 12, 12]


def test_ignored_deletes_are_told(swb):
    swb.run("CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'ignore-delete' = 'true')")
    swb.run("INSERT INTO t VALUES (1)")
    assert "ignores deletes" in swb.run("DELETE FROM t WHERE id = 1").notes[0]
    assert stored(swb) == [(1,)]


def test_a_temporary_table_is_changed_where_it_lies(swb, tmp_path):
    swb.run(f"""CREATE TEMPORARY TABLE x (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'paimon', 'path' = '{tmp_path}/x', 'auto-create' = 'true', 'bucket' = '1');
            INSERT INTO x VALUES (1, 'a'), (2, 'b'); UPDATE x SET v = 'c' WHERE id = 1; DELETE FROM x WHERE id = 2""")
    assert [tuple(r) for r in swb.sql("SELECT * FROM x").collect()] == [(1, "c")]
