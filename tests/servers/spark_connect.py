"""A server of Spark Connect on loopback, as a process of its own, whose Python lacks paimon_nb."""

from __future__ import annotations

import os
import subprocess
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pyspark
from server_kit import free_port

from paimon_nb.spark.runtime.java import java_home

if TYPE_CHECKING:
    from collections.abc import Iterator

_START_S = 300
_SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@contextmanager
def spark_connect(folder: Path, python: Path) -> Iterator[str]:
    """Start a server on two local cores and yield its address for `SparkSession.builder.remote`.

    Raises:
        RuntimeError: the server did not start; the text has its log.
    """
    port, home = free_port(), Path(pyspark.__file__).parent
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "SPARK_HOME": str(home), "SPARK_LOCAL_IP": "127.0.0.1", "PYSPARK_PYTHON": str(python), "JAVA_HOME": str(java_home()),
    }  # fmt: skip
    settings = {"spark.connect.grpc.binding.port": port, "spark.ui.enabled": "false", "spark.sql.shuffle.partitions": 4}
    command = [home / "bin" / "spark-submit", "--master", "local[2]", "--class", _SERVER]
    command += [word for key, value in settings.items() for word in ("--conf", f"{key}={value}")]
    log = folder / "connect.log"
    with log.open("wb") as out:
        process = subprocess.Popen(
            [*command, "spark-internal"], stdout=out, stderr=subprocess.STDOUT, env=environment, cwd=folder
        )
    try:
        deadline = time.monotonic() + _START_S
        while "Spark Connect server started" not in log.read_text():
            if time.monotonic() > deadline or process.poll() is not None:
                raise RuntimeError(f"no Spark Connect server: {log.read_text()[-2000:]}")
            time.sleep(0.1)
        yield f"sc://127.0.0.1:{port}"
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=20)
        process.kill()
