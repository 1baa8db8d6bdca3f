"""Schema files: the columns, keys and options of a table, by version."""

from paimon_nb.format.schema.table_schema import (
    FORMAT_TABLE,
    SchemaDirectory,
    TableSchema,
    create_schema,
    fields_with_keys,
    has_nullable_keys,
    hidden_schema_directory,
    new_schema_directory,
    readable_fields,
    replacement_schema,
    schema_directory,
    with_new_ids,
)

__all__ = [
    "FORMAT_TABLE",
    "SchemaDirectory",
    "TableSchema",
    "create_schema",
    "hidden_schema_directory",
    "new_schema_directory",
    "replacement_schema",
    "readable_fields",
    "schema_directory",
    "with_new_ids",
    "fields_with_keys",
    "has_nullable_keys",
]
