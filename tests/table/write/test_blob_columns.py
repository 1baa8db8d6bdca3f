"""BLOB columns in `.blob` files: written, read, updated, and equal to what pypaimon writes and reads."""

from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pytest
from golden_tables import golden_table

import paimon_nb
from paimon_nb import CorruptFile, UnsupportedFormat
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data.blob import BlobDescriptor

EVOLVES = "'bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
VALUES = [b"first", None, b"", b"x" * 100_000, b"last"]


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, options: str = "", columns: str = "id INT, x BYTES COMMENT '__BLOB_FIELD; picture', v STRING"):
    wb.run(f"CREATE TABLE t ({columns}) WITH ({EVOLVES}{options})")
    return wb.table("t")


def rows(values: list[bytes | None], first: int = 0) -> pa.Table:
    count = range(first, first + len(values))
    return pa.table(
        {"id": pa.array(count, pa.int32()), "x": pa.array(values, pa.binary()), "v": [f"v{i}" for i in count]}
    )


def files(t) -> list[tuple[str, int]]:
    """Extension and rows of each data file."""
    return [(r["file_path"].rsplit(".", 1)[-1], r["record_count"]) for r in t.system("files").to_pylist()]


def test_values_are_stored_in_files_of_their_own(wb):
    t = made(wb)
    t.append(rows(VALUES))
    assert sorted(files(t)) == [("blob", 5), ("parquet", 5)]
    assert t.to_arrow() == rows(VALUES).cast(t.to_arrow().schema)
    assert t.to_arrow(columns=["x"], where="id >= 3").column("x").to_pylist() == VALUES[3:]
    assert t.to_arrow(where="x IS NULL").column("id").to_pylist() == [1]
    assert [(f.name, str(f.type), f.description) for f in t.schema.fields][1] == ("x", "BLOB", "picture")


def test_files_end_with_the_value_that_makes_them_large_enough(wb):
    t = made(wb, ", 'blob.target-file-size' = '1 kb'")
    t.append(rows([b"a" * 600] * 5))
    assert sorted(files(t)) == [("blob", 1), ("blob", 2), ("blob", 2), ("parquet", 5)]
    t.append(rows([b"z"], 9))
    assert t.to_arrow().sort_by("id").column("x").to_pylist() == [b"a" * 600] * 5 + [b"z"]


def test_two_blob_columns_and_a_vector_have_a_file_each(wb):
    t = made(wb, ", 'vector.file.format' = 'parquet'", "id INT, a BLOB, e VECTOR<FLOAT, 2>, b BLOB")
    row = {"id": 1, "a": b"a", "e": [1.0, 2.0], "b": b"b"}
    t.append(pa.Table.from_pylist([row], t.to_arrow().schema))
    assert t.to_arrow().to_pylist() == [row]
    assert sorted(e for e, _ in files(t)) == ["blob", "blob", "parquet", "parquet"]


def test_update_delete_and_added_columns(wb):
    t = made(wb, ", 'deletion-vectors.enabled' = 'true'")
    t.append(rows([b"a", b"b", b"c"]))
    t.delete(where="id = 0")
    t.update({"v": "new"}, where="id = 1")
    t.update({"x": lambda table: pa.array([b"X"] * table.num_rows)}, where="id = 2")
    wb.run("ALTER TABLE t ADD y BYTES COMMENT '__BLOB_FIELD'")
    t = wb.table("t")
    t.append(pa.table({"id": pa.array([7], pa.int32()), "x": [b"7"], "v": ["v7"], "y": [b"y"]}))
    assert t.to_arrow().sort_by("id").to_pylist() == [
        {"id": 1, "x": b"b", "v": "new", "y": None},
        {"id": 2, "x": b"X", "v": "v2", "y": None},
        {"id": 7, "x": b"7", "v": "v7", "y": b"y"},
    ]


def test_descriptors_name_the_values_and_are_copied_when_they_are_written(wb):
    t = made(wb)
    t.append(rows(VALUES))
    found = t.copy({"blob-as-descriptor": "true"}).to_arrow().column("x").to_pylist()
    assert found[1] is None
    for data, value in zip(found, VALUES, strict=True):
        if data is not None:
            place = BlobDescriptor.parse(data)
            assert Path(place.uri).read_bytes()[place.offset :][: place.length] == value
            assert place.to_bytes() == data
            with t.open_blob(data) as stream:
                assert io.BufferedReader(stream).read() == value
    wb.run(f"CREATE TABLE u (id INT, x BLOB, v STRING) WITH ({EVOLVES})")
    u = wb.table("u")
    u.append(rows(found))
    assert u.to_arrow().column("x").to_pylist() == VALUES
    with pytest.raises(paimon_nb.OutsideWarehouse):
        u.append(rows([BlobDescriptor("/etc/hostname", 0, -1).to_bytes()]))


