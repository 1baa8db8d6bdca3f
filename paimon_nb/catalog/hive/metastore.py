"""Names and table locations in a Hive metastore.

Hive stores names in lower case, so `T` is `t`. Source: Paimon 1.3 `HiveCatalog.java`.
"""

from __future__ import annotations

import posixpath
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import InvalidName, StoreError, TableNotFound, UnsupportedOperation
from paimon_nb.catalog.hive.client import Exists, HiveMetastoreClient, NotFound, Refused, user
from paimon_nb.catalog.hive.format_entries import format_schema_of, new_format_entry
from paimon_nb.catalog.hive.hms_table import (
    Layout,
    entry_kind_text,
    is_external,
    is_paimon,
    partition_keys,
    schema_dependent_parts,
    wants_external,
)
from paimon_nb.catalog.hive.partitions import PartitionSync
from paimon_nb.catalog.hive.types import HIVE_TIMESTAMP_LTZ
from paimon_nb.catalog.hive.views import is_view, stored_view_of_entry, view_entry
from paimon_nb.catalog.metastore import Metastore
from paimon_nb.format.schema import FORMAT_TABLE
from paimon_nb.fs import without_scheme
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import StoredView
    from paimon_nb.format.schema import SchemaDirectory, TableSchema

_PAGE_SIZE = 300
"""Entries per request, as in Java."""
_MAX_RENAME_ATTEMPTS, _RENAME_PAUSE_S = 5, 0.2


