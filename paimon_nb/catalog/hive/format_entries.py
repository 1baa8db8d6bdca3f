"""Format tables as entries of a Hive metastore, which has their only schema. Tables that Hive itself created are read the same way.

Source: Paimon 2.1 `HiveCatalog.java` (createFormatTable, updateHmsTable), `HiveTableUtils.java` (tryToFormatSchema).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.catalog.format_table_rules import HIVE_NAMES
from paimon_nb.catalog.hive.hms_table import VIEW, empty_storage, hive_column, is_paimon, new_entry
from paimon_nb.catalog.hive.types import from_hive
from paimon_nb.format.data.csv_files import CsvOptions
from paimon_nb.format.schema import FORMAT_TABLE, TableSchema, create_schema
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.table.read.format_table import file_format_of

if TYPE_CHECKING:
    from collections.abc import Mapping

_TEXT_FILES = ("org.apache.hadoop.mapred.TextInputFormat", "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat")
_PARQUET, _ORC = "org.apache.hadoop.hive.ql.io.parquet", "org.apache.hadoop.hive.ql.io.orc"
_LAZY_SERDE = "org.apache.hadoop.hive.serde2.lazy.LazySimpleSerDe"
_CLASSES: Mapping[str, tuple[str, str, str]] = {
    "csv": (*_TEXT_FILES, _LAZY_SERDE),
    "text": (*_TEXT_FILES, _LAZY_SERDE),
    "json": (*_TEXT_FILES, "org.apache.hive.hcatalog.data.JsonSerDe"),
    "parquet": (f"{_PARQUET}.MapredParquetInputFormat", f"{_PARQUET}.MapredParquetOutputFormat", f"{_PARQUET}.serde.ParquetHiveSerDe"),
    "orc": (f"{_ORC}.OrcInputFormat", f"{_ORC}.OrcOutputFormat", f"{_ORC}.OrcSerde"),
}  # fmt: skip
"""Format -> classes of Hive: input format, output format, serializer."""
_DELIMITER, _HIVE_DELIMITER = "field.delim", "\x01"
"""The serializer's parameter for the delimiter of CSV files, and Hive's default."""
_CSV_DELIMITER = "csv.field-delimiter"
_TIMESTAMP_PRECISION = 6
_BOOKKEEPING = (
    "numFiles", "numRows", "rawDataSize", "totalSize", "numPartitions", "COLUMN_STATS_ACCURATE", "transient_lastDdlTime", "last_modified_time",
    "last_modified_by", "bucketing_version", "EXTERNAL", "external.table.purge", "TRANSLATED_TO_EXTERNAL", "table_type", "comment",
)  # fmt: skip
"""Parameters that Hive keeps for itself."""
_PROVIDER = "spark.sql.sources.provider"


def new_format_entry(database: str, table: str, schema: TableSchema, *, external: bool) -> Any:
    """The entry of a new format table, without a location."""
    from hive_metastore import ttypes

    kind = file_format_of(TableOptions(schema.options))
    entry = new_entry(database, table, {**schema.options, **_type_of(kind)}, external=external)
    sd = empty_storage()
    sd.inputFormat, sd.outputFormat, serializer = _CLASSES[kind]
    parameters = {_DELIMITER: CsvOptions.of(schema.options).field_delimiter} if kind == "csv" else {}
    sd.serdeInfo = ttypes.SerDeInfo(serializationLib=serializer, parameters=parameters)
    sd.cols = [hive_column(f) for f in schema.fields if f.name not in schema.partition_keys]
    entry.partitionKeys = [hive_column(schema.field(k)) for k in schema.partition_keys]
    entry.sd = sd
    if schema.comment is not None:
        entry.parameters["comment"] = schema.comment
    return entry


def _type_of(kind: str) -> dict[str, str]:
    """The parameters that name a format table's kind."""
    return {"table_type": kind.upper(), opt.FILE_FORMAT.key: kind, opt.TYPE.key: FORMAT_TABLE}


def format_schema_of(entry: Any) -> TableSchema | None:
    """The schema of an entry that is a format table; None: a view, a Paimon table, a table of another system, or types that Paimon lacks."""
    kind = _format_of(entry)
    if kind is None:
        return None
    keys = [k.name for k in entry.partitionKeys or []]
    try:
        columns = [
            (c.name, from_hive(c.type, _TIMESTAMP_PRECISION), c.comment or None, None)
            for c in (*entry.sd.cols, *(entry.partitionKeys or []))
        ]
    except UnsupportedFormat:
        return None
    parameters = entry.parameters or {}
    options = {k: v for k, v in parameters.items() if k not in _BOOKKEEPING and not k.startswith("spark.sql.")}
    options |= {opt.TYPE.key: FORMAT_TABLE, opt.FILE_FORMAT.key: kind}
    if keys and (parameters.get("table_type") or "").lower() not in _CLASSES:  # not a table of Paimon
        options = {**HIVE_NAMES, **options}
    if kind == "csv":
        options[_CSV_DELIMITER] = (entry.sd.serdeInfo.parameters or {}).get(_DELIMITER, _HIVE_DELIMITER)
    return replace(create_schema(columns, keys, [], options, parameters.get("comment")), options=options)


def _format_of(entry: Any) -> str | None:
    """The format of the files of an entry; None if they cannot be read as plain files."""
    sd, parameters = entry.sd, entry.parameters or {}
    owner = (parameters.get("table_type") or parameters.get(_PROVIDER) or "hive").lower()
    transactional = parameters.get("transactional", "").lower() == "true"  # its files contain changes, not rows
    if is_paimon(entry) or entry.tableType == VIEW or sd is None or sd.serdeInfo is None or transactional:
        return None
    if owner not in (*_CLASSES, "hive"):
        return None
    serializer = (sd.serdeInfo.serializationLib or "").lower()
    found = next((kind for kind in ("parquet", "orc") if kind in serializer), None)
    if found is not None or "Text" not in (sd.inputFormat or ""):
        return found
    return "json" if "json" in serializer else "text" if parameters.get("table_type") == "TEXT" else "csv"
