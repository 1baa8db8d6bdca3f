"""BLOB columns whose data files have references: descriptors of parts of files, and views of BLOBs in other tables."""

from __future__ import annotations

import struct

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, MissingFile, ReadError, SchemaMismatch, UnsupportedFormat
from paimon_nb.format.data.blob import BlobDescriptor, BlobView

EVOLVES = "'bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
CONTENT = bytes(range(256)) * 10
VALUES = [CONTENT[5:15], None, CONTENT[1000:], b""]


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, name: str = "t", options: str = "", directive: str = "__BLOB_DESCRIPTOR_FIELD"):
    wb.run(f"CREATE TABLE {name} (id INT, x BYTES COMMENT '{directive}; a part', v STRING) WITH ({EVOLVES}{options})")
    return wb.table(name)


def rows(values: list[bytes | None], first: int = 0) -> pa.Table:
    count = range(first, first + len(values))
    return pa.table({"id": pa.array(count, pa.int32()), "x": pa.array(values, pa.binary()), "v": [f"v{i}" for i in count]})  # fmt: skip


@pytest.fixture
def references(tmp_path) -> list[bytes | None]:
    """Descriptors of VALUES."""
    path = tmp_path / "w/media.bin"
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(CONTENT)
    parts = [(5, 10), None, (1000, -1), (7, 0)]
    return [None if p is None else BlobDescriptor(str(path), *p).to_bytes() for p in parts]


def values(t, **how) -> list:
    return t.to_arrow(**how).sort_by("id").column("x").to_pylist()


def raw(t) -> list:
    return values(t.copy({"blob-as-descriptor": "true", "blob-view.resolve.enabled": "false"}))


@pytest.mark.parametrize("file_format", ["parquet", "orc", "avro"])
def test_a_read_gives_the_values_and_the_files_have_descriptors(wb, references, file_format):
    t = made(wb, options=f", 'file.format' = '{file_format}'")
    t.append(rows(references))
    assert [r["file_path"].rsplit(".", 1)[-1] for r in t.system("files").to_pylist()] == [file_format]
    assert values(t) == VALUES
    assert values(t, where="id >= 2") == VALUES[2:]
    assert t.to_arrow(columns=["id", "v"]).num_rows == 4
    described = t.copy({"blob-as-descriptor": "true"})
    assert values(described) == references
    with described.open_blob(references[0]) as file:
        assert file.read() == VALUES[0]


@pytest.mark.usefixtures("references")
def test_a_descriptor_of_the_first_version(wb, tmp_path):
    path = str(tmp_path / "w/media.bin").encode()
    t = made(wb)
    t.append(rows([b"\x01" + struct.pack("<I", len(path)) + path + struct.pack("<qq", 5, 10)]))
    assert values(t) == [VALUES[0]]


def test_values_are_no_references(wb):
    t = made(wb)
    for value in (b"bytes", b"\x01bytes that are too short", BlobView("default.t", 1, 0).to_bytes()):
        with pytest.raises(SchemaMismatch, match="'x', row 1: the value is not a blob descriptor"):
            t.append(rows([None, value]))
    assert t.snapshots().num_rows == 0
    v = made(wb, "v", directive="__BLOB_VIEW_FIELD")
    with pytest.raises(SchemaMismatch, match="not a view"):
        v.append(rows([BlobDescriptor("x", 0, 1).to_bytes()]))


def test_a_file_that_is_gone_is_named(wb, references, tmp_path):
    t = made(wb)
    t.append(rows(references))
    (tmp_path / "w/media.bin").unlink()
    with pytest.raises(MissingFile, match=r"media\.bin"):
        t.to_arrow()
    assert raw(t) == references
    assert t.to_arrow(columns=["id"]).num_rows == 4


def test_a_place_outside_of_the_warehouse_is_refused(wb, tmp_path):
    outside = tmp_path / "secret"
    outside.write_bytes(b"secret")
    t = made(wb)
    t.append(rows([BlobDescriptor(str(outside), 0, 6).to_bytes()]))
    with pytest.raises(paimon_nb.PaimonError, match="secret") as caught:
        t.to_arrow()
    assert type(caught.value).__name__ == "OutsideWarehouse"


def test_references_stay_references_where_rows_are_rewritten(wb, references):
    t = made(wb, options=", 'deletion-vectors.enabled' = 'true', 'compaction.min.file-num' = '2'")
    t.append(rows(references[:2]))
    t.append(rows(references[2:], 2))
    t.update({"v": "'w'"}, where="id = 1")
    t.update_by_row_id(pa.table({"_ROW_ID": [0], "x": pa.array([references[2]], pa.binary())}))
    t.delete(where="id = 3")
    wanted = [references[2], None, references[2]]
    assert raw(t) == wanted
    t.compact()
    assert raw(t) == wanted
    assert values(t) == [VALUES[2], None, VALUES[2]]
    wb.run("CALL sys.materialize_deletion_vectors(`table` => 'default.t')")
    assert raw(wb.table("t")) == wanted


