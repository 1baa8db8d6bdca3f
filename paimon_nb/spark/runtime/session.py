"""Starts the Spark session of this process without log output, or uses the user's session."""

from __future__ import annotations

import atexit
import logging
import os
import re
import signal
import sys
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.executor_package import ship_package
from paimon_nb.spark.runtime.java import java_home
from paimon_nb.spark.runtime.jvm_bridge import (
    active_context,
    default_session,
    is_alive,
    launch_jvm_gateway,
    plain_session,
    running_gateway,
)
from paimon_nb.spark.runtime.jvm_cds import sharing_option
from paimon_nb.spark.runtime.python_workers import worker_python, workers_can_import_package

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark import SparkConf
    from pyspark.sql import SparkSession

    from paimon_nb.spark.runtime.jvm_types import Gateway

_LOG4J = Path(__file__).with_name("log4j2.properties")
_lock = threading.RLock()
_users = 0
"""Number of workbenches that use the session started by this module; the last one stops it."""
_local_session: SparkSession | None = None
_starting = False
_log: Path | None = None
"""Output of the JVM; shown only if it does not start."""
_owner_pid = 0


def spark_session(spark: SparkSession | None = None, conf: Mapping[str, object] | None = None) -> SparkSession:
    """The session to use: the given one, the active one of this process, or a new local one.

    Args:
        spark: the user's session.
        conf: Spark configuration that overrides the defaults; in a running session only SQL settings have an effect.

    Raises:
        EnvironmentError_: no Java, or Spark did not start; the message contains the last output of the JVM.
    """
    global _users, _local_session, _starting
    _silence_python_loggers()
    if spark is not None:
        spark = plain_session(spark)
        _apply_conf(spark, {"spark.sql.timeType.enabled": "true", **(conf or {})})
        ship_package(spark)
        return spark
    with _lock:
        if _local_session is not None and is_alive(_local_session):
            _apply_conf(_local_session, conf or {})
            _users += 1
            return _local_session
        running = _running_session()
        if running is not None:
            _apply_conf(running, conf or {})
            ship_package(running)
            return running
        _starting = True
        try:
            _local_session, _users = _start_session({k: _conf_text(v) for k, v in (conf or {}).items()}), 1
        finally:
            _starting = False
        return _local_session


def is_starting() -> bool:
    """Whether a thread is starting a local session."""
    return _starting


def stop(spark: SparkSession) -> None:
    """Release a session from `spark_session`. The last release stops a session that this module started."""
    global _users, _local_session
    with _lock:
        if _local_session is None or spark.sparkContext is not _local_session.sparkContext:
            return
        _users -= 1
        if _users <= 0:
            _local_session.stop()
            _local_session, _users = None, 0


_SHORT_HISTORY = {
    "spark.ui.retainedJobs": "100",
    "spark.ui.retainedStages": "100",
    "spark.ui.retainedTasks": "2000",
    "spark.sql.ui.retainedExecutions": "50",
}
"""Spark keeps what its web page would show, by default of 1000 statements with 100,000 tasks: the memory of a job grew with each commit."""


def default_conf(conf: Mapping[str, str]) -> dict[str, str]:
    """The configuration of a new session. Depends only on `conf`, the environment and the size of this machine."""
    master = conf.get("spark.master", os.environ.get("MASTER", "local[*]"))
    out = {
        "spark.master": master,
        "spark.app.name": "paimon_nb",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.sql.timeType.enabled": "true",
        "spark.driver.extraJavaOptions": _java_options(conf.get("spark.driver.extraJavaOptions", "")),
    }
    if conf.get("spark.ui.enabled", "false").lower() == "false":
        out |= _SHORT_HISTORY
    if master.startswith("local"):
        cores = local_cores(master)
        out |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.driver.memory": f"{_driver_memory_mb()}m",
            # Few shuffle partitions for few cores; adaptive execution merges small ones, and large ones can spill.
            "spark.sql.shuffle.partitions": str(max(4, 2 * cores)),
        }
        if workers_can_import_package():
            out["spark.python.daemon.module"] = "paimon_nb.spark.worker_daemon"
    return out | {k: v for k, v in conf.items() if k != "spark.driver.extraJavaOptions"}


def local_cores(master: str) -> int:
    """Cores of a local master: 'local' 1, 'local[4]' 4, 'local[*]' this machine's."""
    inside = master.partition("[")[2].rstrip("]").split(",")[0].strip()
    if inside.isdigit():
        return int(inside)
    return (os.cpu_count() or 1) if inside == "*" else 1


def _java_options(extra: str) -> str:
    # Set before the JVM starts, so that the first log lines are hidden too.
    options = f"-Dlog4j2.configurationFile={_LOG4J.as_uri()} -Dlog4j2.disable.jmx=true"
    # A JVM that is given two garbage collectors does not start: the user's choice replaces the default.
    user_options = " ".join([extra, *(os.environ.get(name, "") for name in ("JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS"))])
    collector = "" if re.search(r"-XX:\+Use\w+GC\b", user_options) else "-XX:+UseG1GC"
    return " ".join(part for part in (options, collector, extra) if part)


