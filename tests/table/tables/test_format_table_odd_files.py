"""Format tables over directories and files that others left there: read, skipped by a rule, or an error that names them."""

import gzip
import math
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paimon_nb
from paimon_nb.base.errors import CorruptFile, PaimonError, ReadError, UnsupportedFormat, UnsupportedOperation


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def ints(*values: int | None) -> pa.Array:
    return pa.array(values, pa.int32())


def put(root: Path, name: str, **columns: object) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table(columns), path)


def rows(wb, name: str = "t", **options: object) -> list[tuple]:
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow(**options).to_pylist()), key=str)


def lines(
    wb, kind: str, content: bytes, columns: str = "id INT, name STRING", options: str = "", name: str = "part-0"
) -> list[tuple]:
    """The rows of a format table of one text file, in file order."""
    wb.run("DROP TABLE IF EXISTS t PURGE")
    wb.run(f"CREATE TABLE t ({columns}) USING {kind} TBLPROPERTIES ('k' = 'v'{options})")
    (Path(wb.table("t").path) / name).write_bytes(content)
    return [tuple(r.values()) for r in wb.table("t").to_arrow().to_pylist()]


# -- directories


@pytest.fixture
def root(wb) -> Path:
    """A table by `dt` and `h` with one row."""
    wb.run("CREATE TABLE t (id INT, dt STRING, h INT) USING parquet PARTITIONED BY (dt, h)")
    path = Path(wb.table("t").path)
    put(path, "dt=a/h=1/part-0.parquet", id=ints(1))
    return path


def test_files_of_other_engines_beside_the_data_are_skipped(wb, root):
    for name in (
        "_SUCCESS", ".DS_Store", "_common_metadata", "dt=a/_SUCCESS", "dt=a/h=1/_SUCCESS", "dt=a/h=1/.part-0.parquet.crc", "dt=a/h=1/_metadata",
        "dt=a/h=1/_committed_42", "dt=a/h=1/.hive-staging_hive_1/part-0", "dt=a/h=1/_temporary/0/part-0", "dt=a/h=1/empty",
    ):  # fmt: skip
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"" if name.endswith("empty") else b"x")
    put(root, "dt=a/h=1/HIVE_UNION_SUBDIR_1/000000_0", id=ints(2))
    (root / "dt=b").mkdir()
    assert rows(wb) == [(1, "a", 1), (2, "a", 1)]


def test_directories_in_other_spellings_are_partitions(wb, root):
    put(root, "DT=d/H=03/part-0", id=ints(3))
    put(root, "dt=%C3%A4%2F/h=__HIVE_DEFAULT_PARTITION__/part-0", id=ints(4), dt=["of the file"], h=ints(77))
    put(root, "dt=__DEFAULT_PARTITION__/h=+5/part-0", id=ints(5))
    assert rows(wb) == [(1, "a", 1), (3, "d", 3), (4, "ä/", None), (5, None, 5)]


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("dt=b/h=x/part-0", "dt=b/h=x is not a partition: 'x' is not a value of h, which is INT"),
        ("dt=b/h=1.5/part-0", "'1.5' is not a value of h"),
        ("dt=b/h=2147483648/part-0", "'2147483648' is not a value of h"),
        ("dt=b/h=/part-0", "'' is not a value of h"),
        ("dt=b/part-0", "dt=b/part-0 is not a partition: the file is outside of the partitions by h"),
        ("part-0", "part-0 is not a partition: the file is outside of the partitions by dt"),
        ("h=1/dt=b/part-0", "h=1 is not a partition: the name is not 'dt=...'"),
        ("2024/01/part-0", "2024 is not a partition: the name is not 'dt=...'"),
    ],
)
def test_a_directory_that_is_not_a_partition_is_an_error_that_names_it(wb, root, file, reason):
    put(root, file, id=ints(9))
    with pytest.raises(ReadError) as error:
        rows(wb)
    assert reason in str(error.value)
    if file.startswith("dt="):
        assert rows(wb, where="dt = 'a'") == [(1, "a", 1)]
        with pytest.raises(ReadError):
            wb.run("MSCK REPAIR TABLE t")


