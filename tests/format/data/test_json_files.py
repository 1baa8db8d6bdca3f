"""JSON data files: as Flink 1.20 with Paimon 1.3.1 wrote them, and as we write them."""

import datetime as dt
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import CorruptFile, PaimonError, UnsupportedFormat

COLUMNS = """id INT, v STRING, d DECIMAL(5, 2), ts TIMESTAMP(3), b BYTES, bo BOOLEAN, f DOUBLE, dt DATE, fl FLOAT,
    ts6 TIMESTAMP(6), ll BIGINT, c CHAR(3)"""
NESTED = ", a ARRAY<INT>, m MAP<STRING, INT>, r ROW<x INT, y STRING>, aa ARRAY<ROW<n ARRAY<STRING>>>, mm MAP<INT, MAP<STRING, DATE>>"
ROW = {
    "id": 1, "v": 'a,"b', "d": Decimal("1.50"), "ts": dt.datetime(2024, 1, 1, 0, 0, 0, 123000), "b": b"ABC", "bo": True, "f": 1.5,
    "dt": dt.date(2024, 1, 1), "fl": 1.5, "ts6": dt.datetime(2024, 1, 1, 0, 0, 0, 123456), "ll": 12345678901, "c": "xy ",
}  # fmt: skip
NESTED_ROW = {
    "a": [1, None], "m": [("k", 1), ("l", None)], "r": {"x": 5, "y": None}, "aa": [{"n": ["p", None]}, None],
    "mm": [(7, [("q", dt.date(2024, 1, 2))])],
}  # fmt: skip
JSON = '{"id":"1","v":"a,\\"b","d":"1.50","ts":"2024-01-01 00:00:00.123","b":"QUJD","bo":"true","f":"1.5","dt":"2024-01-01","fl":"1.5","ts6":"2024-01-01 00:00:00.123456","ll":"12345678901","c":"xy "'


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path))


def only_file(table: paimon_nb.Table) -> Path:
    return Path(table.files()["file_path"][0].as_py())


def made(wb: paimon_nb.Workbench, kind: str, columns: str, rows: list[dict], **options: str) -> paimon_nb.Table:
    given = {"file.format": kind, "file.compression": "none"} | options
    wb.run(f"CREATE TABLE t ({columns}) WITH (" + ", ".join(f"'{k}' = '{v}'" for k, v in given.items()) + ")")
    table = wb.table("t")
    table.append(pa.Table.from_pylist(rows, schema=table.schema.arrow.remove_metadata()))
    return wb.table("t")


def test_a_json_file_is_as_java_writes_it(wb):
    table = made(wb, "json", COLUMNS + NESTED, [ROW | NESTED_ROW])
    nested = ',"a":["1",null],"m":{"k":"1","l":null},"r":{"x":"5","y":null},"aa":[{"n":["p",null]},null],"mm":{"7":{"q":"2024-01-02"}}}\n'
    assert only_file(table).read_text() == JSON + nested
    assert table.to_arrow().to_pylist() == [ROW | NESTED_ROW]
    null_counts = table.files()["null_value_counts"][0].as_py()
    assert null_counts == "{" + ", ".join(f"{n}=null" for n in sorted(ROW | NESTED_ROW)) + "}"


@pytest.mark.parametrize("codec", ["none", "gzip", "zstd", "bzip2", "deflate"])
@pytest.mark.parametrize("kind", ["json"])
def test_rows_come_back_with_every_codec(wb, kind, codec):
    extension = {"gzip": ".gz", "zstd": ".zst", "bzip2": ".bz2", "deflate": ".deflate"}.get(codec, "")
    rows = [{"id": i, "v": v} for i, v in enumerate(["line\ntwo", "back\\slash", "é中", None, 'q"x', "it's"])]
    table = made(wb, kind, "id INT, v STRING", rows, **{"file.compression": codec})
    table.append(table.to_arrow())
    assert only_file(table).name.endswith(f".{kind}{extension}")
    assert table.to_arrow().sort_by("id").to_pylist() == [r for row in rows for r in (row, row)]
    assert table.to_arrow(columns=["v"], where="id = 2").to_pylist() == [{"v": "é中"}] * 2


@pytest.mark.parametrize("kind", ["json"])
def test_keys_and_changed_columns(wb, kind):
    wb.run(f"CREATE TABLE k (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('file.format' = '{kind}', 'bucket' = '1')")  # fmt: skip
    wb.run("INSERT INTO k VALUES (1, 'a'), (2, 'b'); INSERT INTO k VALUES (2, 'c')")
    wb.run("ALTER TABLE k ADD x INT; INSERT INTO k VALUES (3, 'd', 5)")
    expected = [{"id": 1, "v": "a", "x": None}, {"id": 2, "v": "c", "x": None}, {"id": 3, "v": "d", "x": 5}]
    assert wb.table("k").to_arrow().sort_by("id").to_pylist() == expected
    wb.run("CALL sys.compact('k')")
    assert wb.table("k").to_arrow().sort_by("id").to_pylist() == expected
    assert wb.table("k").lookup(id=2).to_pylist() == [expected[1]]


@pytest.mark.parametrize("keys", ["", ", PRIMARY KEY (id) NOT ENFORCED"], ids=["no keys", "keys"])
def test_lines_end_as_the_option_says(wb, keys):
    rows = [{"id": 1, "v": "a"}, {"id": 2, "v": "b"}]
    table = made(
        wb, "json", f"id INT, v STRING{keys}", rows, **{"json.line-delimiter": "|", "bucket": "1" if keys else "-1"}
    )
    assert only_file(table).read_text().count("|") == 2
    table.append(pa.table({"id": pa.array([3], pa.int32()), "v": ["c"]}))
    expected = [*rows, {"id": 3, "v": "c"}]
    assert table.to_arrow().sort_by("id").to_pylist() == expected
    wb.run("ALTER TABLE t SET ('compaction.min.file-num' = '2'); CALL sys.compact('t')")
    assert wb.table("t").to_arrow().sort_by("id").to_pylist() == expected


def test_what_a_text_file_cannot_store(wb):
    with pytest.raises(UnsupportedFormat, match="snappy"):
        made(wb, "json", "id INT", [{"id": 1}], **{"file.compression": "snappy"})


@pytest.mark.parametrize(("kind", "text"), [("json", '{"id":"x"}\n'), ("json", "{"), ("json", "[1]\n")])
def test_a_broken_file_is_told(wb, kind, text):
    table = made(wb, kind, "id INT", [{"id": 1}])
    only_file(table).write_text(text)
    with pytest.raises((CorruptFile, PaimonError)):
        table.to_arrow()
