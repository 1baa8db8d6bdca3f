"""DESCRIBE and SHOW CREATE TABLE as Spark answers them: its types, rows and clauses.

They apply to statements that come through Spark's API (`Session.answers_like_spark`). Source: Spark 3.5 `DescribeTableExec`,
`ShowCreateTableExec`, `StructField.toDDL`.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from paimon_nb.base.identifier import quote
from paimon_nb.base.redact import redact_options
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.format.schema import FORMAT_TABLE
from paimon_nb.format.types import (
    Array,
    Char,
    DataField,
    DataType,
    LocalZonedTimestamp,
    Map,
    Multiset,
    Row,
    Timestamp,
    VarBinary,
    VarChar,
    is_nano,
)
from paimon_nb.options import TableOptions
from paimon_nb.options import table as opt
from paimon_nb.session.core.result import Result, rows_result
from paimon_nb.statements.query import BUCKET, FILE_PATH, PARTITION, ROW_INDEX
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.read.partition_spec import spec_texts

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import StoredView
    from paimon_nb.format.schema import TableSchema
    from paimon_nb.table.tables.table import Table

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TEXTS = ("CHAR", "VARCHAR", "DATE", "TIME", "TIMESTAMP")
"""Types whose default values are texts in quotes."""
_NO_COMMENT = ""
_DATABASE_PROPERTIES = ("comment", "location", "owner")
"""Properties of a database that Spark shows in rows of their own."""


def spark_type_text(t: DataType) -> str:
    """A type in Spark's words, as statements have it: `ARRAY<STRUCT<a: INT, b: STRING>>`."""
    match t:
        case Char():
            return f"CHAR({t.length})"
        case VarChar():
            return "STRING" if t.bare() == "STRING" else f"VARCHAR({t.length})"
        case VarBinary():
            return "BINARY"
        case Timestamp() | LocalZonedTimestamp() if is_nano(t):
            return "STRING"
        case Timestamp():
            return "TIMESTAMP_NTZ"
        case LocalZonedTimestamp():
            return "TIMESTAMP"
        case Array():
            return f"ARRAY<{spark_type_text(t.element)}>"
        case Multiset():
            return f"MAP<{spark_type_text(t.element)}, INT>"
        case Map():
            return f"MAP<{spark_type_text(t.key)}, {spark_type_text(t.value)}>"
        case Row():
            return "STRUCT<" + ", ".join(_struct_field_text(f) for f in t.fields) + ">"
    if t.root == "BINARY":
        return "BINARY"
    return t.bare().replace(" ", "") if t.root == "DECIMAL" else t.bare()


def describe_columns(fields: Sequence[DataField], partition_keys: Sequence[str] = ()) -> Result:
    """One row for each column, then the partition columns under a heading."""
    return _as_rows(_column_rows(fields, partition_keys))


def partition_facts(table: Table, texts: Mapping[str, str]) -> dict[str, int]:
    """Numbers of one partition, by Java's names. `texts`: its values, as SHOW PARTITIONS has them."""
    store, keys = table.store, table.partition_keys
    entries = live_entries(store, store.latest())
    named = {
        p for p in {e.partition for e in entries}
        if spec_texts(table.schema, dict(zip(keys, store.partition_values(p), strict=True))) == dict(texts)
    }  # fmt: skip
    files = [e.file for e in entries if e.partition in named]
    return {
        "fileCount": len(files),
        "fileSizeInBytes": sum(f.file_size for f in files),
        "lastFileCreationTime": max((f.creation_time_ms or 0 for f in files), default=0),
        "recordCount": sum(f.row_count for f in files),
    }


def partition_details(table: Table, texts: Mapping[str, str]) -> dict[str, str]:
    """What DESCRIBE EXTENDED ... PARTITION shows: values, numbers of files and rows."""
    facts = partition_facts(table, texts)
    parameters = ", ".join(f"{k}={v}" for k, v in facts.items())
    return {
        "# Detailed Partition Information": "",
        "Database": table.name.database,
        "Table": table.name.table,
        "Partition Values": f"[{', '.join(f'{k}={v}' for k, v in texts.items())}]",
        "Partition Parameters": f"{{{parameters}}}",
        "Created Time": _java_date(facts["lastFileCreationTime"]),
        "Last Access": "UNKNOWN",
        "Partition Statistics": f"{facts['fileSizeInBytes']} bytes, {facts['recordCount']} rows",
    }


def _java_date(wall_ms: int) -> str:
    """A wall time of this machine in the words of Java's `Date`: Fri Nov 28 13:32:10 UTC 2026."""
    wall = datetime.fromtimestamp(wall_ms / 1000, UTC).replace(tzinfo=None)
    return wall.astimezone().strftime("%a %b %d %H:%M:%S %Z %Y")


