"""Removes dead Python workers from Spark's worker pools.

A pool whose daemon was killed still contains the daemon's workers. Spark takes one of them for the next task, finds it dead,
and fails the task when it notifies the daemon: one failed task per dead worker. An empty pool starts a new daemon.
"""

from __future__ import annotations

from contextlib import suppress

from paimon_nb.spark.runtime.jvm_bridge import private_field, worker_pools


def forget_dead_workers() -> None:
    """Empty the pools whose daemon has ended. Does nothing without a running Spark in this process."""
    with suppress(Exception):  # the pools are not public API and may change between releases
        for pool in worker_pools():
            daemon = private_field(pool, "daemon")
            if daemon is not None and not daemon.isAlive():
                pool.stop()
