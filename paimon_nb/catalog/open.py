"""Opens a catalog from its options; `metastore` selects the implementation."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.named_servers import name_servers
from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.redact import remember_secrets
from paimon_nb.base.registry import Registry
from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.catalog.iceberg_registration import iceberg_catalog_of
from paimon_nb.catalog.privilege import with_access_control
from paimon_nb.fs import open_fs

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.catalog.api import Catalog

DEFAULT_WAREHOUSE = "warehouse"


def _open_filesystem_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    warehouse = options.get("warehouse") or DEFAULT_WAREHOUSE
    return FilesystemCatalog(name, warehouse, options, open_fs(warehouse, options))


def _open_memory_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    warehouse = options.get("warehouse") or f"memory:/{name}"
    return FilesystemCatalog(name, warehouse, options, open_fs(warehouse, options))


def _open_jdbc(name: str, options: Mapping[str, str]) -> Catalog:
    from paimon_nb.catalog.jdbc import open_jdbc_catalog

    return open_jdbc_catalog(name, options)


def _open_hive(name: str, options: Mapping[str, str]) -> Catalog:
    from paimon_nb.catalog.hive import open_hive_catalog

    return open_hive_catalog(name, options)


def _open_rest(name: str, options: Mapping[str, str]) -> Catalog:
    from paimon_nb.catalog.rest import open_rest_catalog

    return open_rest_catalog(name, options)


METASTORES: Registry[Callable[[str, Mapping[str, str]], Catalog]] = Registry(
    "metastore",
    {
        "filesystem": _open_filesystem_catalog,
        "memory": _open_memory_catalog,
        "hive": _open_hive,
        "jdbc": _open_jdbc,
        "rest": _open_rest,
    },
    plugins=PluginGroup("metastores", "a function from a name and options to a Catalog"),
)


def open_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    """The catalog that CREATE CATALOG's options describe.

    Raises:
        BadOptionValue: `type` is not 'paimon', 'paimon-generic' or 'generic_in_memory'; `plugins` is set.
        UnknownName: no such metastore.
        AccessDenied: the warehouse has access control, and `user` or `password` is wrong.
    """
    if "plugins" in options:  # it would name code to run: SQL may come from others
        raise BadOptionValue(
            "the option 'plugins' is not one of a catalog",
            hint="paimon_nb.connect(..., options={'plugins': ...})",
            option="plugins",
        )
    remember_secrets(options)
    name_servers(options)
    kind = options.get("type", "paimon")
    if kind == "generic_in_memory":
        return _open_memory_catalog(name, options)
    if kind not in ("paimon", "paimon-generic"):
        raise BadOptionValue(
            f"unsupported catalog type {kind!r}", hint="use 'type' = 'paimon'", option="type", value=kind
        )
    catalog = METASTORES.find(options.get("metastore", "filesystem"))(name, options)
    catalog.iceberg_catalog_of = partial(iceberg_catalog_of, catalog.options)
    return with_access_control(catalog)
