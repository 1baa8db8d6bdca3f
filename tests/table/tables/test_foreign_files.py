"""Format tables and the files of others: what DuckDB, pyarrow and pandas write is read, and what is written here they read."""

import datetime as dt
import json
from decimal import Decimal
from pathlib import Path

import duckdb
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.dataset as ds
import pyarrow.orc as orc
import pyarrow.parquet as pq
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import AlreadyExists, ReadError, SchemaMismatch, UnsupportedFormat, UnsupportedOperation

UTC = dt.UTC
VALUES = {
    "BOOLEAN": [True, False],
    "TINYINT": [127, -128],
    "SMALLINT": [32767, -32768],
    "INT": [2147483647, -2147483648],
    "BIGINT": [9223372036854775807, -9223372036854775808],
    "FLOAT": [1.5, -0.25],
    "DOUBLE": [1e300, -0.1],
    "DECIMAL(20, 2)": [Decimal("123456789012345678.90"), Decimal("-0.01")],
    "STRING": ["a,\"b'\\c", "ä\u2028=/%:"],
    "DATE": [dt.date(2024, 2, 29), dt.date(1969, 12, 31)],
    "TIMESTAMP(3)": [dt.datetime(2024, 1, 5, 10, 11, 12, 345_000), dt.datetime(1969, 12, 31, 23, 59, 59, 500_000)],
    "TIMESTAMP(6)": [dt.datetime(2024, 1, 5), dt.datetime(1900, 1, 1, 0, 0, 0, 1)],
    "TIMESTAMP_LTZ(6)": [dt.datetime(2024, 1, 5, 10, tzinfo=UTC), dt.datetime(1969, 12, 31, 23, 59, 59, 1, tzinfo=UTC)],
}
FORMATS = ("parquet", "orc", "json", "csv")


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def made(wb, columns: str, kind: str, partitions: str = "", name: str = "t", **options: str):
    by = f" PARTITIONED BY ({partitions})" if partitions else ""
    extra = "".join(f", '{k}' = '{v}'" for k, v in options.items())
    wb.run(f"CREATE TABLE {name} ({columns}) USING {kind}{by} TBLPROPERTIES ('owner-note' = 'x'{extra})")
    return wb.table(name)


def rows_of(table, values: list) -> pa.Table:
    schema = table.to_arrow().schema
    return pa.table({"id": range(len(values) + 1), "v": [*values, None]}, schema=schema)


def sorted_values(found: pa.Table) -> list:
    return [r["v"] for r in sorted(found.to_pylist(), key=lambda r: r["id"])]


# -- values


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("type_name", sampled(VALUES, 3))
def test_values_are_read_by_others_and_read_from_them(wb, kind, type_name):
    values = VALUES[type_name]
    if kind == "orc" and type_name == "TIMESTAMP(3)":
        values = values[:1]  # the last second before 1970 is refused by name
    table = made(wb, f"id INT, v {type_name}", kind)
    rows = rows_of(table, values)
    table.append(rows)
    assert sorted_values(table.to_arrow()) == [*values, None]
    [file] = [p for p in Path(table.path).iterdir() if p.is_file()]
    read = {
        "parquet": lambda: pq.read_table(file), "orc": lambda: orc.read_table(file),
        "json": lambda: duckdb_rows(f"read_json('{file}')", rows.schema), "csv": lambda: duckdb_rows(f"read_csv('{file}', header = false, names = ['id', 'v'])", rows.schema),
    }[kind]()  # fmt: skip
    assert sorted_values(read.cast(rows.schema)) == [*values, None]
    file.unlink()
    write_as_others(rows, kind, Path(table.path) / "theirs")
    assert sorted_values(table.to_arrow()) == [*values, None]


