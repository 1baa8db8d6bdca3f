"""Rows of tables without primary keys, or of compacted files, with their positions in files as columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.threads import run_in_threads
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.format.types.arrow_builders import empty_table
from paimon_nb.spark.errors import encode_errors_of_task
from paimon_nb.spark.jobs.task_runner import frame_of_pickled_pieces, unpickle_pieces
from paimon_nb.spark.runtime.arrow_interop import from_arrow, session_zone
from paimon_nb.spark.types import spark_schema, task_batches
from paimon_nb.table.read.plan.planner import plan_scan
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.read.split.row_tracking import tracks_rows
from paimon_nb.table.read.strategy.spark_meaning import conjuncts_with_spark_meaning

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan, Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

FILE, ROW = "__paimon_file", "__paimon_row"
"""Columns after the table's: index of the row's file in `LocatedRows.files`, position of the row in it."""
INLINE_BYTES = 8 << 20
"""Files up to this total size are read in the driver."""
LOCATION_FIELDS = (DataField(-1, FILE, parse_type("INT")), DataField(-2, ROW, parse_type("BIGINT")))


@dataclass(frozen=True)
class LocatedRows:
    """Rows that a statement may change, with their positions."""

    plan: ScanPlan
    files: tuple[Split, ...]
    """One split per file."""
    frame: DataFrame
    """The table's columns, then `carried`."""
    carried: tuple[str, ...] = (FILE, ROW)
    """FILE and ROW; with row tracking also `TRACKING_FIELDS`."""


def locate_rows(spark: SparkSession, table: Table, filter: Predicate | None = None) -> LocatedRows:
    """All rows of the files that may contain rows for which `filter` is true, of the latest snapshot."""
    store = table.store
    own = store.without_fallback()  # rows of the fallback branch cannot be changed here
    plan = plan_scan(own, conjuncts_with_spark_meaning(filter, store.schema.fields, session_zone(spark)))
    files = one_split_per_file(plan)
    tracked = tracks_rows(plan.store)
    carried = (*LOCATION_FIELDS, *TRACKING_FIELDS) if tracked else LOCATION_FIELDS
    fields, names = (*plan.schema.fields, *carried), tuple(f.name for f in carried)
    if sum(s.size for s in files) <= INLINE_BYTES:
        parts = run_in_threads(lambda n: _with_locations(plan.store, n, files[n], fields), range(len(files)))
        rows = pa.concat_tables([empty_table(fields), *parts])
        return LocatedRows(plan, files, from_arrow(spark, rows, fields), names)
    frame = frame_of_pickled_pieces(spark, list(enumerate(files)), [s.size for s in files])
    return LocatedRows(
        plan, files, frame.mapInArrow(_task_reading_located_rows(plan.store, fields), spark_schema(fields)), names
    )


def _with_locations(store: TableStore, number: int, split: Split, fields: Sequence[DataField]) -> pa.Table:
    rows, positions = rows_with_positions(store, split, tracked=fields[-1] in TRACKING_FIELDS)
    rows = rows.append_column(FILE, pa.array(np.full(len(positions), number, np.int32)))
    return rows.append_column(ROW, pa.array(positions)).select([f.name for f in fields])


def _task_reading_located_rows(
    store: TableStore, fields: Sequence[DataField]
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    @encode_errors_of_task
    def read_located_rows(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for number, split in unpickle_pieces(batches):
            rows = _with_locations(store, number, split, fields)
            yield from task_batches(rows, fields)

    return read_located_rows
