"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import signal
from typing import TYPE_CHECKING, Any

import pytest
from binlog_server import MariaDb
from hypothesis import settings
from kafka_server import KafkaServer
from requirements import REPO, REQUIREMENTS, shared_folder
from s3_server import s3_server
from server_kit import started

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pyspark.sql import SparkSession

# A change is judged by the same examples every time; the long runs look for new ones.
settings.register_profile("same", derandomize=True)
settings.register_profile("new", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A test's JVM lives for seconds, and spends half of them on optimising code that ends before it is fast. `make nightly` does not set this.
os.environ.setdefault("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job: tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOWEST_FIRST = (
    "browser/test_lab.py", "connectors/test_kafka.py", "session/test_documents.py", "session/test_update_delete.py",
    "spark/test_standalone_cluster.py", "connectors/test_kafka_kills.py", "interop/test_alternating.py", "crash/test_crashes.py",
    "spark/test_session.py", "session/test_data_evolution.py", "race/test_in_order.py", "connectors/test_jdbc_table.py",
    "session/test_stream_retract.py", "spark/test_stream_spark.py", "session/test_merge.py", "session/test_spark_suites.py",
    "session/test_stream_lookup.py", "catalog/test_s3.py", "interop/test_matrix.py", "interop/test_changelogs.py",
    "connectors/test_mysql_table.py", "notebook/test_interrupts.py", "session/test_update_delete_as_java.py",
    "spark/test_table_scan.py", "catalog/test_every_catalog.py", "state/test_machine.py",
)  # fmt: skip
"""The files that take longest, in that order. They begin first: a long one that begins last would keep one core busy alone."""

SERVERS = {
    "hive": ("catalog/test_hive.py", "catalog/test_clone_hive.py", "catalog/test_migrate.py"),
    "mariadb": (
        "session/test_documents.py", "connectors/test_mysql_sync.py", "connectors/test_mysql_table.py", "connectors/test_jdbc_table.py",
    ),
    "kafka": ("connectors/test_kafka.py", "connectors/test_kafka_sync.py"),
    "flink": ("interop/test_alternating.py", "interop/test_privileges.py", "interop/test_fuzz_sessions.py"),
    "jupyterlab": (
        "browser/test_lab.py", "browser/test_lab_panels.py", "browser/test_lab_grid.py", "browser/test_lab_streams.py",
    ),
}  # fmt: skip
SERVER_GROUPS = {f"tests/{file}": server for server, files in SERVERS.items() for file in files}
"""Files that go to one process of several, which starts their server once."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByServer(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return SERVER_GROUPS.get(file, file)

    return ByServer(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {REPO / "tests" / name: number for number, name in enumerate(SLOWEST_FIRST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules live to the end: no collection need walk them again (a tenth of the CPU of small tests)."""
    gc.collect()
    gc.freeze()


def pytest_unconfigure() -> None:
    """What is frozen is not collected at the end of the process either, and the bindings of DuckDB print it as leaked."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with real Java tables and the Java oracle, kept beside the repository; tests skip without it."""
    path = shared_folder()
    if path is None:
        pytest.skip(REQUIREMENTS["shared"].missing)
    return path


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """The workbench's Spark on two cores, one for all tests of a process that ask for none of their own."""
    from paimon_nb.spark.runtime.session import spark_session, stop

    session = spark_session(
        conf={"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g"}
    )
    yield session
    stop(session)


@pytest.fixture(scope="session")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """Options of a real S3 server with a bucket `lake`, which tests share: each has a folder of its own in it."""
    with s3_server(tmp_path_factory.mktemp("s3")) as options:
        yield options


@pytest.fixture(scope="session")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[KafkaServer]:
    """A real Kafka broker; ends with the tests."""
    yield from started("confluent_kafka", lambda: KafkaServer(tmp_path_factory.mktemp("kafka")))


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MariaDb]:
    """A real MariaDB with a binlog; ends with the tests."""
    yield from started("pymysqlreplication", lambda: MariaDb(tmp_path_factory.mktemp("mariadb")))
