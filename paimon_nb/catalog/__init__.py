"""Level 4: catalogs, which find tables by name. Knows tables; knows no Spark and no SQL text."""

from paimon_nb.catalog.api import Catalog
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.catalog.open import METASTORES, open_catalog

__all__ = ["METASTORES", "Catalog", "FilesystemCatalog", "open_catalog"]
