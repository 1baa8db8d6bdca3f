"""Deletes the files of a failed Spark job, whose names did not reach the driver.

The file names of a job contain a token, so that its files can be found and no others are deleted.
"""

from __future__ import annotations

import time
import uuid
from contextlib import suppress
from typing import TYPE_CHECKING

from paimon_nb.options import table as opt
from paimon_nb.spark.runtime.jvm_bridge import executor_infos

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimon_nb.table.read.store import TableStore

WAIT_S = 10.0
"""Maximum wait for task attempts that are being killed. Orphan file removal deletes what they write later."""

_WORKER_END_S = 0.3
"""A Python worker may write for a moment after its task has ended: Spark asks the daemon to kill it and does not wait."""


def with_job_token(store: TableStore) -> tuple[TableStore, str]:
    """The table for the tasks of one job, and the token in the names of their new data and changelog files."""
    token = uuid.uuid4().hex[:12]
    prefixes = {o.key: f"{store.options.get(o)}{token}-" for o in (opt.DATA_FILE_PREFIX, opt.CHANGELOG_FILE_PREFIX)}
    return store.copy(prefixes), token


def delete_job_files(spark: SparkSession, store: TableStore, token: str) -> int:
    """Delete the files of a failed job after its task attempts have ended. Returns their number."""
    wait_for_ended_tasks(spark)
    return _delete_files_of_job(store, store.data_root, token)


def wait_for_ended_tasks(spark: SparkSession) -> None:
    """Wait until the task attempts of failed jobs have ended, at most `WAIT_S` seconds."""
    deadline = time.monotonic() + WAIT_S
    while _has_running_tasks(spark) and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(_WORKER_END_S)


def _delete_files_of_job(store: TableStore, directory: str, token: str) -> int:
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
            count += _delete_files_of_job(store, entry.path, token)
        elif token in entry.name:
            with suppress(Exception):  # a file that cannot be deleted must not hide the error of the job
                count += store.fs.delete(entry.path)
    return count


def _has_running_tasks(spark: SparkSession) -> bool:
    """Whether executors run tasks of any job."""
    with suppress(Exception):
        return any(info.numRunningTasks() for info in executor_infos(spark))
    return False
