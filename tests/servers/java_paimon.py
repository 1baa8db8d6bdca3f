"""Flink and Java Paimon, with which tests compare: downloaded and compiled once, kept in the user's cache folder."""

from __future__ import annotations

import fcntl
import os
import subprocess
from pathlib import Path

CLASSES = ("bin/flink/OracleRunner.class", "bin/bundle/PaimonDump.class")


def folder() -> Path:
    return Path(os.environ.get("ORACLE_WORK") or Path.home() / ".cache" / "paimon-oracle")


def is_prepared() -> bool:
    return all((folder() / name).is_file() for name in CLASSES)


def prepare(oracle: Path) -> None:
    """Download and compile what is missing, in one process at a time. Takes about two minutes the first time.

    Raises subprocess.CalledProcessError, with the output of the script that failed.
    """
    if is_prepared():
        return
    folder().mkdir(parents=True, exist_ok=True)
    with (folder() / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not is_prepared():
            subprocess.run(["bash", str(oracle / "setup.sh")], check=True, capture_output=True, text=True, timeout=1200)
