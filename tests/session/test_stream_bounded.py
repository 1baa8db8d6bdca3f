"""Streaming jobs end with their bounded source, as in Flink."""

import pytest

pytestmark = pytest.mark.spark


def test_a_job_ends_with_its_bounded_source(swb):
    swb.run("""
        CREATE TABLE t (id INT, n BIGINT, PRIMARY KEY (id) NOT ENFORCED);
        CREATE TEMPORARY TABLE g (id INT) WITH (
            'connector' = 'datagen', 'number-of-rows' = '20', 'rows-per-second' = '20',
            'fields.id.kind' = 'sequence', 'fields.id.start' = '1', 'fields.id.end' = '100'
        )
    """)
    swb.run("SET 'execution.runtime-mode' = 'streaming'")
    job = swb.sql("INSERT INTO t SELECT id, id * 2 FROM g")
    assert job.awaitTermination(120)
    assert (job.status, job.error, job.rows) == ("FINISHED", None, 20)
    assert sorted(swb.table("t").to_arrow()["id"].to_pylist()) == list(range(1, 21))
