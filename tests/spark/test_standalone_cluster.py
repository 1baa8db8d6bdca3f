"""The user's own session on a standalone cluster, whose executors' Python lacks paimon_nb."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from spark_cluster import python_without_package, spark_cluster

from paimon_nb.spark.runtime.java import java_home

SCRIPT = Path(__file__).with_name("standalone_cluster_script.py")
ROOT = Path(__file__).parents[2]


@pytest.mark.spark
def test_statements_of_a_users_session_run_on_executors(tmp_path: Path) -> None:
    python = python_without_package(tmp_path / "env")
    # PySpark finds no Java of a Python package by itself.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(java_home())}
    with spark_cluster(tmp_path) as master:
        done = subprocess.run(
            [sys.executable, SCRIPT, master, python, tmp_path / "warehouse"],
            capture_output=True, text=True, env=environment, cwd=tmp_path, timeout=280, check=False,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[:6000]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        "cores": 2,
        "merged": [["second", 50_000, -sum(range(10_000, 60_000))], ["x" * 20, 10_000, sum(range(10_000))]],
        "changed": [[10, 0, "x" * 20], [59_999, -59_999, "matched"], [60_000, 1, "new"], [60_001, 1, "new"]],
        "plain": [[500, sum(range(1, 1000, 2)) - 2]],
        "compacted": [[59_992, sum(range(11, 10_000)) - sum(range(10_000, 60_000)) + 2]],
        "stream": [[59_992]],
        "travel": [[50_000, sum(range(50_000))]],
    }
