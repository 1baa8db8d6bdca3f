"""Schema files: the columns, keys and options of a table, by version."""

from paimon_nb.format.schema.table_schema import (
    SchemaDirectory,
    TableSchema,
    create_schema,
    following,
    readable_fields,
    renumbered,
    with_keys,
)

__all__ = ["SchemaDirectory", "TableSchema", "create_schema", "following", "readable_fields", "renumbered", "with_keys"]
