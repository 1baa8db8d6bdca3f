"""Spark's Python workers that died between two statements, their daemon with them."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import pytest

from paimon_nb.spark.runtime.python_workers import forget_dead_workers

pytestmark = pytest.mark.spark


def _processes(spark) -> set[int]:
    """The workers of two tasks that run at once, and their daemon."""

    def mine(batches):
        import pyarrow as pa

        list(batches)  # a worker that did not read all is not kept
        time.sleep(0.5)  # so that no worker serves both
        yield pa.RecordBatch.from_pydict({"worker": [os.getpid()], "daemon": [os.getppid()]})

    rows = spark.range(2, numPartitions=2).mapInArrow(mine, "worker bigint, daemon bigint").collect()
    return {pid for row in rows for pid in row}


def _wait_for_jvm_to_see(dead: set[int]) -> None:
    """A daemon is the JVM's child: it is there as a zombie until the JVM has asked after it, a moment before it says so."""
    deadline = time.monotonic() + 10  # workers without their daemon stay zombies where nobody asks after orphans
    while any(Path(f"/proc/{pid}").exists() for pid in dead) and time.monotonic() < deadline:
        time.sleep(0.02)
    time.sleep(0.2)


def test_workers_that_died_with_their_daemon_fail_no_later_task(spark):
    before = _processes(spark)
    for pid in sorted(before, reverse=True):  # workers first: they do not outlive their daemon
        os.kill(pid, signal.SIGKILL)
    _wait_for_jvm_to_see(before)

    forget_dead_workers()

    assert not _processes(spark) & before


def test_workers_that_live_are_kept(spark):
    before = _processes(spark)

    forget_dead_workers()

    assert _processes(spark) & before
