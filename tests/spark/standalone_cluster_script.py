"""Run by test_standalone_cluster.py: statements on the user's own session of a cluster. Prints their rows as one JSON line."""

import json
import os
import sys
from typing import Any

from pyspark.sql import SparkSession

import paimon_nb

master, python, warehouse = sys.argv[1:]
os.environ["PYSPARK_PYTHON"] = python
spark = (
    SparkSession.builder.master(master)
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.executor.memory", "1g")
    .config("spark.sql.shuffle.partitions", "4")
    .config("spark.ui.enabled", "false")
    .getOrCreate()
)
wb = paimon_nb.connect(warehouse, spark=spark)


def rows(text: str) -> list[list[Any]]:
    return sorted([list(r) for r in wb.sql(text).collect()])


wb.run("CREATE TABLE t (id BIGINT PRIMARY KEY NOT ENFORCED, n BIGINT, s STRING) WITH ('bucket' = '2')")
wb.run("CREATE TABLE plain (id BIGINT, n BIGINT) WITH ('deletion-vectors.enabled' = 'true')")
out: dict[str, Any] = {"cores": spark.sparkContext.defaultParallelism}
wb.run("INSERT INTO t SELECT id, id, repeat('x', 20) FROM range(50000)")
wb.run("INSERT INTO t SELECT id, -id, 'second' FROM range(10000, 60000)")
out["merged"] = rows("SELECT s, count(*), sum(n) FROM t GROUP BY s")
wb.run("""
    MERGE INTO t USING (SELECT id FROM range(59999, 60002)) x ON t.id = x.id
    WHEN MATCHED THEN UPDATE SET s = 'matched' WHEN NOT MATCHED THEN INSERT (id, n, s) VALUES (x.id, 1, 'new')
""")
wb.run("DELETE FROM t WHERE id < 10; UPDATE t SET n = 0 WHERE id = 10")
out["changed"] = rows("SELECT id, n, s FROM t WHERE id <= 10 OR id >= 59999")
wb.run(
    "INSERT INTO plain SELECT id, id FROM range(1000); DELETE FROM plain WHERE id % 2 = 0; UPDATE plain SET n = -1 WHERE id = 1"
)
out["plain"] = rows("SELECT count(*), sum(n) FROM plain")
wb.run("CALL sys.compact(`table` => 't', compact_strategy => 'full')")
out["compacted"] = rows("SELECT count(*), sum(n) FROM t")
query = (
    wb.spark.readStream.format("paimon")
    .load(wb.table("t").path)
    .writeStream.format("memory")
    .queryName("seen")
    .trigger(availableNow=True)
    .start()
)
query.awaitTermination()
out["stream"] = [list(r) for r in wb.spark.sql("SELECT count(*) FROM seen").collect()]
out["travel"] = rows("SELECT count(*), sum(n) FROM t VERSION AS OF 1")
spark.stop()
sys.stdout.write(json.dumps(out) + "\n")