def test_managed_blobs_beside_descriptors(wb, references):
    wb.run(
        f"CREATE TABLE t (id INT, x BYTES COMMENT '__BLOB_DESCRIPTOR_FIELD', y BYTES COMMENT '__BLOB_FIELD') WITH ({EVOLVES})"
    )
    t = wb.table("t")
    data = rows(references).drop_columns(["v"]).append_column("y", pa.array([b"y0", None, b"y2", references[0]]))
    t.append(data)
    assert sorted(r["file_path"].rsplit(".", 1)[-1] for r in t.system("files").to_pylist()) == ["blob", "parquet"]
    assert t.to_arrow().column("x").to_pylist() == VALUES
    assert t.to_arrow().column("y").to_pylist() == [b"y0", None, b"y2", VALUES[0]]


@pytest.mark.parametrize(
    ("columns", "options", "why"),
    [
        ("id INT, x STRING", "'blob-descriptor-field' = 'x'", "BYTES"),
        ("id INT, x BLOB", "'blob-descriptor-field' = 'x', 'blob-view-field' = 'x'", "named twice"),
        ("id INT, x ARRAY<BLOB>", "'blob-view-field' = 'x'", "ARRAY<BLOB>"),
    ],
)
def test_what_cannot_have_references_is_refused(wb, columns, options, why):
    with pytest.raises(BadOptionValue, match=why):
        wb.run(f"CREATE TABLE t ({columns}) WITH ({EVOLVES}, {options})")


# -- views


@pytest.fixture
def upstream(wb):
    """A table with BLOBs at row ids 0 to 4, of which 3 is deleted."""
    wb.run(
        f"CREATE TABLE up (id INT, x BYTES COMMENT '__BLOB_FIELD') WITH ({EVOLVES}, 'deletion-vectors.enabled' = 'true')"
    )
    t = wb.table("up")
    t.append(rows([b"zero", None, b"two", b"three"]).drop_columns(["v"]))
    t.append(rows([b"four"], 4).drop_columns(["v"]))
    t.delete(where="id = 3")
    return t


def view(row_id: int, field_id: int = 1, table: str = "default.up") -> bytes:
    return BlobView(table, field_id, row_id).to_bytes()


def test_a_view_gives_the_value_of_the_other_table(wb, upstream):
    t = made(wb, directive="__BLOB_VIEW_FIELD")
    t.append(rows([view(4), view(0), None, view(1), view(4)]))
    assert values(t) == [b"four", b"zero", None, None, b"four"]
    described = values(t.copy({"blob-as-descriptor": "true"}))
    assert [d and upstream.open_blob(d).read() for d in described] == values(t)
    stored = values(t.copy({"blob-view.resolve.enabled": "false"}))
    assert stored == [view(4), view(0), None, view(1), view(4)]
    made(wb, "u", directive="__BLOB_VIEW_FIELD").append(rows(stored))
    assert values(wb.table("u")) == values(t)


@pytest.mark.parametrize(
    ("reference", "error", "why"),
    [
        (view(3), ReadError, "row 3 of default.up"),
        (view(99), ReadError, "row 99 of default.up"),
        (view(0, 7), ReadError, "column 7 of default.up"),
        (view(0, 1, "default.gone"), paimon_nb.TableNotFound, "gone"),
        (view(0, 1, "gone"), UnsupportedFormat, "cannot be found"),
    ],
)
@pytest.mark.usefixtures("upstream")
def test_what_a_view_cannot_find_is_named(wb, reference, error, why):
    t = made(wb, directive="__BLOB_VIEW_FIELD")
    t.append(rows([view(0), reference]))
    with pytest.raises(error, match=why):
        t.to_arrow()
    assert t.to_arrow(columns=["id"]).num_rows == 2


@pytest.mark.spark
def test_sql_gives_values_and_references(tmp_path, spark, references):
    wb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    t = made(wb)
    t.append(rows(references))
    assert [bytes(r[0]) for r in wb.sql("SELECT x FROM t WHERE x IS NOT NULL ORDER BY id").collect()] == [
        VALUES[0],
        *VALUES[2:],
    ]
    hint = "/*+ OPTIONS('blob-as-descriptor' = 'true') */"
    wb.run(f"CREATE TABLE copy (id INT, x BYTES COMMENT '__BLOB_DESCRIPTOR_FIELD', v STRING) WITH ({EVOLVES})")
    wb.run(f"INSERT INTO copy SELECT * FROM t {hint}")
    assert raw(wb.table("copy")) == references
    wb.run("MERGE INTO copy USING (SELECT 0 AS id) s ON copy.id = s.id WHEN MATCHED THEN UPDATE SET v = 'merged'")
    assert raw(wb.table("copy")) == references
    assert values(wb.table("copy")) == VALUES
