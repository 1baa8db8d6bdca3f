"""Files in the statements of a session: every ending, without quotation marks, DESCRIBE, SUMMARIZE, and what is said of a file that is not there."""

from __future__ import annotations

import datetime as dt
import io
from typing import TYPE_CHECKING
from zipfile import ZipFile

import fastavro
import pyarrow as pa
import pytest
from pyarrow import orc
from pyarrow import parquet as pq

import paimon_nb
from paimon_nb.base.errors import PaimonError
from paimon_nb.fs import open_fs

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.workbench import Workbench

ROWS = [{"id": 1, "name": "ä"}, {"id": 2, "name": None}]
TEXTS = {
    "a.csv": "id,name\n1,ä\n2,\n", "a.tsv": "id\tname\n1\tä\n2\t\n", "a.psv": "id|name\n1|ä\n2|\n", "a.txt": "id;name\n1;ä\n2;\n",
    "a.json": '[{"id":1,"name":"ä"},{"id":2}]', "a.jsonl": '{"id":1,"name":"ä"}\n{"id":2}\n', "a.ndjson": '{"id":1,"name":"ä"}\n{"id":2}\n',
}  # fmt: skip
BINARY = ("a.parquet", "a.orc", "a.avro", "a.arrow", "a.arrows", "a.ipc", "a.feather", "stream.arrow")


def write(path: Path) -> None:
    """A file with ROWS in the format of its ending."""
    rows = pa.Table.from_pylist(ROWS)
    match path.suffix:
        case ".parquet":
            pq.write_table(rows, path)
        case ".orc":
            orc.write_table(rows, path)
        case ".avro":
            fields = [{"name": "id", "type": "long"}, {"name": "name", "type": ["null", "string"]}]
            out = io.BytesIO()
            fastavro.writer(out, {"type": "record", "name": "r", "fields": fields}, ROWS)
            path.write_bytes(out.getvalue())
        case ".arrows" | ".arrow" | ".ipc" | ".feather":
            make = pa.ipc.new_stream if path.suffix == ".arrows" or path.stem == "stream" else pa.ipc.new_file
            with make(str(path), rows.schema) as sink:
                sink.write_table(rows)
        case _:
            path.write_text(TEXTS[path.name])


@pytest.fixture
def wb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workbench:
    monkeypatch.chdir(tmp_path)
    return paimon_nb.connect(str(tmp_path / "w"))


def rows(wb: Workbench, text: str) -> list[dict[str, object]]:
    return wb.run(text).to_arrow().to_pylist()


@pytest.mark.parametrize("name", [*TEXTS, *BINARY])
def test_files_of_every_ending_are_tables(wb: Workbench, tmp_path: Path, name: str) -> None:
    write(tmp_path / name)
    assert rows(wb, f"SELECT * FROM '{name}'") == ROWS
    assert rows(wb, f"SELECT count(*) AS n FROM '{(tmp_path / name).as_uri()}'") == [{"n": 2}]
    assert not wb.session.spark_started


