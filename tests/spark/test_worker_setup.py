"""A worker's second task finds no zip files to read again, and nothing that was imported among its garbage; Arrow's memory there."""

import gc
import os
import sys
from zipimport import zipimporter

import pyarrow as pa
import pytest

from paimon_nb.spark.errors import encode_errors_of_task

pytestmark = pytest.mark.spark


def test_a_second_task_starts_light(spark):
    @encode_errors_of_task
    def look(batches):
        zips = sum(isinstance(i, zipimporter) for i in sys.path_importer_cache.values())
        frozen = gc.get_freeze_count()
        for _ in batches:
            pass
        yield pa.RecordBatch.from_pydict({"pid": [os.getpid()], "zips": [zips], "frozen": [frozen]})

    def tasks():
        rows = spark.range(100, numPartitions=4).mapInArrow(look, "pid long, zips long, frozen long").collect()
        return [tuple(r) for r in rows]

    seen = {pid for pid, _, _ in tasks()}
    again = [row for row in tasks() + tasks() if row[0] in seen]
    assert again
    assert {zips for _, zips, _ in again} == {0}
    assert all(frozen > 10_000 for _, _, frozen in again)


def test_a_new_worker_has_the_modules_of_a_task(spark, monkeypatch):
    def look(batches):
        imported = [m in sys.modules for m in ("pandas", "pyarrow.parquet", "paimon_nb.spark.write.table_write")]
        list(batches)
        yield pa.RecordBatch.from_pydict({"imported": [imported]})

    monkeypatch.setitem(spark.sparkContext.environment, "PAIMON_NB_TEST", "workers of their own")
    rows = spark.range(2, numPartitions=2).mapInArrow(look, "imported array<boolean>").collect()
    assert [row.imported for row in rows] == [[True] * 3] * 2


@pytest.mark.skipif("jemalloc" not in pa.supported_memory_backends(), reason="this Arrow was built without jemalloc")
def test_arrow_takes_memory_from_jemalloc_unless_somebody_chose(spark, monkeypatch):
    mine = pa.default_memory_pool().backend_name

    @encode_errors_of_task
    def look(batches):
        list(batches)
        yield pa.RecordBatch.from_pydict({"pool": [pa.default_memory_pool().backend_name]})

    def pools():
        return {r.pool for r in spark.range(4, numPartitions=2).mapInArrow(look, "pool string").collect()}

    assert pools() == {"jemalloc"}
    assert pa.default_memory_pool().backend_name == mine
    monkeypatch.setitem(spark.sparkContext.environment, "ARROW_DEFAULT_MEMORY_POOL", "system")
    assert pools() == {"system"}
