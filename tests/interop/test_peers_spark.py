"""Rows that our DELETE and MERGE change under data evolution are the same for pypaimon 2.1.0 and pypaimon-rust 0.4.0."""

from __future__ import annotations

import pytest
from peer_kit import Peers

import paimon_nb

pytestmark = pytest.mark.spark
STATEMENTS = (
    (
        "INSERT INTO t VALUES (0, 0, 'a'), (1, 1, 'b'), (2, 2, 'c'), (3, 3, 'd')",
        [(0, 0, "a"), (1, 1, "b"), (2, 2, "c"), (3, 3, "d")],
    ),
    ("DELETE FROM t WHERE id = 1", [(0, 0, "a"), (2, 2, "c"), (3, 3, "d")]),
    (
        "MERGE INTO t USING s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.b = s.b WHEN NOT MATCHED THEN INSERT (id, b, c) VALUES (id, b, 'new')",
        [(0, 0, "a"), (1, 11, "new"), (2, 22, "c"), (3, 3, "d")],
    ),
    ("DELETE FROM t WHERE b > 10 AND id = 2", [(0, 0, "a"), (1, 11, "new"), (3, 3, "d")]),
    ("DELETE FROM t WHERE id = 1", [(0, 0, "a"), (3, 3, "d")]),
)


@pytest.mark.nightly
def test_deleted_and_merged_rows_of_data_evolution(tmp_path, spark):
    peers = Peers(tmp_path / "w")
    wb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    wb.run("""CREATE TABLE t (id INT, b INT, c STRING) TBLPROPERTIES
              ('row-tracking.enabled' = 'true', 'data-evolution.enabled' = 'true', 'deletion-vectors.enabled' = 'true');
              CREATE TABLE s (id INT, b INT); INSERT INTO s VALUES (1, 11), (2, 22)""")
    try:
        for statement, rows in STATEMENTS:
            wb.run(statement)
            found = {who: peers.read(who, "t", ["id", "b", "c"]) for who in ("pypaimon", "rust")}
            found["us"] = wb.table("t").to_arrow()
            seen = {who: sorted(tuple(r.values()) for r in t.to_pylist()) for who, t in found.items()}
            assert seen == dict.fromkeys(seen, rows), statement
    finally:
        peers.close()