class HiveMetastore(Metastore):
    """Databases and tables of one Hive metastore. Names of other kinds of tables are taken, too.

    Args:
        warehouse: the root of databases without a location.
        layout: how entries are written.
        external: whether new tables are external by default (`table.type`).
        update_stats: whether Hive updates file statistics on each change of an entry.
        format_tables: whether tables of plain files, also those that Hive created, are format tables.
    """

    def __init__(
        self,
        client: HiveMetastoreClient,
        warehouse: str,
        layout: Layout,
        *,
        external: bool = False,
        update_stats: bool = True,
        format_tables: bool = True,
    ) -> None:
        super().__init__(warehouse)
        self.has_format_tables = format_tables
        self.client, self.layout = client, layout
        self._external, self._update_stats = external, update_stats

    # -- databases

    def databases(self) -> list[str]:
        return sorted(self.client.query("get_all_databases"))

    def has_database(self, name: str) -> bool:
        return self._find_database(name) is not None

    def stored_name(self, name: Identifier) -> Identifier:
        return replace(name, database=name.database.lower(), table=name.table.lower())

    def database_path(self, name: str) -> str:
        known = self._find_database(name)
        location = known and self.layout.database_location(known)
        return without_file_scheme(location) if location else super().database_path(name.lower())

    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        from hive_metastore import ttypes

        own = dict(properties or {})
        database = ttypes.Database(
            name=name.lower(), description=own.pop("comment", None), ownerName=own.pop("owner", None) or user(),
            ownerType=ttypes.PrincipalType.USER, parameters=None,
        )  # fmt: skip
        location = own.pop("location", None) or super().database_path(name.lower())
        database.parameters = own
        self.layout.set_database_location(database, stored_uri(location))
        if self._find_database(name) is not None:
            return False
        try:
            self.client.execute("create_database", database)
        except Exists:
            return False
        except Refused as error:
            if self._find_database(name) is not None:  # of two concurrent calls, Hive 4 may report a key violation
                return False
            raise _error_of_refusal("database", name, error) from None
        return True

    def database_properties(self, name: str) -> dict[str, str] | None:
        """`comment`, `location`, `owner` and the parameters of a database; None if it does not exist."""
        database = self._find_database(name)
        if database is None:
            return None
        own = {
            "comment": database.description, "location": self.layout.database_location(database),
            "owner": database.ownerName,
        }  # fmt: skip
        return {**{k: v for k, v in own.items() if v}, **(database.parameters or {})}

    def alter_database(self, name: str, properties: Mapping[str, str]) -> bool:
        """Set properties of a database. Returns False if it does not exist."""
        database = self._find_database(name)
        if database is None:
            return False
        changed = dict(properties)
        database.description = changed.pop("comment", database.description)
        database.ownerName = changed.pop("owner", database.ownerName)
        if (location := changed.pop("location", None)) is not None:
            self.layout.set_database_location(database, stored_uri(location))
        database.parameters = {**(database.parameters or {}), **changed}
        try:
            self.client.execute("alter_database", name.lower(), database)
        except NotFound:
            return False
        except Refused as error:
            raise _error_of_refusal("database", name, error) from None
        return True

    def remove_database(self, name: str) -> None:
        try:
            # Keeps a directory that is not empty: its files are not in the metastore.
            self.client.execute("drop_database", name.lower(), False, False)
        except NotFound:
            return
        except Refused as error:
            others = self.client.query("get_all_tables", name.lower())
            raise UnsupportedOperation(
                f"database {name!r} has other tables than Paimon's: {', '.join(sorted(others)[:5])}"
                if others
                else f"the metastore did not drop database {name!r}: {error.text}",
                hint="drop those tables in their own system; CASCADE drops only Paimon tables",
                name=name,
            ) from None

    def _find_database(self, name: str) -> Any | None:
        try:
            return self.client.query("get_database", name.lower())
        except NotFound:
            return None
        except Refused as error:
            raise _error_of_refusal("database", name, error) from None

    # -- tables

    def tables(self, database: str) -> list[str]:
        return sorted(e.tableName for e in self.entries(database) if self._is_known(e))

    def entries(self, database: str) -> list[Any]:
        """The entries of all tables and views of any kind."""
        from hive_metastore import ttypes

        names = self.client.query("get_all_tables", database.lower())
        found: list[Any] = []
        for start in range(0, len(names), _PAGE_SIZE):
            request = ttypes.GetTablesRequest(
                dbName=database.lower(), tblNames=names[start : start + _PAGE_SIZE], capabilities=_client_capabilities()
            )
            found += self.client.query("get_table_objects_by_name_req", request).tables
        return found

    def entry(self, name: Identifier) -> Any | None:
        """The entry of a table or view of any kind; None if there is none."""
        from hive_metastore import ttypes

        request = ttypes.GetTableRequest(
            dbName=name.database.lower(), tblName=name.table.lower(), capabilities=_client_capabilities()
        )
        try:
            return self.client.query("get_table_req", request).table
        except NotFound:
            return None
        except Refused as error:
            raise _error_of_refusal("table", str(name), error) from None

    def has_other_tables(self, database: str) -> bool:
        """Whether the database has tables that are neither Paimon's nor format tables. Views do not count."""
        return not all(self._is_known(e) or is_view(e) for e in self.entries(database))

    def format_schema(self, name: Identifier) -> TableSchema | None:
        """The schema of a format table; None: another kind of table, or no table."""
        entry = self.entry(name) if self.has_format_tables else None
        return None if entry is None else format_schema_of(entry)

    def _is_known(self, entry: Any) -> bool:
        """Whether an entry is a Paimon table or a format table."""
        return is_paimon(entry) or (self.has_format_tables and format_schema_of(entry) is not None)

    def has_table(self, name: Identifier) -> bool:
        entry = self.entry(name)
        return entry is not None and self._is_known(entry)

    def kind(self, name: Identifier) -> str | None:
        """The kind of the table or view of this name that is neither a Paimon table nor a format table; None if there is none."""
        entry = self.entry(name)
        return None if entry is None or self._is_known(entry) else entry_kind_text(entry)

    def table_path(self, name: Identifier) -> str:
        return self.table_location(name) or self._default_path(name)

    def table_location(self, name: Identifier) -> str | None:
        return self.location_and_format_schema(name)[0]

    def location_and_format_schema(self, name: Identifier) -> tuple[str | None, TableSchema | None]:
        """The location of a table, and its schema if it is a format table, with one request. (None, None): no table."""
        entry = self.entry(name)
        schema = format_schema_of(entry) if entry is not None and self.has_format_tables else None
        if entry is None or not (schema is not None or is_paimon(entry)):
            return None, None
        location = self.layout.location(entry)
        return without_file_scheme(location) if location else self._default_path(name), schema

    def _default_path(self, name: Identifier) -> str:
        return posixpath.join(self.database_path(name.database), name.table.lower())

    def new_table_path(self, name: Identifier, options: Mapping[str, str]) -> str:
        path = options.get(opt.PATH.key)
        return without_file_scheme(path) if path else self._default_path(name)

    def makes_external(self, options: Mapping[str, str]) -> bool:
        return self._external or wants_external(options)

    def owns_files(self, name: Identifier) -> bool:
        entry = self.entry(name)
        return entry is None or not is_external(entry)

    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        database, table = name.database.lower(), name.table.lower()
        location, external = stored_uri(self.new_table_path(name, schema.options)), self.makes_external(schema.options)
        if schema.options.get(opt.TYPE.key) == FORMAT_TABLE:
            entry = new_format_entry(database, table, schema, external=external)
            self.layout.set_location(entry, location)
        else:
            entry = self.layout.new_table_entry(database, table, schema, location, external)
        self._replace_unsupported_types(entry)
        try:
            self.client.execute("create_table", entry)
        except Exists:
            return False
        except Refused as error:
            if self.entry(name) is not None:
                return False
            raise _error_of_refusal("table", str(name), error) from None
        return True

    def remove_table(self, name: Identifier) -> bool:

        if not self.has_table(name):
            return False
        try:
            # The metastore deletes no files: the catalog moves them to the trash, or they are external.
            self.client.execute("drop_table", name.database.lower(), name.table.lower(), False)
        except NotFound:
            return False
        return True

    def rename_table(self, source: Identifier, target: Identifier) -> bool:

        entry = self.entry(source)
        if entry is None or not self._is_known(entry):
            raise TableNotFound(
                f"table {source} is gone", hint="another session dropped or renamed it", name=str(source)
            )
        entry.dbName, entry.tableName = target.database.lower(), target.table.lower()
        if not is_external(entry):
            # Set together with the name, so that Hive does not move the files.
            self.layout.set_location(entry, stored_uri(self._default_path(target)))
        attempts = 0
        while True:
            try:
                self.client.execute("alter_table", source.database.lower(), source.table.lower(), entry)
                return True
            except Refused as error:
                if self.entry(target) is not None:
                    return False
                if self.entry(source) is None:
                    raise TableNotFound(
                        f"table {source} is gone", hint="another session dropped or renamed it", name=str(source)
                    ) from None
                attempts += 1
                if attempts == _MAX_RENAME_ATTEMPTS:
                    raise _error_of_refusal("table", str(target), error) from None
            time.sleep(_RENAME_PAUSE_S)  # a concurrent rename to the same name may not be visible yet

    def alter_table(self, name: Identifier, schemas: SchemaDirectory) -> None:
        """Sync the latest schema. Loops, because concurrent calls may arrive in the wrong order."""
        schema = schemas.latest()
        while schema is not None:
            self.sync_entry(name, schema)
            newest = schemas.latest()
            if newest is None or newest.id == schema.id:
                return
            schema = newest

    def sync_entry(self, name: Identifier, schema: TableSchema) -> bool:
        """Update the table's entry from `schema`. Returns False if it was up to date."""
        from hive_metastore import ttypes

        entry = self.entry(name)
        if entry is None or not is_paimon(entry):
            return False
        before = schema_dependent_parts(entry)
        self.layout.update_entry(entry, schema)
        self._replace_unsupported_types(entry)
        if schema_dependent_parts(entry) == before:
            return False
        context = ttypes.EnvironmentContext(
            properties={"CASCADE": "true", "DO_NOT_UPDATE_STATS": str(not self._update_stats).lower()}
        )
        try:
            self.client.execute(
                "alter_table_with_environment_context", name.database.lower(), name.table.lower(), entry, context
            )
        except Refused as error:
            raise StoreError(
                f"table {name} has the new schema, but the metastore rejected the update: {error.text}",
                hint=f"no data is lost; update the entry with CALL sys.repair('{name.database}.{name.table}')",
                name=str(name),
            ) from None
        return True

    def _replace_unsupported_types(self, entry: Any) -> None:
        """Replace types that this Hive version does not support, as Java does."""
        for column in entry.sd.cols:
            if HIVE_TIMESTAMP_LTZ in column.type and self.client.is_old:
                column.type = column.type.replace(HIVE_TIMESTAMP_LTZ, "timestamp")

    def watcher(self, name: Identifier, schema: TableSchema) -> PartitionSync | None:
        is_format_table = schema.options.get(opt.TYPE.key) == FORMAT_TABLE
        keys = schema.partition_keys if is_format_table else partition_keys(schema)
        return PartitionSync(self, name.of_table()) if keys else None

    def set_location(self, entry: Any, path: str) -> None:
        """Set a partition's location."""
        self.layout.set_location(entry, stored_uri(path))

    # -- views

    def views(self, database: str) -> list[str]:
        """The names of a database's views, also of those that Hive created; sorted."""
        return sorted(e.tableName for e in self.entries(database) if is_view(e))

    def view(self, name: Identifier) -> StoredView | None:
        """The view of this name; None if there is none."""
        entry = self.entry(name)
        return stored_view_of_entry(entry) if entry is not None and is_view(entry) else None

    def add_view(self, name: Identifier, view: StoredView) -> bool:
        """Create a view. Returns False if there is a table or view of this name."""
        entry = view_entry(name, view)
        self._replace_unsupported_types(entry)
        try:
            self.client.execute("create_table", entry)
        except Exists:
            return False
        except Refused as error:
            if self.entry(name) is not None:
                return False
            raise _error_of_refusal("view", str(name), error) from None
        return True

    def remove_view(self, name: Identifier) -> bool:
        """Drop a view. Returns False if there is none of this name."""
        entry = self.entry(name)
        if entry is None or not is_view(entry):
            return False
        try:
            self.client.execute("drop_table", name.database.lower(), name.table.lower(), False)
        except NotFound:
            return False
        return True


def _client_capabilities() -> Any:
    from hive_metastore import ttypes

    # Needed to see Hive's transactional tables; they are never read.
    return ttypes.ClientCapabilities(values=[ttypes.ClientCapability.INSERT_ONLY_TABLES])


def stored_uri(path: str) -> str:
    """The URI that the metastore stores: without a scheme Hive would use its default file system."""
    return path if ":" in path.split("/", 1)[0] else f"file:{path}"


def without_file_scheme(location: str) -> str:
    """A path without the scheme `file:`."""
    return without_scheme(location).rstrip("/")


def _error_of_refusal(kind: str, name: str, error: Refused) -> InvalidName | StoreError:
    text = error.text
    if "not a valid" in text or ("Invalid" in text and "name" in text):
        return InvalidName(
            f"{kind} name {name!r} is refused by the Hive metastore: {text}",
            hint="use letters, digits and '_'",
            name=name,
        )
    return StoreError(
        f"the Hive metastore refused {kind} {name!r}: {text}", hint="look into the metastore's log", name=name
    )
