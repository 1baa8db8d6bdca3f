"""`t$binlog`: like `t$audit_log`, each column as an array: one value, or [before, after] for an update."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types import Array, DataField, arrow_schema, arrow_type
from paimon_nb.format.types.arrow_builders import empty_table, to_numpy
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.partition_choice import for_queries
from paimon_nb.table.read.row_kinds import ROWKIND, kind_texts
from paimon_nb.table.tables.system.audit_log import sequence_fields
from paimon_nb.table.tables.system.columns import SystemTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.table.read.store import TableStore

_UPDATE_BEFORE = 1


def _fields_of_store(store: TableStore) -> tuple[DataField, ...]:
    kind, *columns = binlog_fields(store.schema.fields)
    return (kind, *sequence_fields(store), *columns)


def binlog_fields(fields: Sequence[DataField]) -> tuple[DataField, ...]:
    """The columns for a table's columns."""
    return (ROWKIND, *(_array_field(f) for f in fields))


def _array_field(field: DataField) -> DataField:
    return DataField(field.id, field.name, Array(field.type.with_nullable(True)), field.description)


def _read_binlog(store: TableStore) -> pa.Table:
    from paimon_nb.table.read import read_split_kinds

    plan = plan_scan(for_queries(store))
    fields = plan.schema.fields
    sequence = sequence_fields(store)
    parts = [empty_table((ROWKIND, *sequence, *map(_array_field, fields)))]
    for split in plan.splits:
        rows = read_split_kinds(plan.store, split, None, plan.predicate, sequence=bool(sequence))
        parts.append(binlog_rows(rows, fields, pairs=split.changes, plain=sequence))
    return pa.concat_tables(parts)


def binlog_rows(
    rows: pa.Table, fields: Sequence[DataField], *, pairs: bool, plain: Sequence[DataField] = ()
) -> pa.Table:
    """Rows with `_VALUE_KIND` as binlog rows.

    Args:
        plain: columns of the rows that are no arrays: of the row whose kind is used.
        pairs: join each -U with the next row into one row of that row's kind: +U, unless an `input` changelog has
            another kind (Paimon's `PackChangelogReader`).
    """
    rows = rows.combine_chunks()
    kinds = to_numpy(rows.column(VALUE_KIND))
    before = np.zeros(len(kinds), dtype=bool)
    if pairs and len(kinds) > 1:
        # In a sequence of -U the first pairs with the second, the third with the fourth.
        update = kinds == _UPDATE_BEFORE
        position = np.arange(len(kinds))
        begun = np.maximum.accumulate(np.where(update, -1, position)) + 1
        before = update & ((position - begun) % 2 == 0)
        before[-1] = False
    last = np.flatnonzero(~before)  # the row whose kind is used; a -U before it belongs to the same array
    offsets = pa.array(np.concatenate([[0], last + 1]), pa.int32())
    columns = [
        kind_texts(pa.array(kinds[last])),
        *(rows.column(f.name).take(pa.array(last)).combine_chunks() for f in plain),
    ]
    for field in fields:
        column = rows.column(field.name).combine_chunks()
        want = arrow_type(_array_field(field).type)
        columns.append(pa.ListArray.from_arrays(offsets, column, type=want))
    return pa.Table.from_arrays(
        columns, schema=arrow_schema((ROWKIND, *plain, *map(_array_field, fields)), nullable=True)
    )


BINLOG = SystemTable(_fields_of_store, _read_binlog)
