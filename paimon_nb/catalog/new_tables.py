"""Checks of new databases and tables, shared by all catalogs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import InvalidName, UnsupportedOperation
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier, check_name
from paimon_nb.catalog.api import SYSTEM_DATABASE, Catalog
from paimon_nb.catalog.column_directives import with_column_directives
from paimon_nb.format.schema import fields_with_keys
from paimon_nb.options import without_prefix
from paimon_nb.options.catalog import DISABLE_CREATE_TABLE_IN_DEFAULT_DB

if TYPE_CHECKING:
    from paimon_nb.format.schema import TableSchema

_TABLE_DEFAULT = "table-default."


def check_new_database(name: str) -> None:
    """Raises InvalidName: `name` cannot be the name of a database."""
    check_name(name, "database")
    if name == SYSTEM_DATABASE:
        raise InvalidName(f"database {name!r} holds the system tables of the catalog", hint="use another name")


class NewTableRules:
    """The rules of a catalog's options for new tables. Created with the catalog, so that a bad option is found when it opens.

    Raises:
        BadOptionValue: the value of an option is invalid.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog
        self._forbids_default = bool(DISABLE_CREATE_TABLE_IN_DEFAULT_DB.read(catalog.options))
        self._table_defaults = without_prefix(catalog.options, _TABLE_DEFAULT)

    def check_name(self, name: Identifier) -> None:
        """Whether a table may have this name.

        Raises:
            InvalidName: `name` is a system table or a branch.
            UnsupportedOperation: the catalog allows no tables in its default database.
        """
        if name.system or name.branch != MAIN_BRANCH:
            raise InvalidName(f"{name} names a system table or branch", hint="use a plain table name in CREATE TABLE")
        if name.database == self._catalog.default_database and self._forbids_default:
            raise UnsupportedOperation(
                f"catalog {self._catalog.name} forbids tables in its default database {name.database!r}",
                hint="create another database and qualify the table with it, or remove disable-create-table-in-default-db",
            )

    def checked_schema(self, schema: TableSchema) -> TableSchema:
        """The schema with the catalog's defaults (`table-default.*`). Raises if a table cannot have it."""
        from paimon_nb.catalog.format_table_rules import with_hive_names
        from paimon_nb.catalog.schema_validation import check_new_table_options, check_schema, check_writable_types

        missing = {k: v for k, v in self._table_defaults.items() if k not in schema.options}
        if missing:
            schema = schema.with_options({**schema.options, **missing})
            fields = fields_with_keys(schema.fields, schema.partition_keys, schema.primary_keys, schema.options)
            schema = replace(schema, fields=tuple(fields))
        schema = with_hive_names(with_column_directives(schema))
        check_schema(schema)
        check_new_table_options(schema)
        check_writable_types(schema)
        return schema
