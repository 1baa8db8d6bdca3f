"""A condition on partition columns as a filter on serialized partitions. Reads no files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.table.read.predicate.evaluate import bind_literals, evaluate
from paimon_nb.table.read.predicate.parser import parse_predicate

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.table.read.store import TableStore


def partition_filter(store: TableStore, where: str) -> Callable[[bytes], bool]:
    """True for the partitions whose values satisfy `where`; unknown (NULL) counts as false.

    A number is compared with a text column as text, as in Java (`SimpleSqlPredicateConvertor`).

    Raises: SqlSyntaxError, ColumnNotFound. UnsupportedOperation: `where` uses other columns.
    """
    predicate = bind_literals(
        parse_predicate(where, store.schema, numbers_as_text=True, session=store.sql), store.schema.fields
    )
    others = sorted(predicate.columns() - set(store.schema.partition_keys))
    if others:
        raise UnsupportedOperation(
            f"{', '.join(others)}: not a partition column of {store.name}",
            hint=f"partitioned by: {', '.join(store.schema.partition_keys) or 'nothing'}",
            columns=others,
        )
    fields = store.schema.partition_fields
    types = pa.schema([pa.field(f.name, arrow_type(f.type)) for f in fields])

    def partition_matches(partition: bytes) -> bool:
        values = store.partition_values(partition)
        columns = [
            arrow_column([None if v is None else to_arrow_value(f.type, v)], arrow_type(f.type))
            for f, v in zip(fields, values, strict=True)
        ]
        if not columns:
            return True
        return evaluate(predicate, pa.table(columns, schema=types), fields)[0].as_py() is True

    return partition_matches
