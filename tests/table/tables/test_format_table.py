"""Format tables: directories of plain files in Hive's partition layout, read and written without Spark."""

import gzip
from datetime import date
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_nb
from paimon_nb.base.errors import (
    BadOptionValue,
    CommitError,
    CorruptFile,
    FixedOption,
    PaimonError,
    SchemaMismatch,
    UnknownName,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.table.tables.table import Table

ROWS = [
    {"id": 1, "name": 'a,"b', "price": Decimal("1.50"), "day": date(2024, 1, 2), "dt": "x/y", "h": 1},
    {"id": 2, "name": None, "price": None, "day": None, "dt": "z", "h": None},
    {"id": 3, "name": "c\\d", "price": Decimal("-0.05"), "day": date(1969, 12, 31), "dt": "z", "h": 2},
]
COLUMNS = "id INT, name STRING, price DECIMAL(10, 2), `day` DATE, dt STRING, h INT"


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def arrow(table: Table, rows: list[dict[str, object]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=table.to_arrow().schema)


def by_id(rows: pa.Table) -> list[dict[str, object]]:
    return sorted(rows.to_pylist(), key=lambda row: row["id"])


def files(table: Table) -> list[str]:
    """The data files, without the numbers in their names, and what waits for a commit."""
    root = Path(table.path)
    found = [p.relative_to(root) for p in root.rglob("*") if p.is_file() and p.relative_to(root).parts[0] != "_paimon"]
    return sorted(f"{p.parent}/*.{p.name.split('.', 1)[1]}" for p in found)


def made(wb, kind: str, options: str = "") -> Table:
    wb.run(f"CREATE TABLE t ({COLUMNS}) USING {kind} PARTITIONED BY (dt, h) TBLPROPERTIES ('k' = 'v'{options})")
    return wb.table("t")


@pytest.mark.parametrize(
    ("kind", "options", "suffix"),
    [
        ("csv", "", "csv"),
        ("csv", ", 'file.compression' = 'gzip', 'csv.field-delimiter' = ';', 'csv.include-header' = 'true'", "csv.gz"),
        ("json", ", 'format-table.file.compression' = 'zstd'", "json.zst"),
        ("orc", ", 'file.compression' = 'zlib'", "orc"),
        ("parquet", "", "parquet"),
    ],
)
def test_rows_come_back_from_files_in_hives_layout(wb, kind, options, suffix):
    table = made(wb, kind, options)
    table.append(arrow(table, ROWS))
    assert by_id(table.to_arrow()) == ROWS
    assert files(table) == [
        f"dt=x%2Fy/h=1/*.{suffix}", f"dt=z/h=2/*.{suffix}", f"dt=z/h=__HIVE_DEFAULT_PARTITION__/*.{suffix}",
    ]  # fmt: skip
    assert (table.count(), table.head(1).num_rows, table.select("h").to_arrow().num_rows) == (3, 1, 3)
    assert table.partition_specs() == [
        {"dt": "x/y", "h": "1"}, {"dt": "z", "h": "2"}, {"dt": "z", "h": "__HIVE_DEFAULT_PARTITION__"},
    ]  # fmt: skip


def test_conditions_leave_out_partitions(wb):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    plan = table.scan("dt = 'z' AND h > 1 AND id > 0").plan
    assert [f.external_path.split("/t/")[1].rsplit("/", 1)[0] for f in plan.files] == ["dt=z/h=2"]
    assert "1 of 3 partition directories" in str(plan.skipped)
    assert table.to_arrow(["id"], where="h IS NULL").to_pylist() == [{"id": 2}]
    assert table.to_arrow(["id"], where=r"name = 'c\\d'").to_pylist() == [{"id": 3}]


def test_directories_with_values_only(wb):
    table = made(wb, "json", ", 'format-table.partition-path-only-value' = 'true'")
    table.append(arrow(table, ROWS))
    assert files(table) == ["x%2Fy/1/*.json", "z/2/*.json", "z/__HIVE_DEFAULT_PARTITION__/*.json"]
    assert by_id(table.to_arrow()) == ROWS


def test_overwrites_truncate_and_drop(wb):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    table.overwrite(arrow(table, [{**ROWS[2], "id": 4}]), dynamic=True)
    assert [r["id"] for r in by_id(table.to_arrow())] == [1, 2, 4]
    table.overwrite(arrow(table, [{**ROWS[2], "id": 5, "h": 9}]), {"dt": "z"})
    assert [r["id"] for r in by_id(table.to_arrow())] == [1, 5]
    with pytest.raises(UnsupportedOperation, match="some rows belong to"):
        table.overwrite(arrow(table, ROWS), {"dt": "z"})
    assert [r["id"] for r in by_id(table.to_arrow())] == [1, 5]
    table.truncate({"dt": "z", "h": 9})
    with pytest.raises(UnknownName, match="no partition"):
        table.truncate({"dt": "z", "h": 77})
    assert [r["id"] for r in by_id(table.to_arrow())] == [1]
    assert {"dt": "z", "h": "9"} in table.partition_specs()
    table.drop_partitions([{"dt": "z"}])
    assert table.partition_specs() == [{"dt": "x/y", "h": "1"}]
    table.overwrite(arrow(table, []))
    assert (table.count(), files(table)) == (0, [])


def test_a_purged_table_leaves_nothing_and_warns_of_nothing(wb, caplog):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    name, path = table.name.table, Path(table.path)
    wb.run(f"DROP TABLE {name} PURGE")
    assert (path.exists(), caplog.text) == (False, "")


def test_a_failed_write_leaves_nothing(wb):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    before = files(table)
    with table.write() as writing:
        writing.write(arrow(table, ROWS))
        with pytest.raises(SchemaMismatch):
            writing.write(pa.table({"id": ["x"]}))
    assert files(table) == before
    with table.write() as writing:
        writing.write(arrow(table, ROWS))
        staged = writing.prepare()
    assert by_id(table.to_arrow()) == ROWS
    with pytest.raises(CommitError, match="3 rows"):
        table.commit().commit(staged, expected_rows=4)
    assert files(table) == before


def test_a_commit_that_fails_takes_back_what_it_moved(wb, monkeypatch):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    before = files(table)
    fs, moves = type(table.store.fs), []
    move = fs.move

    def fail_second(self, source, target):
        moves.append(target)
        if len(moves) == 2:
            raise OSError("disk full")
        move(self, source, target)

    monkeypatch.setattr(fs, "move", fail_second)
    with pytest.raises(OSError, match="disk full"):
        table.overwrite(arrow(table, ROWS))
    monkeypatch.undo()
    assert (files(table), by_id(table.to_arrow())) == (before, ROWS)


@pytest.mark.parametrize(
    ("mode", "found"),
    [("permissive", [(1, 2.5, "a"), (None, None, None), (3, None, None)]), ("dropmalformed", [(1, 2.5, "a")])],
)
def test_lines_that_do_not_fit(wb, mode, found):
    wb.run(f"CREATE TABLE t (a INT, b DOUBLE, c STRING) USING csv OPTIONS ('csv.mode' = '{mode}')")
    table = wb.table("t")
    (Path(table.path) / "part-0.csv").write_bytes(b"\xef\xbb\xbf1,2.5,a\r\nx,1,b\n3,y,c")
    (Path(table.path) / "_skipped.csv").write_text("9,9,9\n")
    assert [tuple(r.values()) for r in table.to_arrow().to_pylist()] == found
    with pytest.raises(CorruptFile, match="row 2: 'x' is not a value of column a INT"):
        table.copy({"csv.mode": "failfast"}).to_arrow()


def test_files_of_other_writers(wb):
    wb.run("CREATE TABLE t (id INT, name STRING, dt DATE) USING parquet PARTITIONED BY (dt)")
    table = wb.table("t")
    for directory, rows in (
        ("dt=2024-01-02", {"id": pa.array([1], pa.int32())}),
        ("dt=19725", {"name": ["n"], "more": [1]}),
    ):
        (Path(table.path) / directory).mkdir()
        pq.write_table(pa.table(rows), Path(table.path) / directory / "000000_0")
    assert by_id(table.to_arrow(where="id = 1")) == [{"id": 1, "name": None, "dt": date(2024, 1, 2)}]
    assert table.to_arrow(where="dt = '2024-01-03'").to_pylist() == [{"id": None, "name": "n", "dt": date(2024, 1, 3)}]


def test_text_and_json_with_other_line_ends(wb):
    wb.run("CREATE TABLE t (v STRING) USING text TBLPROPERTIES ('text.line-delimiter' = '?')")
    wb.run("INSERT INTO t VALUES ('aa'), (NULL), ('bb\ncc')")
    assert wb.table("t").to_arrow()["v"].to_pylist() == ["aa", "", "bb\ncc"]
    wb.run("CREATE TABLE j (a INT) USING json OPTIONS ('json.ignore-parse-errors' = 'true')")
    with gzip.open(Path(wb.table("j").path) / "x.json.gz", "wt") as out:
        out.write('{"a": 1}\n{"a": "no"}\nnot json\n{"a": 2, "b": 3}\n')
    assert wb.table("j").to_arrow()["a"].to_pylist() == [1, 2]
    with pytest.raises(CorruptFile):
        wb.table("j").copy({"json.ignore-parse-errors": "false"}).to_arrow()


@pytest.mark.parametrize(
    ("statement", "error", "message"),
    [
        ("(a INT PRIMARY KEY NOT ENFORCED) WITH ('type' = 'format-table')", BadOptionValue, "primary key"),
        ("(a INT) WITH ('type' = 'format-table', 'file.format' = 'avro')", BadOptionValue, "avro"),
        ("(a ARRAY<INT>) USING csv", UnsupportedFormat, "csv files cannot store"),
        ("(a INT) USING text", SchemaMismatch, "one column of type STRING"),
        ("(a INT) USING csv PARTITIONED BY (a)", SchemaMismatch, "partition columns"),
        ("(a INT) USING csv OPTIONS ('csv.quote-character' '')", BadOptionValue, "must not be empty"),
        ("(a INT) USING csv OPTIONS ('quote' ',')", BadOptionValue, "must differ"),
        ("(a INT) USING json OPTIONS ('compression' 'lzo')", UnsupportedFormat, "lzo"),
        ("(a INT) USING delta", UnsupportedOperation, "delta"),
    ],
)
def test_what_a_format_table_cannot_be(wb, statement, error, message):
    with pytest.raises(error, match=message):
        wb.run(f"CREATE TABLE t {statement}")


def test_what_needs_snapshots_is_refused(wb):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    before = files(table)
    for act in (
        lambda: wb.run("CALL sys.compact(`table` => 'default.t')"),
        lambda: wb.run("CALL sys.create_tag('default.t', 'a')"),
        lambda: wb.run("DELETE FROM t WHERE id = 1"),
        lambda: wb.run("UPDATE t SET id = 1"),
        lambda: wb.run("SELECT * FROM `t$snapshots`"),
        lambda: table.delete(where="id = 1"),
        lambda: table.at(snapshot=1).to_arrow(),
        lambda: table.latest_snapshot(),
        lambda: table.stream(),
        lambda: table.compact(),
        lambda: table.health(),
    ):
        with pytest.raises(UnsupportedOperation, match="t is a format table, a directory of csv files: it has no"):
            act()
    with pytest.raises(UnsupportedOperation, match="inserts only"):
        table.write().write(arrow(table, ROWS[:1]), ["-D"])
    with pytest.raises(UnsupportedOperation, match="Hive metastore"):
        table.copy({"format-table.commit-hive-sync-url": "thrift://localhost:1"}).append(arrow(table, ROWS))
    with pytest.raises(FixedOption, match="format table"):
        wb.run("ALTER TABLE t SET ('type' = 'table')")
    assert files(table) == before


def test_statements_about_the_table(wb):
    table = made(wb, "csv")
    table.append(arrow(table, ROWS))
    assert wb.duckdb().sql("SELECT count(*), max(id) FROM t").fetchall() == [(3, 3)]
    assert wb.run("SELECT table_type, file_count FROM sys.tables").arrow.to_pylist() == [
        {"table_type": "format-table", "file_count": None}
    ]
    assert wb.run("SELECT * FROM sys.partitions").arrow.num_rows == 0
    wb.run("ALTER TABLE t DROP PARTITION (dt = 'x/y', h = 1)")
    with pytest.raises(UnknownName):
        wb.run("ALTER TABLE t DROP PARTITION (dt = 'x/y', h = 1)")
    shown = wb.run("SHOW PARTITIONS t").arrow["partition"].to_pylist()
    assert shown == ["dt=z/h=2", "dt=z/h=null"]
    wb.run("ALTER TABLE t ADD COLUMNS (more INT)")
    assert by_id(wb.table("t").to_arrow())[0]["more"] is None
    created = wb.run("SHOW CREATE TABLE t").arrow[0][0].as_py()
    wb.run(created.replace("`t`", "`u`"))
    assert wb.table("u").schema.options == wb.table("t").schema.options
    wb.run("DROP TABLE t")
    wb.run("UNDROP TABLE t")
    wb.run("ALTER TABLE t RENAME TO v")
    assert wb.table("v").count() == 2
    wb.run("CREATE OR REPLACE TABLE v (a INT)")
    assert wb.table("v").latest_snapshot() is None
    wb.run("CREATE OR REPLACE TABLE v (a INT) USING csv")
    with pytest.raises(PaimonError):
        wb.table("v").latest_snapshot()
    wb.run("TRUNCATE TABLE v")
    assert wb.run("SHOW TABLES").arrow["tableName"].to_pylist() == ["u", "v"]
