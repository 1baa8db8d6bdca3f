"""Rows of tables without keys with their places in files as columns, and a change of such rows as one commit.

Which rows change and what becomes of them is a DataFrame when it comes here; this room knows no statement.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from os import cpu_count
from typing import TYPE_CHECKING, TypeVar

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import ROW_ID_FIELD, SEQUENCE_NUMBER, TRACKING_FIELDS
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.format.types.arrow_builders import no_rows
from paimon_nb.spark.errors import crossing_tasks
from paimon_nb.spark.runtime.arrow_interop import collect, from_arrow, session_zone
from paimon_nb.spark.runtime.task_runner import pieces_of, run_everywhere, work_frame
from paimon_nb.spark.scan.pushdown import usable
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.spark.write.table_write import write_messages
from paimon_nb.table.commit import CommitMessage, TableCommit
from paimon_nb.table.row_rewrite import Marked, marks_vectors, placed_rows, single_files, take_out, without_rows
from paimon_nb.table.scan.plan.planner import ScanPlan, plan_scan
from paimon_nb.table.scan.plan.splits import Split
from paimon_nb.table.scan.predicate.model import Predicate
from paimon_nb.table.scan.read.row_tracking import tracks_rows
from paimon_nb.table.store import TableStore
from paimon_nb.table.write.global_index import drop_stale_indexes

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.table.table import Table

T = TypeVar("T")
R = TypeVar("R")
FILE, ROW = "__paimon_file", "__paimon_row"
"""Columns beside the table's: number of the row's file among `Placed.files`, physical position in it."""
INLINE_BYTES = 8 << 20
"""Files no larger together are read and written in this process."""
_LOCATION = (DataField(-1, FILE, parse_type("INT")), DataField(-2, ROW, parse_type("BIGINT")))


@dataclass(frozen=True)
class Placed:
    """The candidate rows of a change."""

    plan: ScanPlan
    files: tuple[Split, ...]
    """One file each."""
    frame: DataFrame
    """The table's columns, then `beside`."""
    carried: tuple[str, ...] = (FILE, ROW)
    """FILE and ROW, and in a table that tracks its rows `TRACKING_FIELDS`."""


def placed(spark: SparkSession, table: Table, filter: Predicate | None = None) -> Placed:
    """All rows of the files that may hold rows for which `filter` is true. The snapshot is fixed now."""
    store = table.store
    own = store.without_fallback()  # rows that another branch answers with are not this one's to change
    plan = plan_scan(own, usable(filter, store.schema.fields, session_zone(spark)))
    files = single_files(plan)
    tracked = tracks_rows(plan.store)
    carried = (*_LOCATION, *TRACKING_FIELDS) if tracked else _LOCATION
    fields, names = (*plan.schema.fields, *carried), tuple(f.name for f in carried)
    if sum(s.size for s in files) <= INLINE_BYTES:
        parts = _in_threads(lambda n: _with_locations(plan.store, n, files[n], fields), range(len(files)))
        rows = pa.concat_tables([no_rows(fields), *parts])
        return Placed(plan, files, from_arrow(spark, rows, fields), names)
    frame = work_frame(spark, list(enumerate(files)), [s.size for s in files])
    return Placed(plan, files, frame.mapInArrow(_reading_task(plan.store, fields), spark_schema(fields)), names)


def _with_locations(store: TableStore, number: int, split: Split, fields: Sequence[DataField]) -> pa.Table:
    rows, positions = placed_rows(store, split, tracked=fields[-1] in TRACKING_FIELDS)
    rows = rows.append_column(FILE, pa.array(np.full(len(positions), number, np.int32)))
    return rows.append_column(ROW, pa.array(positions)).select([f.name for f in fields])


def _reading_task(
    store: TableStore, fields: Sequence[DataField]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    @crossing_tasks
    def read(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, split in pieces_of(batches):
            rows = _with_locations(store, number, split, fields)
            yield from task_batches(rows, fields)

    return read


def change_rows(
    table: Table, source: Placed, removed: DataFrame, added: DataFrame | None, assigned: Collection[str] = ()
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


def _taken_out(spark: SparkSession, source: Placed, marked: Sequence[Marked]) -> list[CommitMessage]:
    store = source.plan.store
    if marks_vectors(store):
        return take_out(store, source.plan, marked)
    if sum(split.size for split, _ in marked) <= INLINE_BYTES:
        return _in_threads(lambda m: without_rows(store, *m), marked)
    return run_everywhere(spark, marked, [s.size for s, _ in marked], lambda m: without_rows(store, *m))


def _in_threads(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    if len(items) < 2:
        return [work(i) for i in items]
    with ThreadPoolExecutor(cpu_count() or 1) as pool:
        return list(pool.map(work, items))
