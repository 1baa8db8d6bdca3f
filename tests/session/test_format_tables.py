"""Format tables in Spark: tasks read and write the files; a failed job leaves none."""

from pathlib import Path

import pytest

from paimon_nb.base.errors import EngineError, UnsupportedOperation
from paimon_nb.spark.scan.table_scan import read_table
from paimon_nb.spark.write.table_write import write
from paimon_nb.table.read.format_table import STAGING
from paimon_nb.table.read.strategy.routes import StrategyLimits

pytestmark = pytest.mark.spark


def data_files(path: str) -> list[Path]:
    return [p for p in Path(path).rglob("data-*") if p.is_file()]


def test_tasks_write_and_read_the_files(swb):
    swb.sql("CREATE TABLE plain (id INT, name STRING, p STRING) USING json PARTITIONED BY (p)")
    table = swb.table("plain")
    rows = swb.spark.range(100).selectExpr("CAST(id AS INT) id", "concat('n', id) name", "CAST(id % 2 AS STRING) p")
    done = write(rows, table, inline_bytes=0)
    assert (done.snapshots, done.rows, done.inline) == ((), 100, False)
    frame = read_table(swb.spark, table, limits=StrategyLimits(inline_bytes=0))
    assert frame.where("p = '1'").selectExpr("count(*)", "sum(id)").collect() == [(50, 2500)]
    before = data_files(table.path)
    failing = rows.selectExpr("id", "IF(id = 99, raise_error('stop'), name) name", "p")
    with pytest.raises(EngineError, match="stop"):
        write(failing, table, inline_bytes=0)
    assert [f for f in data_files(table.path) if f.parent.name != STAGING] == before
    swb.sql("INSERT OVERWRITE plain PARTITION (p = '1') SELECT 7, 'x'")
    assert swb.sql("SELECT count(*), max(sys.max_pt('plain')) FROM plain").collect() == [(51, "1")]
    for statement in (
        "SELECT * FROM plain VERSION AS OF 1",
        "UPDATE plain SET id = 1 WHERE id > 3",
        "MERGE INTO plain USING (SELECT 1 AS id) s ON plain.id = s.id WHEN MATCHED THEN DELETE",
    ):
        with pytest.raises(UnsupportedOperation, match="format table"):
            swb.sql(statement)


def test_an_overwrite_of_the_first_partition_columns_replaces_all_below(swb):
    swb.sql("CREATE TABLE deep (id INT, p INT, q STRING) USING csv PARTITIONED BY (p, q)")

    def after(mode: str, option: str) -> list[tuple]:
        swb.sql("INSERT OVERWRITE deep VALUES (1, 1, 'a'), (2, 2, 'a'), (3, 2, 'b')")
        swb.sql(f"ALTER TABLE deep SET ('dynamic-partition-overwrite' = '{option}')")
        swb.sql(f"SET spark.sql.sources.partitionOverwriteMode = {mode}")
        try:
            swb.sql("INSERT OVERWRITE deep PARTITION (p = 2, q) SELECT 4, 'a'")
        finally:
            swb.sql("RESET spark.sql.sources.partitionOverwriteMode")
        return sorted(tuple(r) for r in swb.sql("SELECT * FROM deep").collect())

    assert after("static", "true") == [(1, 1, "a"), (4, 2, "a")]
    assert after("dynamic", "false") == [(1, 1, "a"), (3, 2, "b"), (4, 2, "a")]
    swb.sql("INSERT OVERWRITE deep PARTITION (p = 2) SELECT 5, 'c'")
    assert sorted(tuple(r) for r in swb.sql("SELECT * FROM deep").collect()) == [(1, 1, "a"), (5, 2, "c")]
