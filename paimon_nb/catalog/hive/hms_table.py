"""Maps tables to metastore entries, field by field as Java's catalog does, and classifies entries.

Source: Paimon 1.3 `HiveCatalog.java` (newHmsTable, updateHmsTable, updateHmsTablePars), `LocationHelper.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base import clock
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.hive.client import user
from paimon_nb.catalog.hive.types import to_hive
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.table import TABLE_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataField

INPUT_FORMAT = "org.apache.paimon.hive.mapred.PaimonInputFormat"
OUTPUT_FORMAT = "org.apache.paimon.hive.mapred.PaimonOutputFormat"
SERDE = "org.apache.paimon.hive.PaimonSerDe"
STORAGE_HANDLER = "org.apache.paimon.hive.PaimonStorageHandler"
MANAGED, EXTERNAL, VIEW = "MANAGED_TABLE", "EXTERNAL_TABLE", "VIRTUAL_VIEW"
_LOCATION = "paimon_location"
_KEYS = ("primary-key", "partition", "bucket-key")
_FOREVER = 2**31 - 1
_TRANSLATED = "TRANSLATED_TO_EXTERNAL"
"""Hive 4's property of a managed table that it stores as external."""


@dataclass(frozen=True, slots=True)
class Layout:
    """How a catalog writes entries: options `sync-all-properties` and `location-in-properties`."""

    all_properties: bool = True
    location_in_properties: bool = False

    # -- locations

    def location(self, table: Any) -> str | None:
        """The location of a table or partition."""
        stored = (table.parameters or {}).get(_LOCATION) if self.location_in_properties else None
        return stored or (table.sd.location if table.sd else None)

    def database_location(self, database: Any) -> str | None:
        """The location of a database."""
        stored = (database.parameters or {}).get(_LOCATION) if self.location_in_properties else None
        location_uri: str | None = stored or database.locationUri
        return location_uri

    def set_location(self, entry: Any, location: str) -> None:
        """Set the location of a table or partition."""
        if self.location_in_properties:
            entry.parameters = {**(entry.parameters or {}), _LOCATION: location}
        else:
            entry.sd.location = location

    def set_database_location(self, database: Any, location: str) -> None:
        """Set the location of a database."""
        if self.location_in_properties:
            database.parameters = {**(database.parameters or {}), _LOCATION: location}
            database.locationUri = None
        else:
            database.locationUri = location

    # -- tables

    def new_table_entry(self, database: str, table: str, schema: TableSchema, location: str, external: bool) -> Any:
        """The entry of a new table."""
        parameters = {"table_type": "PAIMON", "storage_handler": STORAGE_HANDLER}
        entry = new_entry(database, table, parameters, external=external)
        self.update_entry(entry, schema)
        self.set_location(entry, location)
        return entry

    def update_entry(self, entry: Any, schema: TableSchema) -> None:
        """Update an entry from `schema`: columns, partition keys, options. Keeps other systems' properties."""
        from hive_metastore import ttypes

        sd = entry.sd or empty_storage()
        sd.inputFormat, sd.outputFormat = INPUT_FORMAT, OUTPUT_FORMAT
        sd.serdeInfo = sd.serdeInfo or ttypes.SerDeInfo()
        sd.serdeInfo.serializationLib, sd.serdeInfo.parameters = SERDE, {}
        keys = partition_keys(schema)
        sd.cols = [hive_column(f) for f in schema.fields if f.name not in keys]
        entry.partitionKeys = [hive_column(schema.field(k)) for k in keys]
        if not keys and (field := TableOptions(schema.options).get(opt.METASTORE_TAG_TO_PARTITION)):
            entry.partitionKeys = [ttypes.FieldSchema(name=field, type="string")]
        entry.sd = sd
        own_properties = self._stored_properties(schema)
        other_properties = {
            k: v for k, v in (entry.parameters or {}).items() if not (self.all_properties and _is_table_option(k))
        }
        entry.parameters = {**other_properties, **own_properties}
        if schema.comment is not None:
            entry.parameters["comment"] = schema.comment

    def _stored_properties(self, schema: TableSchema) -> dict[str, str]:
        options = schema.options
        if not self.all_properties:
            included = (opt.PARTITION_EXPIRATION_TIME.key, opt.DATA_FILE_PATH_DIRECTORY.key)
            return {k: v for k, v in options.items() if k.startswith("hive.") or k in included}
        keys = (schema.primary_keys, schema.partition_keys, schema.bucket_keys)
        return {**options, **{k: ",".join(v) for k, v in zip(_KEYS, keys, strict=True) if v}}