def duckdb_rows(source: str, schema: pa.Schema) -> pa.Table:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    kinds = {pa.timestamp("us", "UTC"): "TIMESTAMPTZ", pa.string(): "VARCHAR"}
    names = {f.name: kinds.get(f.type, str(f.type)) for f in schema}
    duck = {
        "bool": "BOOLEAN",
        "int8": "TINYINT",
        "int16": "SMALLINT",
        "int32": "INT",
        "int64": "BIGINT",
        "float": "FLOAT",
        "date32[day]": "DATE",
    }
    typed = ", ".join(
        f"CAST({n} AS {duck.get(t, 'DECIMAL(20, 2)' if t.startswith('decimal') else 'TIMESTAMP' if t.startswith('timestamp') else t)}) AS {n}"
        for n, t in names.items()
    )
    return connection.sql(f"SELECT {typed} FROM {source}").to_arrow_table()


def write_as_others(rows: pa.Table, kind: str, path: Path) -> None:
    """One file each of pyarrow, and of DuckDB for text."""
    match kind:
        case "parquet":
            pq.write_table(rows, path)
        case "orc":
            orc.write_table(rows, path)
        case "csv":
            connection = duckdb.connect()
            connection.execute("SET TimeZone = 'UTC'")
            connection.sql("SELECT * FROM rows").write_csv(str(path), header=False)
        case "json":
            connection = duckdb.connect()
            connection.execute("SET TimeZone = 'UTC'")
            connection.execute(f"COPY (SELECT * FROM rows) TO '{path}' (FORMAT json)")


# -- partitions

PARTITIONS = {
    "BOOLEAN": [True, False, None],
    "INT": [7, -1, None],
    "BIGINT": [9223372036854775807, 0, None],
    "DOUBLE": [1.5, -1e300, None],
    "DECIMAL(10, 2)": [Decimal("1.00"), Decimal("-1.25"), None],
    "STRING": ["a/b=c %41", "ä 東", "x:y", None],
    "DATE": [dt.date(2024, 1, 5), dt.date(1969, 12, 31), None],
    "TIMESTAMP(3)": [dt.datetime(2024, 1, 5), dt.datetime(1969, 12, 31, 23, 59, 59, 500_000), None],
    "TIMESTAMP(6)": [dt.datetime(2024, 1, 5, 10, 11, 12, 345_678), None],
    "TIMESTAMP_LTZ(3)": [dt.datetime(2024, 1, 5, 10, 11, 12, 345_000, tzinfo=UTC), None],
}


@pytest.mark.parametrize("type_name", PARTITIONS)
def test_partitions_are_read_by_others_and_read_from_them(wb, type_name):
    table = made(wb, f"id INT, p {type_name}", "parquet", "p")
    values = PARTITIONS[type_name]
    schema = table.to_arrow().schema
    rows = pa.table({"id": range(len(values)), "p": values}, schema=schema)
    expected = rows.to_pylist()
    table.append(rows)
    assert by_id(table.to_arrow()) == expected
    assert [table.to_arrow(where="p IS NULL").num_rows, len(table.partition_specs())] == [1, len(values)]
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    duck_type = (
        type_name.replace("TIMESTAMP_LTZ(3)", "TIMESTAMPTZ")
        .replace("STRING", "VARCHAR")
        .partition("(3)")[0]
        .replace("TIMESTAMP(6)", "TIMESTAMP")
        .replace("DECIMAL(10, 2)", "VARCHAR")
    )
    found = connection.sql(
        f"SELECT id, p FROM read_parquet('{table.path}/*/*.parquet', hive_partitioning = true, hive_types = {{'p': {duck_type}}})"
    ).to_arrow_table()
    assert by_id(found.cast(schema)) == expected
    if not type_name.startswith(("TIMESTAMP", "DECIMAL", "BOOLEAN")):  # types that pyarrow does not parse from a path
        assert (
            by_id(
                ds.dataset(table.path, partitioning=ds.partitioning(pa.schema([schema.field("p")]), flavor="hive"))
                .to_table()
                .cast(schema)
            )
            == expected
        )
    table.overwrite(rows.slice(0, 0))
    assert table.count() == 0
    ds.write_dataset(
        rows,
        table.path,
        format="parquet",
        partitioning=["p"],
        partitioning_flavor="hive",
        existing_data_behavior="overwrite_or_ignore",
    )
    assert by_id(table.to_arrow()) == expected
    connection.execute(
        f"COPY (SELECT id, p FROM rows) TO '{table.path}' (FORMAT parquet, PARTITION_BY (p), OVERWRITE_OR_IGNORE, FILENAME_PATTERN 'duck{{i}}')"
    )
    assert by_id(table.to_arrow()) == sorted([*expected, *expected], key=lambda r: r["id"])


