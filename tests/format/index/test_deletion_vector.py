"""Deletion vectors and hash indexes: golden bytes, round trips, broken files, Java's own files."""

from __future__ import annotations

import contextlib
import pickle
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_nb.base.errors import CorruptFile, FormatError, NewerFormat
from paimon_nb.format.index import (
    DeletionVector,
    parse_vector,
    read_deletion_vector,
    read_deletion_vectors,
    read_hash_index,
    write_deletion_vectors,
    write_hash_index,
)
from paimon_nb.format.manifest import DvRange
from paimon_nb.format.row import key_hash_of
from paimon_nb.format.types import parse_type
from paimon_nb.fs import LocalFileIO

# docs/spec/format.md section 19: positions {1, 2}
V1 = "000000185e43f2d03a30000001000000000001001000000001000200c3366892"
V2 = "00000024d1d339640100000000000000000000003a30000001000000000001001000000001000200712fa6e8"
positions = st.lists(st.integers(0, 2**31) | st.integers(0, 300), max_size=200).map(set)


@pytest.mark.parametrize(("version", "expected", "length"), [(1, V1, 24), (2, V2, 44)])
def test_golden_files(tmp_path, version, expected, length):
    fs, path = LocalFileIO(), f"{tmp_path}/index-0"
    vector = DeletionVector.of([2, 1])
    size, ranges = write_deletion_vectors(fs, path, {"a": vector, "b": vector}, version)
    one = len(expected) // 2
    assert fs.read(path).hex() == "01" + expected + expected
    assert (size, ranges) == (1 + 2 * one, [DvRange("a", 1, length, 2), DvRange("b", 1 + one, length, 2)])
    assert read_deletion_vectors(fs, path, ranges) == {"a": vector, "b": vector}
    assert read_deletion_vector(fs, path, 1 + one, length) == vector


@given(positions, positions, st.sampled_from([1, 2]))
def test_round_trip(rows, more, version):
    vector = DeletionVector.of(rows).with_positions(np.array(sorted(more), dtype=np.int64))
    data = vector.to_bytes(version)
    back = parse_vector(data, len(data) - (8 if version == 1 else 0), "f")
    assert back == vector == pickle.loads(pickle.dumps(vector))
    assert back.positions().tolist() == sorted(rows | more)
    assert len(back) == len(rows | more)
    assert all(p in back for p in rows)
    assert np.flatnonzero(back.mask(300)).tolist() == sorted(p for p in rows | more if p < 300)
    assert np.flatnonzero(back.mask(100, start=50)).tolist() == sorted(p - 50 for p in rows | more if 50 <= p < 150)


def test_positions_past_32_bits_need_version_2():
    vector = DeletionVector.of([5, 2**33 + 7])
    data = vector.to_bytes(2)
    assert parse_vector(data, len(data), "f").positions().tolist() == [5, 2**33 + 7]
    with pytest.raises(ValueError):
        vector.to_bytes(1)


def test_long_runs_are_small():
    assert len(DeletionVector.of(range(100_000)).to_bytes()) < 100


@given(st.data(), st.sampled_from([1, 2]))
def test_mutated_bytes_are_refused_or_read(data, version):
    raw = bytearray(DeletionVector.of([1, 2, 70_000, *range(100, 9000, 2)]).to_bytes(version))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, min(len(raw) - 1, 80)))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(raw)))
    with contextlib.suppress(CorruptFile):
        parse_vector(bytes(raw[:cut]), len(raw) - (8 if version == 1 else 0), "f").positions()


def test_broken_files(tmp_path):
    fs = LocalFileIO()
    for name, data, kind in [
        ("empty", b"", CorruptFile),
        ("newer", b"\x02" + bytes.fromhex(V1), NewerFormat),
        ("zero", b"\x00" + bytes.fromhex(V1), CorruptFile),
        ("short", b"\x01" + bytes.fromhex(V1)[:20], CorruptFile),
        ("bit", b"\x01" + bytes.fromhex(V1[:-12] + "0a00c3366892"), CorruptFile),
        ("magic", b"\x01" + struct.pack(">i", 24) + bytes(28), CorruptFile),
    ]:
        fs.write(f"{tmp_path}/{name}", data)
        for read in (
            lambda path: read_deletion_vectors(fs, path, [DvRange("a", 1, 24, 2)]),
            lambda path: read_deletion_vector(fs, path, 1, 24),
        ):
            with pytest.raises(kind):
                read(f"{tmp_path}/{name}")
    fs.write(f"{tmp_path}/ok", b"\x01" + bytes.fromhex(V1))
    with pytest.raises(CorruptFile):
        read_deletion_vectors(fs, f"{tmp_path}/ok", [DvRange("a", 1, 25, 2)])


def test_hash_index(tmp_path):
    fs, path = LocalFileIO(), f"{tmp_path}/index-0"
    assert write_hash_index(fs, path, [key_hash_of([parse_type("INT")], [1]), -5]) == 8
    assert fs.read(path).hex() == "5759f99efffffffb"
    assert read_hash_index(fs, path).tolist() == [1465514398, -5]
    fs.write(f"{path}x", b"abc")
    with pytest.raises(FormatError):
        read_hash_index(fs, f"{path}x")
