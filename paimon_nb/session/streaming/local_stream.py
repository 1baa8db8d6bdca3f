"""A streaming SELECT of filters and projections over one table in this process, without Spark."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.session.query.local_select import columns_of, means_the_same
from paimon_nb.session.streaming.planner import StreamMode, StreamPlan
from paimon_nb.session.streaming.sinks import OP, BufferOutput
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.predicate.model import conjuncts_on
from paimon_nb.table.read.row_kinds import kind_texts
from paimon_nb.table.read.stream import ChangelogNormalize, TableStream
from paimon_nb.table.tables.system import SYSTEM_TABLES
from paimon_nb.table.tables.system.audit_log import sequence_fields
from paimon_nb.table.tables.system.binlog import binlog_rows
from paimon_nb.table.write.input_rows import kind_codes

if TYPE_CHECKING:
    from paimon_nb.format.types import DataField
    from paimon_nb.sql.simple_select import Selection
    from paimon_nb.statements import Query
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.stream import StreamBatch
    from paimon_nb.table.tables.table import Table

Columns = Sequence[tuple[str, str]]
"""Each column of a table that is selected, and its name in the result."""
LocalStream = tuple[TableStream, "Callable[[StreamBatch], None]"]
"""The stream of a table, and what puts out its batches."""


def local_stream(plan: StreamPlan, query: Query, output: BufferOutput) -> LocalStream | None:
    """The stream; None if the query does more, or Spark could give another result."""
    from paimon_nb.sql.simple_select import selection_of

    only = plan.inputs[0]
    if plan.mode is not StreamMode.STATELESS or only.table is None or only.ref.span != query.tables[0].span:
        return None
    selection = selection_of(query)
    if selection is None or not selection.row_by_row or computed_columns(only.table.schema.options):
        return None
    table = only.table.copy(only.ref.options)
    fields = table.schema.fields if only.system is None else SYSTEM_TABLES[only.system].fields(table.store)
    columns = columns_of(selection, fields)
    if columns is None or not means_the_same(selection.condition, fields):
        return None
    if only.system == "row_tracking":
        tracked = TableStream(table.store, columns=[f.name for f in fields])
        return tracked, _tracked_rows(selection, columns, fields, output)
    if only.system is not None:
        stream = TableStream(table.store, sequence=bool(sequence_fields(table.store)))
        return stream, _changelog_table_rows(only.system, table, selection, columns, fields, output)
    selected = list(dict.fromkeys(c for c, _ in columns))
    if only.is_upsert:
        keys = table.primary_keys
        selected = list(dict.fromkeys([*keys, *selected, *_columns_of(selection.condition)]))
        normalize = ChangelogNormalize([table.schema.field(k) for k in keys])
        # A row that no longer meets the condition takes the one back that did: only the key decides before.
        stream = table.stream(columns=selected, where=conjuncts_on(selection.condition, set(keys)))
    else:
        normalize = None
        stream = table.stream(columns=selected, where=selection.condition)

    def append_selected_changes(batch: StreamBatch) -> None:
        import pyarrow.compute as pc

        rows = batch.rows
        if only.append_only:
            rows = rows.filter(pc.starts_with(rows.column(0), "+"))
        if normalize is not None:
            changes, kinds = normalize.apply(rows.remove_column(0), kind_codes(rows.column(0)))
            rows = filter_rows(selection.condition, changes.add_column(0, OP, kind_texts(kinds)), table.schema.fields)
        output.append_changes(_renamed(rows, columns))

    return stream, append_selected_changes


def _tracked_rows(
    selection: Selection, columns: Columns, fields: Sequence[DataField], output: BufferOutput
) -> Callable[[StreamBatch], None]:
    """Puts out the rows of `$row_tracking`."""

    def append_tracked_rows(batch: StreamBatch) -> None:
        rows = filter_rows(selection.condition, batch.rows, fields)
        output.append_changes(_renamed(rows, columns))

    return append_tracked_rows


def _renamed(rows: pa.Table, columns: Columns) -> pa.Table:
    """The row kinds, then the selected columns."""
    selected = rows.select([0, *(rows.schema.get_field_index(c) for c, _ in columns)])
    return selected.rename_columns([OP, *(n for _, n in columns)])


def _changelog_table_rows(
    system: str, table: Table, selection: Selection, columns: Columns, fields: Sequence[DataField], output: BufferOutput
) -> Callable[[StreamBatch], None]:
    """Puts out the changes as rows of `$audit_log` or `$binlog`."""

    def append_system_rows(batch: StreamBatch) -> None:
        rows = batch.rows
        if system == "binlog":
            kinds = pa.array(kind_codes(rows.column(0)))
            changes = rows.remove_column(0).append_column(VALUE_KIND, kinds)
            numbers = sequence_fields(table.store)
            rows = binlog_rows(changes, table.schema.fields, pairs=not batch.full, plain=numbers)
        rows = filter_rows(selection.condition, rows, fields)
        arrays = [arrow_column(["+I"] * rows.num_rows, pa.string()), *(rows.column(c) for c, _ in columns)]
        output.append_changes(pa.table(arrays, names=[OP, *(n for _, n in columns)]))

    return append_system_rows


def _columns_of(condition: Predicate | None) -> list[str]:
    return [] if condition is None else sorted(condition.columns())
