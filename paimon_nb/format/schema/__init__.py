"""Schema files: the columns, keys and options of a table, by version."""

from paimon_nb.format.schema.table_schema import (
    SchemaDirectory,
    TableSchema,
    create_schema,
    readable_fields,
    replacement_schema,
    with_keys,
    with_new_ids,
)

__all__ = [
    "SchemaDirectory",
    "TableSchema",
    "create_schema",
    "replacement_schema",
    "readable_fields",
    "with_new_ids",
    "with_keys",
]
