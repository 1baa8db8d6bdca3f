"""Runs a streaming SELECT of filters and projections over one table in this process, without Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.plan import Query
from paimon_nb.session.core.jobs import TableLoop
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.session.query.local_select import columns_of, means_the_same
from paimon_nb.session.streaming.planner import StreamMode, StreamPlan
from paimon_nb.session.streaming.sinks import OP, BufferOutput

if TYPE_CHECKING:
    from paimon_nb.table.stream import StreamBatch


def table_loop(plan: StreamPlan, query: Query, text: str, output: BufferOutput) -> TableLoop | None:
    """Start reading; None if the query does more, or Spark could give another result."""
    from paimon_nb.sql.simple_select import selection_of

    only = plan.inputs[0]
    if plan.mode is not StreamMode.STATELESS or only.table is None or only.ref.span != query.tables[0].span:
        return None
    selection = selection_of(query, text)
    if selection is None or not selection.row_by_row or computed_columns(only.table.schema.options):
        return None
    table = only.table.copy(only.ref.options)
    columns = columns_of(selection, table.schema.fields)
    if columns is None or not means_the_same(selection.condition, table.schema.fields):
        return None
    stream = table.stream(columns=list(dict.fromkeys(c for c, _ in columns)), where=selection.condition)

    def accept(batch: StreamBatch) -> None:
        rows = batch.rows
        if only.append_only:
            import pyarrow.compute as pc

            rows = rows.filter(pc.starts_with(rows.column(0), "+"))
        output.put(rows.select([0, *(rows.schema.get_field_index(c) for c, _ in columns)]).rename_columns([OP, *(n for _, n in columns)]))  # fmt: skip

    return TableLoop(stream, accept)
