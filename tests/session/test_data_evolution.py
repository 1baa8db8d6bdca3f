"""Tables with data evolution: MERGE INTO writes new values of columns beside the rows, and every way of reading puts them together."""

import json
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest
from golden_tables import unpacked

import paimon_nb
from paimon_nb.base.errors import CommitConflict, CorruptFile, UnsupportedOperation, WriteError
from paimon_nb.spark.scan.table_scan import read_table
from paimon_nb.spark.write import column_update
from paimon_nb.table.read.strategy.routes import StrategyLimits

pytestmark = pytest.mark.spark
MADE = """CREATE TABLE t (id INT, b INT, c INT, p STRING) PARTITIONED BY (p)
              TBLPROPERTIES ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'file-index.bloom-filter.columns' = 'b');
          INSERT INTO t VALUES (1, 1, 1, 'x'), (2, 2, 2, 'y'), (4, 4, 4, 'x');
          INSERT INTO t VALUES (5, 5, 5, 'x');
          CREATE TABLE s (id INT, b INT); INSERT INTO s VALUES (1, 11), (2, 22), (3, 33)"""
FIRST = """MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.b = s.b
           WHEN NOT MATCHED THEN INSERT (id, b, c, p) VALUES (id, b, 0, 'y')"""
SECOND = (
    "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.id < 3 THEN UPDATE SET n = concat('n', s.id), c = c + 100"
)
AFTER_FIRST = [(1, 11, 1, "x"), (2, 22, 2, "y"), (3, 33, 0, "y"), (4, 4, 4, "x"), (5, 5, 5, "x")]
AFTER_SECOND = [
    (1, 11, 101, "x", "n1"), (2, 22, 102, "y", "n2"), (3, 33, 0, "y", None), (4, 4, 4, "x", None), (5, 5, 5, "x", None),
]  # fmt: skip
"""What real Spark 4.0 with Paimon 1.3.1 answers to the same statements."""


def asked(wb, text):
    return sorted((tuple(r) for r in wb.sql(text).collect()), key=str)


def stored(wb):
    return sorted((tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()), key=str)


def data_files(wb):
    return {p.name for p in Path(wb.table("t").path).rglob("data-*.parquet")}


@pytest.fixture
def made(swb):
    swb.run(MADE)
    return swb


def test_new_values_of_columns(made):
    before = data_files(made)
    assert made.run(FIRST).snapshots == [("default.t", 3)]
    assert (asked(made, "SELECT * FROM t"), stored(made)) == (AFTER_FIRST, AFTER_FIRST)
    new = data_files(made) - before
    assert (len(new), before <= data_files(made)) == (3, True)  # one column beside two files, and a file of new rows
    made.run("ALTER TABLE t ADD COLUMN n STRING")
    assert made.run(SECOND).snapshots == [("default.t", 4)]
    assert (asked(made, "SELECT * FROM t"), stored(made)) == (AFTER_SECOND, AFTER_SECOND)
    assert [s.commit_kind for s in made.table("t").store.snapshots.all()] == ["APPEND"] * 4
    ids = asked(made, "SELECT id, _ROW_ID, _SEQUENCE_NUMBER FROM t")
    assert ids == [(1, 0, 4), (2, 2, 4), (3, 4, 3), (4, 1, 4), (5, 3, 2)]
    assert (
        sorted(
            (r["id"], r["_ROW_ID"], r["_SEQUENCE_NUMBER"]) for r in made.table("t").system("row_tracking").to_pylist()
        )
        == ids
    )
    # conditions: old values of a column are in nobody's statistics, indexes or counts
    for where, found in (
        ("b = 11", [1]), ("b = 1", []), ("b = 22 AND c = 102", [2]), ("n IS NULL", [3, 4, 5]), ("n = 'n1' OR b = 5", [1, 5]),
        ("p = 'y' AND b > 30", [3]),
    ):  # fmt: skip
        assert [r[0] for r in asked(made, f"SELECT id FROM t WHERE {where}")] == found, where
        assert sorted(made.table("t").to_arrow(columns=["id"], where=where).column("id").to_pylist()) == found, where
    assert asked(made, "SELECT count(*) FROM t") == [(5,)]
    # in Spark's tasks as in this process
    frame = read_table(made.spark, made.table("t"), limits=StrategyLimits(inline_bytes=0))
    assert sorted((tuple(r) for r in frame.collect()), key=str) == AFTER_SECOND
    # the past, and the difference to it
    assert asked(made, "SELECT * FROM t VERSION AS OF 3") == AFTER_FIRST
    assert asked(made, "SELECT id, b FROM t VERSION AS OF 2 WHERE b < 3") == [(1, 1), (2, 2)]
    # overwriting rewrites the rows
    made.run("INSERT OVERWRITE t SELECT * FROM t")
    assert (stored(made), len(made.table("t").system("files"))) == (AFTER_SECOND, 2)


