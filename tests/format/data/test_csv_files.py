"""CSV data files of tables without keys: columns by position, whatever their names have become."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import UnsupportedFormat

COLUMNS = """id INT, v STRING, d DECIMAL(5, 2), ts TIMESTAMP(3), b BYTES, bo BOOLEAN, f DOUBLE, dt DATE, fl FLOAT,
    ts6 TIMESTAMP(6), ll BIGINT, c CHAR(3)"""
ROW = {
    "id": 1, "v": 'a,"b', "d": Decimal("1.50"), "ts": dt.datetime(2024, 1, 1, 0, 0, 0, 123000), "b": b"ABC", "bo": True, "f": 1.5,
    "dt": dt.date(2024, 1, 1), "fl": 1.5, "ts6": dt.datetime(2024, 1, 1, 0, 0, 0, 123456), "ll": 12345678901, "c": "xyz",
}  # fmt: skip
LINE = (
    '1,"a,\\"b",1.50,2024-01-01 00:00:00.123,QUJD,true,1.5,2024-01-01,1.5,2024-01-01 00:00:00.123456,12345678901,xyz\n'
)


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path))


def append(wb: paimon_nb.Workbench, *rows: dict) -> None:
    table = wb.table("t")
    table.append(pa.Table.from_pylist(rows, schema=table.schema.arrow.remove_metadata()))


def stored(wb: paimon_nb.Workbench) -> list[tuple]:
    return [tuple(r.values()) for r in wb.table("t").to_arrow().sort_by("id").to_pylist()]


def only_file(wb: paimon_nb.Workbench) -> Path:
    return Path(wb.table("t").files()["file_path"][0].as_py())


def test_a_file_is_a_line_for_each_row(wb):
    wb.run(f"CREATE TABLE t ({COLUMNS}) WITH ('file.format' = 'csv', 'file.compression' = 'none')")
    append(wb, ROW)
    assert only_file(wb).suffix == ".csv"
    assert only_file(wb).read_text() == LINE
    assert wb.table("t").to_arrow().to_pylist() == [ROW]
    null_counts = wb.table("t").files()["null_value_counts"][0].as_py()
    assert null_counts == "{" + ", ".join(f"{n}=null" for n in sorted(ROW)) + "}"


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd", "bzip2", "deflate"])
def test_texts_come_back_and_the_empty_one_is_not_null(wb, codec):
    wb.run(f"CREATE TABLE t (id INT, v STRING) WITH ('file.format' = 'csv', 'file.compression' = '{codec}')")
    texts = ["plain", " spaces ", "back\\slash", "é中", 'q"x', "it's", "a,b", None]
    append(wb, *({"id": i, "v": v} for i, v in enumerate([*texts, ""])))
    assert stored(wb) == [*enumerate([*texts, ""])]


def test_columns_are_found_after_the_schema_changed(wb):
    wb.run("""
        CREATE TABLE t (id INT, v STRING, n INT, w STRING) WITH ('file.format' = 'csv', 'compaction.min.file-num' = '2');
        INSERT INTO t VALUES (1, 'a', 10, 'x'), (2, 'b', 20, 'y');
        ALTER TABLE t DROP COLUMN v;
        ALTER TABLE t RENAME COLUMN w TO u;
        ALTER TABLE t ADD COLUMN z BIGINT FIRST;
        INSERT INTO t VALUES (5, 3, 30, 'k')
    """)
    table = wb.table("t")
    assert table.to_arrow(["u", "id"], where="n >= 20").sort_by("id").to_pylist() == [
        {"u": "y", "id": 2},
        {"u": "k", "id": 3},
    ]
    assert (table.count(), table.to_arrow(["n"], snapshot=1).sort_by("n").to_pylist()) == (3, [{"n": 10}, {"n": 20}])
    expected = [(None, 1, 10, "x"), (None, 2, 20, "y"), (5, 3, 30, "k")]
    assert stored(wb) == expected
    wb.run("CALL sys.compact('t')")
    assert wb.table("t").files().num_rows == 1
    assert stored(wb) == expected


def test_rows_are_deleted_by_their_position(wb):
    wb.run("""
        CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p) WITH ('file.format' = 'csv', 'deletion-vectors.enabled' = 'true');
        INSERT INTO t VALUES (1, 'a'), (2, 'a'), (3, 'b'), (4, 'a')
    """)
    wb.table("t").delete("id = 2")
    assert stored(wb) == [(1, "a"), (3, "b"), (4, "a")]
    wb.run("ALTER TABLE t SET ('compaction.min.file-num' = '1'); CALL sys.compact('t')")
    assert stored(wb) == [(1, "a"), (3, "b"), (4, "a")]


def test_characters_of_the_options(wb):
    options = "'csv.field-delimiter' = ';', 'csv.include-header' = 'true', 'csv.null-literal' = 'none', 'file.compression' = 'none'"
    wb.run(
        f"CREATE TABLE t (id INT, v STRING) WITH ('file.format' = 'csv', {options}); INSERT INTO t VALUES (1, ''), (2, NULL)"
    )
    assert only_file(wb).read_text() == "id;v\n1;\n2;none\n"
    assert stored(wb) == [(1, ""), (2, None)]


@pytest.mark.parametrize(
    ("columns", "option"),
    [("id INT PRIMARY KEY NOT ENFORCED", "'bucket' = '1'"), ("id INT", "'row-tracking.enabled' = 'true'"), ("id ARRAY<INT>", "'a' = 'b'")],
)  # fmt: skip
def test_tables_that_csv_files_cannot_hold(wb, columns, option):
    wb.run(f"CREATE TABLE t ({columns}) WITH ('file.format' = 'csv', {option})")
    with pytest.raises(UnsupportedFormat, match="CSV files") as refused:
        append(wb, {"id": [1] if "ARRAY" in columns else 1})
    assert refused.value.hint
    assert wb.table("t").latest_snapshot() is None
