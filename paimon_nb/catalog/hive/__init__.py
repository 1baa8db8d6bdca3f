"""The Hive catalog: names, locations and columns in a Hive metastore, shared with Java's catalog."""

from paimon_nb.catalog.hive.catalog import HiveCatalog, open_hive_catalog

__all__ = ["HiveCatalog", "open_hive_catalog"]
