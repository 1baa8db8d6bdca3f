"""Catalogs from Spark's settings: `spark.sql.catalog.<name>` and the keys below it, as paimon-spark reads them.

The latest setting wins: if it changes after a catalog was opened, the catalog is opened again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.catalog import open_catalog
from paimon_nb.options import CATALOG_OPTIONS, TableOptions, without_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from paimon_nb.catalog.api import Catalog

PREFIX = "spark.sql.catalog."
HADOOP = "spark.hadoop."
CLASSES = ("org.apache.paimon.spark.SparkCatalog", "org.apache.paimon.spark.SparkGenericCatalog")
"""Values of `spark.sql.catalog.<name>` that denote a Paimon catalog. These classes are never loaded."""

CatalogSettings = tuple[str | None, ...]
"""The settings that identify a catalog's definition."""
_KEYS = ("", ".warehouse", ".metastore", ".uri")
NOTHING: CatalogSettings = (None,) * len(_KEYS)


def catalog_settings(setting: Callable[[str], str | None], name: str) -> CatalogSettings:
    """Spark's current settings for a catalog. A few single reads: reading all settings takes 100 times as long."""
    catalog_class = setting(PREFIX + name)
    if catalog_class not in CLASSES:
        return NOTHING
    return (catalog_class, *(setting(PREFIX + name + key) for key in _KEYS[1:]))


def open_from_settings(spark: SparkSession, name: str) -> Catalog | None:
    """The catalog that the settings describe; None if they contain only its class.

    Raises: BadOptionValue, UnsupportedOperation: as CREATE CATALOG with the same options.
    """
    options = without_prefix(spark.conf.getAll, PREFIX + name + ".")
    return open_catalog(name, with_store_settings(options, lambda key: spark.conf.get(key, None))) if options else None


def with_store_settings(options: Mapping[str, str], setting: Callable[[str], str | None]) -> dict[str, str]:
    """`options` of a catalog; on S3, missing ones are taken from Spark's `spark.hadoop.fs.s3a.*`."""
    if not options.get("warehouse", "").startswith(("s3:", "s3a:")):
        return dict(options)
    configured, found = TableOptions(options), {}
    for option in (o for o in CATALOG_OPTIONS.values() if o.key.startswith("s3.") and not configured.has(o)):
        for key in (k for k in option.fallback_keys if k.startswith("fs.s3a.")):
            if value := setting(HADOOP + key):
                found[key] = value
    return {**found, **options}
