"""Compacting many buckets: as Spark tasks when there is much to do, in threads of the driver when there is little."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Any

from paimon_nb.spark.errors import spark_errors
from paimon_nb.spark.jobs.job_cleanup import marked, sweep
from paimon_nb.spark.jobs.task_runner import run_everywhere
from paimon_nb.table.cluster import Order
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.compact import (
    CompactTask,
    SortTask,
    plan_compaction,
    plan_sort,
    run_sort,
    run_task,
    sort_overwrite,
)
from paimon_nb.table.store import TableStore

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from paimon_nb.table.table import Table

Work = Callable[[TableStore, Any], list[CommitMessage]]
"""What is done for one task: files are written, nothing is published."""
INLINE_BYTES = 256 << 20
"""Below this many bytes to read, starting Spark tasks costs more than they save."""


@dataclass(frozen=True, slots=True)
class CompactResult:
    """What a compaction did."""

    snapshots: tuple[int, ...]
    tasks: int
    """Buckets (or groups of files) that were rewritten."""
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
        spark: where to run big compactions; None runs all in this process.
        partitions: serialized partitions or a test for them; None means all.
        full: everything; False only what the table's strategy says is due.
        buckets: only these; None means all.
        order: rewrite whole partitions in this order instead (sort compaction); `full` and `buckets` do not matter then.

    Raises:
        CommitConflict: somebody compacted or overwrote the same files meanwhile; for an order, somebody added rows.
        EngineError: Spark failed.
    """
    store: TableStore = table.store
    tasks: Sequence[CompactTask | SortTask]
    work: Work
    scope = None
    if order is None:
        tasks = [t for t in plan_compaction(store, partitions, full=full) if buckets is None or t.bucket in buckets]
        work = run_task
    else:
        tasks = sorting = plan_sort(store, partitions)
        work, scope = partial(_sort, order), sort_overwrite(store, sorting)
    size = sum(t.size for t in tasks)
    if not tasks:
        return CompactResult((), 0, 0, True)
    commit = TableCommit(store, commit_user)
    inline = spark is None or size <= inline_bytes or len(tasks) == 1
    with spark_errors():
        if spark is None or inline:
            messages = _in_threads(store, tasks, work, commit)
        else:
            messages = _in_tasks(spark, store, tasks, work)
    return CompactResult(tuple(commit.commit(messages, overwrite=scope)), len(tasks), size, inline)


def _sort(order: Order, store: TableStore, task: SortTask) -> list[CommitMessage]:
    return run_sort(store, task, order)


def _in_threads(
    store: TableStore, tasks: Sequence[CompactTask | SortTask], work: Work, commit: TableCommit
) -> list[CommitMessage]:
    made: list[CommitMessage] = []
    with ThreadPoolExecutor(min(len(tasks), os.cpu_count() or 1)) as pool:
        futures = [pool.submit(work, store, task) for task in tasks]
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


def _in_tasks(
    spark: SparkSession, store: TableStore, tasks: Sequence[CompactTask | SortTask], work: Work
) -> list[CommitMessage]:
    tagged, token = marked(store)
    try:
        results = run_everywhere(spark, tasks, [t.size for t in tasks], lambda task: work(tagged, task))
    except BaseException:
        sweep(spark, store, token)
        raise
    return list(chain.from_iterable(results))
