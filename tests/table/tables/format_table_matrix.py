"""All types in files of all formats, written and read by other libraries: what a format table gives for each of them.

A cell is a type, a format and another library. It is `equal`, a named error, or it differs for a reason that stands here.
"""

from __future__ import annotations

import datetime as dt
import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import duckdb
import pandas as pd
import pyarrow as pa
from pyarrow import csv as arrow_csv
from pyarrow import dataset, orc
from pyarrow import parquet as pq

from paimon_nb.base.errors import PaimonError
from paimon_nb.format.types import arrow_type

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb.table.tables.table import Table
    from paimon_nb.workbench import Workbench

FORMATS = ("csv", "json", "parquet", "orc")
VALUES: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, 127, 0],
    "SMALLINT": [-32768, 32767],
    "INT": [-(2**31), 2**31 - 1],
    "BIGINT": [-(2**63), 2**63 - 1, 2**53 + 1],
    "FLOAT": [1.5, -0.0, 3.4028234663852886e38, float("inf"), float("-inf"), float("nan")],
    "DOUBLE": [0.1, -1e-300, 1.7976931348623157e308, float("inf"), float("nan")],
    "DECIMAL(10, 2)": [Decimal("1.50"), Decimal("-99999999.99")],
    "DECIMAL(38, 0)": [Decimal(10**38 - 1), Decimal(1 - 10**38)],
    "DECIMAL(38, 18)": [Decimal("12345678901234567890.123456789012345678")],
    "STRING": [
        "a", "", "NULL", "null", "\\N", "a,b", 'q"q', '"', "back\\slash", "line\nbreak", " sp ", "ä€😀", "1", "true", "NaN", "'",
        "#c", "\t", "\\",
    ],
    "VARCHAR(8)": ["x"],
    "BINARY(3)": [b"abc"],
    "BYTES": [b"", b"\x00\xff", b"text"],
    "DATE": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29), dt.date(9999, 12, 31)],
    "TIME(0)": [dt.time(0), dt.time(23, 59, 59)],
    "TIME(3)": [dt.time(1, 2, 3, 4000)],
    "TIMESTAMP(0)": [dt.datetime(1969, 12, 31, 23, 59, 59)],
    "TIMESTAMP(3)": [dt.datetime(2024, 1, 2, 3, 4, 5, 678000), dt.datetime(1600, 1, 1)],
    "TIMESTAMP(6)": [dt.datetime(9999, 12, 31, 23, 59, 59, 999999), dt.datetime(1969, 12, 31, 23, 59, 59, 1)],
    "TIMESTAMP(9)": ["1969-12-31 23:59:58.123456789"],
    "TIMESTAMP_LTZ(3)": [dt.datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)],
    "TIMESTAMP_LTZ(6)": [dt.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=dt.UTC), dt.datetime(2024, 7, 1, tzinfo=dt.UTC)],
    "ARRAY<INT>": [[1, None, 3], []],
    "ARRAY<STRING>": [["a", ""], []],
    "ARRAY<ARRAY<INT>>": [[[1], [], None]],
    "MAP<STRING, INT>": [{"a": 1, "b": None}, {}],
    "MAP<INT, STRING>": [{1: "x"}],
    "ROW<a INT, b STRING>": [{"a": 1, "b": "x"}, {"a": None, "b": None}],
    "ROW<A ARRAY<ROW<x DATE, y DECIMAL(5, 2)>>>": [{"A": [{"x": dt.date(1969, 1, 1), "y": Decimal("1.25")}]}],
}  # fmt: skip
"""Type -> values; each table also has a row with NULL."""
NESTED = tuple(t for t in VALUES if t.startswith(("ARRAY", "MAP", "ROW")))


def table_of(wb: Workbench, kind: str, sql_type: str) -> Table:
    """An empty format table `t (id INT, v <type>)`, in which a text that does not fit is an error."""
    strict = " OPTIONS ('csv.mode' = 'failfast')" if kind == "csv" else ""
    wb.run("DROP TABLE IF EXISTS t PURGE")
    wb.run(f"CREATE TABLE t (id INT, v {sql_type}) USING {kind}{strict}")
    return wb.table("t")


