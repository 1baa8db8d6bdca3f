"""Rows of tables without keys with their places in files as columns, and a change of such rows as one commit.

Which rows change and what becomes of them is a DataFrame when it comes here; this room knows no statement.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import ROW_ID_FIELD, SEQUENCE_NUMBER
from paimon_nb.spark.jobs.task_runner import run_everywhere, run_in_threads
from paimon_nb.spark.runtime.arrow_interop import collect
from paimon_nb.spark.scan.located_rows import FILE, ROW, LocatedRows
from paimon_nb.spark.write.table_write import write_messages
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.row_rewrite import Marked, marks_vectors, take_out, without_rows
from paimon_nb.table.scan.plan.snapshot_scan import Split
from paimon_nb.table.scan.read.row_tracking import tracks_rows
from paimon_nb.table.write.global_index import drop_stale_indexes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.table.table import Table

INLINE_BYTES = 8 << 20
"""Files up to this total size are rewritten in the driver."""


def change_rows(
    table: Table, source: LocatedRows, removed: DataFrame, added: DataFrame | None, assigned: Collection[str] = ()
) -> tuple[list[int], int, int]:
    """Take rows out and put rows in, as one snapshot.

    Args:
        source: what `gone` was computed from. gone: columns FILE and ROW of the rows that leave.
        added: rows that come, with the table's columns and then `source.carried`, all NULL for rows that are new; both
            must be computed once and for all (checkpointed). assigned: columns that got new values.

    Returns: ids of the snapshots made, rows taken out, rows put in.

    Raises: CommitConflict: somebody changed the same files. EngineError; WriteError: nothing was changed.
    """
    spark = removed.sparkSession
    marked = _marked(source.files, collect(removed.select(FILE, ROW)))
    messages: list[CommitMessage] = []
    commit = TableCommit(table.store)
    if tracks_rows(table.store):  # rows keep their ids, by which a global index finds them
        touched = {split.partition for split, _ in marked}
        messages += drop_stale_indexes(table.store, source.plan.snapshot, assigned, touched)
    count = 0
    try:
        messages += _taken_out(spark, source, marked)
        if added is not None:
            # The files of this change must not be compacted with others in the same breath.
            store = table.store.copy({"write-only": "true"})
            rows = added.drop(FILE, ROW, SEQUENCE_NUMBER)
            if tracks_rows(table.store):
                # Rows that are new lie in files of their own: only those take ids from the table's count.
                row_id = ROW_ID_FIELD.name
                kept, count, _ = write_messages(rows.where(f"{row_id} IS NOT NULL"), store, tracked=True)
                messages += kept
                rows = rows.where(f"{row_id} IS NULL").drop(row_id)
            new, more, _ = write_messages(rows, store)
            messages += new
            count += more
    except BaseException:
        commit.abort(messages)
        raise
    ids = commit.commit(messages, expected_rows=count)
    return ids, sum(len(positions) for _, positions in marked), count


def _marked(files: Sequence[Split], pairs: pa.Table) -> list[Marked]:
    """Positions by file, sorted, each once."""
    numbers = np.asarray(pairs.column(0), dtype=np.int64)
    positions = np.asarray(pairs.column(1), dtype=np.int64)
    return [(files[n], np.unique(positions[numbers == n])) for n in np.unique(numbers)]


def _taken_out(spark: SparkSession, source: LocatedRows, marked: Sequence[Marked]) -> list[CommitMessage]:
    store = source.plan.store
    if marks_vectors(store):
        return take_out(store, source.plan, marked)
    if sum(split.size for split, _ in marked) <= INLINE_BYTES:
        return run_in_threads(lambda m: without_rows(store, *m), marked)
    return run_everywhere(spark, marked, [s.size for s, _ in marked], lambda m: without_rows(store, *m))