def test_sheets_of_excel(wb: Workbench, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active.append(["id", "name"])
    for row in ROWS:
        book.active.append(list(row.values()))
    book.create_sheet("Two").append(["x", 7])
    book.save(tmp_path / "a.xlsx")
    assert rows(wb, "SELECT * FROM 'a.xlsx'") == ROWS
    assert len(rows(wb, "SELECT * FROM 'a.xlsx' /*+ OPTIONS('sheet' = 'Two', 'header' = 'false') */")) == 1


def test_sheets_that_other_programs_leave(wb: Workbench, tmp_path: Path) -> None:
    """An empty first sheet, a row that is longer than the header, dimensions that are too small, and a formula that was never computed."""
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.create_chartsheet("Chart").add_chart(openpyxl.chart.BarChart())
    sheet = book.create_sheet("Data")
    for row in (["id", "name"], [1, "ä", 7], [2, "=A2"]):
        sheet.append(row)
    book.save(tmp_path / "whole.xlsx")
    with ZipFile(tmp_path / "whole.xlsx") as whole, ZipFile(tmp_path / "a.xlsx", "w") as small:
        for part in whole.namelist():
            small.writestr(part, whole.read(part).replace(b'ref="A1:C3"', b'ref="A1:A1"'))
    found = wb.run("SELECT * FROM 'a.xlsx'")
    assert found.to_arrow().to_pylist() == [{"id": 1, "name": "ä", "column2": 7}, {"id": 2, "name": None, "column2": None}]  # fmt: skip
    assert "sheet = '...' reads another sheet: Sheet, Chart" in found.notes[0]
    assert "1 formulas have no stored value and are NULL" in found.notes[0]


def test_sheets_that_begin_below_and_beside(wb: Workbench, tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for row in ([], [], [None, "id", "name"], [None, 1, "ä"], [None, 2, None]):
        book.active.append(row)
    book.save(tmp_path / "a.xlsx")
    assert rows(wb, "SELECT * FROM 'a.xlsx'") == ROWS


def test_folders_that_are_not_columns_are_named(wb: Workbench, tmp_path: Path) -> None:
    for folder in ("h/day=1", "h", "k/day=1", "k/day=2"):
        (tmp_path / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / folder / "a.csv").write_text("v\n1\n")
    (note,) = wb.run("SELECT * FROM 'h/**/*.csv'").notes
    assert note.endswith("folders day=... are not columns, because not all files are in such folders")
    assert "folders" not in wb.run("SELECT * FROM 'k/**/*.csv'").notes[0]


def test_files_with_columns_of_different_types(wb: Workbench, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([1])}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "b.parquet")
    with pytest.raises(PaimonError, match=r"column 'a' is int64 in .*a.parquet and string in .*b.parquet") as caught:
        wb.run("SELECT * FROM '*.parquet'")
    assert caught.value.hint == "types = {'a': 'STRING'} reads it as one type"
    found = rows(wb, "SELECT * FROM read_parquet('*.parquet', types => {'a': 'STRING'}) ORDER BY a")
    assert found == [{"a": "1"}, {"a": "x"}]


def test_statements_describe_files(wb: Workbench, tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    assert rows(wb, "SELECT * FROM a.csv ORDER BY id") == ROWS
    assert [tuple(r.values())[:2] for r in rows(wb, "DESCRIBE 'a.csv'")] == [("id", "BIGINT"), ("name", "STRING")]
    summary = {r["column_name"]: r for r in rows(wb, "SUMMARIZE 'a.csv'")}
    assert {c: (r["min"], r["max"]) for c, r in summary.items()} == {"id": ("1", "2"), "name": ("ä", "ä")}
    assert rows(wb, "SELECT * FROM 'a.csv' LIMIT 1") == ROWS[:1]
    (named,) = rows(wb, "SELECT filename FROM read_csv('a.csv', filename => true) LIMIT 1")
    assert str(named["filename"]).endswith("a.csv")
    assert rows(wb, "SELECT size FROM read_text('a.csv')") == [{"size": (tmp_path / "a.csv").stat().st_size}]
    assert not wb.session.spark_started


@pytest.mark.parametrize("source", ["'no.csv'", "no.csv", "read_csv('no.csv')", "'no/**/*.parquet'"])
def test_a_file_that_is_not_there_is_named(wb: Workbench, source: str) -> None:
    with pytest.raises(PaimonError, match="no") as caught:
        wb.run(f"SELECT * FROM {source}")
    assert "CREATE DATABASE" not in str(caught.value.hint)
    assert type(caught.value).__name__ == "SourceUnavailable"
    assert not wb.session.spark_started


def test_tables_are_made_of_paths_dicts_and_lists(wb: Workbench, tmp_path: Path) -> None:
    write(tmp_path / "a.csv")
    columns = {name: [row[name] for row in ROWS] for name in ROWS[0]}
    for i, source in enumerate(("a.csv", tmp_path / "a.csv", columns, ROWS)):
        assert wb.create_table(f"t{i}", source).to_arrow().to_pylist() == ROWS


@pytest.mark.parametrize("scheme", ["memory", pytest.param("s3", marks=pytest.mark.nightly)])
def test_files_of_an_object_store_are_tables(tmp_path: Path, scheme: str, request: pytest.FixtureRequest) -> None:
    """One file of each kind, a pattern, a folder of Hive, and what is said of an object that is not there."""
    url, options = f"{scheme}://lake/{tmp_path.name}", request.getfixturevalue("s3") if scheme == "s3" else {}
    wb = paimon_nb.connect(f"{url}/w", options=options)
    fs = open_fs(url, options)
    for day, name in enumerate(("a.csv", "a.jsonl", "a.parquet", "a.orc", "a.avro", "a.arrow"), 1):
        write(tmp_path / name)
        fs.write(f"{url}/{name}", (tmp_path / name).read_bytes())
        assert rows(wb, f"SELECT * FROM '{url}/{name}'") == ROWS
        fs.write(f"{url}/hive/day=2024-01-0{day}/x=7/{name}", (tmp_path / name).read_bytes())
    more = [{**r, "day": dt.date(2024, 1, 1), "x": 7} for r in ROWS]
    assert rows(wb, f"SELECT * FROM '{url}/hive/*/*/*.csv'") == more
    assert rows(wb, f"SELECT * FROM '{url}/hive/**/*.parquet'") == [{**r, "day": dt.date(2024, 1, 3)} for r in more]
    assert rows(wb, f"SELECT * FROM read_csv('{url}/hive/day=2024-01-01')") == more
    (named, *_) = rows(wb, f"SELECT * FROM read_csv('{url}/hive/*/*/a.csv', filename => true)")
    assert named["filename"] == f"{url}/hive/day=2024-01-01/x=7/a.csv"
    wb.run(f"CREATE TABLE t AS SELECT * FROM '{url}/a.csv'")
    wb.run(f"INSERT INTO t SELECT * FROM '{url}/a.parquet'")
    assert rows(wb, "SELECT * FROM t") == ROWS * 2
    assert wb.create_table("u", f"{url}/a.jsonl").to_arrow().to_pylist() == ROWS
    assert [r["col_name"] for r in rows(wb, f"DESCRIBE '{url}/a.csv'")] == ["id", "name"]
    for missing in ("no.csv", "no/*.csv", "../a.csv"):
        with pytest.raises(PaimonError) as caught:
            wb.run(f"SELECT * FROM '{url}/{missing}'")
        assert type(caught.value).__name__ == "SourceUnavailable"
    assert not wb.session.spark_started


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_samples_files_and_names_them(spark: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "a.csv")
    other = paimon_nb.connect(str(tmp_path / "v"), spark=spark)
    assert len(rows(other, "SELECT * FROM 'a.csv' TABLESAMPLE (100 PERCENT)")) == 2
    (named,) = rows(other, "SELECT DISTINCT input_file_name() AS f FROM 'a.csv'")
    assert str(named["f"]).endswith("a.csv")
