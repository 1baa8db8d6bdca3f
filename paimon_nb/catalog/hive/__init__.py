"""The Hive catalog: names, places and columns in a Hive metastore that Java's catalog shares, tables in their directories."""

from paimon_nb.catalog.hive.catalog import HiveCatalog, open_hive_catalog

__all__ = ["HiveCatalog", "open_hive_catalog"]