def test_as_a_procedure(made):
    made.run("""CALL sys.data_evolution_merge_into(target_table => 't', target_alias => 'x', source_table => 's',
                merge_condition => 'x.id = s.id', matched_update_set => 'b = s.b + 1')""")
    made.run("CREATE TEMPORARY VIEW v AS SELECT * FROM VALUES (1, 40) AS v(row, c)")
    made.run("CALL sys.data_evolution_merge_into('t', '', '', 'v', 't._ROW_ID = v.row', 'c = v.c', 2)")
    assert stored(made) == [(1, 12, 1, "x"), (2, 23, 2, "y"), (4, 4, 40, "x"), (5, 5, 5, "x")]
    made.run("CREATE TEMPORARY VIEW w AS SELECT * FROM VALUES (2, 70), (2, 71) AS w(id, c)")
    made.run("CALL sys.data_evolution_merge_into('t', '', '', 'w', 't.id = w.id', 'c = w.c', 2)")
    taken = {r[0]: r[2] for r in stored(made)}  # one of the two source rows
    assert (taken[2] in (70, 71), {k: v for k, v in taken.items() if k != 2}) == (True, {1: 1, 4: 40, 5: 5})
    with pytest.raises(UnsupportedOperation, match="data-evolution"):
        made.run("CALL sys.data_evolution_merge_into('s', 'x', '', 'v', 'x.id = v.row', 'b = 1')")


def test_what_is_refused(made):
    made.run("INSERT INTO s VALUES (1, 111)")
    rows, files = stored(made), data_files(made)
    on = "MERGE INTO t USING s ON t.id = s.id WHEN "
    for text, error in (
        (f"{on}MATCHED THEN DELETE", UnsupportedOperation),
        (f"{on}MATCHED THEN UPDATE SET p = 'z'", UnsupportedOperation),
        (f"{on}MATCHED THEN UPDATE SET b = s.b", WriteError),
        ("UPDATE t SET p = 'z'", UnsupportedOperation),
        ("DELETE FROM t WHERE id = 1", UnsupportedOperation),
    ):
        with pytest.raises(error) as caught:
            made.run(text)
        assert caught.value.hint
    assert (stored(made), data_files(made)) == (rows, files)
    made.run("DELETE FROM t WHERE p = 'y'")
    assert [r[0] for r in stored(made)] == [1, 4, 5]


@pytest.mark.nightly
@pytest.mark.parametrize("column", ["b", "c"])
def test_somebody_changes_the_same_rows(made, monkeypatch, column):
    """Between the reading of the rows and the commit: the same column is refused, and nothing of it is left; others have both."""
    real, files = column_update.write_messages, []

    def meanwhile(*args, **kwargs):
        monkeypatch.setattr(column_update, "write_messages", real)
        made.run(f"MERGE INTO t USING s ON t.id = s.id AND s.id = 1 WHEN MATCHED THEN UPDATE SET {column} = 77")
        files.append(data_files(made))
        return real(*args, **kwargs)

    monkeypatch.setattr(column_update, "write_messages", meanwhile)
    if column == "c":
        made.run(FIRST)
        assert stored(made) == [(1, 11, 77, "x"), *AFTER_FIRST[1:]]
        return
    with pytest.raises(CommitConflict):
        made.run(FIRST)
    [committed] = files
    assert stored(made)[0] == (1, 77, 1, "x")
    assert len(stored(made)) == 4
    assert data_files(made) <= committed
    made.run("DELETE FROM t WHERE p = 'x'; INSERT INTO t VALUES (1, 0, 0, 'y')")
    made.run(FIRST)
    assert stored(made) == [(1, 11, 0, "y"), (2, 22, 2, "y"), (3, 33, 0, "y")]


