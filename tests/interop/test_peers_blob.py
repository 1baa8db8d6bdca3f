"""BLOB columns that pypaimon and we write into one table: both read all values."""

from __future__ import annotations

import pyarrow as pa
import pytest
from peer_kit import Peers

import paimon_nb

pytestmark = pytest.mark.slow  # another process, in a venv that the first test makes
VALUES = [b"first", None, b"", b"x" * 5000, b"last"]
OPTIONS = "'bucket' = '-1', 'row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'blob.target-file-size' = '1 kb'"


def rows(first: int, binary: pa.DataType) -> pa.Table:
    ids = pa.array(range(first, first + len(VALUES)), pa.int32())
    return pa.table({"id": ids, "x": pa.array(VALUES, binary), "v": ["v"] * len(VALUES)})


LISTS = [[b"one", None, b""], None, [], [b"x" * 5000]]
MAPS = [[("k", b"v"), ("", None)], None, [], [("long", b"y" * 5000)]]


def collections(first: int, binary: pa.DataType) -> pa.Table:
    ids = pa.array(range(first, first + len(LISTS)), pa.int32())
    return pa.table(
        {"id": ids, "a": pa.array(LISTS, pa.list_(binary)), "m": pa.array(MAPS, pa.map_(pa.string(), binary))}
    )


def test_each_reads_what_the_other_wrote(tmp_path):
    peers = Peers(tmp_path)
    try:
        wb = paimon_nb.connect(str(tmp_path))
        wb.run(f"CREATE TABLE t (id INT, x BYTES COMMENT '__BLOB_FIELD', v STRING) WITH ({OPTIONS})")
        wb.table("t").append(rows(0, pa.binary()))
        peers.write("pypaimon", "t", rows(10, pa.large_binary()))
        wb.table("t").append(rows(20, pa.binary()))
        theirs = peers.read("pypaimon", "t", ["id", "x", "v"]).sort_by("id")
        described = peers.read("pypaimon", "t", ["id", "x", "v"], **{"blob-as-descriptor": "true"})
    finally:
        peers.close()
    ours = wb.table("t").to_arrow().sort_by("id")
    assert ours.column("x").to_pylist() == VALUES * 3
    assert theirs.to_pylist() == ours.to_pylist()
    assert (
        described.sort_by("id").to_pylist()
        == wb.table("t").copy({"blob-as-descriptor": "true"}).to_arrow().sort_by("id").to_pylist()
    )


def test_each_reads_the_arrays_and_maps_of_blobs_that_the_other_wrote(tmp_path):
    peers = Peers(tmp_path)
    columns = ["id", "a", "m"]
    try:
        wb = paimon_nb.connect(str(tmp_path))
        wb.run(f"CREATE TABLE t (id INT, a ARRAY<BLOB>, m MAP<STRING, BLOB>) WITH ({OPTIONS})")
        wb.table("t").append(collections(0, pa.binary()))
        peers.write("pypaimon", "t", collections(10, pa.large_binary()))
        theirs = peers.read("pypaimon", "t", columns).sort_by("id")
        described = peers.read("pypaimon", "t", columns, **{"blob-as-descriptor": "true"}).sort_by("id")
    finally:
        peers.close()
    ours = wb.table("t").to_arrow().sort_by("id")
    assert (ours.column("a").to_pylist(), ours.column("m").to_pylist()) == (LISTS * 2, MAPS * 2)
    assert theirs.to_pylist() == ours.to_pylist()
    assert (
        described.to_pylist() == wb.table("t").copy({"blob-as-descriptor": "true"}).to_arrow().sort_by("id").to_pylist()
    )