def test_a_broken_value_is_found(wb):
    t = made(wb)
    t.append(rows([b"some value"]))
    path = next(Path(t.path).rglob("*.blob"))
    data = bytearray(path.read_bytes())
    data[6] ^= 1
    path.write_bytes(data)
    with pytest.raises(CorruptFile, match="checksum"):
        t.to_arrow()
    path.write_bytes(data[:3])
    with pytest.raises(CorruptFile):
        t.to_arrow()


def test_the_bytes_of_a_file_are_those_of_java(wb):
    """Magic number, value, length, checksum of all three; deltas of the lengths; their size and the version."""
    t = made(wb)
    t.append(rows([b"ab", None]))
    entry = struct.pack("<I", 1481511375) + b"ab" + struct.pack("<Q", 18)
    index = bytes([36, 37])  # zigzag of 18 and of -1 - 18
    want = entry + struct.pack("<I", zlib.crc32(entry)) + index + struct.pack("<IB", 2, 1)
    assert next(Path(t.path).rglob("*.blob")).read_bytes() == want


@pytest.mark.parametrize(
    ("columns", "options", "error", "words"),
    [
        ("id INT, x BLOB", "'bucket' = '-1'", BadOptionValue, "row ids"),
        ("x BLOB", EVOLVES, BadOptionValue, "only BLOB columns"),
        ("id INT, x ARRAY<BLOB>", "'bucket' = '-1'", BadOptionValue, "row ids"),
        ("id INT, x ROW<y BLOB>", EVOLVES, UnsupportedFormat, "'x' cannot be ROW<`y` BLOB>"),
    ],
)
def test_other_uses_of_blobs_are_refused_by_name(wb, columns, options, error, words):
    with pytest.raises(error, match=words):
        wb.run(f"CREATE TABLE t ({columns}) WITH ({options})")


def test_what_pypaimon_wrote_is_read(tmp_path):
    t = golden_table(tmp_path, "pypaimon-2.1", "blobs")
    assert t.to_arrow().sort_by("id").to_pylist() == [
        {"id": i, "b": b, "c": f"c{i}", "x": b"large %d" % i} for i, b in ((0, 100), (1, 1), (2, 2), (4, 4))
    ]


def test_newer_files_of_pypaimon_refer_to_values_in_older_ones(tmp_path):
    t = golden_table(tmp_path, "pypaimon-2.1", "blobs_updated")
    expected = {0: None, 1: b"second 1", 2: b"large 2", 3: b"third 3", 5: b"large 5"}
    rows = t.to_arrow().sort_by("id")
    assert dict(zip(rows["id"].to_pylist(), rows["x"].to_pylist(), strict=True)) == expected
    assert t.to_arrow(columns=["x"], where="id >= 3").column("x").to_pylist() == [b"third 3", b"large 5"]
    described = t.copy({"blob-as-descriptor": "true"}).to_arrow().sort_by("id")["x"].to_pylist()
    assert [None if d is None else t.open_blob(d).read() for d in described] == list(expected.values())
    t.update({"x": b"ours"}, where="id = 5")
    assert t.to_arrow().sort_by("id")["x"].to_pylist() == [*list(expected.values())[:-1], b"ours"]


def test_a_new_value_wins_over_files_that_are_numbered_beyond_their_snapshots(tmp_path):
    """pypaimon numbers rolled files 1, 2, 3 ... in one snapshot, and does not find its own updates of them again."""
    t = golden_table(tmp_path, "pypaimon-2.1", "blobs")
    assert max(f.max_sequence for f in t.scan().plan.files) > t.latest_snapshot().id
    t.update_by_row_id(pa.table({"_ROW_ID": [4, 1], "x": pa.array([b"new 4", b"new 1"], pa.binary())}))
    t.update_by_row_id(pa.table({"_ROW_ID": [4], "x": pa.array([b"newer"], pa.binary())}))
    assert {r["id"]: r["x"] for r in t.to_arrow().to_pylist()} == {
        0: b"large 0",
        1: b"new 1",
        2: b"large 2",
        4: b"newer",
    }
