"""Python workers that died while they waited for work. Knows Spark's pools of workers, and nothing else.

A pool whose daemon was killed still holds the workers that the daemon had made. Spark takes one of them for the next task,
sees that it is dead, tries to tell the daemon, and that fails the task: as many tasks as there were workers. A pool without
daemon and workers starts new ones at once.
"""

from __future__ import annotations

from contextlib import suppress

from paimon_nb.spark.runtime.jvm_bridge import private_field, worker_pools


def forget_dead_workers() -> None:
    """Empty the pools whose daemon is gone; those that live are left alone. Does nothing without a Spark in this process."""
    with suppress(Exception):  # Spark has no public access to its pools, and other releases may keep them elsewhere
        for pool in worker_pools():
            daemon = private_field(pool, "daemon")
            if daemon is not None and not daemon.isAlive():
                pool.stop()