def _driver_memory_mb() -> int:
    """Half of the memory of this machine or container, from 1 to 8 GiB."""
    try:
        total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # pragma: no cover  no sysconf on Windows
        total = 4 << 30
    try:
        limit = Path("/sys/fs/cgroup/memory.max").read_text().strip()
        total = min(total, int(limit)) if limit.isdigit() else total
    except OSError:
        pass
    return min(max(total // 2, 1 << 30), 8 << 30) >> 20


def _start_session(conf: Mapping[str, str]) -> SparkSession:
    try:
        from pyspark import SparkConf, SparkContext
        from pyspark.sql import SparkSession
    except ImportError as error:  # pragma: no cover  pyspark is a dependency
        raise EnvironmentError_(
            f"PySpark cannot be imported: {error}", hint=f"{sys.executable} -m pip install 'pyspark>=4.0,<4.4'"
        ) from error
    merged = default_conf(conf)
    if merged["spark.master"].startswith("local"):
        # Workers need this Python, which has the package. A Jupyter kernel's venv is usually not activated, so PATH has another.
        os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = worker_python()
    else:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    on_main_thread = threading.current_thread() is threading.main_thread()
    handler = signal.getsignal(signal.SIGINT) if on_main_thread else None
    options = merged["spark.driver.extraJavaOptions"]
    if "-XX:SharedArchiveFile" not in options and "-XX:ArchiveClassesAtExit" not in options:
        merged["spark.driver.extraJavaOptions"] = f"{options} {sharing_option()}".strip()
    spark_conf = SparkConf(loadDefaults=False)
    for key, value in merged.items():
        spark_conf.set(key, value)
    try:
        gateway = running_gateway() or _launch_jvm(spark_conf)
        context = (
            SparkContext.getOrCreate(spark_conf) if gateway is None else SparkContext(conf=spark_conf, gateway=gateway)
        )
        session = SparkSession(context, options={})
    except EnvironmentError_:
        raise
    except Exception as error:
        raise EnvironmentError_(
            f"Spark did not start: {_first_line(str(error))}{_last_output()}",
            hint="paimon-nb doctor checks Java, PySpark and memory",
        ) from error
    finally:
        if merged["spark.master"].startswith("local"):
            # Spark has read it; processes that the user starts may outlive the worker script.
            os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
        if on_main_thread and handler is not None:
            # PySpark's handler cancels every job, including streams, and drops the KeyboardInterrupt.
            signal.signal(signal.SIGINT, handler)
    ship_package(session)
    return session


def _launch_jvm(spark_conf: SparkConf) -> Gateway:
    """Start the JVM with its output in a file: a notebook would show the output of child processes."""
    global _log, _owner_pid
    descriptor, name = tempfile.mkstemp(prefix="paimon_nb-jvm-", suffix=".log")
    _log, _owner_pid = Path(name), os.getpid()
    before = os.environ.get("JAVA_HOME")
    os.environ["JAVA_HOME"] = str(java_home())
    try:
        gateway = launch_jvm_gateway(spark_conf, descriptor)
    finally:
        os.close(descriptor)
        if before is None:
            del os.environ["JAVA_HOME"]
        else:
            os.environ["JAVA_HOME"] = before
    atexit.register(end_jvm, gateway)
    return gateway


def end_jvm(gateway: Gateway, patience_s: float = 5) -> None:
    """Stop the context and wait for the JVM to end; kill it after `patience_s` seconds. Does nothing in a forked child."""
    if os.getpid() != _owner_pid:
        return
    from contextlib import suppress

    with suppress(Exception):
        if (context := active_context()) is not None:
            context.stop()
    with suppress(Exception):
        gateway.shutdown()
    process = gateway.proc
    with suppress(Exception):
        if process.stdin is not None:
            process.stdin.close()  # the JVM ends when its standard input does
        process.wait(timeout=patience_s)
    if process.poll() is None:
        process.kill()
    if _log is not None:
        _log.unlink(missing_ok=True)
    with suppress(OSError):  # Spark creates this folder always; it is kept if it contains tables
        Path("spark-warehouse").rmdir()


def _last_output() -> str:
    """The last lines that the JVM printed."""
    try:
        lines = [line for line in (_log.read_text(errors="replace") if _log else "").splitlines() if line.strip()]
    except OSError:
        lines = []
    return "".join(f"\n  jvm: {line[:300]}" for line in lines[-5:])


def _running_session() -> SparkSession | None:
    """A session that other code started in this process, such as a Databricks or pyspark kernel."""
    if "pyspark" not in sys.modules:
        return None
    session = default_session()
    return plain_session(session) if session is not None and is_alive(session) else None


def _apply_conf(session: SparkSession, conf: Mapping[str, object]) -> None:
    from contextlib import suppress

    for key, value in conf.items():
        with suppress(Exception):  # a static setting of a running session cannot change
            session.conf.set(key, _conf_text(value))


def _silence_python_loggers() -> None:
    # PySpark logs a stack of several kB as JSON for each failed statement, in addition to the exception.
    for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger"):
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _conf_text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0] if text.strip() else "no reason given"
