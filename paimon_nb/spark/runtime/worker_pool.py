"""Python workers that died while they waited for work. Knows Spark's pools of workers, and nothing else.

A pool whose daemon was killed still holds the workers that the daemon had made. Spark takes one of them for the next task,
sees that it is dead, tries to tell the daemon, and that fails the task: as many tasks as there were workers. A pool without
daemon and workers starts new ones at once.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any


def forget_dead_workers() -> None:
    """Empty the pools whose daemon is gone; those that live are left alone. Does nothing without a Spark in this process."""
    from pyspark import SparkContext

    context = SparkContext._active_spark_context
    if context is None or context._jvm is None:
        return
    with suppress(Exception):  # Spark has no door to its pools, and another Spark may have them elsewhere
        env: Any = context._jvm.org.apache.spark.SparkEnv.get()
        pools = _inside(env, "pythonWorkers").valuesIterator()
        while pools.hasNext():
            pool = pools.next()
            daemon = _inside(pool, "daemon")
            if daemon is not None and not daemon.isAlive():
                pool.stop()


def _inside(owner: Any, field: str) -> Any:
    """A private field of a Java object."""
    found = owner.getClass().getDeclaredField(field)
    found.setAccessible(True)
    return found.get(owner)