def by_id(rows: pa.Table) -> list[dict]:
    return sorted(rows.to_pylist(), key=lambda r: r["id"])


@pytest.mark.parametrize("legacy", ["false", "true"])
def test_timestamp_partitions_are_found_overwritten_truncated_and_dropped(wb, legacy):
    table = made(wb, "v INT, p TIMESTAMP(3)", "parquet", "p", **{"partition.legacy-name": legacy})
    wb.run("INSERT INTO t VALUES (1, TIMESTAMP '2024-01-05 00:00:00'), (2, TIMESTAMP '2024-01-05 10:11:12.345')")
    assert sorted(table.to_arrow()["v"].to_pylist()) == [1, 2]
    wb.run("INSERT OVERWRITE t VALUES (3, TIMESTAMP '2024-01-05 00:00:00')")
    assert sorted(table.to_arrow()["v"].to_pylist()) == [2, 3]
    wb.run("TRUNCATE TABLE t")
    assert (table.count(), list(Path(table.path).rglob("data*"))) == (0, [])
    wb.run("ALTER TABLE t DROP PARTITION (p = '2024-01-05 00:00:00')")
    assert [s["p"] for s in table.partition_specs(legacy=False)] == ["2024-01-05 10:11:12.345"]


def put(table, directory: str, rows: dict, name: str = "x.parquet") -> Path:
    path = Path(table.path) / directory
    path.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(rows), path / name)
    return path / name


def test_directories_of_hive_and_spark_are_partitions(wb):
    table = made(wb, "id INT, p INT", "parquet", "p")
    for i, directory in enumerate(["p=__HIVE_DEFAULT_PARTITION__", "p=__DEFAULT_PARTITION__", "P=1", "p= 5", "p=007", "_temporary/p=9"]):  # fmt: skip
        put(table, directory, {"id": pa.array([i], pa.int32())})
    (Path(table.path) / "_SUCCESS").touch()
    assert [tuple(r.values()) for r in by_id(table.to_arrow())] == [(0, None), (1, None), (2, 1), (3, 5), (4, 7)]


@pytest.mark.parametrize("directory", ["p=abc", "p=99999999999", "p=", "q=1", "1", "p=1.5"])
def test_a_directory_that_is_no_partition_is_an_error_that_names_it(wb, directory):
    table = made(wb, "id INT, p INT", "parquet", "p")
    put(table, "p=1", {"id": pa.array([1], pa.int32())})
    put(table, directory, {"id": pa.array([2], pa.int32())})
    with pytest.raises(ReadError, match=f"t: {directory} is not a partition: ") as refused:
        table.to_arrow()
    assert "starts with _" in (refused.value.hint or "")


def test_a_file_outside_of_the_partitions_is_an_error(wb):
    table = made(wb, "id INT, p INT", "parquet", "p")
    put(table, ".", {"id": pa.array([1], pa.int32())})
    with pytest.raises(ReadError, match=r"x\.parquet is not a partition: the file is outside of the partitions by p"):
        table.to_arrow()


def test_values_that_no_directory_can_name_are_refused_before_they_are_visible(wb):
    table = made(wb, "id INT, p STRING, b BYTES", "parquet", "p, b")
    for p, b in (("__HIVE_DEFAULT_PARTITION__", b"x"), ("a", b"\xff\xfe")):
        rows = pa.table({"id": [1], "p": [p], "b": pa.array([b], pa.binary())}).cast(table.to_arrow().schema)
        with pytest.raises(UnsupportedOperation, match="cannot be a partition: the directory"):
            table.append(rows)
    assert (table.count(), table.partition_specs()) == (0, [])