def _lines_of_defaults(schema: TableSchema) -> list[tuple[Any, ...]]:
    """The rows of DESCRIBE EXTENDED about columns with default values."""
    found = [(f.name, _simple_type_text(f.type), _default(f)) for f in schema.fields if f.default_value is not None]
    return [("", "", _NO_COMMENT), ("# Column Default Values", "", _NO_COMMENT), *found] if found else []


def _lines_of_not_null(schema: TableSchema) -> list[tuple[Any, ...]]:
    """The rows of DESCRIBE EXTENDED about columns that are NOT NULL."""
    found = [(f.name, _simple_type_text(f.type), "NOT NULL") for f in schema.fields if not f.type.nullable]
    return [("# Column Not Null", "", _NO_COMMENT), *found] if found else []


def describe_extended(catalog: str, table: Table, of_partition: Mapping[str, str] | None = None) -> Result:
    """DESCRIBE EXTENDED: the columns, Spark's metadata columns, and the table's name, comment, location and options.

    Args:
        of_partition: the values of a partition that is described, too.
    """
    schema = table.schema
    lines = _column_rows(schema.fields, schema.partition_keys)
    lines += [("", "", _NO_COMMENT), ("# Metadata Columns", "", _NO_COMMENT)]
    by_name = {f.name: f for f in schema.fields}
    partition = ",".join(f"{key}:{_simple_type_text(by_name[key].type)}" for key in schema.partition_keys)
    metadata = {FILE_PATH: "string", ROW_INDEX: "bigint", PARTITION: f"struct<{partition}>", BUCKET: "int"}
    if table.options.get(opt.ROW_TRACKING_ENABLED):
        metadata |= {"_ROW_ID": "bigint", "_SEQUENCE_NUMBER": "bigint"}
    lines += [(name, kind, _NO_COMMENT) for name, kind in metadata.items()]
    kind = "EXTERNAL" if "path" in schema.options else "MANAGED"
    lines += [("", "", _NO_COMMENT), ("# Detailed Table Information", "", _NO_COMMENT)]
    lines += [("Name", f"{catalog}.{table.name}", _NO_COMMENT), ("Type", kind, _NO_COMMENT)]
    if schema.comment is not None:
        lines.append(("Comment", schema.comment, _NO_COMMENT))
    lines += [("Location", table.path, _NO_COMMENT), ("Provider", provider_of(schema), _NO_COMMENT)]
    options = ",".join(f"{k}={v}" for k, v in sorted(_spark_table_properties(table).items()))
    lines.append(("Table Properties", f"[{options}]", _NO_COMMENT))
    lines += _lines_of_defaults(schema)
    if of_partition:
        lines.append(("", "", _NO_COMMENT))
        lines += [(key, value, _NO_COMMENT) for key, value in partition_details(table, of_partition).items()]
        lines.append(("", "", _NO_COMMENT))
    return _as_rows([*lines, *_lines_of_not_null(schema)])


def provider_of(schema: TableSchema) -> str:
    """The provider in USING: paimon, or the format of a format table's files."""
    if schema.options.get("type") == FORMAT_TABLE:
        return str(TableOptions(schema.options).get(opt.FILE_FORMAT)).lower()
    return "paimon"


def spark_create_table_text(catalog: str, table: Table) -> str:
    """CREATE TABLE text with Spark's clauses."""
    schema = table.schema
    columns = []
    for f in schema.fields:
        not_null = "" if f.type.nullable else " NOT NULL"
        default = f" DEFAULT {_default(f)}" if f.default_value is not None else ""
        comment = f" COMMENT {text_literal(f.description)}" if f.description else ""
        columns.append(f"  {_name(f.name)} {spark_type_text(f.type)}{not_null}{default}{comment}")
    names = ".".join(map(_name, (catalog, table.name.database, table.name.table)))
    text = f"CREATE TABLE {names} (\n" + ",\n".join(columns) + f")\nUSING {provider_of(schema)}\n"
    if schema.partition_keys:
        text += f"PARTITIONED BY ({', '.join(map(_name, schema.partition_keys))})\n"
    if schema.comment is not None:
        text += f"COMMENT {text_literal(schema.comment)}\n"
    text += f"LOCATION {text_literal(table.path)}\n"
    options = [f"  {text_literal(k)} = {text_literal(v)}" for k, v in sorted(_spark_table_properties(table).items())]
    return text + "TBLPROPERTIES (\n" + ",\n".join(options) + ")\n"