def new_entry(database: str, table: str, parameters: Mapping[str, str], *, external: bool) -> Any:
    """The entry of a new table of any kind, without storage and location."""
    from hive_metastore import ttypes

    now = clock.now_ms() // 1000
    return ttypes.Table(
        tableName=table, dbName=database, owner=user(), createTime=now, lastAccessTime=now, retention=_FOREVER,
        partitionKeys=[], parameters={**parameters, **({"EXTERNAL": "TRUE"} if external else {})},
        tableType=EXTERNAL if external else MANAGED,
    )  # fmt: skip


def empty_storage() -> Any:
    """A storage descriptor without columns and classes."""
    from hive_metastore import ttypes

    return ttypes.StorageDescriptor(
        bucketCols=[], sortCols=[], parameters={}, numBuckets=0, compressed=False, storedAsSubDirectories=False
    )


def partition_keys(schema: TableSchema) -> tuple[str, ...]:
    """The partition keys that the metastore stores; () unless the table's options enable it."""
    return schema.partition_keys if TableOptions(schema.options).get(opt.METASTORE_PARTITIONED_TABLE) else ()


def schema_dependent_parts(entry: Any) -> tuple[object, ...]:
    """The parts of an entry that depend on the schema, for comparison. Hive stores names in lower case."""
    columns, keys = (
        [(c.name.lower(), c.type, c.comment or None) for c in side or []]
        for side in (entry.sd.cols, entry.partitionKeys)
    )
    sd = entry.sd
    return columns, keys, dict(entry.parameters or {}), sd.inputFormat, sd.outputFormat, sd.serdeInfo.serializationLib


def is_paimon(entry: Any) -> bool:
    """Whether an entry is a Paimon table."""
    sd = entry.sd
    formats = (sd.inputFormat, sd.outputFormat) if sd else ()
    return formats == (INPUT_FORMAT, OUTPUT_FORMAT) or (entry.parameters or {}).get("table_type") == "PAIMON"


def is_external(entry: Any) -> bool:
    """Whether the table is external: dropping it keeps its files."""
    return bool(entry.tableType == EXTERNAL and (entry.parameters or {}).get(_TRANSLATED, "").upper() != "TRUE")


def wants_external(options: Mapping[str, str]) -> bool:
    """Whether a new table's options make it external."""
    return opt.PATH.key in options or "TRUE" in (options.get(k, "").upper() for k in ("external", "EXTERNAL"))


def hive_file_format(sd: Any) -> str | None:
    """parquet, orc, avro, json or csv: the file format of a Hive table or partition. None: unknown."""
    serde = (sd.serdeInfo.serializationLib or "").lower() if sd and sd.serdeInfo else ""
    found = next((f for f in ("avro", "parquet", "orc") if f in serde), None)
    if found is None and serde and "Text" in (sd.inputFormat or ""):
        return "json" if "json" in serde else "csv"
    return found


def entry_kind_text(entry: Any) -> str:
    """A description of an entry's kind."""
    if is_paimon(entry):
        return "a Paimon table"
    if entry.tableType == VIEW:
        return "a view of Hive"
    known = (entry.parameters or {}).get("table_type") or (entry.parameters or {}).get("spark.sql.sources.provider")
    if known:
        return f"a table of {known}"
    files = hive_file_format(entry.sd)
    return f"a Hive table of {files} files" if files else "a table of another kind"


def _is_table_option(key: str) -> bool:
    """Whether a property is a table option; it is removed if the schema no longer has it."""
    return key in TABLE_OPTIONS or key in _KEYS or key.startswith("fields.")


def hive_column(field: DataField) -> Any:
    """A column of an entry."""
    from hive_metastore import ttypes

    return ttypes.FieldSchema(name=field.name, type=to_hive(field.type), comment=field.description)
