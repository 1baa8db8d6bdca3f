"""The REST catalog: databases, tables and commits of a server that speaks Paimon's REST protocol."""

from paimon_nb.catalog.rest.catalog import RestCatalog, open_rest_catalog

__all__ = ["RestCatalog", "open_rest_catalog"]