def test_partitions_are_added_as_directories(wb):
    made(wb, "id INT, p DATE", "csv", "p")
    wb.run("ALTER TABLE t ADD PARTITION (p = DATE '2024-01-05')")
    wb.run("ALTER TABLE t ADD IF NOT EXISTS PARTITION (p = '2024-01-05') PARTITION (p = NULL)")
    assert wb.run("SHOW PARTITIONS t").to_arrow()["partition"].to_pylist() == ["p=2024-01-05", "p=null"]
    assert {d.name for d in Path(wb.table("t").path).iterdir()} >= {"p=2024-01-05", "p=__HIVE_DEFAULT_PARTITION__"}
    with pytest.raises(AlreadyExists, match=r"already has partition \(p = 2024-01-05\)"):
        wb.run("ALTER TABLE t ADD PARTITION (p = '2024-01-05')")


# -- evolution and odd files


@pytest.mark.parametrize("kind", ["parquet", "orc"])
def test_names_in_another_case_and_missing_nested_fields_are_found(wb, kind):
    table = made(wb, "ID INT, Name STRING, r ROW<a INT, B ROW<c INT, d STRING>>, l ARRAY<ROW<x INT, y INT>>", kind)
    older = pa.table(
        {
            "id": pa.array([1], pa.int32()), "name": ["n"], "extra": [1.0],
            "R": pa.array([{"A": 1, "b": {"C": 2}}], pa.struct({"A": pa.int32(), "b": pa.struct({"C": pa.int32()})})),
            "l": pa.array([[{"x": 3}]], pa.list_(pa.struct({"x": pa.int32()}))),
        }
    )  # fmt: skip
    path = Path(table.path) / "theirs"
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(older, path) if kind == "parquet" else orc.write_table(older, path)
    assert table.to_arrow().to_pylist() == [
        {"ID": 1, "Name": "n", "r": {"a": 1, "B": {"c": 2, "d": None}}, "l": [{"x": 3, "y": None}]}
    ]


def test_json_keys_in_another_case_are_found(wb):
    table = made(wb, "ID INT, r ROW<a INT, B INT>", "json")
    (Path(table.path)).mkdir(parents=True, exist_ok=True)
    lines = [{"id": 1, "r": {"A": 1}}, {"ID": 2, "r": None}, {"Id": 3, "id": 4}]
    (Path(table.path) / "x.json").write_text("\n".join(map(json.dumps, lines)))
    assert table.to_arrow()["ID"].to_pylist() == [1, 2, 3]
    assert table.to_arrow()["r"].to_pylist() == [{"a": 1, "B": None}, None, None]


def test_columns_of_old_hive_files_are_found_by_position(wb):
    table = made(wb, "id INT, name STRING, p INT", "orc", "p")
    (Path(table.path) / "p=1").mkdir(parents=True)
    orc.write_table(
        pa.table({"_col0": pa.array([7], pa.int32()), "_col1": ["a"]}), Path(table.path) / "p=1" / "000000_0"
    )
    assert table.to_arrow().to_pylist() == [{"id": 7, "name": "a", "p": 1}]


@pytest.mark.parametrize(
    ("column", "values", "why"),
    [
        ("i", pa.array([1, 99_999_999_999]), "99999999999 not in range"),
        ("ts", pa.array([1_704_449_472_000_000_001] * 2, pa.timestamp("ns")), "would lose data"),
        ("r", pa.array(["x", "y"]), "it stores string where"),
    ],
)
def test_a_value_that_does_not_fit_is_an_error_of_its_column_only(wb, column, values, why):
    table = made(wb, "id INT, i INT, ts TIMESTAMP(6), r ROW<a INT>", "parquet")
    put(table, ".", {"id": pa.array([1, 2], pa.int32()), column: values})
    with pytest.raises(ReadError, match=f"x.parquet: column {column} cannot be read as .*{why}") as refused:
        table.to_arrow()
    assert (refused.value.facts["column"], "backup" in str(refused.value.hint)) == (column, False)
    others = [n for n in ("id", "i", "ts", "r") if n != column]
    assert table.to_arrow(others, where="id = 1").num_rows == 1
    assert table.count() == 2


