"""Forty statements on a standalone cluster and through Spark Connect, whose Python lacks paimon_nb: the rows of one machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from spark_cluster import python_without_package, spark_cluster
from spark_connect import spark_connect

from paimon_nb.spark.runtime.java import java_home

if TYPE_CHECKING:
    from kafka_server import KafkaServer

SCRIPT = Path(__file__).with_name("cluster_statements.py")
ROOT = Path(__file__).parents[2]
EXPECTED: dict[str, Any] = json.loads(SCRIPT.with_suffix(".json").read_text())
SLICE = ["load", "upsert", "merge", "delete", "update", "time_travel", "compact", "rewritten_files", "stream_read"]


def answers(folder: Path, *, timeout_s: int = 500, **settings: Any) -> dict[str, Any]:
    """The rows of each step of the script in a process of its own."""
    folder.mkdir(exist_ok=True)
    given = {"kafka": None, "worker": None, "steps": None, "executor_cores": "1", "warehouse": str(folder / "w")}
    # PySpark finds no Java of a Python package by itself.
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "SPARK_LOCAL_IP": "127.0.0.1", "JAVA_HOME": str(java_home())}
    done = subprocess.run(
        [sys.executable, SCRIPT, json.dumps(given | settings)],
        capture_output=True, text=True, env=environment, cwd=folder, timeout=timeout_s, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[:6000]
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.nightly
@pytest.mark.spark
def test_statements_of_a_users_session_run_on_executors(tmp_path: Path) -> None:
    python = python_without_package(tmp_path / "env")
    with spark_cluster(tmp_path) as cluster:
        found = answers(
            tmp_path / "run",
            session="user",
            master=cluster.url,
            python=python.as_posix(),
            steps=SLICE,
            executor_cores="2",
        )
    assert found == {name: EXPECTED[name] for name in SLICE}


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize(
    ("session", "kills"), [("own", False), ("user", False), ("user", True)], ids=["own", "user", "killed"]
)
def test_all_statements_on_two_executors(session: str, kills: bool, tmp_path: Path, broker: KafkaServer) -> None:
    python = python_without_package(tmp_path / "env")
    with spark_cluster(tmp_path) as cluster:
        found = answers(
            tmp_path / "run",
            session=session,
            master=cluster.url,
            python=python.as_posix(),
            kafka=[broker.address, records(broker)],
            worker=cluster.worker if kills else None,
        )
    assert found == EXPECTED


@pytest.mark.spark
@pytest.mark.nightly
def test_loads_compactions_and_streams_with_twenty_killed_executors(tmp_path: Path) -> None:
    python = python_without_package(tmp_path / "env")
    with spark_cluster(tmp_path) as cluster:
        found = answers(
            tmp_path / "run",
            timeout_s=1500,
            session="user",
            master=cluster.url,
            python=python.as_posix(),
            worker=cluster.worker,
            steps=["twenty_kills"],
        )
    newest = {i: turn for turn in range(7) for i in range(5_000 * turn, 5_000 * turn + 20_000)}
    ids = {turn: [i for i, n in newest.items() if n == turn] for turn in range(7)}
    loaded = [[turn, len(of_turn), sum(of_turn)] for turn, of_turn in ids.items()]
    arrived = [[turn, 120_000, 120_000] for turn in range(6)]
    assert found == {"twenty_kills": [20, [[5]], loaded, arrived]}


@pytest.mark.spark
@pytest.mark.nightly
def test_all_statements_on_one_machine(tmp_path: Path, broker: KafkaServer) -> None:
    kafka = [broker.address, records(broker)]
    assert answers(tmp_path, session="own", master="local[2]", python=sys.executable, kafka=kafka) == EXPECTED


@pytest.mark.spark
@pytest.mark.nightly
def test_all_statements_through_spark_connect(tmp_path: Path, broker: KafkaServer) -> None:
    pytest.importorskip("grpc", reason="no grpcio: pip install 'paimon-nb[connect]'")
    python = python_without_package(tmp_path / "env")
    with spark_connect(tmp_path, python) as url:
        kafka = [broker.address, records(broker)]
        found = answers(tmp_path / "run", session="connect", master=url, python=python.as_posix(), kafka=kafka)
    assert found == EXPECTED


def records(broker: KafkaServer) -> str:
    """A topic with 100 records."""
    topic = broker.topic("statements")
    broker.send(topic, [json.dumps({"id": i % 90, "v": f"v{i}"}) for i in range(100)])
    return topic
