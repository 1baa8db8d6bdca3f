"""Reads that name `_ROW_ID` or `_SEQUENCE_NUMBER` of tables with row tracking; files without the wanted row ids are skipped."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.format.data import ROW_ID_FIELD, TRACKING_FIELDS
from paimon_nb.format.types.arrow_builders import empty_table, from_numpy
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.data_evolution import anchor_file
from paimon_nb.table.read.predicate.evaluate import bind_literals, evaluate, filter_rows
from paimon_nb.table.read.predicate.model import conjuncts_on
from paimon_nb.table.read.predicate.parser import as_predicate
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.read.split.row_tracking import stored_tracking_fields, tracked_rows
from paimon_nb.table.read.split.unreadable_files import readable_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore


def _lazily_tracked_rows(store: TableStore, split: Split, columns: Sequence[str]) -> Iterator[pa.Table]:
    """The tracked rows of a split, read when the first is taken."""
    yield tracked_rows(store, split, columns)


def read_with_row_ids(store: TableStore, columns: Sequence[str] | None, where: str | Predicate | None) -> pa.Table:
    """The rows that match, with these columns; None: the table's columns without those of row tracking.

    Raises: ColumnNotFound, SqlSyntaxError: `columns` or `where` does not fit the table.
    """
    plan = plan_scan(store)
    schema = replace(plan.schema, fields=(*plan.schema.fields, *TRACKING_FIELDS))
    names = list(plan.schema.names) if columns is None else [schema.column_name(c) for c in columns]
    predicate = as_predicate(where, schema, store.sql)
    if predicate is not None:
        predicate = bind_literals(predicate, schema.fields)
        plan = plan_scan(store, conjuncts_on(predicate, set(plan.schema.names)))
    on_ids = conjuncts_on(predicate, {ROW_ID_FIELD.name})
    used = {*names, *(predicate.columns() if predicate is not None else ())}
    read = [f.name for f in plan.schema.fields if f.name in used] or [plan.schema.names[0]]
    fields = [schema.field(name) for name in (*read, *(f.name for f in TRACKING_FIELDS))]
    parts = [empty_table(fields).select(names)]
    for split in one_split_per_file(plan):
        if on_ids is None or _may_have_matching_row_ids(on_ids, anchor_file(split.files)):
            found = readable_rows(
                plan.store, split.files, split.snapshot_id, _lazily_tracked_rows(plan.store, split, read)
            )
            parts += [filter_rows(predicate, rows, fields).select(names) for rows in found]
    return pa.concat_tables(parts)


def _may_have_matching_row_ids(condition: Predicate, file: DataFile) -> bool:
    """False if no row of the file has a row id for which the condition is true."""
    if file.first_row_id is None or stored_tracking_fields(file):
        return True
    ids = pa.table({ROW_ID_FIELD.name: from_numpy(np.arange(file.row_count, dtype=np.int64) + file.first_row_id)})
    return bool(pc.any(evaluate(condition, ids, [ROW_ID_FIELD])).as_py())