def test_a_partition_column_may_start_with_an_underscore(wb):
    wb.run("CREATE TABLE t (id INT, `_p` INT, `.q` STRING) USING parquet PARTITIONED BY (`_p`, `.q`)")
    wb.table("t").append(pa.table({"id": ints(1), "_p": ints(2), ".q": ["_x"]}))
    (Path(wb.table("t").path) / "_logs").mkdir()
    assert rows(wb) == [(1, 2, "_x")]
    assert wb.run("SHOW PARTITIONS t").to_arrow()["partition"].to_pylist() == ["_p=2/.q=_x"]


@pytest.mark.parametrize("value", ["_x", ".", "..", ".y", "_temporary", "_paimon", "__HIVE_DEFAULT_PARTITION__"])
def test_without_names_of_columns_a_hidden_name_is_refused(wb, value):
    wb.run(
        "CREATE TABLE t (id INT, p STRING) USING csv PARTITIONED BY (p) TBLPROPERTIES ('format-table.partition-path-only-value' = 'true')"
    )
    with pytest.raises(UnsupportedOperation, match="cannot be a partition"):
        wb.table("t").append(pa.table({"id": ints(1, 2), "p": ["a", value]}))
    assert rows(wb) == []


# -- files


@pytest.mark.parametrize(
    ("content", "found"),
    [
        (b"1,inf\n2,-Infinity\n3,nan\n4,1.5d\n5,+INF", [float("inf"), float("-inf"), "nan", 1.5, float("inf")]),
        (b'1,"2.5"\n2,""\n3,', [2.5, None, None]),
    ],
)
def test_floating_point_numbers_of_others(wb, content, found):
    values = [
        v if v is None or v == v else "nan"
        for _, v in lines(wb, "csv", content, "id INT, v DOUBLE", ", 'csv.mode' = 'failfast'")
    ]
    assert values == found


def test_whole_numbers_of_frames_with_null_are_integers(wb):
    assert lines(wb, "csv", b"1,127.0\n2,\n3,-5.\n", "id INT, v BIGINT", ", 'csv.mode' = 'failfast'") == [
        (1, 127),
        (2, None),
        (3, -5),
    ]
    with pytest.raises(CorruptFile, match=r"row 1: '1.5' is not a value of column v BIGINT"):
        lines(wb, "csv", b"1,1.5\n", "id INT, v BIGINT", ", 'csv.mode' = 'failfast'")
    with pytest.raises(ReadError, match=r"column id cannot be read as INT: '1.5' is not an integer"):
        lines(wb, "json", b'{"id": 1.5}')


def test_truth_values_of_others_are_not_false(wb):
    expected = [(1, True), (2, True), (3, True), (4, False), (5, False)]
    assert lines(wb, "csv", b"1,t\n2,TRUE\n3,1\n4,f\n5,no\n", "id INT, v BOOLEAN") == expected
    assert (
        lines(
            wb,
            "json",
            b'{"id":1,"v":1}\n{"id":2,"v":"yes"}\n{"id":3,"v":true}\n{"id":4,"v":0}\n{"id":5,"v":"f"}',
            "id INT, v BOOLEAN",
        )
        == expected
    )
    with pytest.raises(CorruptFile, match="'maybe' is not a value of column v BOOLEAN"):
        lines(wb, "csv", b"1,maybe\n", "id INT, v BOOLEAN", ", 'csv.mode' = 'failfast'")


def test_quotes_of_others(wb):
    content = b'1,5" disk\n2,a"b"c\n3,""\n4,\n5,"C:\\"\n6,"x""y"\n7,"x\\"y"\n8,"open'
    assert lines(wb, "csv", content) == [
        (1, '5" disk'), (2, 'a"b"c'), (3, ""), (4, None), (5, "C:\\"), (6, 'x"y'), (7, 'x"y'), (8, '"open'),
    ]  # fmt: skip


