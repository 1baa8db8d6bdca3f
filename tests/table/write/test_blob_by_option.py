"""BLOB columns that the options of CREATE TABLE make of bytes, in both dialects, and compaction of their files."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import SchemaChangeError
from paimon_nb.base.errors import BadOptionValue

EVOLVES = "'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def types(wb) -> dict[str, str]:
    return {f.name: str(f.type) for f in wb.table("t").schema.fields}


@pytest.mark.parametrize(("clause", "kind"), [("WITH", "BYTES"), ("TBLPROPERTIES", "BINARY")])
def test_bytes_become_blobs_of_each_kind(wb, clause, kind):
    wb.run(f"""CREATE TABLE t (id INT, a {kind}, b ARRAY<{kind}>, c MAP<STRING, {kind}>, d {kind}, e {kind}, f {kind})
               {clause} ({EVOLVES}, 'blob-field' = 'a, b,c,d', 'blob-descriptor-field' = 'd', 'blob-view-field' = 'e')""")
    assert types(wb) == {
        "id": "INT",
        "a": "BLOB",
        "b": "ARRAY<BLOB>",
        "c": "MAP<STRING, BLOB>" if kind == "BYTES" else "MAP<STRING NOT NULL, BLOB>",  # as in Spark's DDL
        "d": "BLOB",
        "e": "BLOB",
        "f": "BYTES",
    }
    row = {"id": 1, "a": b"Hello", "b": [b"b", None], "c": [("k", b"c")], "d": None, "e": None, "f": b"YE"}
    wb.table("t").append(pa.Table.from_pylist([row], wb.table("t").to_arrow().schema))
    assert wb.table("t").to_arrow().to_pylist() == [row]
    assert sorted(tuple(c or ()) for c in wb.table("t").system("files")["write_cols"].to_pylist()) == [
        ("a",),
        ("b",),
        ("c",),
        ("id", "d", "e", "f"),
    ]


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        ("id INT, x ARRAY<BYTES>", "'blob-descriptor-field' = 'x'", "ARRAY<BLOB> is only supported by 'blob-field'."),
        (
            "id INT, x MAP<INT, BYTES>",
            "'blob-view-field' = 'x'",
            "MAP<X, BLOB> is only supported by 'blob-field'.",
        ),
        ("id INT, x STRING", "'blob-field' = 'x'", "STRING"),
        ("id INT, x ARRAY<INT>", "'blob-field' = 'x'", "ARRAY<INT>"),
        ("id INT, x BYTES", "'blob-field' = 'x,y'", "'y' does not exist"),
        ("x BYTES", "'blob-field' = 'x'", "only BLOB columns"),
    ],
)
def test_what_cannot_be_a_blob_is_refused(wb, columns, options, why):
    with pytest.raises(BadOptionValue, match=why):
        wb.run(f"CREATE TABLE t ({columns}) WITH ({EVOLVES}, {options})")


def test_blobs_need_row_ids(wb):
    with pytest.raises(BadOptionValue, match="row ids"):
        wb.run("CREATE TABLE t (id INT, x BYTES) WITH ('blob-field' = 'x')")


def test_alter_adds_and_drops_them_with_their_options(wb):
    wb.run(f"CREATE TABLE t (id INT, x BYTES) WITH ({EVOLVES}, 'blob-field' = 'x')")
    wb.run("ALTER TABLE t ADD (y ARRAY<BYTES> COMMENT '__BLOB_FIELD; more', z BYTES COMMENT '__BLOB_DESCRIPTOR_FIELD')")
    options = wb.table("t").schema.options
    assert (types(wb)["y"], options["blob-field"], options["blob-descriptor-field"]) == ("ARRAY<BLOB>", "x,y", "z")
    wb.run("ALTER TABLE t DROP (x, z)")
    options = wb.table("t").schema.options
    assert (types(wb), options["blob-field"]) == ({"id": "INT", "y": "ARRAY<BLOB>"}, "y")
    assert "blob-descriptor-field" not in options


@pytest.mark.parametrize("change", ["RENAME x TO y", "MODIFY x STRING", "MODIFY b BLOB"])
def test_a_blob_column_keeps_its_name_and_type(wb, change):
    wb.run(f"CREATE TABLE t (id INT, x BYTES, b BYTES) WITH ({EVOLVES}, 'blob-field' = 'x')")
    with pytest.raises(SchemaChangeError, match="BLOB"):
        wb.run(f"ALTER TABLE t {change}")


# -- compaction


def rows(number: int) -> pa.Table:
    return pa.table(
        {
            "id": pa.array([number], pa.int32()),
            "x": pa.array([None if number == 5 else b"x%d" % number], pa.binary()),
            "y": pa.array([[(number, b"y")]], pa.map_(pa.int32(), pa.binary())),
        }
    )


def written(wb, count: int = 6, options: str = ""):
    wb.run(f"""CREATE TABLE t (id INT, x BYTES, y MAP<INT, BYTES>)
               WITH ({EVOLVES}, 'blob-field' = 'x,y', 'blob-compaction.enabled' = 'true'{options})""")
    for number in range(count):
        wb.table("t").append(rows(number))
    return wb.table("t")


def files(t) -> list[tuple]:
    """First row id, rows, columns and the sequence numbers of each file."""
    names = ("first_row_id", "record_count", "write_cols", "min_sequence_number", "max_sequence_number")
    return sorted((tuple(r[n] for n in names) for r in t.system("files").to_pylist()), key=str)


def test_blob_files_of_a_column_become_one(wb):
    t = written(wb)
    t.update({"x": b"new"}, where="id IN (1, 5)")
    before = t.to_arrow(["id", "x", "y", "_ROW_ID"])
    t.compact()
    assert t.to_arrow(["id", "x", "y", "_ROW_ID"]) == before
    assert files(t) == [(0, 6, ["id"], 1, 6), (0, 6, ["x"], 1, 7), (0, 6, ["y"], 1, 6)]
    assert t.compact() == []


def test_newer_values_are_merged_where_the_other_files_stay(wb):
    t = written(wb, 2)
    t.update({"x": b"new"}, where="id = 1")
    t.update({"x": b"newer"}, where="id = 1")
    t.compact()
    assert files(t) == [(0, 1, ["id"], 1, 1), (0, 1, ["x"], 1, 1), (0, 1, ["y"], 1, 1), (1, 1, ["id"], 2, 2), (1, 1, ["x"], 2, 4), (1, 1, ["y"], 2, 2)]  # fmt: skip
    assert t.to_arrow()["x"].to_pylist() == [b"x0", b"newer"]


def test_files_of_the_target_size_stay(wb):
    t = written(wb, 6, ", 'blob.target-file-size' = '1 b'")
    t.compact()
    assert [f for f in files(t) if f[2] == ["id"]] == [(0, 6, ["id"], 1, 6)]
    assert len(files(t)) == 1 + 2 * 6


def test_blob_files_stay_without_the_option(wb):
    t = written(wb)
    wb.run("ALTER TABLE t RESET ('blob-compaction.enabled')")
    wb.table("t").compact()
    assert len(files(t)) == 1 + 2 * 6
    wb.run("ALTER TABLE t SET ('blob-compaction.enabled' = 'true')")
    assert len(files(wb.table("t"))) == 1 + 2 * 6


def test_deleted_rows_stay_deleted(wb):
    t = written(wb, 6, ", 'deletion-vectors.enabled' = 'true'")
    t.delete("id = 2")
    t.compact()
    assert t.to_arrow()["id"].to_pylist() == [0, 1, 3, 4, 5]
    assert [f[:3] for f in files(t)] == [(0, 6, ["id"]), (0, 6, ["x"]), (0, 6, ["y"])]


def test_manifests_tell_the_row_ids_of_their_files(wb):
    t = written(wb, 2)
    found = t.system("manifests").select(["min_row_id", "max_row_id"]).to_pylist()
    assert found == [{"min_row_id": 0, "max_row_id": 0}, {"min_row_id": 1, "max_row_id": 1}]
