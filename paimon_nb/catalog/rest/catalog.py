"""The catalog of a REST server. Names, schemas and commits are the server's; this client reads and writes the files.

Source: Paimon `RESTCatalog.java`.
"""

from __future__ import annotations

from contextlib import contextmanager, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.errors import (
    AccessDenied,
    AlreadyExists,
    BadOptionValue,
    CorruptFile,
    DatabaseNotFound,
    PaimonError,
    StoreError,
    TableNotFound,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import MAIN_BRANCH, Identifier, check_name
from paimon_nb.base.override import override
from paimon_nb.base.registry import did_you_mean
from paimon_nb.catalog.api import Catalog, StoredFunction, StoredView, undo_after
from paimon_nb.catalog.format_table_rules import check_managed_partitions, has_managed_partitions
from paimon_nb.catalog.new_tables import NewTableRules, check_new_database
from paimon_nb.catalog.replacement import OtherTable, Replacement
from paimon_nb.catalog.rest.api import RestApi, TableResponse, main_table
from paimon_nb.catalog.rest.auth import authorizer_of
from paimon_nb.catalog.rest.functions import function_json, parse_function
from paimon_nb.catalog.rest.local_folders import check_local_folder
from paimon_nb.catalog.rest.partitions import RestPartitions
from paimon_nb.catalog.rest.schema_changes import change_nodes
from paimon_nb.catalog.rest.storage_tokens import TokenFileIO
from paimon_nb.catalog.rest.transport import Timeouts, Transport
from paimon_nb.catalog.rest.versions import RestVersions
from paimon_nb.catalog.stored_views import view_as_json, view_of_json
from paimon_nb.format.metadata_json import java_json
from paimon_nb.format.schema import FORMAT_TABLE, TableSchema
from paimon_nb.format.schema.table_schema import highest_id
from paimon_nb.format.types import Row
from paimon_nb.fs import FileIO, RootedFileIO, external_roots, open_fs
from paimon_nb.options import TableOptions, without_prefix
from paimon_nb.options import catalog as opt
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.publish.partition_changes import partition_changes

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from paimon_nb.statements.ddl import Change

_HEADER = "header."


def open_rest_catalog(name: str, options: Mapping[str, str]) -> Catalog:
    """The catalog for `'metastore' = 'rest'`: asks the server for its configuration.

    Raises:
        BadOptionValue: no `uri`, or an option of the token provider is missing.
        AccessDenied: the server does not accept the credentials.
        SourceUnavailable: it does not answer.
    """
    client_options = TableOptions(options)
    uri = (client_options.get(opt.URI) or "").strip().rstrip("/")
    if not uri:
        raise BadOptionValue(
            f"catalog {name!r} of metastore 'rest' needs 'uri'",
            hint="WITH ('metastore' = 'rest', 'uri' = 'http://host:port', 'warehouse' = 'name')",
            option="uri",
        )
    if "://" not in uri:
        uri = f"http://{uri}"
    timeouts = Timeouts(
        client_options.get(opt.REST_CONNECTION_TIMEOUT) / 1000, client_options.get(opt.REST_READ_TIMEOUT) / 1000
    )
    transport = Transport(uri, authorizer_of(options, uri), without_prefix(options, _HEADER), timeouts)
    merged = RestApi(transport, None).merged_options(options)
    api = RestApi(replace(transport, headers=without_prefix(merged, _HEADER)), merged.get(opt.PREFIX.key))
    key = opt.DATA_FILE_EXTERNAL_PATHS.key  # the user's alone: a server gives no access to places outside the tables
    merged = {k: v for k, v in merged.items() if k != key} | ({key: options[key]} if key in options else {})
    catalog = RestCatalog(name, merged, api)
    catalog.options_of_user = dict(options)
    return catalog


class RestCatalog(Catalog):
    """The databases and tables of a server.

    Args:
        name: the catalog's name in SQL.
        options: catalog options, merged with those of the server.
        api: the server.
    """

    keeps_dropped_tables = False
    stores_views = True
    stores_functions = True

    def __init__(self, name: str, options: Mapping[str, str], api: RestApi) -> None:
        self.name = check_name(name, "catalog")
        self.options = dict(options)
        self.options_of_user: Mapping[str, str] = self.options
        """The options without those of the server."""
        self.api = api
        self.warehouse = options.get("warehouse") or api.transport.uri
        self._data_token = bool(opt.DATA_TOKEN_ENABLED.read(options))
        self._new_table_rules = NewTableRules(self)
        self._create_default_database()

    def _create_default_database(self) -> None:
        """Create the default database if the server has none, as Java's engines do when they open a catalog."""
        try:
            self.api.database(self.default_database)
        except DatabaseNotFound:
            with suppress(AccessDenied, AlreadyExists, UnsupportedOperation):
                self.api.create_database(self.default_database, {})
        except (AccessDenied, UnsupportedOperation):
            pass  # other databases may be open to the user

    # -- databases

    def databases(self) -> list[str]:
        return sorted(self.api.databases())

    def create_database(
        self, name: str, *, if_not_exists: bool = False, properties: Mapping[str, str] | None = None
    ) -> bool:
        check_new_database(name)
        try:
            self.api.create_database(name, properties or {})
        except AlreadyExists:
            if if_not_exists:
                return False
            raise AlreadyExists(f"database {name!r} exists already", hint="add IF NOT EXISTS", name=name) from None
        self.has_created = True
        return True

    def alter_database(self, name: str, properties: Mapping[str, str]) -> None:
        with self._name_not_found_errors(name):
            self.api.alter_database(name, properties, [])

    def database_properties(self, name: str) -> dict[str, str]:
        with self._name_not_found_errors(name):
            return self.api.database(name)

    def drop_database(self, name: str, *, if_exists: bool = False, cascade: bool = False) -> bool:
        try:
            tables = self.tables(name)
            if tables and not cascade:
                raise UnsupportedOperation(
                    f"database {name!r} has {len(tables)} table(s)", hint="drop them first, or add CASCADE", name=name
                )
            for table in tables:
                self.drop_table(Identifier(name, table), if_exists=True)
            with self._name_not_found_errors(name):
                self.api.drop_database(name)
        except DatabaseNotFound:
            if if_exists:
                return False
            raise
        return True

    # -- tables

    def tables(self, database: str) -> list[str]:
        with self._name_not_found_errors(database):
            return sorted(self.api.tables(database))

    def table(self, name: Identifier, options: Mapping[str, str] | None = None) -> Table:
        store = self._open_store(name)
        store = store.open_for_catalog(options or {}, on_stored_branch=name.branch == MAIN_BRANCH)
        named = replace(name.of_table(), branch=store.branch)
        return Table(replace(store, iceberg_catalog=self.iceberg_catalog_of(named, store.schema)), name=named)

    def _open_store(self, name: Identifier) -> TableStore:
        """The table or branch of this name, without regard to its option `branch`."""
        main = main_table(name)
        with self._name_not_found_errors(name.database, main):
            served = self.api.table(main)
        fs = self._fs_of_table(main, served)
        # Another system owns the files of an external table, so the file names decide about commits, as in Java.
        versions = None if served.is_external else RestVersions(self.api, replace(name, system=None), served.id)
        served_options = served.schema.get("options")
        if isinstance(served_options, dict) and served_options.get("type") == FORMAT_TABLE:
            schema = _schema_from_server(served, main)  # the server has the only one
            partitions = RestPartitions(self.api, main) if has_managed_partitions(schema) else None
            if partitions is not None:
                check_managed_partitions(main, schema, is_external=served.is_external)
            return TableStore(fs, fs.root, MAIN_BRANCH, schema, partitions=partitions)
        try:
            store = TableStore.open(fs, fs.root, name.branch)
        except TableNotFound:
            store = TableStore(fs, fs.root, MAIN_BRANCH, _schema_from_server(served, main))
        else:
            if name.branch == MAIN_BRANCH:
                store = replace(store, schema=_newer_schema(store.schema, served, main))
        return replace(store, versions=versions)

    def _fs_of_table(self, name: Identifier, served: TableResponse) -> RootedFileIO:
        path = served.path
        if not path.startswith("/") and ":/" not in path:
            raise StoreError(
                f"table {name}: the catalog server at {self.api.transport.uri} says that it is at {path!r}",
                hint="the server must name an absolute path or a URI",
                path=path,
            )
        check_local_folder(f"table {name}", path, self.api.transport.uri, self.options_of_user)
        fs: FileIO = (
            TokenFileIO(self.api, name, path, self.options)
            if self._data_token and not served.is_external
            else open_fs(path, self.options)
        )
        return RootedFileIO(fs, path, external_roots(self.options))

    def create_table(self, name: Identifier, schema: TableSchema, *, if_not_exists: bool = False) -> bool:
        schema = self._checked_new_schema(name, schema)
        node = schema.to_node()
        body = {key: node.get(key) for key in ("fields", "partitionKeys", "primaryKeys", "options", "comment")}
        try:
            with self._name_not_found_errors(name.database):
                self.api.create_table(name, body)
        except AlreadyExists:
            if if_not_exists:
                return False
            raise
        self.has_created = True
        return True

    def _replacement(self, name: Identifier, schema: TableSchema, *, create: bool) -> Replacement:
        schema = self._checked_new_schema(name, schema)  # before the old table changes
        old = replace(name, table=f"{name.table}__replaced_{clock.now_ms()}")
        try:
            self.rename_table(name, old)
            replaced = True
        except TableNotFound:
            if not create:
                raise
            replaced = False

        def restore() -> None:
            if replaced:
                self.rename_table(old, name)

        def undo() -> None:
            self._remove_new(name)
            restore()

        try:
            self.create_table(name, schema)
            table = self.table(name)
        except BaseException as error:
            undo_after(error, f"the old table {name} is {old}", restore)
            raise
        return OtherTable(table, replaced=replaced, undo=undo, drop_old=lambda: replaced and self.drop_table(old))

    def _checked_new_schema(self, name: Identifier, schema: TableSchema) -> TableSchema:
        self._new_table_rules.check_name(name)
        schema = self._new_table_rules.checked_schema(schema)
        if has_managed_partitions(schema):
            check_managed_partitions(name, schema, is_external="path" in schema.options)
        return schema

    @override
    def drop_table(self, name: Identifier, *, if_exists: bool = False, purge: bool = False) -> bool:
        try:
            with self._name_not_found_errors(name.database, name):
                self.api.drop_table(name)
        except TableNotFound:
            if if_exists:
                return False
            raise
        return True

    def undrop_table(self, name: Identifier) -> None:
        raise UnsupportedOperation(
            f"catalog {self.name!r} keeps no dropped tables here: its server decides what happens to their files",
            hint="ask the owner of the catalog server to restore the table",
            name=str(name),
        )

    def rename_table(self, source: Identifier, target: Identifier) -> None:
        with self._name_not_found_errors(target.database), self._name_not_found_errors(source.database, source):
            self.api.rename_table(source, target)

    def alter_table(self, name: Identifier, changes: Sequence[Change]) -> TableSchema:
        from paimon_nb.catalog.alter import apply_changes
        from paimon_nb.catalog.deletion_vector_toggle import check_deletion_vector_toggle
        from paimon_nb.catalog.schema_validation import check_other_branches

        store = self._open_store(name)
        has_data = store.is_format_table or store.snapshots.latest_id() is not None
        changed = apply_changes(store.schema, changes, has_data=has_data, now_ms=clock.now_ms())
        if not store.is_format_table:
            check_other_branches(changed, store.branches)
        check_deletion_vector_toggle(store.schema, changed, store)
        nodes = change_nodes(store.schema, changes, has_data=has_data)
        if nodes:
            self.api.alter_table(replace(name, system=None), nodes)
        return self._open_store(name).schema

    def views(self, database: str) -> list[str]:
        with self._name_not_found_errors(database):
            return self._names_if_supported(lambda: self.api.views(database))

    def view(self, name: Identifier) -> StoredView | None:
        node = self.api.view(name)
        return None if node is None else view_of_json(name, node, f"the catalog server at {self.api.transport.uri}")

    def create_view(self, name: Identifier, view: StoredView) -> None:
        with self._name_not_found_errors(name.database):
            self.api.create_view(name, view_as_json(view))

    def drop_view(self, name: Identifier) -> bool:
        try:
            self.api.drop_view(name)
        except (UnknownName, UnsupportedOperation):
            return False
        return True

    def alter_view_dialect(self, name: Identifier, action: str, dialect: str, query: str | None) -> None:
        change = {"action": f"{action}Dialect", "dialect": dialect, **({} if query is None else {"query": query})}
        self.api.alter_view(name, [change])

    def function(self, name: Identifier) -> StoredFunction | None:
        node = self.api.function(name)
        return None if node is None else parse_function(name, node, self.api.transport.uri)

    def create_function(self, name: Identifier, function: StoredFunction) -> None:
        with self._name_not_found_errors(name.database):
            self.api.create_function(name, function_json(name, function))

    def drop_function(self, name: Identifier) -> bool:
        try:
            self.api.drop_function(name)
        except (UnknownName, UnsupportedOperation):
            return False
        return True

    def functions(self, database: str) -> list[str]:
        with self._name_not_found_errors(database):
            return self._names_if_supported(lambda: self.api.functions(database))

    def _names_if_supported(self, names: Callable[[], list[str]]) -> list[str]:
        """The names, sorted; none if the server does not have the function."""
        try:
            return sorted(names())
        except UnsupportedOperation:
            return []

    def partitions(self, name: Identifier) -> list[Mapping[str, Any]]:
        """The partitions that the server lists: `spec`, `recordCount`, `fileSizeInBytes`, `fileCount` and others.

        From the manifests if the server does not list those of the table, as in Java.
        """
        with self._name_not_found_errors(name.database, name):
            try:
                return self.api.partitions(replace(name, system=None))
            except UnsupportedOperation:
                store = self.table(name).store
                return [s.to_node() for s in partition_changes(store, live_entries(store, store.latest()))]

    # -- errors

    @contextmanager
    def _name_not_found_errors(self, database: str, table: Identifier | None = None) -> Iterator[None]:
        """Adds the names that exist to the error about one that does not."""
        try:
            yield
        except DatabaseNotFound as error:
            if database in self._names_for_hint(lambda: self.databases()):
                raise
            raise self._no_database(database, error) from None
        except TableNotFound as error:
            if table is None:
                raise
            known = self._names_for_hint(lambda: self.api.tables(table.database))
            if known is _NOTHING and table.database not in self._names_for_hint(lambda: self.databases()):
                raise self._no_database(table.database, error) from None
            raise TableNotFound(
                f"no table {table.of_table()} in catalog {self.name!r}: {error.message}",
                hint=did_you_mean(table.table, known)
                or (f"known: {', '.join(sorted(known)[:10])}" if known else f"database {table.database} has no tables"),
                name=str(table),
            ) from None

    def _no_database(self, name: str, error: PaimonError) -> DatabaseNotFound:
        known = self._names_for_hint(lambda: self.databases())
        return DatabaseNotFound(
            f"no database {name!r} in catalog {self.name!r}: {error.message}",
            hint=did_you_mean(name, known) or f"CREATE DATABASE {name}; known: {', '.join(known[:10])}",
            name=name,
        )

    def _names_for_hint(self, names: Callable[[], list[str]]) -> list[str]:
        """Names for a hint; none if the server does not list them."""
        try:
            return list(names())
        except PaimonError:
            return _NOTHING


_NOTHING: list[str] = []


def _schema_from_server(served: TableResponse, name: Identifier) -> TableSchema:
    """The schema that the server describes, where no schema file is."""
    node = {
        "version": 3,
        "id": served.schema_id,
        "highestFieldId": 0,
        **{key: served.schema.get(key) for key in ("fields", "partitionKeys", "primaryKeys", "options", "comment")},
    }
    try:
        schema = TableSchema.from_json(java_json(node), f"schema of table {name}")
    except CorruptFile as error:
        raise StoreError(
            f"table {name}: the catalog server describes an invalid schema: {error.why}",
            hint="check the version of the catalog server",
            name=str(name),
        ) from None
    highest = highest_id(Row(schema.fields, False))
    return replace(schema, highest_field_id=highest, options=_table_options(schema.options))


def _newer_schema(stored: TableSchema, served: TableResponse, name: Identifier) -> TableSchema:
    """The newer one of the latest schema file and the server's schema; with the options that the server adds."""
    if stored.id > served.schema_id:
        return stored
    schema = _schema_from_server(served, name)
    if stored.id == served.schema_id:
        return stored.with_options({**stored.options, **schema.options})
    return schema


def _table_options(options: Mapping[str, str]) -> dict[str, str]:
    """Without what describes the server's entry."""
    return {k: v for k, v in options.items() if k != "path"}
