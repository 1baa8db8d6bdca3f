"""Compacts the buckets of a table: in Spark tasks, or in threads of the driver if there is little to do."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import chain
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.errors import spark_errors
from paimon_nb.spark.jobs.job_cleanup import delete_job_files, with_job_token
from paimon_nb.spark.jobs.task_runner import run_in_tasks
from paimon_nb.table.read.plan.time_travel import retry_on_expiry
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.compact import (
    CompactTask,
    SortTask,
    plan_compaction,
    plan_sort,
    run_sort,
    run_task,
    sort_overwrite,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from pyspark.sql import SparkSession

    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.cluster import Order
    from paimon_nb.table.write.publish.overwrite import Overwrite

Task = TypeVar("Task", CompactTask, SortTask)
INLINE_BYTES = 256 << 20
"""Input size up to which Spark tasks cost more than they save."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """The result of a compaction."""

    snapshots: tuple[int, ...]
    tasks: int
    """Number of rewritten buckets or groups of files."""
    bytes_read: int
    inline: bool


def compact(
    table: Table,
    spark: SparkSession | None = None,
    *,
    partitions: Collection[bytes] | Callable[[bytes], bool] | None = None,
    full: bool = True,
    buckets: Collection[int] | None = None,
    order: Order | None = None,
    commit_user: str | None = None,
    inline_bytes: int = INLINE_BYTES,
) -> CompactResult:
    """Compact a table and commit the result.

    Args:
        table: the table.
        spark: the session for large compactions; None: the driver does everything.
        partitions: serialized partitions or a predicate on them; None: all.
        full: compact everything; False: only what the table's compaction strategy picks.
        buckets: the buckets to compact; None: all.
        order: rewrite whole partitions in this order (sort compaction); `full` and `buckets` are ignored.
        commit_user: the user in the snapshot; None: a random one.
        inline_bytes: input size up to which the driver does everything.

    Raises:
        CommitConflict: another commit compacted or overwrote the same files, or, for a sort compaction, added rows.
        EngineError: Spark failed.
    """
    store: TableStore = table.store
    commit = TableCommit(store, commit_user)
    if order is not None:
        sorting = plan_sort(store, partitions)
        scope = sort_overwrite(store, sorting)
        return _run_and_commit(
            commit, spark, sorting, lambda store, task: run_sort(store, task, order), scope, inline_bytes
        )

    def plan_and_run() -> CompactResult:
        tasks = plan_compaction(store, partitions, full=full, buckets=buckets)
        return _run_and_commit(commit, spark, tasks, run_task, None, inline_bytes)

    return retry_on_expiry(store, plan_and_run)


def _run_and_commit(
    commit: TableCommit,
    spark: SparkSession | None,
    tasks: Sequence[Task],
    compact_one: Callable[[TableStore, Task], list[CommitMessage]],
    scope: Overwrite | None,
    inline_bytes: int,
) -> CompactResult:
    """Run the tasks and commit their files. `compact_one` writes the files of one task."""
    if not tasks:
        return CompactResult((), 0, 0, True)
    size = sum(t.size for t in tasks)
    inline = spark is None or size <= inline_bytes or len(tasks) == 1
    with spark_errors():
        if spark is None or inline:
            messages = _compact_in_threads(commit, tasks, compact_one)
        else:
            messages = _compact_in_spark_tasks(spark, commit.store, tasks, compact_one)
    return CompactResult(tuple(commit.commit(messages, overwrite=scope)), len(tasks), size, inline)


def _compact_in_threads(
    commit: TableCommit, tasks: Sequence[Task], compact_one: Callable[[TableStore, Task], list[CommitMessage]]
) -> list[CommitMessage]:
    made: list[CommitMessage] = []
    with ThreadPoolExecutor(min(len(tasks), os.cpu_count() or 1)) as pool:
        futures = [pool.submit(compact_one, commit.store, task) for task in tasks]
        try:
            for future in as_completed(futures):
                made += future.result()
        except BaseException:
            for future in futures:
                future.cancel()
            pool.shutdown()
            commit.abort(
                chain.from_iterable(f.result() for f in futures if f.done() and not f.cancelled() and not f.exception())
            )
            raise
    return made


def _compact_in_spark_tasks(
    spark: SparkSession,
    store: TableStore,
    tasks: Sequence[Task],
    compact_one: Callable[[TableStore, Task], list[CommitMessage]],
) -> list[CommitMessage]:
    tagged, token = with_job_token(store)
    try:
        results = run_in_tasks(spark, tasks, [t.size for t in tasks], lambda task: compact_one(tagged, task))
    except BaseException:
        delete_job_files(spark, store, token)
        raise
    return list(chain.from_iterable(results))
