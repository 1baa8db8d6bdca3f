"""What Spark's Python processes are started with."""

from __future__ import annotations

import subprocess
import sys

import pytest

from paimon_nb.spark.runtime.python_workers import worker_python


def test_the_users_path_stays_and_sparks_own_entries_go():
    path = "/s/python/lib/pyspark.zip:/s/python/lib/py4j-0.10-src.zip:/s/jars/spark-core_2.13-4.1.jar:/mine:/yours"
    told = {
        given: subprocess.run(
            [worker_python(), "-c", "import os, sys; print(sys.executable, os.environ['PYTHONPATH'])"],
            env={"PYTHONPATH": given}, capture_output=True, text=True, check=True,
        ).stdout.split()
        for given in (path, "/mine")
    }  # fmt: skip
    assert told == {path: [sys.executable, "/mine:/yours"], "/mine": [sys.executable, "/mine"]}


@pytest.mark.spark
def test_a_task_takes_pyspark_from_this_pythons_packages(spark):
    import pyspark

    def told(batches):
        import pyarrow as pa
        import pyspark

        list(batches)
        yield pa.RecordBatch.from_pydict({"file": [pyspark.__file__]})

    rows = spark.range(1, numPartitions=1).mapInArrow(told, "file string").collect()
    assert [row.file for row in rows] == [pyspark.__file__]
