"""Files of a partitioned table that hold no partition columns, as Java's clone of a Hive table leaves them."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

import pyarrow as pa
import pyarrow.orc as orc
import pyarrow.parquet as pq

import paimon_nb
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits


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
    assert {r.strategy for r in plan_table_scan(table, limits=StrategyLimits(inline_bytes=0)).routes} == {
        ScanStrategy.TASKS
    }
    table.append(table.to_arrow())
    table.compact(full=True)
    rows = sorted(tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist())
    assert rows == [(1, "x", "a")] * 2 + [(2, "y", "b")] * 2


def test_a_partition_that_is_a_time_is_told_by_itself_in_orc(tmp_path):
    """ORC's readers, Java's too, take the last second before 1970 for the first one after. Java never reads these columns."""
    wb = paimon_nb.connect(str(tmp_path))
    at = dt.datetime(1969, 12, 31, 23, 59, 58, 100_000)
    wb.run(
        "CREATE TABLE t (k INT, p TIMESTAMP(3), PRIMARY KEY (k, p) NOT ENFORCED) PARTITIONED BY (p) WITH ('bucket' = '1', 'file.format' = 'orc')"
    )
    table = wb.table("t")
    table.upsert(pa.table({"k": pa.array([1, 2], pa.int32()), "p": pa.array([at, at], pa.timestamp("ms"))}))
    for path in Path(table.path).rglob("data-*.orc"):
        rows = orc.read_table(path)
        wrong = pa.array([dt.datetime(1970, 1, 1, 0, 0, 1, 100_000)] * 2, rows.schema.field("p").type)
        orc.write_table(rows.set_column(rows.schema.get_field_index("p"), "p", wrong), path)
    table = paimon_nb.connect(str(tmp_path)).table("t")
    assert [r["p"] for r in table.to_arrow().to_pylist()] == [at, at]
    assert table.to_arrow(columns=["p"], where="k = 2").to_pylist() == [{"p": at}]
    assert {r.strategy for r in plan_table_scan(table, limits=StrategyLimits(inline_bytes=0)).routes} == {
        ScanStrategy.TASKS
    }
