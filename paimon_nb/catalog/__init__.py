"""Level 4: where tables are found by name. Knows tables, not Spark and not SQL text."""

from paimon_nb.catalog.api import Catalog
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.catalog.open import METASTORES, open_catalog

__all__ = ["METASTORES", "Catalog", "FilesystemCatalog", "open_catalog"]