def rows_of(table: Table, sql_type: str) -> pa.Table:
    """The values of a type as rows of its table."""
    values, arrow = [*VALUES[sql_type], None], arrow_type(table.schema.field("v").type)
    column = pa.array(values).cast(arrow) if sql_type == "TIMESTAMP(9)" else pa.array(values, arrow)
    return pa.table({"id": pa.array(range(len(values)), pa.int32()), "v": column})


def plain(value: Any) -> Any:
    """A value that can be compared: NaN as text, an instant in UTC."""
    match value:
        case float() if value != value:
            return "NaN"
        case list() | tuple():
            return type(value)(plain(v) for v in value)
        case dict():
            return [(k, plain(v)) for k, v in value.items()]
        case dt.datetime() if value.tzinfo is not None:
            return value.astimezone(dt.UTC)
    return value


def in_order(rows: pa.Table) -> list[Any]:
    """The column `v` by `id`."""
    return [
        plain(row["v"]) for row in sorted(rows.to_pylist(), key=lambda row: row["id"] if row["id"] is not None else -1)
    ]


# -- others write


def _duckdb_writes(rows: pa.Table, kind: str, path: str) -> None:
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.register("rows", rows)
        con.execute(f"COPY (FROM rows) TO '{path}' (FORMAT {kind}{', HEADER false' if kind == 'csv' else ''})")


def _pandas_writes(rows: pa.Table, kind: str, path: str) -> None:
    frame = rows.to_pandas()
    match kind:
        case "csv":
            frame.to_csv(path, index=False, header=False)
        case "json":
            frame.to_json(path, orient="records", lines=True, date_format="iso")
        case "parquet":
            frame.to_parquet(path)
        case _:
            frame.to_orc(path)


def _arrow_writes(rows: pa.Table, kind: str, path: str) -> None:
    match kind:
        case "csv":
            arrow_csv.write_csv(rows, path, arrow_csv.WriteOptions(include_header=False))
        case "parquet":
            pq.write_table(rows, path)
        case _:
            orc.write_table(rows, path)


WRITERS: dict[str, tuple[Callable[[pa.Table, str, str], None], tuple[str, ...]]] = {
    "duckdb": (_duckdb_writes, ("csv", "json", "parquet")),
    "pandas": (_pandas_writes, FORMATS),
    "pyarrow": (_arrow_writes, ("csv", "parquet", "orc")),
}
"""Library -> how it writes a file, and the formats that it writes."""

_BASE64 = "error: BYTES are Base64 in text, as in Java"
_NAN = "differs: NaN is NULL in a frame"
_FLOATS = "error: a frame has 2**63 - 1 beside NULL as a floating point number"
_SIX = "differs: to_json writes milliseconds"
READ_DIFFERENCES = {
    **{(w, "csv", t): _BASE64 for w in ("duckdb", "pandas", "pyarrow") for t in ("BINARY(3)", "BYTES")},
    **{(w, "json", t): _BASE64 for w in ("duckdb", "pandas") for t in ("BINARY(3)", "BYTES")},
    **{("pandas", f, t): _NAN for f in FORMATS for t in ("FLOAT", "DOUBLE")},
    ("pandas", "csv", "STRING"): "differs: to_csv writes empty text as NULL",
    **{("pandas", f, "BIGINT"): _FLOATS for f in FORMATS},
    **{("pandas", "json", f"DECIMAL(38, {n})"): "differs: to_json writes decimals as floating point numbers" for n in (0, 18)},
    **{("pandas", "json", t): _SIX for t in ("TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(6)")},
    **{("pandas", "json", t): "error: to_json writes the pairs of a map as an array" for t in ("MAP<STRING, INT>", "MAP<INT, STRING>")},
}  # fmt: skip
"""Library, format and type -> why what it writes is not read as equal rows."""


