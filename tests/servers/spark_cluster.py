"""A standalone Spark cluster on loopback: a master and a worker as processes. Its executors run a Python without paimon_nb."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import time
import venv
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyspark
from server_kit import free_port

from paimon_nb.spark.runtime.java import java_home
from paimon_nb.spark.runtime.jvm_cds import sharing_option

if TYPE_CHECKING:
    from collections.abc import Iterator

_START_S = 90


@dataclass(frozen=True)
class SparkCluster:
    """A running cluster."""

    url: str
    """The master's address."""
    worker: int
    """Process id of the worker, which starts the executors."""


def python_without_package(folder: Path) -> Path:
    """The Python of an environment with all packages of this one but paimon_nb, where that is an editable installation."""
    venv.create(folder, with_pip=False, symlinks=True)
    own = folder / "lib" / f"python{sys.version_info.major}.{sys.version_info.minor}" / "site-packages"
    # Python does not read the .pth files of a folder that a .pth file names, so editable installations stay behind.
    (own / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    python = folder / "bin" / "python"
    found = subprocess.run(
        [python, "-E", "-c", "import pyarrow, paimon_nb"], capture_output=True, text=True, cwd=folder, check=False
    )
    assert "No module named 'paimon_nb'" in found.stderr, found.stderr
    return python


@contextmanager
def spark_cluster(folder: Path, cores: int = 2) -> Iterator[SparkCluster]:
    """Start master and worker and yield the cluster.

    Raises:
        RuntimeError: the worker did not register; the text has the logs.
    """
    port = free_port()
    url = f"spark://127.0.0.1:{port}"
    jars = Path(pyspark.__file__).parent / "jars"
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"} | {
        "SPARK_LOCAL_IP": "127.0.0.1", "SPARK_SCALA_VERSION": "2.13", "SPARK_HOME": str(jars.parent), "SPARK_WORKER_DIR": str(folder / "work"), "JAVA_HOME": str(java_home()),
    }  # fmt: skip
    # The class path of Spark's own scripts: the archive of its classes is for that one.
    class_path = [f"{jars.parent}/conf", *map(str, jars.glob("slf4j-api-*.jar")), f"{jars}/*"]
    java = [f"{java_home()}/bin/java", *sharing_option().split(), "-Xmx256m", "-cp", ":".join(class_path)]
    deploy = "org.apache.spark.deploy"
    commands: dict[str, list[Any]] = {
        "master": [f"{deploy}.master.Master", "--host", "127.0.0.1", "--port", port, "--webui-port", 0],
        "worker": [
            f"{deploy}.worker.Worker",
            "--host",
            "127.0.0.1",
            "--webui-port",
            0,
            "--cores",
            cores,
            "--memory",
            "2g",
            url,
        ],
    }
    processes: list[subprocess.Popen[bytes]] = []
    logs = {name: folder / f"{name}.log" for name in commands}
    try:
        for name, command in commands.items():
            with logs[name].open("wb") as log:
                processes.append(
                    subprocess.Popen(
                        [*java, *map(str, command)], stdout=log, stderr=subprocess.STDOUT, env=environment, cwd=folder
                    )
                )
        _wait_for(logs["worker"], "Successfully registered with master", processes)
        yield SparkCluster(url, processes[-1].pid)
    finally:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(timeout=20)
            process.kill()


def _wait_for(log: Path, text: str, processes: list[subprocess.Popen[bytes]]) -> None:
    deadline = time.monotonic() + _START_S
    while text not in log.read_text():
        if time.monotonic() > deadline or any(p.poll() is not None for p in processes):
            raise RuntimeError(f"no Spark cluster: {log.read_text()[-2000:]}")
        time.sleep(0.1)
