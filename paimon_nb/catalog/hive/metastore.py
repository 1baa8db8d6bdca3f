"""Names in a Hive metastore, and the place of each table as the metastore tells it.

Hive keeps names in lower case, so `T` is `t` here. Source: Paimon 1.3 `HiveCatalog.java`.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from paimon_nb.base.errors import InvalidName, StoreError, TableNotFound, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.hive.client import Exists, HiveMetastoreClient, NotFound, Refused
from paimon_nb.catalog.hive.hms_table import (
    Layout,
    is_external,
    is_paimon,
    kind_of,
    partition_keys,
    shown,
    wants_external,
)
from paimon_nb.catalog.hive.partitions import PartitionSync
from paimon_nb.catalog.hive.types import ZONED
from paimon_nb.catalog.metastore import Metastore
from paimon_nb.format.schema import SchemaDirectory, TableSchema
from paimon_nb.fs import without_scheme
from paimon_nb.options import table as opt

_MANY = 300
"""Entries in one answer, as Java asks for them."""
_RENAME_TRIES, _RENAME_PAUSE_S = 5, 0.2


class HiveRegister(Metastore):
    """Databases and tables of one metastore. Tables of other kinds have names, too: they are taken, and not ours.

    Args:
        warehouse: where databases without a place of their own go. layout: how entries are written.
        external: whether new tables are external unless they say otherwise (`table.type`).
        update_stats: whether Hive counts files again at each change of an entry.
    """

    def __init__(
        self,
        metastore: HiveMetastoreClient,
        warehouse: str,
        layout: Layout,
        *,
        external: bool = False,
        update_stats: bool = True,
    ) -> None:
        super().__init__(warehouse)
        self.metastore, self.layout = metastore, layout
        self._external, self._update_stats = external, update_stats

    # -- databases

    def databases(self) -> list[str]:
        return sorted(self.metastore.ask("get_all_databases"))

    def has_database(self, name: str) -> bool:
        return self._database(name) is not None

    def kept_name(self, name: Identifier) -> Identifier:
        return replace(name, database=name.database.lower(), table=name.table.lower())

    def database_path(self, name: str) -> str:
        known = self._database(name)
        location = known and self.layout.database_location(known)
        return plain(location) if location else super().database_path(name.lower())

    def add_database(self, name: str, properties: Mapping[str, str] | None = None) -> bool:
        from hive_metastore import ttypes

        own = dict(properties or {})
        database = ttypes.Database(
            name=name.lower(), description=own.pop("comment", None), ownerName=own.pop("owner", None),
            ownerType=None, parameters=None,
        )  # fmt: skip
        location = own.pop("location", None) or super().database_path(name.lower())
        database.parameters = own
        self.layout.place_database(database, _uri(location))
        if self._database(name) is not None:
            return False
        try:
            self.metastore.change("create_database", database)
        except Exists:
            return False
        except Refused as error:
            if self._database(name) is not None:  # of two at once, Hive 4 may tell one of its own database's key
                return False
            raise _refused("database", name, error) from None
        return True

    def remove_database(self, name: str) -> None:
        try:
            # Its directory stays unless it is empty: what lies there and has no name is nobody's to delete.
            self.metastore.change("drop_database", name.lower(), False, False)
        except NotFound:
            return
        except Refused as error:
            others = self.metastore.ask("get_all_tables", name.lower())
            raise UnsupportedOperation(
                f"database {name!r} holds what is no Paimon table: {', '.join(sorted(others)[:5])}"
                if others
                else f"the metastore keeps database {name!r}: {error.text}",
                hint="drop it where it was made; CASCADE takes Paimon's tables only",
                name=name,
            ) from None

    def _database(self, name: str) -> Any | None:
        try:
            return self.metastore.ask("get_database", name.lower())
        except NotFound:
            return None
        except Refused as error:
            raise _refused("database", name, error) from None

    # -- tables

    def tables(self, database: str) -> list[str]:
        return sorted(e.tableName for e in self.entries(database) if is_paimon(e))

    def entries(self, database: str) -> list[Any]:
        """The entries of all tables and views, of whatever kind."""
        from hive_metastore import ttypes

        names = self.metastore.ask("get_all_tables", database.lower())
        found: list[Any] = []
        for start in range(0, len(names), _MANY):
            request = ttypes.GetTablesRequest(
                dbName=database.lower(), tblNames=names[start : start + _MANY], capabilities=_capabilities()
            )
            found += self.metastore.ask("get_table_objects_by_name_req", request).tables
        return found

    def entry(self, name: Identifier) -> Any | None:
        """What the metastore says about a table or view of any kind; None when it knows none."""
        from hive_metastore import ttypes

        request = ttypes.GetTableRequest(
            dbName=name.database.lower(), tblName=name.table.lower(), capabilities=_capabilities()
        )
        try:
            return self.metastore.ask("get_table_req", request).table
        except NotFound:
            return None
        except Refused as error:
            raise _refused("table", str(name), error) from None

    def has_table(self, name: Identifier) -> bool:
        entry = self.entry(name)
        return entry is not None and is_paimon(entry)

    def kind(self, name: Identifier) -> str | None:
        """In words what has this name and is no Paimon table; None when nothing has."""
        entry = self.entry(name)
        return None if entry is None or is_paimon(entry) else kind_of(entry)

    def table_path(self, name: Identifier) -> str:
        return self.found_table(name) or self._default_path(name)

    def found_table(self, name: Identifier) -> str | None:
        entry = self.entry(name)
        if entry is None or not is_paimon(entry):
            return None
        location = self.layout.location(entry)
        return plain(location) if location else self._default_path(name)

    def _default_path(self, name: Identifier) -> str:
        return posixpath.join(self.database_path(name.database), name.table.lower())

    def new_table_path(self, name: Identifier, options: Mapping[str, str]) -> str:
        given = options.get(opt.PATH.key)
        return plain(given) if given else self._default_path(name)

    def makes_external(self, options: Mapping[str, str]) -> bool:
        return self._external or wants_external(options)

    def owns_files(self, name: Identifier) -> bool:
        entry = self.entry(name)
        return entry is None or not is_external(entry)

    def add_table(self, name: Identifier, schema: TableSchema) -> bool:
        entry = self.layout.new(
            name.database.lower(), name.table.lower(), schema, _uri(self.new_table_path(name, schema.options)),
            self.makes_external(schema.options),
        )  # fmt: skip
        self._fit(entry)
        try:
            self.metastore.change("create_table", entry)
        except Exists:
            return False
        except Refused as error:
            if self.entry(name) is not None:
                return False
            raise _refused("table", str(name), error) from None
        return True

    def remove_table(self, name: Identifier) -> bool:

        if not self.has_table(name):
            return False
        try:
            # Its files go into the trash, or stay with their owner: the metastore deletes none.
            self.metastore.change("drop_table", name.database.lower(), name.table.lower(), False)
        except NotFound:
            return False
        return True

    def rename_table(self, source: Identifier, target: Identifier) -> bool:

        entry = self.entry(source)
        if entry is None or not is_paimon(entry):
            raise TableNotFound(
                f"table {source} is gone", hint="another session dropped or renamed it", name=str(source)
            )
        entry.dbName, entry.tableName = target.database.lower(), target.table.lower()
        if not is_external(entry):
            # Said together with the name, so that Hive does not move the files itself.
            self.layout.place(entry, _uri(self._default_path(target)))
        tries = 0
        while True:
            try:
                self.metastore.change("alter_table", source.database.lower(), source.table.lower(), entry)
                return True
            except Refused as error:
                if self.entry(target) is not None:
                    return False
                if self.entry(source) is None:
                    raise TableNotFound(
                        f"table {source} is gone", hint="another session dropped or renamed it", name=str(source)
                    ) from None
                tries += 1
                if tries == _RENAME_TRIES:
                    raise _refused("table", str(target), error) from None
            time.sleep(_RENAME_PAUSE_S)  # refused for another's rename to the same name, which is not to be seen yet

    def alter_table(self, name: Identifier, schemas: SchemaDirectory) -> None:
        """Repeat the newest schema. Two who come at once may come in the wrong order: who repeated an old one goes on."""
        schema = schemas.latest()
        while schema is not None:
            self.repeat(name, schema)
            newest = schemas.latest()
            if newest is None or newest.id == schema.id:
                return
            schema = newest

    def repeat(self, name: Identifier, schema: TableSchema) -> bool:
        """Make the table's entry say what `schema` says. False when it said so before."""
        from hive_metastore import ttypes

        entry = self.entry(name)
        if entry is None or not is_paimon(entry):
            return False
        before = shown(entry)
        self.layout.update(entry, schema)
        self._fit(entry)
        if shown(entry) == before:
            return False
        context = ttypes.EnvironmentContext(
            properties={"CASCADE": "true", "DO_NOT_UPDATE_STATS": str(not self._update_stats).lower()}
        )
        try:
            self.metastore.change(
                "alter_table_with_environment_context", name.database.lower(), name.table.lower(), entry, context
            )
        except Refused as error:
            raise StoreError(
                f"table {name} has its new schema, but the metastore refused to show it: {error.text}",
                hint=f"nothing is lost; CALL sys.repair('{name.database}.{name.table}') tries again",
                name=str(name),
            ) from None
        return True

    def _fit(self, entry: Any) -> None:
        """Types that this metastore knows, as Java chooses them by its Hive's version."""
        for column in entry.sd.cols:
            if ZONED in column.type and self.metastore.is_old:
                column.type = column.type.replace(ZONED, "timestamp")

    def watcher(self, name: Identifier, schema: TableSchema) -> PartitionSync | None:
        return PartitionSync(self, name.of_table()) if partition_keys(schema) else None

    def place(self, entry: Any, path: str) -> None:
        """Write down where a partition's files are."""
        self.layout.place(entry, _uri(path))


def _capabilities() -> Any:
    from hive_metastore import ttypes

    # Hive's own tables with transactions are looked at, never read.
    return ttypes.ClientCapabilities(values=[ttypes.ClientCapability.INSERT_ONLY_TABLES])


def _uri(path: str) -> str:
    """As the metastore keeps it: without a scheme it would think of its own file system."""
    return path if "://" in path or path.startswith("file:") else f"file:{path}"


def plain(location: str) -> str:
    """As we write it: local paths without a scheme."""
    return without_scheme(location).rstrip("/")


def _refused(what: str, name: str, error: Refused) -> InvalidName | StoreError:
    text = error.text
    if "not a valid" in text or ("Invalid" in text and "name" in text):
        return InvalidName(
            f"{what} name {name!r} is refused by the Hive metastore: {text}",
            hint="use letters, digits and '_'",
            name=name,
        )
    return StoreError(
        f"the Hive metastore refused {what} {name!r}: {text}", hint="look into the metastore's log", name=name
    )
