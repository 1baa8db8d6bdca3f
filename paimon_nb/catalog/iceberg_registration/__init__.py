"""Level 4: registers the Iceberg metadata of Paimon tables in a Hive metastore or in a REST catalog of Iceberg."""

from paimon_nb.catalog.iceberg_registration.selection import iceberg_catalog_of

__all__ = ["iceberg_catalog_of"]
