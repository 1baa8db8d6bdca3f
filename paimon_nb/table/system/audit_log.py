"""`t$audit_log`: the table's rows with their kinds, retractions included; with incremental options, its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types import DataField, VarChar
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.table.scan import plan_scan
from paimon_nb.table.system.columns import SystemTable

if TYPE_CHECKING:
    from paimon_nb.table.store import TableStore

ROWKIND = DataField(2147483643, "rowkind", VarChar())
KINDS = ("+I", "-U", "+U", "-D")


def kind_texts(kinds: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """0..3 as +I, -U, +U, -D."""
    return arrow_column(KINDS, pa.string()).take(kinds)


def _audit_log_fields(store: TableStore) -> tuple[DataField, ...]:
    return (ROWKIND, *store.schema.fields)


def with_kind_first(rows: pa.Table) -> pa.Table:
    """Rows with a kind column: as `rowkind`, in front."""
    at = rows.schema.get_field_index(VALUE_KIND)
    return rows.remove_column(at).add_column(0, ROWKIND.name, kind_texts(rows.column(at)))


def _read_audit_log(store: TableStore) -> pa.Table:
    from paimon_nb.table.scan import read_plan

    return with_kind_first(read_plan(plan_scan(store.for_queries()), kinds=True))


AUDIT_LOG = SystemTable(_audit_log_fields, _read_audit_log)
