"""Catalogs that Spark's own settings describe: `spark.sql.catalog.<name>` and the keys below it, as paimon-spark reads them.

What the user did last counts: a setting that changed after a catalog was opened opens it anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.catalog import open_catalog
from paimon_nb.options import CATALOG_OPTIONS, TableOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import SparkSession

    from paimon_nb.catalog.api import Catalog

PREFIX = "spark.sql.catalog."
HADOOP = "spark.hadoop."
CLASSES = ("org.apache.paimon.spark.SparkCatalog", "org.apache.paimon.spark.SparkGenericCatalog")
"""Values of `spark.sql.catalog.<name>` that mean a catalog of ours. No class of that name is ever loaded."""

Seen = tuple[str | None, ...]
"""What tells one definition from another."""
_TELLING = ("", ".warehouse", ".metastore", ".uri")
NOTHING: Seen = (None,) * len(_TELLING)


def seen(setting: Callable[[str], str | None], name: str) -> Seen:
    """What Spark's settings say about a catalog now. A few short calls; reading all settings takes 100 times as long."""
    first = setting(PREFIX + name)
    if first not in CLASSES:
        return NOTHING
    return (first, *(setting(PREFIX + name + key) for key in _TELLING[1:]))


def opened(spark: SparkSession, name: str) -> Catalog | None:
    """The catalog that the settings describe; None when they say no more than its class.

    Raises: BadOptionValue, UnsupportedOperation: as CREATE CATALOG with the same options.
    """
    start = PREFIX + name + "."
    options = {k.removeprefix(start): v for k, v in spark.conf.getAll.items() if k.startswith(start)}
    return open_catalog(name, with_store_settings(options, lambda key: spark.conf.get(key, None))) if options else None


def with_store_settings(options: Mapping[str, str], setting: Callable[[str], str | None]) -> dict[str, str]:
    """`options` of a catalog on S3, and where they say nothing what Spark's `spark.hadoop.fs.s3a.*` say about the store."""
    if not options.get("warehouse", "").startswith(("s3:", "s3a:")):
        return dict(options)
    given, found = TableOptions(options), {}
    for option in (o for o in CATALOG_OPTIONS.values() if o.key.startswith("s3.") and not given.has(o)):
        for key in (k for k in option.fallback_keys if k.startswith("fs.s3a.")):
            if value := setting(HADOOP + key):
                found[key] = value
    return {**found, **options}
