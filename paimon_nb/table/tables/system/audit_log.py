"""`t$audit_log`: the table's rows with their kinds, retractions included; with incremental options, its changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data import SEQUENCE_FIELD
from paimon_nb.options import table as opt
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.partition_choice import for_queries
from paimon_nb.table.read.row_kinds import ROWKIND, with_kind_first
from paimon_nb.table.tables.system.columns import SystemTable

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def _audit_log_fields(store: TableStore) -> tuple[DataField, ...]:
    return (ROWKIND, *sequence_fields(store), *store.schema.fields)


def sequence_fields(store: TableStore) -> tuple[DataField, ...]:
    """The column `_SEQUENCE_NUMBER`, if the table has the option `table-read.sequence-number.enabled`.

    Raises: BadOptionValue: a hint sets the option, or the table has no primary key.
    """
    option = opt.TABLE_READ_SEQUENCE_NUMBER_ENABLED
    if option.key in store.dynamic:
        raise BadOptionValue(
            f"option {option.key!r} cannot be set for one statement",
            hint=f"ALTER TABLE ... SET ('{option.key}' = 'true')",
            option=option.key,
        )
    return (SEQUENCE_FIELD,) if store.options.get(option) and store.has_keys else ()


def _read_audit_log(store: TableStore) -> pa.Table:
    from paimon_nb.table.read import read_plan

    sequence = bool(sequence_fields(store))
    rows = with_kind_first(read_plan(plan_scan(for_queries(store)), kinds=True, sequence=sequence))
    return rows.select([f.name for f in _audit_log_fields(store)]) if sequence else rows


AUDIT_LOG = SystemTable(_audit_log_fields, _read_audit_log)
