"""Cleaning up behind a Spark job that failed: attempts may have written files whose names never reached the driver.

Files of one job carry a token in their names, so what belongs to it can be found and deleted, and nothing else.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.options import table as opt
from paimon_nb.spark.runtime.jvm_bridge import executor_infos
from paimon_nb.table.store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

WAIT_S = 10.0
"""How long to wait for attempts that are still being killed; what they leave later, orphan removal finds."""


def marked(store: TableStore) -> tuple[TableStore, str]:
    """The table, for the tasks of one job: names of new data and changelog files hold the returned token."""
    token = uuid.uuid4().hex[:12]
    prefixes = {o.key: f"{store.options.get(o)}{token}-" for o in (opt.DATA_FILE_PREFIX, opt.CHANGELOG_FILE_PREFIX)}
    return store.copy(prefixes), token


def sweep(spark: SparkSession, store: TableStore, token: str) -> int:
    """Delete the files of a job that failed, once its attempts have ended. Returns how many."""
    deadline = time.monotonic() + WAIT_S
    while _running(spark) and time.monotonic() < deadline:
        time.sleep(0.1)
    return _delete(store, store.data_root, token)


def _delete(store: TableStore, directory: str, token: str) -> int:
    count = 0
    for entry in store.fs.list(directory):
        if entry.is_dir and entry.name not in (
            "schema",
            "snapshot",
            "manifest",
            "changelog",
            "tag",
            "consumer",
            "statistics",
        ):
            count += _delete(store, entry.path, token)
        elif token in entry.name:
            with suppress(Exception):  # one file that resists must not hide why the job failed
                count += store.fs.delete(entry.path)
    return count


def _running(spark: SparkSession) -> bool:
    """Whether executors still run tasks, of whatever job."""
    with suppress(Exception):
        return any(info.numRunningTasks() for info in executor_infos(spark))
    return False