def test_files_that_do_not_fit_are_no_answer(made):
    """Two files of the same first row and other lengths."""
    from dataclasses import replace

    from paimon_nb.table.read.data_evolution import group_by_row_range

    (file, *_) = [f for s in made.table("t").scan().plan.splits for f in s.files]
    with pytest.raises(CorruptFile):
        group_by_row_range([file, replace(file, file_name="other", row_count=file.row_count + 1)])


@pytest.mark.nightly
@pytest.mark.java
def test_java_reads_new_values_of_columns(made, shared):
    made.run(FIRST)
    made.run("ALTER TABLE t ADD COLUMN n STRING")
    made.run(SECOND)
    names = ("id", "b", "c", "p", "n")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in AFTER_SECOND]
    warehouse = Path(made.table("t").path).parents[1]
    (warehouse / "default.db/t.jsonl").write_text("".join(line + "\n" for line in lines))
    done = subprocess.run(
        [sys.executable, str(shared / "oracle/read_check.py"), str(warehouse), "--only", "^t$"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout.splitlines()[-1] == "SUMMARY {'equal': 1}", done.stdout + done.stderr[-2000:]


DELETED = [(0, 100, "c0"), (3, 3, "x"), (4, 4, "c4"), (5, 5, "c5"), (6, 6, "c6"), (8, 8, "c8")]


@pytest.fixture
def deleted(tmp_path, spark):
    """Rows 1, 2, 7 and 9 are deleted by vectors (made by pypaimon 2.1.0)."""
    return paimon_nb.connect(str(unpacked(tmp_path, "pypaimon-2.1", "evolved_deleted")), spark=spark)


def test_rows_deleted_by_vectors(deleted):
    asked_rows = asked(deleted, "SELECT * FROM evolved_deleted")
    assert asked_rows == DELETED
    assert asked(deleted, "SELECT count(*) FROM evolved_deleted") == [(6,)]
    assert asked(deleted, "SELECT id, _ROW_ID FROM evolved_deleted") == [(i, i) for i in (0, 3, 4, 5, 6, 8)]
    frame = read_table(deleted.spark, deleted.table("evolved_deleted"), limits=StrategyLimits(inline_bytes=0))
    assert sorted(tuple(r) for r in frame.collect()) == DELETED


def test_merge_updates_rows_that_are_there_and_inserts_deleted_keys(deleted):
    deleted.run("CREATE TABLE s (id INT, b INT); INSERT INTO s VALUES (1, 11), (2, 22), (3, 33), (8, 88), (20, 200)")
    deleted.run("""MERGE INTO evolved_deleted t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.b = s.b
                          WHEN NOT MATCHED THEN INSERT (id, b, c) VALUES (id, b, 'new')""")
    assert asked(deleted, "SELECT * FROM evolved_deleted") == sorted(
        [(0, 100, "c0"), (1, 11, "new"), (2, 22, "new"), (3, 33, "x"), (4, 4, "c4"), (5, 5, "c5"), (6, 6, "c6"),
         (8, 88, "c8"), (20, 200, "new")], key=str
    )  # fmt: skip


def test_delete_marks_the_rows_of_all_files(deleted):
    deleted.run("DELETE FROM evolved_deleted WHERE b = 100 OR c = 'x'")
    assert asked(deleted, "SELECT id FROM evolved_deleted") == [(4,), (5,), (6,), (8,)]
    deleted.run("DELETE FROM evolved_deleted WHERE id = 4")
    assert asked(deleted, "SELECT id FROM evolved_deleted") == [(5,), (6,), (8,)]
    assert deleted.table("evolved_deleted").to_arrow().num_rows == 3


@pytest.fixture
def indexed(tmp_path, spark):
    """A BTree global index on `b` (made by pypaimon 2.1.0), and a source of new values."""
    wb = paimon_nb.connect(str(unpacked(tmp_path, "pypaimon-2.1", "evolved_indexed")), spark=spark)
    wb.run("CREATE TABLE s (id INT, b INT); INSERT INTO s VALUES (3, 33), (9, 99)")
    return wb


def merged(wb, column, action=None):
    if action:
        wb.run(f"ALTER TABLE evolved_indexed SET ('global-index.column-update-action' = '{action}')")
    value = "s.b" if column == "b" else "'new'"
    wb.run(f"""MERGE INTO evolved_indexed t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.{column} = {value}
               WHEN NOT MATCHED THEN INSERT (id, b, c) VALUES (id, b, 'x')""")
    return [r["index_type"] for r in wb.table("evolved_indexed").system("table_indexes").to_pylist()]


@pytest.mark.nightly
def test_an_indexed_column_is_not_updated_under_its_index(indexed):
    before = data_files_of(indexed)
    with pytest.raises(UnsupportedOperation, match="global index") as caught:
        merged(indexed, "b")
    assert caught.value.columns == ["b"]
    assert "DROP_PARTITION_INDEX" in caught.value.hint
    assert indexed.table("evolved_indexed").to_arrow(where="id = 3").to_pylist() == [{"id": 3, "b": 3, "c": "c3"}]
    assert data_files_of(indexed) == before
    assert merged(indexed, "c") == ["btree"]  # another column's values are not in the index
    assert asked(indexed, "SELECT id, c FROM evolved_indexed WHERE id IN (3, 9)") == [(3, "new"), (9, "x")]


def test_an_index_of_tracked_rows_is_as_safe(tmp_path, spark):
    """Rows that UPDATE rewrites keep the ids by which the index finds them."""
    wb = paimon_nb.connect(str(unpacked(tmp_path, "pypaimon-2.1", "tracked_indexed")), spark=spark)
    with pytest.raises(UnsupportedOperation, match="global index"):
        wb.run("UPDATE tracked_indexed SET b = 33 WHERE id = 3")
    wb.run("UPDATE tracked_indexed SET c = 'x' WHERE id = 3")
    wb.run("ALTER TABLE tracked_indexed SET ('global-index.column-update-action' = 'DROP_PARTITION_INDEX')")
    wb.run("UPDATE tracked_indexed SET b = 33 WHERE id = 3")
    assert wb.table("tracked_indexed").system("table_indexes").num_rows == 0
    assert asked(wb, "SELECT b, c FROM tracked_indexed WHERE id = 3") == [(33, "x")]


@pytest.mark.parametrize(("action", "left"), [("DROP_PARTITION_INDEX", []), ("IGNORE", ["btree"])])
def test_the_table_says_what_becomes_of_the_index(indexed, action, left):
    assert merged(indexed, "b", action) == left
    assert asked(indexed, "SELECT id, b FROM evolved_indexed WHERE b > 10") == [(3, 33), (9, 99)]


def data_files_of(wb):
    return {p.name for p in Path(wb.table("evolved_indexed").path).rglob("data-*")}


def test_changes_of_a_column_update(made):
    """Files of the range that hold columns of the same rows give one row; a column that none of them holds is NULL."""
    made.run("MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.b = s.b")
    store = made.table("t").store

    def changes(start, where="TRUE"):
        found = asked(made, f"SELECT id, b, c FROM paimon_incremental_query('t', '{start}', '3') WHERE {where}")
        timed = {"incremental-between": f"{start},3"}
        again = made.table("t").copy(timed).to_arrow(columns=["id", "b", "c"], where=where).to_pylist()
        assert sorted((tuple(r.values()) for r in again), key=str) == found
        return found

    assert store.latest().id == 3
    assert changes(0) == [(1, 11, 1), (2, 22, 2), (4, 4, 4), (5, 5, 5)]
    assert changes(0, "b = 11") == [(1, 11, 1)]
    assert changes(0, "b = 1") == []
    assert changes(0, "id = 2 AND b > 20") == [(2, 22, 2)]
    assert changes(2) == [(None, 11, None), (None, 22, None), (None, 4, None)]
    assert changes(2, "id IS NULL AND b > 20") == [(None, 22, None)]


@pytest.mark.nightly
def test_updates_write_columns_alone(made):
    before = data_files(made)
    done = made.run("UPDATE t SET b = b * 10 + id WHERE c < 3")
    assert done.arrow.to_pylist() == [{"result": "2 rows updated in default.t in snapshot 3"}]
    new = data_files(made) - before
    assert (len(new), before <= data_files(made)) == (2, True)
    made.run(
        "UPDATE t SET c = 40 WHERE _ROW_ID = 1; UPDATE t SET b = 0, c = DEFAULT WHERE p = 'y'; UPDATE t SET b = 1 WHERE id = 99"
    )
    expected = [(1, 11, 1, "x"), (2, 0, None, "y"), (4, 4, 40, "x"), (5, 5, 5, "x")]
    assert (asked(made, "SELECT * FROM t"), stored(made)) == (expected, expected)
    assert asked(made, "SELECT id, _ROW_ID FROM t") == [(1, 0), (2, 2), (4, 1), (5, 3)]
    made.run(
        "MERGE INTO t USING t AS s ON t._ROW_ID = s._ROW_ID AND s.id > 3 WHEN MATCHED THEN UPDATE SET b = s.b + s.c"
    )
    assert asked(made, "SELECT id, b FROM t WHERE p = 'x'") == [(1, 11), (4, 44), (5, 10)]


def test_a_merge_deletes_updates_and_inserts_in_one_commit(swb):
    swb.run("""
        CREATE TABLE t (id INT, b INT, c INT) TBLPROPERTIES
            ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true');
        INSERT INTO t VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3), (4, 4, 4);
        CREATE TABLE s (id INT, b INT); INSERT INTO s VALUES (1, 10), (2, 20), (4, 40), (5, 50)
    """)
    merge = """MERGE INTO t USING s ON t.id = s.id WHEN MATCHED AND s.b = 10 THEN DELETE WHEN MATCHED THEN UPDATE SET b = s.b
               WHEN NOT MATCHED THEN INSERT (id, b, c) VALUES (s.id, s.b, 0) WHEN NOT MATCHED BY SOURCE THEN DELETE"""
    assert swb.run(merge).snapshots == [("default.t", 2)]
    assert asked(swb, "SELECT id, b, c, _ROW_ID FROM t") == [(2, 20, 2, 1), (4, 40, 4, 3), (5, 50, 0, 4)]
    swb.run("INSERT OVERWRITE s VALUES (1, 11), (4, 41); MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN DELETE")
    expected = [(2, 20, 2), (5, 50, 0)]
    assert (asked(swb, "SELECT * FROM t"), stored(swb)) == (expected, expected)
    swb.run("UPDATE t SET c = 7")
    assert stored(swb) == [(2, 20, 7), (5, 50, 7)]


@pytest.mark.nightly
def test_blobs_are_changed_by_merge_update_and_delete(tmp_path, spark):
    wb = paimon_nb.connect(str(tmp_path), spark=spark)
    evolves = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true'"
    wb.run(
        f"CREATE TABLE t (id INT, name STRING, a BLOB, b BLOB, c ARRAY<BLOB>) WITH ({evolves}, 'blob.target-file-size' = '30 b')"
    )
    before = [
        {"id": i, "name": f"n{i}", "a": b"a" * 20 * i, "b": bytes([i]), "c": [b"c" * i, None]} for i in range(1, 6)
    ]
    wb.table("t").append(pa.Table.from_pylist(before, wb.table("t").to_arrow().schema))
    new = "VALUES (1, 'x', X'01', X'02'), (2, 'y', NULL, X'03'), (9, 'z', X'09', NULL)"
    wb.run(f"""MERGE INTO t USING (SELECT * FROM ({new}) AS v(id, name, a, b)) s ON t.id = s.id
        WHEN MATCHED AND s.id = 1 THEN UPDATE SET t.name = s.name WHEN MATCHED THEN UPDATE SET a = s.a, b = s.b
        WHEN NOT MATCHED THEN INSERT (id, name, a, b, c) VALUES (s.id, s.name, s.a, s.b, array(s.a))""")
    wb.run("""MERGE INTO t USING t AS source ON t.id = source.id
        WHEN MATCHED AND source.id = 3 THEN UPDATE SET t.a = unhex(concat(hex(source.b), '07')), b = source.a, c = array(source.b)""")
    wb.run("UPDATE t SET a = X'44', name = 'u' WHERE id = 4; DELETE FROM t WHERE b = X'05'")
    assert sorted(wb.table("t").to_arrow().to_pylist(), key=lambda r: r["id"]) == [
        {"id": 1, "name": "x", "a": b"a" * 20, "b": b"\x01", "c": [b"c", None]},
        {"id": 2, "name": "n2", "a": None, "b": b"\x03", "c": [b"cc", None]},
        {"id": 3, "name": "n3", "a": b"\x03\x07", "b": b"a" * 60, "c": [b"\x03"]},
        {"id": 4, "name": "u", "a": b"D", "b": b"\x04", "c": [b"cccc", None]},
        {"id": 9, "name": "z", "a": b"\t", "b": None, "c": [b"\t"]},
    ]
    frame = read_table(spark, wb.table("t"), limits=StrategyLimits(inline_bytes=0))
    assert frame.where("id = 3").select("a", "b", "c").collect() == [(b"\x03\x07", b"a" * 60, [b"\x03"])]
