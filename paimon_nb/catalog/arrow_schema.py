"""The definition of a new table from Arrow columns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.caller_warning import warn_caller
from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.schema import TableSchema, create_schema
from paimon_nb.format.types.arrow_builders import from_arrow_schema
from paimon_nb.options import validate_table_options

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa


def table_schema_of_arrow(
    columns: pa.Schema,
    *,
    primary_key: Sequence[str] = (),
    partition_by: Sequence[str] = (),
    options: Mapping[str, Any] | None = None,
    comment: str | None = None,
) -> TableSchema:
    """Schema 0 of a table with these columns.

    Args:
        columns: names and types. Unsigned integers take the next wider signed type, dictionaries their values' type.
        primary_key: names of key columns, which become NOT NULL.
        partition_by: names of partition columns.
        options: table options; values may be strings, numbers or booleans.
        comment: of the table.

    Raises:
        SchemaMismatch: no column, a type that Paimon does not have, or a column that is there twice.
        ColumnNotFound: a key that is not a column.
        BadOptionValue: a wrong option.
    """
    if not len(columns):
        raise SchemaMismatch("the table has no columns", hint="name at least one column and its type")
    texts = {k: str(v).lower() if isinstance(v, bool) else str(v) for k, v in (options or {}).items()}
    for warning in validate_table_options(texts):
        warn_caller(warning)
    return create_schema(from_arrow_schema(columns), tuple(partition_by), tuple(primary_key), texts, comment)
