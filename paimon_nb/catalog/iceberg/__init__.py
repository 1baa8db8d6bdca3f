"""Level 4: tables of Iceberg become Paimon tables. What Iceberg's metadata says is read by pyiceberg, imported here only."""

from paimon_nb.catalog.iceberg.migrate import migrate_table

__all__ = ["migrate_table"]
