"""Spark on tables in S3: its tasks read and write through our own client, with the catalog's keys."""

from __future__ import annotations

import uuid
from collections import Counter

import pytest

import paimon_nb


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_reads_and_writes_in_python_tasks(s3):
    warehouse = f"s3://lake/{uuid.uuid4().hex}"
    with paimon_nb.connect(warehouse, options=s3) as wb:
        wb.run("CREATE TABLE t (id INT, g INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2')")
        wb.run("INSERT INTO t SELECT CAST(id AS INT), CAST(id % 7 AS INT) FROM range(20000)")
        wb.run("INSERT INTO t SELECT CAST(id AS INT), CAST(9 AS INT) FROM range(0, 20000, 100)")
        found = wb.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY g").collect()
        wb.run("CALL sys.compact('default.t')")
        again = wb.sql("SELECT g, COUNT(*) AS n FROM t GROUP BY g ORDER BY g").collect()
        wb.run("DROP TABLE t")
        assert wb.session.catalog.tables("default") == []
    want = Counter(9 if i % 100 == 0 else i % 7 for i in range(20000))
    assert {r.g: r.n for r in found} == {r.g: r.n for r in again} == want