def describe_database(catalog: str, database: str, properties: Mapping[str, str], *, extended: bool) -> Result:
    """DESCRIBE DATABASE: the names, Spark's own properties, and with EXTENDED all others in one row."""
    lines = {"Catalog Name": catalog, "Namespace Name": database}
    lines |= {key.capitalize(): properties[key] for key in _DATABASE_PROPERTIES if key in properties}
    others = sorted((k, v) for k, v in properties.items() if k not in _DATABASE_PROPERTIES)
    if extended:
        lines["Properties"] = "(" + ", ".join(f"({k},{v})" for k, v in others) + ")" if others else ""
    return rows_result({"info_name": list(lines), "info_value": list(lines.values())})


def describe_view(name: Identifier, view: StoredView, *, extended: bool) -> Result:
    """DESCRIBE of a view that a catalog stores, as Paimon's Spark extension answers it: with Paimon's types."""
    lines: list[tuple[Any, ...]] = [(f.name, str(f.type), f.description) for f in view.fields]
    if extended:
        columns = ", ".join(f.name for f in view.fields)
        options = ", ".join(f"{k}={v}" for k, v in sorted(redact_options(view.options).items()))
        lines += [("", "", _NO_COMMENT), ("# Detailed View Information", "", _NO_COMMENT)]
        lines += [("Name", str(name), _NO_COMMENT), ("Comment", view.comment or "", _NO_COMMENT)]
        lines += [
            ("View Text", view.query_in("spark"), _NO_COMMENT),
            ("View Query Output Columns", f"[{columns}]", _NO_COMMENT),
        ]
        lines.append(("View Properties", f"[{options}]", _NO_COMMENT))
    return _as_rows(lines)


def spark_create_view_text(name: Identifier, view: StoredView) -> str:
    """CREATE VIEW text of a view that a catalog stores, as Paimon's Spark extension writes it."""
    columns = [
        _name(f.name) + (f" COMMENT {text_literal(f.description)}" if f.description else "") for f in view.fields
    ]
    text = f"CREATE VIEW {name} (\n  " + ",\n  ".join(columns) + ")\n"
    if view.comment is not None:
        text += f"COMMENT {text_literal(view.comment)}\n"
    if view.options:
        options = sorted(redact_options(view.options).items())
        text += (
            "TBLPROPERTIES (\n  " + ",\n  ".join(f"{text_literal(k)} = {text_literal(v)}" for k, v in options) + ")\n"
        )
    return f"{text}AS\n{view.query_in('spark')}\n"


def _spark_table_properties(table: Table) -> dict[str, str]:
    """The options, with the keys and the path, which are properties in Spark. Secrets are masked."""
    schema = table.schema
    keys = {"primary-key": ",".join(schema.primary_keys)} if schema.primary_keys else {}
    return {**redact_options(schema.options), **keys, "path": table.path}


def _column_rows(fields: Sequence[DataField], partition_keys: Sequence[str]) -> list[tuple[Any, ...]]:
    lines: list[tuple[Any, ...]] = [(f.name, _simple_type_text(f.type), f.description) for f in fields]
    if partition_keys:
        by_name = {f.name: f for f in fields}
        lines += [("# Partition Information", "", _NO_COMMENT), ("# col_name", "data_type", "comment")]
        lines += [(key, _simple_type_text(by_name[key].type), by_name[key].description) for key in partition_keys]
    return lines


def _as_rows(lines: Sequence[tuple[Any, ...]]) -> Result:
    return rows_result(
        {name: [line[i] for line in lines] for i, name in enumerate(("col_name", "data_type", "comment"))}
    )


def _simple_type_text(t: DataType) -> str:
    """A type as DESCRIBE has it: `array<struct<a:int,b:string>>`. Names of fields keep their case."""
    match t:
        case Array():
            return f"array<{_simple_type_text(t.element)}>"
        case Multiset():
            return f"map<{_simple_type_text(t.element)},int>"
        case Map():
            return f"map<{_simple_type_text(t.key)},{_simple_type_text(t.value)}>"
        case Row():
            return "struct<" + ",".join(f"{f.name}:{_simple_type_text(f.type)}" for f in t.fields) + ">"
    return spark_type_text(t).lower()


def _struct_field_text(f: DataField) -> str:
    not_null = "" if f.type.nullable else " NOT NULL"
    comment = f" COMMENT {text_literal(f.description)}" if f.description else ""
    return f"{_name(f.name)}: {spark_type_text(f.type)}{not_null}{comment}"


def _default(f: DataField) -> str:
    assert f.default_value is not None
    return text_literal(f.default_value) if f.type.root in _TEXTS else f.default_value


def _name(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else quote(name)