def read_outcome(wb: Workbench, writer: str, kind: str, sql_type: str) -> str | None:
    """`equal`, `differs`, `error`, or None if the library does not write the type; anything else is a fault."""
    table = table_of(wb, kind, sql_type)
    rows = rows_of(table, sql_type)
    path = f"{table.path}/part-0.{kind}"
    try:
        WRITERS[writer][0](rows, kind, path)
    except (pa.ArrowException, NotImplementedError, UnicodeDecodeError):
        return None
    try:
        found = in_order(table.to_arrow())
    except PaimonError as error:
        return "error" if "part-0" in str(error) else str(error)
    return "equal" if found == in_order(rows) else "differs"


# -- others read


def _duckdb_type(sql_type: str) -> str:
    t = re.sub(r"BINARY\(3\)|BYTES|\bSTRING\b|VARCHAR\(8\)", "VARCHAR", sql_type)
    t = re.sub(r"TIMESTAMP_LTZ\(\d\)", "TIMESTAMPTZ", t).replace("TIMESTAMP(9)", "TIMESTAMP_NS")
    t = re.sub(r"\b(TIMESTAMP|TIME)\(\d\)", r"\1", t)
    while (inner := re.sub(r"(ARRAY|ROW|MAP)<([^<>]*)>", _duckdb_nested, t)) != t:
        t = inner
    return t


def _duckdb_nested(found: re.Match[str]) -> str:
    kind, inside = found.groups()
    return {"ARRAY": f"{inside}[]", "ROW": f"STRUCT({inside})", "MAP": f"MAP({inside})"}[kind]


def _duckdb_reads(path: str, kind: str, sql_type: str, _: pa.DataType) -> pa.Table:
    columns = f"columns = {{'id': 'INTEGER', 'v': '{_duckdb_type(sql_type)}'}}"
    source = {
        "csv": f"read_csv('{path}', header = false, {columns}, escape = '\\', quote = '\"', allow_quoted_nulls = false, new_line = '\\n')",
        "json": f"read_json('{path}', format = 'newline_delimited', {columns})",
        "parquet": f"read_parquet('{path}')",
    }[kind]
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        return con.sql(f"FROM {source}").to_arrow_table()


def _arrow_reads(path: str, kind: str, _: str, arrow: pa.DataType) -> pa.Table:
    if kind != "csv":
        return pq.read_table(path) if kind == "parquet" else orc.read_table(path)
    return arrow_csv.read_csv(
        path,
        arrow_csv.ReadOptions(column_names=["id", "v"]),
        arrow_csv.ParseOptions(escape_char="\\", double_quote=False, newlines_in_values=True),
        arrow_csv.ConvertOptions(
            column_types={"v": arrow}, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False
        ),
    )


def _pandas_reads(path: str, kind: str, *_: object) -> pa.Table:
    return pa.Table.from_pandas((pd.read_parquet if kind == "parquet" else pd.read_orc)(path, dtype_backend="pyarrow"))


READERS: dict[str, tuple[Callable[[str, str, str, pa.DataType], pa.Table], tuple[str, ...]]] = {
    "duckdb": (_duckdb_reads, ("csv", "json", "parquet")),
    "pandas": (_pandas_reads, ("parquet", "orc")),
    "pyarrow": (_arrow_reads, ("csv", "parquet", "orc")),
}
_NANOSECONDS = "error: Arrow reads times of ORC files as nanoseconds since 1970"
_TIME = "differs: ORC files have no type for TIME"
WRITE_DIFFERENCES = {
    **{(w, f, t): "differs: BYTES are Base64 in text, as in Java" for w in ("duckdb", "pyarrow") for f in ("csv", "json") for t in ("BINARY(3)", "BYTES")},
    **{("pyarrow", "csv", f"TIMESTAMP_LTZ({p})"): "error: instants are times of the local zone in text, as in Java" for p in (3, 6)},
    ("duckdb", "parquet", "TIMESTAMP(9)"): "differs: DuckDB reads INT96 as microseconds",
    **{(w, "orc", t): _NANOSECONDS for w in ("pandas", "pyarrow") for t in ("TIMESTAMP(3)", "TIMESTAMP(6)")},
    **{(w, "orc", t): _TIME for w in ("pandas", "pyarrow") for t in ("TIME(0)", "TIME(3)")},
}  # fmt: skip
"""Library, format and type -> why the library does not read equal rows from what a format table wrote."""


