"""Updates of columns under data evolution, by row id and by a function: writes files with only these columns.

Source: Paimon 2.1 `table_update_by_row_id.py`, `table_update.py` of pypaimon.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, UnsupportedOperation
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.data.schema_cast import cast_to_schema
from paimon_nb.format.types.arrow_builders import from_numpy, to_numpy
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.data_evolution import anchor_file, stores_column
from paimon_nb.table.read.row_positions import one_split_per_file, rows_with_positions
from paimon_nb.table.write.column_file_writer import columns_change
from paimon_nb.table.write.commit import CommitMessage, TableCommit
from paimon_nb.table.write.dml_checks import check_merge_update
from paimon_nb.table.write.row_changes import ChangedRows, evaluate_assignments, new_column_values

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.table.read import Split
    from paimon_nb.table.read.store import TableStore

ROW_ID = ROW_ID_FIELD.name


def update_by_row_id(store: TableStore, rows: pa.Table) -> list[int]:
    """New values of columns for the rows with these ids, in one commit. Ids of deleted rows have no effect.

    Args:
        rows: `_ROW_ID` and the columns with new values.

    Returns: the ids of the new snapshots.

    Raises: SchemaMismatch: an id is NULL, unknown or repeated, or a value does not fit. CommitConflict: another commit
        changed these rows.
    """
    names = [n for n in rows.column_names if n != ROW_ID]
    if ROW_ID not in rows.column_names or not names:
        raise SchemaMismatch(
            f"the rows need {ROW_ID} and at least one column", hint=f"columns: {', '.join(rows.column_names)}"
        )
    _check_data_evolution(store, names)
    fields = [store.schema.field(store.schema.column_name(n)) for n in names]
    values = cast_to_schema(rows.select(names).rename_columns([f.name for f in fields]), fields).combine_chunks()
    ids = _unique_row_ids(rows)
    order = np.argsort(ids, kind="stable")
    ordered = ids[order]
    plan = plan_scan(store)
    commit, messages, changed_splits, known = TableCommit(store), list[CommitMessage](), list["Split"](), 0
    try:
        for split in one_split_per_file(plan):
            file = anchor_file(split.files)
            first = file.first_row_id or 0
            begin, end = np.searchsorted(ordered, [first, first + file.row_count])
            if begin == end:
                continue
            known += int(end - begin)
            part = values.take(from_numpy(order[begin:end].astype(np.int64)))
            new_values = {f.name: part.column(f.name).combine_chunks() for f in fields}
            changed = ChangedRows.all_updated(int(end - begin), new_values)
            positions = (ordered[begin:end] - first).astype(np.int64)
            messages.append(new_column_values(plan.store, split, changed, positions, list(new_values)))
            changed_splits.append(split)
        if known < len(ids):
            raise SchemaMismatch(
                f"{store.name}: {len(ids) - known} of {len(ids)} values of {ROW_ID} are not in the table",
                hint="read the ids from the latest snapshot: t.system('row_tracking')", column=ROW_ID,
            )  # fmt: skip
        return _publish_column_files(store, commit, messages, changed_splits)
    except BaseException:
        commit.abort(messages)
        raise


def _unique_row_ids(rows: pa.Table) -> np.ndarray:
    column = rows.column(ROW_ID)
    if not pa.types.is_integer(column.type) or column.null_count:
        raise SchemaMismatch(
            f"{ROW_ID} is {column.type} with {column.null_count} NULLs", hint="BIGINT without NULL", column=ROW_ID
        )
    ids = to_numpy(column.cast(pa.int64()))
    if len(np.unique(ids)) != len(ids):
        raise SchemaMismatch(f"a value of {ROW_ID} occurs twice", hint="update each row once", column=ROW_ID)
    return ids


def backfill(
    store: TableStore,
    values: Mapping[str, Callable[[pa.Table], Any]],
    read: Sequence[str],
    *,
    overwrite: bool,
    rows_per_commit: int,
    progress: Callable[[int, int], None] | None,
) -> list[int]:
    """Fill columns from functions of other columns, file by file. A second call continues where the first one ended.

    Args:
        values: a function for each column. read: names of the columns that the functions get.
        overwrite: also replace existing values. rows_per_commit: rows after which a commit is published.
        progress: called with the rows that are done and all rows to fill.

    Returns: the ids of the new snapshots.
    """
    names = list(values)
    if not names or rows_per_commit < 1:
        raise BadOptionValue(
            "backfill() needs a column and a positive number of rows per commit", hint="backfill({'n': f})"
        )
    _check_data_evolution(store, names)
    fields = {f.name: f for f in store.schema.fields}
    plan = plan_scan(store)
    todo = [
        split
        for split in one_split_per_file(plan)
        if overwrite or not all(stores_column(plan.store, split.files, fields[name]) for name in names)
    ]
    total, done, pending = sum(anchor_file(s.files).row_count for s in todo), 0, 0
    commit, messages, splits, made = TableCommit(store), list[CommitMessage](), list["Split"](), list[int]()
    try:
        for split in todo:
            rows, positions = rows_with_positions(plan.store, split, columns=list(read))
            if rows.num_rows:
                changed = ChangedRows.all_updated(rows.num_rows, evaluate_assignments(rows, values, fields))
                messages.append(new_column_values(plan.store, split, changed, positions, names))
                splits.append(split)
            pending += anchor_file(split.files).row_count
            if pending >= rows_per_commit or split is todo[-1]:
                made += _publish_column_files(store, commit, messages, splits, read)
                messages, splits, done, pending = [], [], done + pending, 0
                if progress is not None:
                    progress(done, total)
    except BaseException:
        commit.abort(messages)
        raise
    return made


def _publish_column_files(
    store: TableStore,
    commit: TableCommit,
    messages: Sequence[CommitMessage],
    splits: Sequence[Split],
    computed_from: Sequence[str] = (),
) -> list[int]:
    if not messages:
        return []
    made = commit.publish(lambda latest: columns_change(store, latest, messages, splits, computed_from))
    return [] if made is None else [made]


def _check_data_evolution(store: TableStore, columns: Sequence[str]) -> None:
    if not store.evolves_data:
        raise UnsupportedOperation(
            f"{store.name}: files with only some columns need 'data-evolution.enabled'",
            hint="update({...}, where=...) works on every table that can be updated",
        )
    check_merge_update(store, columns)