def test_text_that_equals_the_null_literal_comes_back(wb):
    wb.run("CREATE TABLE n (id INT, v STRING, b BYTES) USING csv TBLPROPERTIES ('csv.null-literal' = 'NULL')")
    wb.table("n").append(pa.table({"id": ints(1, 2, 3), "v": ["NULL", None, ""], "b": [b"", None, b"5\t\x8b"]}))
    assert rows(wb, "n") == [(1, "NULL", b""), (2, None, None), (3, "", b"5\t\x8b")]


def test_columns_are_found_by_a_header_in_another_order(wb):
    header = ", 'csv.include-header' = 'true'"
    assert lines(wb, "csv", b"NAME,more,id\nx,9,1\n", options=header) == [(1, "x")]
    assert lines(wb, "csv", b"name\nx\n", options=header) == [(None, "x")]
    assert lines(wb, "csv", b"id,old name\n1,x\n", options=header) == [(1, "x")]
    assert lines(wb, "csv", b"a,b\n1,x\n", options=header) == [(1, "x")]


def test_more_values_than_columns_are_warned_of(wb, caplog):
    assert lines(wb, "csv", b"1,a\n2,b,c,d\n") == [(1, "a"), (2, "b")]
    assert "row 2 has 4 values, the table 2 columns" in caplog.text


def test_objects_of_others_are_the_text_of_their_json(wb):
    content = (
        b'{"id":1,"name":{"a":[1.50,true,null,"\\u00e4"]}}\n{"id":2.0,"name":1e400}\r\n{"ID":3,"name":NaN}\n{"id":4}\n'
    )
    assert lines(wb, "json", content) == [(1, '{"a":[1.50,true,null,"ä"]}'), (2, "1e400"), (3, "NaN"), (4, None)]
    with pytest.raises(ReadError, match=r"column name cannot be read as ARRAY<INT>: 'x' is not an array"):
        lines(wb, "json", b'{"id":1,"name":"x"}', "id INT, name ARRAY<INT>")
    assert (
        lines(wb, "json", b'{"id":1,"v":"2024-01-02T00:00:00.000Z"}', "id INT, v DATE")[0][1].isoformat()
        == "2024-01-02"
    )


@pytest.mark.parametrize("name", ["a.csv.snappy", "a.csv.xz", "a.zip", "a.csv.br"])
def test_text_that_is_compressed_in_another_way_is_an_error(wb, name):
    with pytest.raises(UnsupportedFormat, match="text files with the codec"):
        lines(wb, "csv", b"plain", name=name)


@pytest.mark.parametrize(
    "content",
    ["7,ä\n".encode("utf-16"), "7,ä\n".encode("latin-1"), gzip.compress(b"5,e\n", mtime=0), b"PAR1\x15\x04\xff\x9c"],
)
def test_bytes_that_are_not_utf8_are_an_error_that_names_the_file(wb, content):
    with pytest.raises(CorruptFile, match="part-0 is broken: not readable as text"):
        lines(wb, "csv", content)


def test_a_file_of_another_kind_is_an_error_that_names_it(wb, root):
    (root / "dt=a/h=1/README.md").write_text("hi")
    with pytest.raises(PaimonError, match=r"dt=a/h=1/README.md is not a parquet file"):
        rows(wb)


def test_numbers_of_json_are_numbers_for_other_engines(wb):
    wb.run(
        "CREATE TABLE j (id INT, f FLOAT, d DOUBLE, b BOOLEAN, n DECIMAL(38, 1), r ROW<x BIGINT>, m MAP<INT, INT>) USING json"
    )
    columns = {
        "id": pa.array([1], pa.int32()), "f": pa.array([0.1], pa.float32()), "d": [math.nan], "b": [True],
        "n": pa.array([Decimal("1234567890123456789012345678901234567.1")], pa.decimal128(38, 1)), "r": [{"x": 2**63 - 1}],
        "m": pa.array([[(1, 2)]], pa.map_(pa.int32(), pa.int32())),
    }  # fmt: skip
    wb.table("j").append(pa.table(columns))
    [file] = Path(wb.table("j").path).glob("data-*")
    assert file.read_text() == (
        '{"id":1,"f":0.1,"d":"NaN","b":true,"n":"1234567890123456789012345678901234567.1","r":{"x":9223372036854775807},"m":{"1":2}}\n'
    )
