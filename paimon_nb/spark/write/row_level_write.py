"""Deletes and updates rows of tables without primary keys, in one commit. The changed rows are given as DataFrames."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.threads import run_in_threads
from paimon_nb.format.data import ROW_ID_FIELD, SEQUENCE_NUMBER
from paimon_nb.spark.jobs.task_runner import run_in_tasks
from paimon_nb.spark.runtime.arrow_interop import collect
from paimon_nb.spark.scan.located_rows import FILE, ROW, LocatedRows
from paimon_nb.spark.write.table_write import write_messages
from paimon_nb.table.read.split.row_tracking import tracks_rows
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.global_index import drop_stale_indexes
from paimon_nb.table.write.row_rewrite import Marked, delete_marked_rows, rewrite_without_rows, uses_deletion_vectors

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.tables.table import Table

INLINE_BYTES = 8 << 20
"""Files up to this total size are rewritten in the driver."""


def change_rows(
    table: Table,
    source: LocatedRows,
    removed: DataFrame,
    added: DataFrame | None,
    assigned: Collection[str] = (),
    pad_chars: bool = True,
) -> tuple[list[int], int, int]:
    """Delete rows and insert rows in one snapshot.

    `removed` and `added` are read several times, so they must not change, see `staged_rows`.

    Args:
        table: the table.
        source: the rows from which `removed` and `added` were computed.
        removed: FILE and ROW of the rows to delete.
        added: rows to insert, with the table's columns, then `source.carried`, which are NULL for new rows.
        assigned: names of the updated columns.
        pad_chars: as in `TableWrite`.

    Returns:
        The ids of the new snapshots, the number of deleted rows, the number of inserted rows.

    Raises:
        CommitConflict: another commit changed the same files.
        EngineError: Spark failed; nothing was committed.
        WriteError: a row does not fit the table; nothing was committed.
    """
    spark = removed.sparkSession
    removed_rows = positions_by_file(source.files, collect(removed.select(FILE, ROW)))
    messages: list[CommitMessage] = []
    commit = TableCommit(table.store)
    if tracks_rows(table.store):  # rows keep their ids, which a global index refers to
        touched = {split.partition for split, _ in removed_rows}
        messages += drop_stale_indexes(table.store, source.plan.snapshot, assigned, touched)
    count = 0
    try:
        messages += _delete_rows(spark, source, removed_rows)
        if added is not None:
            # The files of this change must not be compacted in the same commit.
            store = table.store.copy({"write-only": "true"})
            rows = added.drop(FILE, ROW, SEQUENCE_NUMBER)
            if tracks_rows(table.store):
                # New rows are in separate files: only these get new row ids from the table's counter.
                row_id = ROW_ID_FIELD.name
                tracked, count, _ = write_messages(
                    rows.where(f"{row_id} IS NOT NULL"), store, tracked=True, pad_chars=pad_chars
                )
                messages += tracked
                rows = rows.where(f"{row_id} IS NULL").drop(row_id)
            new, more, _ = write_messages(rows, store, pad_chars=pad_chars)
            messages += new
            count += more
    except BaseException:
        commit.abort(messages)
        raise
    ids = commit.commit(messages, expected_rows=count, ignore_empty=table.store.options.ignores_empty_commits)
    return ids, sum(len(positions) for _, positions in removed_rows), count


def positions_by_file(files: Sequence[Split], pairs: pa.Table) -> list[Marked]:
    """The sorted distinct positions of each file."""
    numbers = np.asarray(pairs.column(0), dtype=np.int64)
    positions = np.asarray(pairs.column(1), dtype=np.int64)
    return [(files[n], np.unique(positions[numbers == n])) for n in np.unique(numbers)]


def _delete_rows(spark: SparkSession, source: LocatedRows, removed_rows: Sequence[Marked]) -> list[CommitMessage]:
    store = source.plan.store
    if uses_deletion_vectors(store):
        return delete_marked_rows(store, source.plan, removed_rows)
    store = store.at_newest_schema()
    if sum(split.size for split, _ in removed_rows) <= INLINE_BYTES:
        with store.fs.writing_in_background():
            return run_in_threads(lambda m: rewrite_without_rows(store, *m), removed_rows)
    return run_in_tasks(
        spark, removed_rows, [s.size for s, _ in removed_rows], lambda m: rewrite_without_rows(store, *m)
    )
