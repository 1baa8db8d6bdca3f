"""Tables that are joined with a stream: read again in each micro-batch, as the table is then.

The DataFrame of a table has the rows of one snapshot. In the plan of a stream, tasks that plan the scan themselves replace it.
"""

from __future__ import annotations

from collections import OrderedDict
from contextlib import closing
from typing import TYPE_CHECKING

from paimon_nb.options.table import SCAN_TIMESTAMP_MILLIS
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.jobs.task_runner import parallelism
from paimon_nb.spark.runtime.jvm_bridge import has_bridge, plain_session, plan_text, with_replaced_plans
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.table.read.partition_choice import for_queries
from paimon_nb.table.read.plan.planner import plan_scan
from paimon_nb.table.read.plan.time_travel import parse_incremental, travels
from paimon_nb.table.read.split.split_reader import iter_split

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore

_MAX_FRAMES = 500
_frames: OrderedDict[str, tuple[TableStore, tuple[DataField, ...]]] = OrderedDict()
"""Tables of recent DataFrames and the columns that they read, by the texts of their plans, whose columns have unique ids."""
_TASK_BYTES = 128 << 20
"""Bytes of a table that one task reads."""
_SETTLED_MS = 1000
"""Several tasks read the snapshot of so long before the micro-batch, so that none finds a newer one than another."""


def remember_table_of(frame: DataFrame, store: TableStore, fields: Sequence[DataField]) -> None:
    """Record that a DataFrame has the rows of a table's latest snapshot; not for time travel, which is meant to stay."""
    if not has_bridge(frame) or travels(store.options.raw) or parse_incremental(store.options) is not None:
        return
    _frames[plan_text(frame)] = (store, tuple(fields))
    while len(_frames) > _MAX_FRAMES:
        _frames.popitem(last=False)


def with_current_tables(frame: DataFrame) -> DataFrame:
    """A streaming DataFrame that reads the tables that it is joined with again in each micro-batch."""
    if not _frames or not has_bridge(frame) or not frame.isStreaming:
        return frame

    def current_rows(plan: str) -> DataFrame | None:
        found = _frames.get(plan)
        return None if found is None else _current_rows(frame, *found)

    return with_replaced_plans(frame, current_rows)


def _current_rows(frame: DataFrame, store: TableStore, fields: tuple[DataField, ...]) -> DataFrame:
    """The rows that the table has when the returned DataFrame is executed."""
    from pyspark.sql import functions as F

    spark, store = plain_session(frame.sparkSession), for_queries(store)
    size = sum(split.size for split in plan_scan(store).splits)
    tasks = max(1, min(parallelism(spark), size // _TASK_BYTES))
    now_ms = F.unix_millis(F.current_timestamp())  # in a micro-batch: its time, the same in all tasks
    shares = spark.range(0, tasks, 1, tasks).select(F.col("id").cast("int"), now_ms.alias("now_ms"))
    names = [f.name for f in fields]

    @encode_errors_of_task
    def read_share(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for row in (row for batch in batches for row in batch.to_pylist()):
            at = store if tasks == 1 else store.copy({SCAN_TIMESTAMP_MILLIS.key: str(row["now_ms"] - _SETTLED_MS)})
            plan = plan_scan(at)
            for split in plan.splits[row["id"] :: tasks]:
                with closing(iter_split(plan.store, split, names, None)) as pieces:
                    for rows in pieces:
                        yield from task_batches(rows, fields)

    return shares.mapInArrow(read_share, spark_schema(fields))