def write_outcome(wb: Workbench, reader: str, kind: str, sql_type: str) -> str:
    """`equal`, `differs`, or `error` of the other library."""
    table = table_of(wb, kind, sql_type)
    rows = rows_of(table, sql_type)
    table.append(rows)
    if in_order(table.to_arrow()) != in_order(rows):
        return "not read back"
    [path] = [str(p) for p in _data_files(table)]
    try:
        found = READERS[reader][0](path, kind, sql_type, rows.schema.field("v").type)
    except (pa.ArrowException, duckdb.Error):
        return "error"
    return "equal" if in_order(found) == in_order(rows) else "differs"


def _data_files(table: Table) -> list[Path]:
    from pathlib import Path

    return [p for p in Path(table.path).glob("data-*") if p.is_file()]


# -- partitions

PARTITIONS: dict[str, list[Any]] = {
    "BOOLEAN": [True, False],
    "TINYINT": [-128, 127],
    "SMALLINT": [5],
    "INT": [-5, 0, 2**31 - 1],
    "BIGINT": [-(2**63), 2**63 - 1],
    "FLOAT": [1.5, -0.0, float("nan"), float("inf")],
    "DOUBLE": [0.1, 1e300, float("-inf"), 1e-5],
    "DECIMAL(10, 2)": [Decimal("1.50"), Decimal("-0.05")],
    "DECIMAL(38, 0)": [Decimal(10**38 - 1)],
    "STRING": [
        "a", "a/b", "a=b", "a b", "ä", "%41", "a%2Fb", "1", "null", ".", "..", "a:b", "a?b*", "#x", "{x}", 'q"q', "'", "\\x", "_hidden",
        ".hidden", "x" * 180, "a\tb", " lead", "trail ",
    ],
    "VARCHAR(8)": ["x"],
    "DATE": [dt.date(1, 1, 1), dt.date(1969, 12, 31), dt.date(2024, 2, 29)],
    "TIME(3)": [dt.time(1, 2, 3, 4000), dt.time(0)],
    "TIMESTAMP(0)": [dt.datetime(1969, 12, 31, 23, 59, 59)],
    "TIMESTAMP(3)": [dt.datetime(2024, 1, 2, 3, 4, 5, 678000), dt.datetime(2024, 1, 2)],
    "TIMESTAMP(6)": [dt.datetime(1969, 12, 31, 23, 59, 59, 1)],
    "TIMESTAMP_LTZ(3)": [dt.datetime(2024, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)],
}  # fmt: skip
"""Type of a partition column -> values; each table also has a partition NULL."""


def partitioned(wb: Workbench, sql_type: str) -> tuple[Table, pa.Table]:
    """An empty format table `t (id INT, v <type>)` by `v`, and a row for each value."""
    wb.run("DROP TABLE IF EXISTS t PURGE")
    wb.run(f"CREATE TABLE t (id INT, v {sql_type}) USING parquet PARTITIONED BY (v)")
    table, values = wb.table("t"), [*PARTITIONS[sql_type], None]
    column = pa.array(values, arrow_type(table.schema.field("v").type))
    return table, pa.table({"id": pa.array(range(len(values)), pa.int32()), "v": column})


def _hive_of(field: pa.Field) -> dataset.Partitioning:
    return dataset.partitioning(pa.schema([field]), flavor="hive")


def _duckdb_partitions(rows: pa.Table, root: str) -> None:
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        con.register("rows", rows)
        con.execute(f"COPY (FROM rows) TO '{root}' (FORMAT parquet, PARTITION_BY (v), OVERWRITE_OR_IGNORE true)")


