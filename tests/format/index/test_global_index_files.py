"""BTree and bitmap global index files: what is written is found again, for each type of column."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from paimon_nb.base.errors import BadOptionValue, CorruptFile
from paimon_nb.format.index.global_index import (
    BitmapFileReader,
    BTreeFileReader,
    KeyBounds,
    keys_equal_to,
    scan_snapshot_of,
    sorted_keys,
    source_meta,
    write_bitmap_file,
    write_btree_file,
)
from paimon_nb.format.index.global_index.index_blocks import IndexFileSource, Location
from paimon_nb.format.row import from_python
from paimon_nb.format.types import arrow_type, parse_type
from paimon_nb.fs import LocalFileIO

DAY = dt.date(1969, 12, 30)
TIME = dt.datetime(1969, 12, 31, 23, 59, 59, 999_123)
VALUES = {
    "BOOLEAN": [False, True],
    "TINYINT": [-128, 0, 127],
    "SMALLINT": [-300, 300],
    "INT": [-70000, 0, 70000],
    "BIGINT": [-(2**40), 1, 2**40],
    "FLOAT": [float("-inf"), -1.5, 0.0, 2.5, float("nan")],
    "DOUBLE": [-1e300, -1.5, 1e300],
    "DATE": [DAY, DAY + dt.timedelta(days=9)],
    "TIME": [dt.time(1), dt.time(23, 59, 59, 5000)],
    "TIMESTAMP(3)": [TIME.replace(microsecond=999_000), TIME + dt.timedelta(days=1)],
    "TIMESTAMP(6)": [TIME, TIME + dt.timedelta(microseconds=1)],
    "TIMESTAMP(9)": [TIME, TIME + dt.timedelta(microseconds=1)],
    "DECIMAL(5, 2)": [Decimal("-1.50"), Decimal("300.25")],
    "DECIMAL(30, 2)": [Decimal("-12345678901234567890.50"), Decimal("-1.28"), Decimal("0.00"), Decimal("1.28")],
    "STRING": ["", "a", "ab", "b", "é" * 90, "\U0001f600"],
}
FILES = {"btree": (write_btree_file, BTreeFileReader), "bitmap": (write_bitmap_file, BitmapFileReader)}


def open_file(tmp_path, kind, keys, block_bytes=64, compression="none"):
    write, reader = FILES[kind]
    path = tmp_path / f"{kind}-{compression}-{len(list(tmp_path.iterdir()))}.index"
    path.write_bytes(write(keys, block_bytes, compression))
    return reader(IndexFileSource(LocalFileIO(), str(path), path.stat().st_size), keys.type)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("name", VALUES)
def test_the_rows_of_each_value_and_range(tmp_path, name, kind):
    t, values = parse_type(name), VALUES[name]
    column = pa.array([None, *values, *reversed(values), None], arrow_type(t))
    file = open_file(tmp_path, kind, sorted_keys(t, column, np.arange(len(column)) + 1000))
    assert set(file.rows_of_nulls()) == {1000, 1001 + 2 * len(values)}
    rows = [{1001 + i, 1000 + 2 * len(values) - i} for i in range(len(values))]
    for i, value in enumerate(values):
        low, high = keys_equal_to(t, from_python(t, value))
        assert set(file.rows_between(low, high)) == rows[i]
        assert set(file.rows_between(None, low, high_open=True)) == set().union(*rows[:i])
        assert set(file.rows_between(high, None, low_open=True)) == set().union(*rows[i + 1 :])
        assert set(file.rows_between(low, None)) == set().union(*rows[i:])
        assert set(file.rows_between(None, high)) == set().union(*rows[: i + 1])


def test_both_zeros_are_equal():
    low, high = keys_equal_to(parse_type("DOUBLE"), 0.0)
    assert (low, high) == (-1, 0)


@pytest.mark.parametrize("kind", FILES)
@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_many_keys_and_blocks(tmp_path, kind, compression):
    t = parse_type("INT")
    column = pa.array([i % 997 for i in range(5000)], pa.int32())
    file = open_file(tmp_path, kind, sorted_keys(t, column, np.arange(5000) * 3), 512, compression)
    assert len(file.rows_between(None, None)) == 5000
    assert list(file.rows_between(500, 500)) == [3 * i for i in range(5000) if i % 997 == 500]
    assert set(file.rows_between(100, 800, low_open=True, high_open=True)) == {
        3 * i for i in range(5000) if 100 < i % 997 < 800
    }
    assert len(file.rows_between(997, None)) == 0


def test_an_unknown_codec_is_refused(tmp_path):
    keys = sorted_keys(parse_type("INT"), pa.array([1], pa.int32()), np.arange(1))
    with pytest.raises(BadOptionValue, match="'gzip'"):
        open_file(tmp_path, "btree", keys, compression="gzip")


@pytest.mark.parametrize("kind", FILES)
def test_a_broken_file_is_named(tmp_path, kind):
    keys = sorted_keys(parse_type("INT"), pa.array([1, 2, None], pa.int32()), np.arange(3))
    write, reader = FILES[kind]
    whole = write(keys, 64)
    for broken in (whole[:20], whole[:-1] + b"x", whole[: len(whole) // 2] + whole[-52:], bytes(len(whole))):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.index"
        path.write_bytes(broken)
        with pytest.raises(CorruptFile, match=path.name):
            reader(IndexFileSource(LocalFileIO(), str(path), len(broken)), keys.type).rows_between(None, None)


def test_chunks_keep_the_order_and_split_a_key():
    keys = sorted_keys(parse_type("INT"), pa.array([2, None, 1, 2, 2], pa.int32()), np.arange(5))
    found = [(list(c.nulls), list(c.keys), [r.tolist() for r in c.rows]) for c in keys.chunks(3)]
    assert found == [([1], [1, 2], [[2], [0]]), ([], [2], [[3, 4]])]


@pytest.mark.parametrize(
    ("bounds", "data"),
    [
        (KeyBounds(b"a", b"zz", False), b"\1\0\0\0a\2\0\0\0zz\0\1\0"),
        (KeyBounds(None, None, True), b"\0\0\0\0\0\0\0\0\1\1\3"),
        (KeyBounds(b"", b"", True), b"\0\0\0\0\0\0\0\0\1\1\0"),
    ],
)
def test_key_bounds(bounds, data):
    assert bounds.to_bytes() == data
    assert KeyBounds.parse(data) == bounds


def test_key_bounds_of_older_files():
    assert KeyBounds.parse(b"\0\0\0\0\0\0\0\0\1") == KeyBounds(None, None, True)
    assert KeyBounds.parse(b"\0\0\0\0\1\0\0\0a\0") == KeyBounds(b"", b"a", False)


def test_the_snapshot_an_index_was_built_from():
    assert source_meta(7) == b"DEIX\0\0\0\1" + (7).to_bytes(8, "big")
    assert (scan_snapshot_of(source_meta(7)), scan_snapshot_of(None), scan_snapshot_of(b"x" * 16)) == (7, None, None)


def test_a_block_of_negative_size_is_a_broken_file(tmp_path) -> None:
    """Such a size, of one changed byte of a listing, left fewer bytes than its checksum needs."""
    path = tmp_path / "index"
    path.write_bytes(bytes(100))
    with pytest.raises(CorruptFile, match="-3 bytes"):
        IndexFileSource(LocalFileIO(), str(path), 100).block(Location(10, -3))
