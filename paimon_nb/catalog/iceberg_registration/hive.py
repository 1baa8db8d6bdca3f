"""Registers Iceberg metadata as tables of Iceberg in a Hive metastore.

Source: Paimon 2.1 `IcebergHiveMetadataCommitter`.
"""

from __future__ import annotations

import posixpath
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.named_servers import check_is_named
from paimon_nb.catalog.hive.client import Exists, HiveMetastoreClient, NotFound
from paimon_nb.catalog.hive.hive_conf import hive_settings
from paimon_nb.catalog.hive.hms_table import empty_storage, hive_column, new_entry
from paimon_nb.catalog.hive.metastore import stored_uri
from paimon_nb.catalog.hive.types import HIVE_TIMESTAMP_LTZ
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as catalog_opt
from paimon_nb.options import table as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.table.read.store import TableStore

_LOCATION, _PREVIOUS = "metadata_location", "previous_metadata_location"
_FILE_INPUT, _FILE_OUTPUT = "org.apache.hadoop.mapred.FileInputFormat", "org.apache.hadoop.mapred.FileOutputFormat"
_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"


def hive_settings_of_table(options: TableOptions, catalog_options: Mapping[str, str]) -> dict[str, str]:
    """Settings of the metastore: of the table's options, else of its Hive catalog, else of HIVE_CONF_DIR."""
    own = dict(catalog_options) if catalog_options.get("metastore") == "hive" else {}
    named = {
        catalog_opt.URI.key: options.get(opt.METADATA_ICEBERG_URI),
        catalog_opt.HIVE_CONF_DIR.key: options.get(opt.METADATA_ICEBERG_HIVE_CONF_DIR),
    }
    if named[catalog_opt.HIVE_CONF_DIR.key]:
        own.pop(catalog_opt.URI.key, None)
    hive_options = {k: v for k, v in options.raw.items() if k.startswith("hive.")}
    return hive_settings({**own, **hive_options, **{k: v for k, v in named.items() if v}})


@dataclass(frozen=True)
class IcebergInHive:
    """A table of Iceberg in some databases of a metastore. Pickles."""

    databases: tuple[str, ...]
    table: str
    settings: tuple[tuple[str, str], ...]
    """Hive's settings."""

    def register(self, store: TableStore, path: str) -> None:
        """Let the table's entry name this metadata file; a missing entry or database is created.

        Raises:
            BadOptionValue: no address of a metastore.
            Refused, SourceUnavailable, StoreError: the metastore does not accept it, or does not answer.
        """
        self._check_server(store)
        client = HiveMetastoreClient.of(dict(self.settings), connections=1)
        for database in self.databases:
            self._register_in(client, database.lower(), store, stored_uri(path))

    def _check_server(self, store: TableStore) -> None:
        """Raise UnsupportedOperation if only the table's options name the metastore, also by a file with settings."""
        options = TableOptions(store.schema.options)
        if (uri := options.get(opt.METADATA_ICEBERG_URI)) is not None:
            check_is_named(uri, store.name, opt.METADATA_ICEBERG_URI.key)
        if (folder := options.get(opt.METADATA_ICEBERG_HIVE_CONF_DIR)) is not None:
            check_is_named(folder, store.name, opt.METADATA_ICEBERG_HIVE_CONF_DIR.key)

    def _register_in(self, client: HiveMetastoreClient, database: str, store: TableStore, uri: str) -> None:
        table = self.table.lower()
        columns = [hive_column(f) for f in store.at_newest_schema().schema.fields]
        for column in columns:
            if client.is_old:  # Hive 2 has no instants
                column.type = column.type.replace(HIVE_TIMESTAMP_LTZ, "timestamp")
        skip_stats = str(bool(store.options.get(opt.METADATA_ICEBERG_HIVE_SKIP_UPDATE_STATS))).lower()
        try:
            entry = client.query("get_table", database, table)
        except NotFound:
            self._create(client, database, columns, uri, skip_stats)
            return
        before = (entry.parameters or {}).get(_LOCATION)
        known = [(c.name, c.type, c.comment) for c in entry.sd.cols]
        if before == uri and known == [(c.name, c.type, c.comment) for c in columns]:
            return
        entry.parameters = {**(entry.parameters or {}), "table_type": "ICEBERG", _LOCATION: uri}
        if before is not None and before != uri:
            entry.parameters[_PREVIOUS] = before
        entry.sd.cols = columns
        client.execute("alter_table_with_environment_context", database, table, entry, _context(store, skip_stats))

    def _create(
        self, client: HiveMetastoreClient, database: str, columns: list[Any], uri: str, skip_stats: str
    ) -> None:
        from hive_metastore import ttypes

        home = posixpath.dirname(posixpath.dirname(uri))
        with suppress(Exists):
            try:
                client.query("get_database", database)
            except NotFound:
                client.execute("create_database", ttypes.Database(name=database, locationUri=posixpath.dirname(home)))
        parameters = {"table_type": "ICEBERG", "DO_NOT_UPDATE_STATS": skip_stats, _LOCATION: uri}
        entry = new_entry(database, self.table.lower(), parameters, external=True)
        entry.sd = empty_storage()
        entry.sd.location, entry.sd.cols = home, columns
        entry.sd.inputFormat, entry.sd.outputFormat = _FILE_INPUT, _FILE_OUTPUT
        entry.sd.serdeInfo = ttypes.SerDeInfo(serializationLib=_SERDE)
        client.execute("create_table", entry)


def _context(store: TableStore, skip_stats: str) -> Any:
    from hive_metastore import ttypes

    skip_archive = str(bool(store.options.get(opt.METADATA_ICEBERG_GLUE_SKIP_ARCHIVE))).lower()
    properties = {"CASCADE": "true", "skipAWSGlueArchive": skip_archive, "DO_NOT_UPDATE_STATS": skip_stats}
    return ttypes.EnvironmentContext(properties=properties)