def _arrow_partitions(rows: pa.Table, root: str) -> None:
    by = _hive_of(rows.schema.field("v"))
    dataset.write_dataset(rows, root, format="parquet", partitioning=by, existing_data_behavior="overwrite_or_ignore")


def _pandas_partitions(rows: pa.Table, root: str) -> None:
    rows.to_pandas().to_parquet(root, partition_cols=["v"])


PARTITION_WRITERS = {"duckdb": _duckdb_partitions, "pyarrow": _arrow_partitions, "pandas": _pandas_partitions}


def _duckdb_reads_partitions(root: str, sql_type: str, _: pa.Field) -> pa.Table:
    by = f"hive_partitioning = true, hive_types = {{'v': '{_duckdb_type(sql_type)}'}}"
    with duckdb.connect() as con:
        con.execute("SET TimeZone = 'UTC'")
        return con.sql(f"SELECT id, v FROM read_parquet('{root}/*/*.parquet', {by})").to_arrow_table()


def _arrow_reads_partitions(root: str, _: str, field: pa.Field) -> pa.Table:
    return dataset.dataset(root, format="parquet", partitioning=_hive_of(field)).to_table(columns=["id", "v"])


PARTITION_READERS = {"duckdb": _duckdb_reads_partitions, "pyarrow": _arrow_reads_partitions}


# -- files whose columns have other types

STORED: dict[str, tuple[pa.DataType, list[Any]]] = {
    "int8": (pa.int8(), [1, -128, None]), "int16": (pa.int16(), [1, 300]), "int32": (pa.int32(), [1, 70000]), "int64": (pa.int64(), [1, 2**40]),
    "small int64": (pa.int64(), [0, 1]), "uint8": (pa.uint8(), [255]), "uint32": (pa.uint32(), [2**32 - 1]), "uint64": (pa.uint64(), [2**64 - 1]),
    "half": (pa.float16(), [1.5]), "float": (pa.float32(), [1.5, 0.1]), "double": (pa.float64(), [1.5, 0.1]), "great double": (pa.float64(), [1e300]),
    "whole double": (pa.float64(), [1.0, -2.0]), "bool": (pa.bool_(), [True, False, None]),
    "string": (pa.string(), ["a", "12", "2024-01-02", None]), "numbers": (pa.string(), ["12", "-3"]), "large string": (pa.large_string(), ["x"]),
    "string view": (pa.string_view(), ["x"]), "dictionary": (pa.dictionary(pa.int32(), pa.string()), ["x", "y"]),
    "binary": (pa.binary(), [b"a", b"\xff"]), "fixed binary": (pa.binary(3), [b"abc"]),
    "decimal 5, 2": (pa.decimal128(5, 2), [Decimal("1.25")]), "decimal 38, 10": (pa.decimal128(38, 10), [Decimal("1.2500000001")]),
    "decimal 10, 0": (pa.decimal128(10, 0), [Decimal("7")]),
    "date32": (pa.date32(), [dt.date(2024, 1, 2)]), "date64": (pa.date64(), [dt.date(2024, 1, 2)]),
    "time32": (pa.time32("ms"), [dt.time(1, 2, 3)]), "time64": (pa.time64("us"), [dt.time(1, 2, 3, 4)]),
    "seconds": (pa.timestamp("s"), [dt.datetime(2024, 1, 2, 3, 4, 5)]), "midnight": (pa.timestamp("ms"), [dt.datetime(2024, 1, 2)]),
    "microseconds": (pa.timestamp("us"), [dt.datetime(2024, 1, 2, 3, 4, 5, 6)]), "nanoseconds": (pa.timestamp("ns"), [1704164645000000001]),
    "instants": (pa.timestamp("us", "UTC"), [dt.datetime(2024, 1, 2, 3, tzinfo=dt.UTC)]),
    "null": (pa.null(), [None, None]), "list": (pa.list_(pa.int64()), [[1, 2], None, []]), "fixed list": (pa.list_(pa.int32(), 2), [[1, 2]]),
    "struct": (pa.struct([("a", pa.int32()), ("B", pa.string())]), [{"a": 1, "B": "x"}, None]),
    "fewer fields": (pa.struct([("a", pa.int32())]), [{"a": 1}]),
    "fields in another order": (pa.struct([("b", pa.string()), ("c", pa.int32()), ("a", pa.int64())]), [{"a": 1, "b": "x", "c": 9}]),
    "map": (pa.map_(pa.string(), pa.int64()), [[("a", 1)], None]), "list of struct": (pa.list_(pa.struct([("A", pa.int32())])), [[{"A": 1}], [None]]),
}  # fmt: skip
"""Columns of files, with values."""
READ_AS = (
    "TINYINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "BOOLEAN", "STRING", "BYTES", "DECIMAL(5, 2)", "DECIMAL(38, 0)", "DATE", "TIME(3)",
    "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)", "TIMESTAMP_LTZ(3)", "ARRAY<INT>", "ARRAY<STRING>", "ROW<a INT, b STRING>",
    "ARRAY<ROW<a INT, b STRING>>", "MAP<STRING, INT>",
)  # fmt: skip


