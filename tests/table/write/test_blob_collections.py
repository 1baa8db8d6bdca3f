"""ARRAY<BLOB> and MAP<K, BLOB> columns: the bytes of Java's files, values of each type of key, descriptors, bad files and values."""

from __future__ import annotations

import datetime as dt
import decimal
import struct
import zlib
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb import CorruptFile, SchemaMismatch, UnsupportedFormat
from paimon_nb.format.data.blob import MAGIC, BlobDescriptor

EVOLVES = "'bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true'"
ROWS = [
    {"id": 1, "a": [b"one", None, b""], "m": [("k", b"v"), ("", None)]},
    {"id": 2, "a": None, "m": None},
    {"id": 3, "a": [], "m": []},
    {"id": 4, "a": [b"x" * 1000], "m": [("long", b"y" * 1000)]},
]


def made(tmp_path: Path, columns: str = "id INT, a ARRAY<BLOB>, m MAP<STRING, BLOB>", options: str = ""):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t ({columns}) WITH ({EVOLVES}{options})")
    return wb.table("t")


def append(t, rows: list[dict]) -> None:
    t.append(pa.Table.from_pylist(rows, t.to_arrow().schema))


def read(t, **how) -> list[dict]:
    return t.to_arrow(**how).sort_by("id").to_pylist()


def entry(payload: bytes) -> bytes:
    body = MAGIC + payload + struct.pack("<Q", len(payload) + 16)
    return body + struct.pack("<I", zlib.crc32(body))


def file_of(*payloads: bytes) -> bytes:
    """A `.blob` file with entries of less than 64 bytes each and of one size."""
    entries = [entry(p) for p in payloads]
    index = bytes([len(entries[0]) * 2, *[0] * (len(entries) - 1)])
    return b"".join(entries) + index + struct.pack("<IB", len(index), 1)


def test_values_are_stored_in_blob_files_and_read_back(tmp_path):
    t = made(tmp_path, options=", 'blob.target-file-size' = '500 b', 'deletion-vectors.enabled' = 'true'")
    append(t, ROWS)
    assert read(t) == ROWS
    assert sorted(f["file_path"].rsplit(".")[-1] for f in t.system("files").to_pylist()) == ["blob", "blob", "parquet"]
    t.delete(where="id = 3")
    t.update({"a": lambda rows: pa.array([[b"new"]] * rows.num_rows, pa.list_(pa.binary()))}, where="id = 2")
    assert read(t, columns=["id", "a"]) == [
        {"id": i, "a": a} for i, a in ((1, ROWS[0]["a"]), (2, [b"new"]), (4, ROWS[3]["a"]))
    ]


def test_the_bytes_of_a_file_are_those_of_java(tmp_path):
    """Header, elements, index of zigzag deltas, size of the index; a map has its keys before the elements."""
    t = made(tmp_path)
    append(t, [{"id": 1, "a": [b"ab", None], "m": [("key", b"v"), ("", None)]}])
    array = struct.pack("<IBi", 1094861634, 1, 2) + b"ab" + bytes([4, 5]) + struct.pack("<I", 2)
    mapped = (
        struct.pack("<IBi", 0x4D424342, 1, 2) + b"key" + b"v" + bytes([6, 5]) + bytes([2, 3]) + struct.pack("<II", 2, 2)
    )
    assert {p.read_bytes() for p in Path(t.path).rglob("*.blob")} == {file_of(array), file_of(mapped)}


KEYS = {
    "TINYINT": (-3, b"\xfd"), "SMALLINT": (-3, b"\xfd\xff"), "INT": (258, b"\x02\x01\x00\x00"), "BIGINT": (1, b"\x01" + bytes(7)),
    "BOOLEAN": (True, b"\x01"), "DATE": (dt.date(1970, 1, 3), b"\x02\x00\x00\x00"), "TIME(3)": (dt.time(0, 0, 0, 2000), b"\x02\x00\x00\x00"),
    "DECIMAL(5, 2)": (decimal.Decimal("-1.00"), b"\x9c" + b"\xff" * 7), "DECIMAL(20, 1)": (decimal.Decimal("12.8"), b"\x00\x80"),
    "BYTES": (b"\x00\xff", b"\x00\xff"), "VARCHAR(9)": ("é", b"\xc3\xa9"), "CHAR(1)": ("c", b"c"),
}  # fmt: skip


