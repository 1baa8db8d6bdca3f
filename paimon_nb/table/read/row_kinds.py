"""Row kinds of a changelog as texts: the column `rowkind` of `t$audit_log`, `t$binlog` and streams."""

from __future__ import annotations

import pyarrow as pa

from paimon_nb.format.data.file_schema import ROW_KINDS, VALUE_KIND
from paimon_nb.format.types import DataField, VarChar
from paimon_nb.format.types.arrow_builders import arrow_column

ROWKIND = DataField(2147483643, "rowkind", VarChar())
KINDS = ROW_KINDS


def kind_texts(kinds: pa.ChunkedArray | pa.Array) -> pa.ChunkedArray | pa.Array:
    """0..3 as +I, -U, +U, -D."""
    return arrow_column(KINDS, pa.string()).take(kinds)


def with_kind_first(rows: pa.Table) -> pa.Table:
    """Rows with a kind column: as `rowkind`, in front."""
    at = rows.schema.get_field_index(VALUE_KIND)
    return rows.remove_column(at).add_column(0, ROWKIND.name, kind_texts(rows.column(at)))