def means_the_same(stored: Any, found: Any) -> bool:
    """Whether a value that was read is the stored one, perhaps of another type; a text is one of any value."""
    if stored is None or found is None:
        return stored is found
    if isinstance(stored, list) and isinstance(found, list):
        return len(stored) == len(found) and all(map(means_the_same, stored, found))
    if isinstance(stored, dict) and isinstance(found, dict):
        return all(means_the_same({k.lower(): v for k, v in stored.items()}.get(k), v) for k, v in found.items())
    if isinstance(found, str):
        return not isinstance(stored, bytes) or stored.decode() == found
    return _scalar_means_the_same(stored, found)


def _scalar_means_the_same(stored: Any, found: Any) -> bool:
    if isinstance(stored, bool) or isinstance(found, bool):
        return stored is found or (
            isinstance(stored, bool) and type(found) in (int, float, Decimal) and int(stored) == found
        )
    if isinstance(found, bytes):
        return (stored.encode() if isinstance(stored, str) else stored) == found
    if isinstance(stored, str):
        return isinstance(found, int | float | Decimal) and Decimal(stored) == Decimal(found)
    if isinstance(found, float) and isinstance(stored, int | float | Decimal):
        return abs(float(stored) - found) <= abs(found) * 1e-7  # FLOAT has seven digits
    if isinstance(stored, float) and isinstance(found, int | Decimal):
        return abs(stored - float(found)) <= abs(stored) * 1e-7
    if isinstance(stored, dt.datetime | dt.date) and isinstance(found, dt.datetime | dt.date):
        return _as_utc(stored) == _as_utc(found)
    return bool(type(stored) is type(found) and stored == found) or (
        isinstance(stored, int | Decimal) and isinstance(found, int | Decimal) and stored == found
    )


def _as_utc(value: dt.date) -> pd.Timestamp:
    at = pd.Timestamp(value)
    return at.tz_convert("UTC").tz_localize(None) if at.tzinfo is not None else at


def misread(wb: Workbench, kind: str, sql_type: str, stored: str) -> str | None:
    """What is wrong with reading a stored column as a type: neither the same values nor an error that names file and column."""
    arrow, values = STORED[stored]
    table = table_of(wb, kind, sql_type)
    rows = pa.table({"id": pa.array(range(len(values)), pa.int32()), "v": pa.array(values, arrow)})
    try:
        WRITERS["pyarrow"][0](rows, kind, f"{table.path}/part-0.{kind}")
    except (pa.ArrowException, NotImplementedError):
        return None
    try:
        found = table.to_arrow()["v"].to_pylist()
    except PaimonError as error:
        return None if "part-0" in str(error) and "column v" in str(error) else str(error)
    before = rows["v"].to_pylist()
    return None if all(map(means_the_same, before, found)) else f"{before} -> {found}"
