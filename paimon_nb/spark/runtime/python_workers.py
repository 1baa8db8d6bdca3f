"""Spark's Python workers: their executable, their memory and start time, and dead ones in Spark's pools."""

from __future__ import annotations

import atexit
import gc
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from zipimport import zipimporter

import pyarrow as pa

from paimon_nb.spark.runtime.jvm_bridge import private_field, python_worker_pools

_WITHOUT_ZIP = """#!/bin/sh
PYTHONPATH=${{PYTHONPATH#*-src.zip:}}
PYTHONPATH=${{PYTHONPATH#*/spark-core_*.jar:}}
export PYTHONPATH
exec {python} "$@"
"""
"""Spark's own entries are first: pyspark.zip, py4j's zip, a jar. The user's entries are kept."""

_frozen = False


@cache
def worker_python() -> str:
    """A program with the arguments of Python; `sys.executable` if PySpark is not installed as a package or without a shell.

    It runs this Python without `pyspark.zip` on its path. Spark puts this second copy of its modules first. Modules from a
    zip are compiled again in every process: a streaming source then needs 1.3 s of CPU to start instead of 0.5 s, and
    Spark waits for it 10 s at most.
    """
    import pyspark

    if os.name != "posix" or not (Path(pyspark.__file__).parent / "python" / "lib" / "pyspark.zip").is_file():
        return sys.executable
    with suppress(OSError):
        descriptor, name = tempfile.mkstemp(prefix="paimon_nb-python-")
        owner = os.getpid()
        atexit.register(_remove_in, owner, Path(name))
        with os.fdopen(descriptor, "w") as script:
            script.write(_WITHOUT_ZIP.format(python=shlex.quote(sys.executable)))
        Path(name).chmod(0o700)
        started = subprocess.run([name, "-I", "-S", "-c", ""], capture_output=True, check=False)
        if started.returncode == 0:  # fails if the folder is mounted noexec
            return name
    return sys.executable


def workers_can_import_package() -> bool:
    """Whether a new process of this Python finds the package: it is installed, or its folder is on PYTHONPATH.

    False where only `sys.path` of this process has it.
    """
    folder = str(Path(__file__).parents[3])
    if folder in os.environ.get("PYTHONPATH", "").split(os.pathsep):
        return True
    try:
        distribution("paimon-nb")
    except PackageNotFoundError:
        return False
    return True


def _remove_in(process_id: int, script: Path) -> None:
    """Delete the script, but not in a forked child."""
    if os.getpid() == process_id:
        script.unlink(missing_ok=True)


def use_jemalloc() -> None:
    """Call in the worker at the start of a task: Arrow allocates with jemalloc, unless the environment sets an allocator.

    Arrow's default allocator keeps much of the memory that large flushes free: a writing task of 20 million rows took
    733 MB with it and takes 590 MB with jemalloc, in the same time.
    """
    if "ARROW_DEFAULT_MEMORY_POOL" not in os.environ and "jemalloc" in pa.supported_memory_backends():
        pa.set_memory_pool(pa.jemalloc_memory_pool())


def prepare_next_task() -> None:
    """Call in the worker at the end of a task: the next one then starts in almost no time instead of 0.4 s.

    At the start of every task a worker calls `importlib.invalidate_caches()`. Before Python 3.13, each `zipimporter` then
    reads the directory of its file again, and Spark puts `pyspark.zip` with its 1,700 entries on the path of the workers.
    A removed importer is created again by the next import from that path, with the directory that zipimport has cached.

    A worker collects garbage between two tasks, which traverses all imported modules unless they are frozen.
    """
    global _frozen
    for path, importer in list(sys.path_importer_cache.items()):
        if isinstance(importer, zipimporter):
            sys.path_importer_cache.pop(path, None)
    if not _frozen:  # once: the first task imports nearly everything, and later garbage must be collected
        gc.collect()
        gc.freeze()
        _frozen = True


def forget_dead_workers() -> None:
    """Empty Spark's pools whose daemon has ended. Does nothing without a running Spark in this process.

    A pool whose daemon was killed still contains the daemon's workers. Spark takes one of them for the next task, finds it
    dead, and fails the task when it notifies the daemon: one failed task per dead worker. An empty pool starts a new
    daemon.
    """
    with suppress(Exception):  # the pools are not public API and may change between releases
        for pool in python_worker_pools():
            daemon = private_field(pool, "daemon")
            if daemon is not None and not daemon.isAlive():
                pool.stop()