@pytest.mark.parametrize("key", KEYS)
def test_keys_of_each_type(tmp_path, key):
    t = made(tmp_path, f"id INT, m MAP<{key}, BLOB>")
    value, stored = KEYS[key]
    append(t, [{"id": 1, "m": [(value, b"v")]}])
    assert read(t) == [{"id": 1, "m": [(value, b"v")]}]
    data = next(Path(t.path).rglob("*.blob")).read_bytes()
    assert data[13 : 13 + len(stored) + 1] == stored + b"v"


def test_descriptors_of_elements_name_their_bytes_and_are_copied_when_they_are_written(tmp_path):
    t = made(tmp_path)
    append(t, ROWS)
    described = read(t.copy({"blob-as-descriptor": "true"}))
    first = described[0]["a"][0]
    place = BlobDescriptor.parse(first)
    assert Path(place.uri).read_bytes()[place.offset :][: place.length] == b"one"
    assert described[3]["m"][0][0] == "long"
    assert t.open_blob(described[3]["m"][0][1]).read() == b"y" * 1000
    t.overwrite(pa.Table.from_pylist(described, t.to_arrow().schema))
    assert read(t) == ROWS


def test_directives_of_comments_and_added_columns(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(f"CREATE TABLE t (id INT, a ARRAY<BYTES> COMMENT '__BLOB_FIELD; pictures') WITH ({EVOLVES})")
    wb.run("ALTER TABLE t ADD m MAP<INT, BYTES> COMMENT '__BLOB_FIELD'")
    schema = wb.table("t").schema
    assert [(f.name, str(f.type), f.description) for f in schema.fields[1:]] == [
        ("a", "ARRAY<BLOB>", "pictures"),
        ("m", "MAP<INT, BLOB>", None),
    ]
    assert schema.options["blob-field"] == "a,m"
    with pytest.raises(SchemaMismatch, match="__BLOB_VIEW_FIELD needs BYTES"):
        wb.run("ALTER TABLE t ADD v ARRAY<BYTES> COMMENT '__BLOB_VIEW_FIELD'")


@pytest.mark.parametrize(
    "columns", ["id INT, m MAP<DOUBLE, BLOB>", "id INT, a ARRAY<ARRAY<BLOB>>", "id INT, r ROW<b BLOB>"]
)
def test_other_nested_blobs_are_refused_by_name(tmp_path, columns):
    with pytest.raises(UnsupportedFormat, match=r"cannot be .*BLOB"):
        made(tmp_path, columns)


def test_a_key_that_occurs_twice_is_refused(tmp_path):
    t = made(tmp_path)
    with pytest.raises(SchemaMismatch, match="the same key twice"):
        append(t, [{"id": 1, "a": None, "m": [("k", b"1"), ("k", b"2")]}])
    assert read(t) == []


_HEADER = struct.pack("<IBi", 1094861634, 1, 1)


@pytest.mark.parametrize(
    ("payload", "error", "words"),
    [
        (b"", CorruptFile, "truncated"),
        (struct.pack("<IBi", 7, 1, 1) + bytes([0]) + struct.pack("<I", 1), CorruptFile, "not of type"),
        (struct.pack("<IBi", 1094861634, 2, 0) + struct.pack("<I", 0), UnsupportedFormat, "version 2"),
        (_HEADER + b"ab" + bytes([2]) + struct.pack("<I", 1), CorruptFile, "does not match"),
        (_HEADER + b"ab" + bytes([4, 0]) + struct.pack("<I", 2), CorruptFile, "does not match"),
        (_HEADER + bytes([4]) + struct.pack("<I", 99), CorruptFile, "wrong length"),
    ],
)
def test_a_broken_payload_is_found(tmp_path, payload, error, words):
    t = made(tmp_path, "id INT, a ARRAY<BLOB>")
    append(t, [{"id": 1, "a": [b"x"]}])
    next(Path(t.path).rglob("*.blob")).write_bytes(file_of(payload))
    with pytest.raises(error, match=words):
        t.to_arrow()
    assert t.to_arrow(columns=["id"]).num_rows == 1
