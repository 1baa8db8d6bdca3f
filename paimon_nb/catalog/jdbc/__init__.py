"""The JDBC catalog: names in a SQL database, shared with Java's JDBC catalog; tables in the warehouse."""

from paimon_nb.catalog.jdbc.catalog import open_jdbc_catalog

__all__ = ["open_jdbc_catalog"]
