"""Checks of a format table's schema. Reads no files.

Source: Paimon 2.1 `CatalogUtils.validateFormatTableOptions`, `{Csv,Text}FileFormat.validateDataFields`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, UnsupportedFormat
from paimon_nb.format.data.csv_files import CSV_UNSUPPORTED_TYPES, CsvOptions
from paimon_nb.format.data.file_schema import PLAIN_FORMATS
from paimon_nb.format.data.text_codecs import codec_of
from paimon_nb.format.schema import FORMAT_TABLE
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.table.read.format_table import compression_of, file_format_of
from paimon_nb.table.read.partition_spec import HIVE_DEFAULT_PARTITION

if TYPE_CHECKING:
    from paimon_nb.base.identifier import Identifier
    from paimon_nb.format.schema import TableSchema

_NOT_IN_ORC = ("BLOB", "GEOMETRY", "GEOGRAPHY")
_NOT_IN_JSON = ("MULTISET", "VARIANT", *_NOT_IN_ORC)


HIVE_NAMES = {opt.PARTITION_DEFAULT_NAME.key: HIVE_DEFAULT_PARTITION, opt.PARTITION_LEGACY_NAME.key: "false"}
"""Options with which directories of partitions have the names that Hive, Spark, DuckDB and pyarrow write and read."""


def with_hive_names(schema: TableSchema) -> TableSchema:
    """The schema of a new format table, with directory names that other engines read: NULL, dates and times.

    Paimon's own names, `__DEFAULT_PARTITION__` and day numbers, would be text or errors there. Java reads the stored options, too.
    """
    if schema.options.get(opt.TYPE.key) != FORMAT_TABLE or not schema.partition_keys or has_managed_partitions(schema):
        return schema
    return schema.with_options({**HIVE_NAMES, **schema.options})


def has_managed_partitions(schema: TableSchema) -> bool:
    """Whether a REST catalog registers the partitions of this format table, so that other engines ask it and not the directories."""
    is_format_table = schema.options.get(opt.TYPE.key) == FORMAT_TABLE and bool(schema.partition_keys)
    return is_format_table and bool(TableOptions(schema.options).get(opt.METASTORE_PARTITIONED_TABLE))


def check_managed_partitions(name: Identifier, schema: TableSchema, *, is_external: bool) -> None:
    """Check a format table whose partitions a REST catalog registers.

    Raises:
        BadOptionValue: it is external, or another engine reads its directories (`format-table.implementation` = engine).
    """
    key = opt.METASTORE_PARTITIONED_TABLE.key
    implementation = str(schema.options.get("format-table.implementation", "")).lower()
    if is_external or implementation == "engine":
        why = "it is external" if is_external else "'format-table.implementation' is 'engine'"
        raise BadOptionValue(
            f"format table {name} cannot have partitions that the catalog registers: {why}",
            hint=f"leave '{key}' out: its directories are its partitions",
            option=key,
            value="true",
        )


def check_format_table(schema: TableSchema) -> None:
    """Check the schema of a format table.

    Raises:
        BadOptionValue: a primary key, an unknown format, or a wrong option of the format.
        SchemaMismatch: no column is left for the files, or a text table has other columns than one STRING.
        UnsupportedFormat: the format cannot store the type of a column, or has not this codec.
    """
    options = TableOptions(schema.options)
    kind = file_format_of(options)
    if schema.primary_keys:
        raise BadOptionValue(
            "a format table cannot have a primary key", hint="leave 'type' = 'format-table' out", option="primary-key"
        )
    if kind not in PLAIN_FORMATS:
        raise BadOptionValue(
            f"format tables have no files of the format {kind!r}", hint=f"'file.format' is one of {', '.join(PLAIN_FORMATS)}",
            option=opt.FILE_FORMAT.key, value=kind,
        )  # fmt: skip
    fields = [f for f in schema.fields if f.name not in schema.partition_keys]
    if not fields:
        raise SchemaMismatch("all columns are partition columns", hint="a file needs at least one other column")
    if kind == "csv":
        CsvOptions.of(schema.options)
    for key in ("json.line-delimiter", "text.line-delimiter"):
        if schema.options.get(key) == "":
            raise BadOptionValue(
                f"{key} must not be empty", hint="leave it out for lines that end with '\\n'", option=key
            )
    if kind == "text" and [f.type.bare() for f in fields] != ["STRING"]:
        raise SchemaMismatch(
            f"a text table has one column of type STRING, not {', '.join(f'{f.name} {f.type.bare()}' for f in fields)}",
            hint="use 'file.format' = 'csv' for several columns",
        )
    refused = {"csv": CSV_UNSUPPORTED_TYPES, "json": _NOT_IN_JSON, "orc": _NOT_IN_ORC}.get(kind, ("BLOB",))
    for field in fields:
        if field.type.root in refused:
            raise UnsupportedFormat(
                f"column {field.name!r} is {field.type.bare()}, which {kind} files cannot store",
                hint="use 'file.format' = 'parquet', or 'json' for ARRAY, MAP and ROW",
                column=field.name,
                feature=field.type.root,
            )
    if kind in ("csv", "json", "text"):
        codec_of(compression_of(options))
