"""Files of a partitioned table that hold no partition columns, as Java's clone of a Hive table leaves them."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

import paimon_nb
from paimon_nb.engine.read import decide
from paimon_nb.engine.route import Limits, Way


def test_partition_columns_are_told_by_the_directory(tmp_path):
    """Java gives such a file a name of its own, and the sequence numbers 0 to 0: here that of one row."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE t (k INT, d STRING, v STRING) PARTITIONED BY (d); INSERT INTO t VALUES (1, 'x', 'a'), (2, 'y', 'b')"
    )
    for path in Path(wb.table("t").path).rglob("data-*.parquet"):
        rows = pq.read_table(path).drop_columns(["d"])
        pq.write_table(rows, path)
    wb = paimon_nb.connect(str(tmp_path))
    table = wb.table("t")
    assert sorted(tuple(r.values()) for r in table.to_arrow().to_pylist()) == [(1, "x", "a"), (2, "y", "b")]
    assert table.to_arrow(columns=["d"], where="d = 'y' AND v = 'b'").to_pylist() == [{"d": "y"}]
    # Spark's own reader would find no such column, and say NULL
    assert {r.way for r in decide(table, limits=Limits(inline_bytes=0)).routes} == {Way.TASKS}
    table.append(table.to_arrow())
    table.compact(full=True)
    rows = sorted(tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist())
    assert rows == [(1, "x", "a")] * 2 + [(2, "y", "b")] * 2