def test_a_file_of_another_format_is_named(wb):
    table = made(wb, "id INT", "parquet")
    put(table, ".", {"id": pa.array([1], pa.int32())})
    (Path(table.path) / "z.txt").write_text("notes")
    with pytest.raises(UnsupportedFormat, match=r"t: z\.txt is not a parquet file") as refused:
        table.to_arrow()
    assert "starts with _" in (refused.value.hint or "")


def test_line_breaks_in_csv_values_come_back(wb):
    for name, options in (("t", {}), ("u", {"file.format": "csv"})):
        if options:
            wb.run(f"CREATE TABLE {name} (id INT, s STRING) WITH ('file.format' = 'csv')")
            table = wb.table(name)
        else:
            table = made(wb, "id INT, s STRING", "csv")
        rows = pa.table({"id": pa.array([1, 2, 3, 4], pa.int32()), "s": ["a\nb", "c\r", '"\r\n",\n', "\\\n"]})
        table.append(rows)
        assert (table.count(), by_id(table.to_arrow()), table.to_arrow(["id"]).num_rows) == (4, rows.to_pylist(), 4)


def test_an_open_quote_ends_with_its_line(wb):
    table = made(wb, "id INT, s STRING", "csv")
    Path(table.path).mkdir(parents=True, exist_ok=True)
    (Path(table.path) / "x.csv").write_text('1,5" pipe\n2,"open\n3,b\n')
    assert [r["id"] for r in by_id(table.to_arrow())] == [1, 2, 3]


def test_line_breaks_in_text_files_are_refused(wb):
    table = made(wb, "s STRING", "text")
    for value in ("a\nb", "d\r"):
        with pytest.raises(SchemaMismatch, match="has a line break"):
            table.append(pa.table({"s": [value]}))
    assert table.count() == 0


def test_csv_of_pandas_and_json_of_pandas(wb):
    frame = pd.DataFrame(
        {
            "id": [1, 2],
            "b": [True, False],
            "ts": pd.to_datetime(["2024-01-05 10:11:12.345", "2024-01-06"], format="mixed"),
        }
    )
    csv = made(wb, "id INT, b BOOLEAN, ts TIMESTAMP(3)", "csv", name="c", **{"csv.include-header": "true"})
    lines = made(wb, "id INT, b BOOLEAN, ts TIMESTAMP(3)", "json", name="j")
    for table in (csv, lines):
        Path(table.path).mkdir(parents=True, exist_ok=True)
    frame.to_csv(Path(csv.path) / "x.csv", index=False)
    frame.to_json(Path(lines.path) / "x.json", orient="records", lines=True, date_format="iso")
    expected = [
        {"id": 1, "b": True, "ts": dt.datetime(2024, 1, 5, 10, 11, 12, 345_000)}, {"id": 2, "b": False, "ts": dt.datetime(2024, 1, 6)},
    ]  # fmt: skip
    assert (by_id(csv.to_arrow()), by_id(lines.to_arrow())) == (expected, expected)


def test_a_csv_value_that_does_not_fit_is_told(wb, caplog):
    table = made(wb, "id INT, n INT", "csv")
    Path(table.path).mkdir(parents=True, exist_ok=True)
    (Path(table.path) / "x.csv").write_text("1,2\n3,x\n")
    assert [r["n"] for r in by_id(table.to_arrow())] == [2, None]
    assert "row 2: 'x' is not a value of column n INT" in caplog.text


def test_rows_read_by_pyarrow_csv(wb):
    table = made(wb, "id INT, s STRING", "csv", **{"csv.include-header": "true"})
    table.append(pa.table({"id": pa.array([1, 2], pa.int32()), "s": ["a\nb", 'q"q']}))
    [file] = Path(table.path).glob("*.csv")
    options = pa_csv.ParseOptions(newlines_in_values=True, escape_char="\\", double_quote=False)
    assert pa_csv.read_csv(file, parse_options=options).to_pylist() == [{"id": 1, "s": "a\nb"}, {"id": 2, "s": 'q"q'}]
