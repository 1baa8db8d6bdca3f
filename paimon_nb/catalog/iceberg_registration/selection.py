"""Chooses the catalog of Iceberg in which a table is registered, from the table's options."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.identifier import MAIN_BRANCH
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.read.watchers import IcebergCatalog


def iceberg_catalog_of(
    catalog_options: Mapping[str, str], name: Identifier, schema: TableSchema
) -> IcebergCatalog | None:
    """The catalog for `metadata.iceberg.storage` = hive-catalog or rest-catalog; None for other tables, and for branches.

    Args:
        catalog_options: options of the table's own catalog. A Hive catalog's address is the default for Hive.
    """
    if opt.METADATA_ICEBERG_STORAGE.key not in schema.options or name.branch != MAIN_BRANCH:
        return None
    options = TableOptions(schema.options)
    databases = tuple(d.strip() for d in (options.get(opt.METADATA_ICEBERG_DATABASE) or name.database).split(";"))
    table = options.get(opt.METADATA_ICEBERG_TABLE) or name.table
    match (
        schema.options[opt.METADATA_ICEBERG_STORAGE.key].strip().lower()
    ):  # an unknown storage is an error of writes only
        case "hive-catalog":
            from paimon_nb.catalog.iceberg_registration.hive import IcebergInHive, hive_settings_of_table

            return IcebergInHive(databases, table, tuple(hive_settings_of_table(options, catalog_options).items()))
        case "rest-catalog":
            from paimon_nb.catalog.iceberg_registration.rest import IcebergInRest

            return IcebergInRest(databases[0], table)
    return None
