"""BLOB columns that pypaimon and we write into one table: both read all values."""

from __future__ import annotations

import pyarrow as pa
import pytest
from peer_kit import PeerError, Peers

import paimon_nb
from paimon_nb.format.data.blob import BlobDescriptor, BlobView

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


def references(values: list[bytes | None]) -> pa.Table:
    ids = pa.array(range(len(values)), pa.int32())
    return pa.table({"id": ids, "x": pa.array(values, pa.large_binary())})


def both_read(peers: Peers, wb: paimon_nb.Workbench, table: str, **options: str) -> list:
    """The values of a column, which pypaimon and we read alike."""
    theirs = peers.read("pypaimon", table, ["id", "x"], **options).sort_by("id").column("x").to_pylist()
    assert wb.table(table).copy(options).to_arrow().sort_by("id").column("x").to_pylist() == theirs
    return theirs


@pytest.mark.nightly
def test_references_to_values_in_files_and_in_other_tables(tmp_path):
    peers = Peers(tmp_path)
    path = tmp_path / "media.bin"
    path.write_bytes(b"0123456789")
    parts = [(2, 3), (0, -1), None, (9, 1)]
    found = [None if p is None else BlobDescriptor(f"file://{path}", *p).to_bytes() for p in parts]
    wanted = [b"234", b"0123456789", None, b"9"]
    evolves = {"row-tracking.enabled": "true", "data-evolution.enabled": "true"}
    schema = pa.schema([("id", pa.int32()), ("x", pa.large_binary())])
    try:
        wb = paimon_nb.connect(str(tmp_path))
        peers.create("theirs", schema, [], [], {**evolves, "blob-descriptor-field": "x"})
        wb.run(f"CREATE TABLE ours (id INT, x BYTES COMMENT '__BLOB_DESCRIPTOR_FIELD') WITH ({OPTIONS})")
        for table in ("theirs", "ours"):
            peers.write("pypaimon", table, references(found))
            assert both_read(peers, wb, table) == wanted
            wb.table(table).append(references(found).set_column(0, "id", pa.array(range(10, 14), pa.int32())))
            assert both_read(peers, wb, table) == wanted * 2
            assert both_read(peers, wb, table, **{"blob-as-descriptor": "true"}) == found * 2

        wb.run(f"CREATE TABLE up (id INT, x BYTES COMMENT '__BLOB_FIELD') WITH ({OPTIONS})")
        wb.table("up").append(references([b"zero", None, b"two"]))
        views = [BlobView("default.up", 1, 2).to_bytes(), None, BlobView("default.up", 1, 1).to_bytes()]
        peers.create("views", schema, [], [], {**evolves, "blob-view-field": "x"})
        peers.write("pypaimon", "views", references(views))
        assert both_read(peers, wb, "views") == [b"two", None, None]
        wb.table("views").append(references([None] * 3 + views).slice(3))
        assert both_read(peers, wb, "views") == [b"two", None, None] * 2
        assert both_read(peers, wb, "views", **{"blob-as-descriptor": "true"})[0] is not None
        assert both_read(peers, wb, "views", **{"blob-view.resolve.enabled": "false"}) == views * 2
    finally:
        peers.close()


@pytest.mark.nightly
def test_values_of_the_same_age_are_not_chosen_from(tmp_path):
    """pypaimon gives the rolled files of one snapshot the numbers 1, 2, 3 ..., and an update the number of its snapshot."""
    peers, wb = Peers(tmp_path), paimon_nb.connect(str(tmp_path))
    options = {"row-tracking.enabled": "true", "data-evolution.enabled": "true", "blob.target-file-size": "10 b"}
    try:
        peers.create("aged", pa.schema([("id", pa.int32()), ("x", pa.large_binary())]), [], [], options)
        peers.write("pypaimon", "aged", references([None if i % 3 == 0 else b"blob%d" % i for i in range(6)]))
        peers.update("aged", pa.table({"_ROW_ID": pa.array([3]), "x": pa.array([b"new"], pa.large_binary())}))
        with pytest.raises(PeerError, match="should not overlap"):
            peers.read("pypaimon", "aged", ["id", "x"])
    finally:
        peers.close()
    with pytest.raises(paimon_nb.PaimonError, match="'x': 2 files have values of row ids 2 to 2"):
        wb.table("aged").to_arrow()
    assert wb.table("aged").to_arrow(columns=["id"]).num_rows == 6
