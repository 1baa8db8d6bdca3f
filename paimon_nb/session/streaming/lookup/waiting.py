"""Rows of a stream that wait for a match in a lookup table while later rows overtake them.

As in Flink's asynchronous lookups with `allow_unordered`, a checkpoint contains the rows that wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.table.read.stream.retries import RetryFiles

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.session.streaming.lookup.join import Lookups

HIDDEN = ("__paimon_row", "__paimon_repeated")
"""Columns of a micro-batch: the number of a row, and how often its lookup was repeated."""
_ROW, _REPEATED = HIDDEN
_DUE = "__paimon_due"
"""The column with the time of a row's next lookup, epoch milliseconds."""


class WaitingRows:
    """The rows of one job that wait."""

    def __init__(self, checkpoint: str, lookups: Lookups) -> None:
        """`checkpoint`: the folder of the job's checkpoint."""
        self.lookups = lookups
        self.files = RetryFiles(open_fs(checkpoint, {}), without_scheme(checkpoint))

    def with_due_rows(self, batch: DataFrame, number: int) -> tuple[DataFrame, pa.Table | None]:
        """A micro-batch with the rows whose next lookup is due, with the columns `HIDDEN`; and the rows that wait longer."""
        from pyspark.sql import functions as F

        rows, later = batch.withColumn(_REPEATED, F.lit(0)), None
        before = self.files.read_before(number)
        if before is not None:
            waiting = pa.ipc.open_stream(before).read_all()
            is_due = pa.compute.less_equal(waiting.column(_DUE), clock.now_ms())
            later = waiting.filter(pa.compute.invert(is_due))
            due = waiting.filter(is_due).drop_columns([_DUE])
            if due.num_rows:
                rows = rows.union(batch.sparkSession.createDataFrame(due.combine_chunks(), schema=rows.schema))
        return rows.withColumn(_ROW, F.monotonically_increasing_id()), later

    def separate(self, rows: DataFrame, unmatched: DataFrame, later: pa.Table | None, number: int) -> DataFrame:
        """The rows that need not wait. The others are stored for the next micro-batch.

        Args:
            rows: of `with_due_rows`. unmatched: the number of each row that waits, and its `delay` in seconds.
            later: the rows that wait longer. number: of the micro-batch.
        """
        from pyspark.sql import functions as F

        from paimon_nb.spark.runtime.arrow_interop import collect

        due = (F.lit(clock.now_ms()) + F.col("delay") * 1000).cast("bigint").alias(_DUE)
        columns = [F.col(f"`{c}`") for c in rows.columns if c not in HIDDEN]
        found = collect(rows.join(unmatched, _ROW).select(*columns, (F.col(_REPEATED) + 1).alias(_REPEATED), due, _ROW))
        numbers, found = found.select([_ROW]), found.drop_columns([_ROW])
        waiting = found if later is None or not later.num_rows else pa.concat_tables([later, found])
        self.files.write(number, _ipc_stream(waiting), _earliest(waiting))
        ready = rows
        if numbers.num_rows:
            known = rows.sparkSession.createDataFrame(numbers.combine_chunks())
            ready = rows.join(known, _ROW, "left_anti")
        return ready.select(*columns)


def _earliest(waiting: pa.Table) -> int | None:
    """The time of the next lookup; None without rows."""
    return pa.compute.min(waiting.column(_DUE)).as_py() if waiting.num_rows else None


def _ipc_stream(table: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return bytes(sink.getvalue())
