"""Data-evolution tables that we compact: pypaimon 2.1.0 and pypaimon-rust 0.4.0 read the same rows, and pypaimon continues to write."""

from __future__ import annotations

import pyarrow as pa
import pytest
from peer_cases import EVOLVES
from peer_kit import Peers

import paimon_nb

pytestmark = pytest.mark.slow  # other processes, in a venv that the first test makes
COLUMNS = ["id", "b", "c"]


def test_each_reads_and_changes_what_we_compacted(tmp_path):
    peers, wb = Peers(tmp_path), paimon_nb.connect(str(tmp_path))
    try:
        schema = pa.schema([("id", pa.int32()), ("b", pa.int32()), ("c", pa.string())])
        peers.create("t", schema, [], [], {**EVOLVES, "deletion-vectors.enabled": "true", "file.format": "parquet"})
        for first in range(0, 60, 10):
            ids = pa.array(range(first, first + 10), pa.int32())
            rows = pa.table({"id": ids, "b": ids, "c": ["c"] * 10}, schema=schema)
            peers.write("pypaimon", "t", rows) if first % 20 else wb.table("t").append(rows)
        peers.update("t", pa.table({"_ROW_ID": pa.array([12, 30], pa.int64()), "c": ["new", "new"]}))
        peers.delete("t", [7])
        wb.table("t").update({"b": 700}, where="id IN (12, 55)")
        wb.run("CALL sys.create_global_index('t', 'b', 'btree'); CALL sys.compact('t')")
        assert len(wb.table("t").scan().plan.files) == 1
        expected = [(i, 700 if i in (12, 55) else i, "new" if i in (12, 30) else "c") for i in range(60) if i != 7]
        for peer in ("pypaimon", "rust"):
            found = peers.read(peer, "t", COLUMNS).to_pylist()
            assert sorted(tuple(r[c] for c in COLUMNS) for r in found) == expected, peer
        by_index = peers.read("pypaimon", "t", ["id"], ("b", "equal", [700])).column("id").to_pylist()
        assert sorted(by_index) == [12, 55]
        peers.update("t", pa.table({"_ROW_ID": pa.array([55], pa.int64()), "c": ["newest"]}))
        peers.delete("t", [30])
    finally:
        peers.close()
    expected = [(i, b, "newest" if i == 55 else c) for i, b, c in expected if i != 30]
    assert sorted(tuple(r.values()) for r in wb.table("t").to_arrow(COLUMNS).to_pylist()) == expected
