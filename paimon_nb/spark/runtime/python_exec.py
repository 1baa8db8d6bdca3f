"""The Python executable of Spark's Python workers: this one, without `pyspark.zip` on its path.

Spark puts a second copy of its modules, `pyspark.zip`, first on the path. Modules from a zip are compiled again in every
process: a streaming source then needs 1.3 s of CPU to start instead of 0.5 s, and Spark waits for it 10 s at most.
"""

from __future__ import annotations

import atexit
import os
import shlex
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import cache
from pathlib import Path

_WITHOUT_ZIP = """#!/bin/sh
PYTHONPATH=${{PYTHONPATH#*-src.zip:}}
PYTHONPATH=${{PYTHONPATH#*/spark-core_*.jar:}}
export PYTHONPATH
exec {python} "$@"
"""
"""Spark's own entries are first: pyspark.zip, py4j's zip, a jar. The user's entries are kept."""


@cache
def worker_python() -> str:
    """A program with the arguments of Python; `sys.executable` if PySpark is not installed as a package or without a shell."""
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


def _remove_in(process_id: int, script: Path) -> None:
    """Delete the script, but not in a forked child."""
    if os.getpid() == process_id:
        script.unlink(missing_ok=True)
