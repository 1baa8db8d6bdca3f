"""Level 4: migrates Iceberg tables to Paimon. pyiceberg, which reads the metadata, is imported only here."""

from paimon_nb.catalog.iceberg.migrate import migrate_table

__all__ = ["migrate_table"]
