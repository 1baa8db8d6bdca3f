"""Fixtures that every test may use."""

from __future__ import annotations

import gc
import os
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from binlog_server import MariaDb
from hypothesis import HealthCheck, settings
from kafka_server import KafkaServer
from requirements import REPO, REQUIREMENTS, shared_folder
from s3_server import s3_server
from server_kit import started

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

# A change is judged by the same examples every time, and by few; the long runs look for new ones, and for many.
# How long an example takes depends on what else runs: no limit.
_no_limit = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("same", _no_limit, derandomize=True, max_examples=40)
settings.register_profile("new", _no_limit, print_blob=True, max_examples=100)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "same"))

# A test's JVM lives for seconds, and spends half of them on optimising code that ends before it is fast. `make nightly` does not set this.
# Nor has it code to throw away: with little room for it, a thread looks for some all the time; and little room for classes starts collections.
# Several JVMs share the cores: a collector without threads of its own costs least. With room for new objects, it collects seldom.
os.environ.setdefault(
    "JAVA_TOOL_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=256m "
    "-XX:InitialRAMPercentage=6 -XX:NewRatio=1",
)

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # a shell's background job: tests of Ctrl-C would wait for ever
    signal.signal(signal.SIGINT, signal.default_int_handler)

SLOWEST_FIRST = (
    "tests/tidy/test_words.py", "tests/session/test_update_delete.py", "tests/connectors/test_kafka.py",
    "tests/browser/test_lab.py", "tests/browser/test_lab_chart.py", "tests/interop/test_alternating.py", "tests/catalog/test_s3.py",
    "notebooks/01-quickstart.ipynb", "notebooks/09-streams.ipynb",
    "tests/spark/test_standalone_cluster.py", "notebooks/07-buckets-and-partitions.ipynb", "notebooks/10-cdc.ipynb",
    "tests/spark/test_spark_write.py", "tests/session/test_merge.py", "tests/session/test_flink_functions.py",
    "tests/session/test_spark_suites.py", "tests/procedures/test_procedures.py", "tests/spark/test_table_scan.py",
    "tests/spark/test_java_tables.py", "tests/session/test_local_engine.py", "tests/session/test_data_evolution.py",
    "tests/session/test_wild.py", "tests/session/test_stream_windows.py", "tests/session/test_stream_lookup.py",
    "tests/session/test_streaming_sql.py", "tests/spark/test_stream_spark.py", "tests/interop/test_rest_peers.py",
    "tests/notebook/test_interrupts.py", "tests/session/test_merge_schema.py", "tests/state/test_machine.py",
    "notebooks/08-maintenance-and-repair.ipynb", "notebooks/02-merge-engines.ipynb", "notebooks/03-compaction.ipynb",
    "tests/crash/test_crashes.py", "tests/spark/test_session.py", "tests/race/test_in_order.py", "tests/interop/test_peers.py",
)  # fmt: skip
"""The files that take longest, in that order. They begin first: a long one that begins last would keep one core busy alone."""

SERVERS = {
    "metastores and S3": (
        "catalog/test_s3.py", "catalog/test_s3_requests.py", "catalog/test_every_catalog.py", "catalog/test_s3_spark.py", "catalog/test_hive_lock.py",
        "catalog/test_hive.py", "catalog/test_clone_hive.py", "catalog/test_migrate.py", "catalog/test_rest.py", "catalog/test_iceberg_registration.py",
    ),
    "Spark: statements": ("session/",),
    "Spark, Kafka, MariaDB and Flink": (
        "connectors/test_kafka.py", "connectors/test_kafka_sync.py", "connectors/test_kafka_kills.py", "connectors/test_sources_lost.py", "connectors/test_avro_registry_sql.py", "session/test_documents.py", "session/test_stream_retract.py", "test_cli.py",
        "connectors/test_mysql_sync.py", "connectors/test_mysql_table.py", "connectors/test_jdbc_table.py",
        "interop/test_alternating.py", "interop/test_privileges.py", "interop/test_fuzz_sessions.py",
        "spark/", "procedures/test_procedures.py", "procedures/test_copy.py", "catalog/test_privilege.py", "catalog/test_rest_sql.py",
        "adversary/test_stored_texts.py", "adversary/test_assistants_server.py", "interop/test_peers_spark.py", "options/test_support.py", "table/write/compact/test_cluster.py", "table/read/test_newer_columns.py",
        "adversary/test_failing_statements.py", "adversary/test_privileges_of_files.py", "table/read/test_index_search.py", "table/read/test_shared_shredding.py", "table/tables/test_geospatial.py",
        "table/write/test_inline_blobs.py", "table/write/test_shared_shredding_write.py",
        "notebook/test_catalog_tree.py", "notebook/test_chart.py", "notebook/test_error_places.py", "notebook/test_grid.py", "notebook/test_magics.py", "notebook/test_undo.py",
        "notebook/test_panel_words.py", "notebook/test_plain_answers.py", "notebook/test_run_line.py", "notebook/test_wide.py",
    ),
    "Spark of its own: cluster": ("spark/test_standalone_cluster.py",),
    "Spark of its own: session": ("spark/test_session.py",),
    "JupyterLab: results": (
        "browser/test_lab_chart.py", "browser/test_lab_data.py", "browser/test_lab_grid.py", "browser/test_lab_history.py",
        "browser/test_lab_streams.py", "browser/test_lab_catalog.py", "browser/test_lab_editor.py", "browser/test_lab_run_line.py", "browser/test_lab_pipeline.py",
    ),
    "JupyterLab: panels": (
        "browser/test_lab.py", "browser/test_lab_home.py", "browser/test_lab_kernel.py", "browser/test_lab_pages.py",
        "browser/test_lab_panels.py",
        "browser/test_live_page.py", "browser/test_exported.py", "browser/test_speed.py",
    ),
    "syntax trees of the package": (
        "tidy/test_words.py", "tidy/test_sql_front_end.py", "tidy/test_module_graph.py", "tidy/test_arrows.py",
        "tidy/test_imports_exist.py", "tidy/test_files.py",
    ),
}  # fmt: skip
SERVER_GROUPS = {f"tests/{file}": server for server, files in SERVERS.items() for file in files}
"""Files and folders that go to one process of several, which starts their server or Spark (or parses the package) once."""


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class ByServer(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = super()._split_scope(nodeid)
            return SERVER_GROUPS.get(file) or SERVER_GROUPS.get(f"{file.rpartition('/')[0]}/", file)

    return ByServer(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    rank = {REPO / name: number for number, name in enumerate(SLOWEST_FIRST)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))
    rest = os.environ.pop("PAIMON_NB_REST", "")  # not for a pytest that a test starts
    if rest and os.environ.get("PYTEST_XDIST_WORKER", "gw0") == "gw0":
        files = sorted({str(item.path) for item in items if is_of_the_rest(item)})
        Path(rest).write_text("".join(f"{file}\n" for file in files))


def is_of_the_rest(item: pytest.Item) -> bool:
    """Whether it is for the run beside that of the unit tests, whose processes need not even import the other files."""
    return item.get_closest_marker("unit") is None and item.get_closest_marker("nightly") is None


def pytest_collection() -> None:
    """What is imported now stays: there is no garbage to look for."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Thousands of tests and their modules live to the end: no collection need walk them again (a tenth of the CPU of small tests)."""
    gc.enable()
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
