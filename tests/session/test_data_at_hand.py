"""SELECT, INSERT and CREATE TABLE AS over data that is in no table: frames of the caller, and files named in FROM."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as dataset
import pyarrow.feather as feather
import pyarrow.orc as orc
import pyarrow.parquet as parquet
import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import (
    NullNotAllowed,
    PaimonError,
    SchemaMismatch,
    SourceUnavailable,
    TableNotFound,
    UnsupportedFormat,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paimon_nb.workbench import Workbench

SALES = "id;name;amount;day\n1;Ann;2.5;2026-01-01\n2;Ben;;2026-01-02\n"
ROWS = [
    {"id": 1, "name": "Ann", "amount": 2.5, "day": dt.date(2026, 1, 1)},
    {"id": 2, "name": "Ben", "amount": None, "day": dt.date(2026, 1, 2)},
]
FRAME = pa.table({"k": [1, 2], "v": ["a", None]})


@pytest.fixture
def wb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workbench]:
    """A workbench in a folder with sales.csv."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text(SALES)
    with paimon_nb.connect(str(tmp_path / "wh")) as opened:
        yield opened


def no_spark(wb: Workbench) -> bool:
    return not wb.session.spark_started


# -- files


def test_a_csv_file_is_a_table_and_what_was_guessed_is_reported(wb: Workbench) -> None:
    found = wb.run("SELECT * FROM 'sales.csv'")
    assert found.arrow is not None
    assert found.arrow.to_pylist() == ROWS
    how = "CSV, delimiter semicolon, header in line 1; id BIGINT, name STRING, amount DOUBLE, day DATE"
    assert found.notes == [f"sales.csv: {how}"]
    assert wb.run("SELECT sales.name AS n FROM 'sales.csv' WHERE sales.id = 2").arrow.to_pylist() == [{"n": "Ben"}]
    assert wb.run("SELECT s.name FROM 'sales.csv' AS s ORDER BY s.id DESC LIMIT 1").arrow.to_pylist() == [
        {"name": "Ben"}
    ]
    assert no_spark(wb)


@pytest.mark.parametrize(
    ("name", "text", "rows", "how"),
    sampled([
        ("a.csv", "1,2\n3,4\n", [{"column0": 1, "column1": 2}, {"column0": 3, "column1": 4}], "comma, no header"),
        ("a.tsv", "a\tb\n1\tx,y\n", [{"a": 1, "b": "x,y"}], "tab, header in line 1"),
        ("a.csv", "a|b\n1|x\n", [{"a": 1, "b": "x"}], "|, header in line 1"),
        ("a.csv", "city,land\nRome,Italy\nOslo,Norway\n", [{"city": "Rome", "land": "Italy"}, {"city": "Oslo", "land": "Norway"}], "header"),
        ("a.csv", 'a,b\n"1\n2","x ""y"""\n', [{"a": "1\n2", "b": 'x "y"'}], "header"),
        ("a.csv", "\ufeffa,b\n1,2\n", [{"a": 1, "b": 2}], "header"),
        ("a.csv", "a,,b\n1,2,3\n", [{"a": 1, "column1": 2, "b": 3}], "header"),
        ("a.csv", "a,A\n1,2\n", [{"a": 1, "A_1": 2}], "header"),
        ("a.csv", "name\nAnn\n", [{"name": "Ann"}], "comma, header"),
        ("a.csv", "a,b\n", [], "header"),
        ("a.csv", "t,flag\n2026-01-01 10:00:00,true\n", [{"t": dt.datetime(2026, 1, 1, 10), "flag": True}], "header"),
        ("a.jsonl", '{"a": 1, "b": {"c": [1]}}\n{"a": 2}\n', [{"a": 1, "b": {"c": [1]}}, {"a": 2, "b": None}], "one object a line"),
        ("a.json", '[{"a": 1}, {"a": null}]', [{"a": 1}, {"a": None}], "an array of objects"),
        ("a.json", '{"a": 1,\n "b": 2}', [{"a": 1, "b": 2}], "JSON"),
    ], 3),
)  # fmt: skip
def test_header_delimiter_and_types_are_guessed(wb: Workbench, tmp_path: Path, name: str, text: str, rows: Any, how: str) -> None:  # fmt: skip
    (tmp_path / name).write_text(text)
    found = wb.run(f"SELECT * FROM '{name}'")
    assert found.arrow is not None
    assert found.arrow.to_pylist() == rows
    assert how in found.notes[0]


def test_latin_letters_in_an_old_encoding_are_read(wb: Workbench, tmp_path: Path) -> None:
    (tmp_path / "old.csv").write_bytes("name,city\nJörg,Köln\n".encode("cp1252"))
    found = wb.run("SELECT * FROM 'old.csv'")
    assert found.arrow is not None
    assert found.arrow.to_pylist() == [{"name": "Jörg", "city": "Köln"}]
    assert "Windows-1252" in found.notes[0]


@pytest.mark.parametrize("suffix", ["parquet", "orc", "arrow", "feather"])
def test_columnar_files_are_tables(wb: Workbench, tmp_path: Path, suffix: str) -> None:
    write = {"parquet": parquet.write_table, "orc": orc.write_table}.get(suffix, feather.write_feather)
    write(FRAME, str(tmp_path / f"f.{suffix}"))
    assert wb.run(f"SELECT * FROM './f.{suffix}' WHERE k = 1").arrow.to_pylist() == [{"k": 1, "v": "a"}]


def test_a_pattern_reads_several_files(wb: Workbench, tmp_path: Path) -> None:
    (tmp_path / "b1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "b2.csv").write_text("a,b\n2.5,y\n")
    found = wb.run("SELECT * FROM 'b*.csv'")
    assert found.arrow.to_pylist() == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "y"}]
    assert found.notes == ["b*.csv: 2 files, CSV, delimiter comma, header in line 1; a DOUBLE, b STRING"]


@pytest.mark.parametrize(
    ("name", "content", "error", "message"),
    [
        ("none.csv", None, SourceUnavailable, "no file 'none.csv'"),
        ("n*.csv", None, SourceUnavailable, "no file matches"),
        ("wh", None, SourceUnavailable, "'wh' is a directory without data files"),
        ("https://x/a.csv", None, SourceUnavailable, "is not a local file"),
        ("a.zip", b"x", UnsupportedFormat, "the format is not known from its name"),
        ("a.xlsx", b"x", UnsupportedFormat, "cannot be read as Excel"),
        ("empty.csv", b"", UnsupportedFormat, "is empty"),
        ("bad.json", b'[{"a": 1}', UnsupportedFormat, "cannot be read as JSON"),
        ("bad.parquet", b"PAR1 no", UnsupportedFormat, "cannot be read as Parquet"),
        ("bad.avro", b"Obj\x01no", UnsupportedFormat, "cannot be read as Avro"),
    ],
)
def test_a_file_that_cannot_be_read_is_an_error_under_its_name(wb: Workbench, tmp_path: Path, name: str, content: bytes | None, error: type[PaimonError], message: str) -> None:  # fmt: skip
    (tmp_path / "wh").mkdir(exist_ok=True)
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(error, match=message.replace("*", r"\*")) as raised:
        wb.run(f"SELECT * FROM '{name}'")
    assert raised.value.facts["sql"][raised.value.facts["start"] : raised.value.facts["stop"]] == f"'{name}'"


# -- frames


@pytest.mark.parametrize(
    "frame",
    [
        FRAME,
        FRAME.to_batches()[0],
        FRAME.to_pandas(),
        pl.from_arrow(FRAME),
        pl.from_arrow(FRAME).lazy(),  # type: ignore[union-attr]
        dataset.dataset(FRAME),
    ],
    ids=["table", "batch", "pandas", "polars", "lazy", "dataset"],
)
def test_a_frame_is_a_table(wb: Workbench, frame: Any) -> None:
    assert wb.run("SELECT v, k FROM df WHERE k = 1", df=frame).arrow.to_pylist() == [{"v": "a", "k": 1}]
    wb.session.variables = {"df": frame}.get
    assert wb.run("SELECT count(*) AS n FROM df").arrow.to_pylist() == [{"n": 2}]
    assert no_spark(wb)


def test_types_of_pandas_become_types_of_sql(wb: Workbench) -> None:
    df = pd.DataFrame(
        {
            "t": pd.to_datetime(["2026-01-01 10:00"]),
            "kind": pd.Categorical(["x"]),
            "nothing": [None],
            "u": pd.array([7], "uint32"),
            "x": [1.5],
        }
    )
    found = wb.run("SELECT * FROM df", df=df).arrow
    assert found.schema.names == ["t", "kind", "nothing", "u", "x"]
    assert found.to_pylist() == [{"t": dt.datetime(2026, 1, 1, 10), "kind": "x", "nothing": None, "u": 7, "x": 1.5}]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (pd.DataFrame({"a": [1, "x"]}), SchemaMismatch, "df: .*cannot be converted"),
        (pd.DataFrame(), SchemaMismatch, "has no columns"),
        (pd.DataFrame({"a": [1]})["a"], TableNotFound, "is a Series"),
        ([{"a": 1}], TableNotFound, "is a list"),
        (FRAME.to_reader(), TableNotFound, "is a RecordBatchReader"),
        ("text", TableNotFound, "no table default.df"),
        (len, TableNotFound, "no table default.df"),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_a_value_that_is_no_table_is_an_error_under_its_name(wb: Workbench, value: Any, error: type[PaimonError], message: str) -> None:  # fmt: skip
    wb.session.variables = {"df": value}.get
    with pytest.raises(error, match=message) as raised:
        wb.run("SELECT * FROM df")
    assert raised.value.facts["start"] == len("SELECT * FROM ")


def test_a_table_wins_and_the_result_says_so(wb: Workbench) -> None:
    wb.run("CREATE TABLE df (id INT); INSERT INTO df VALUES (1)")
    wb.session.variables = {"df": FRAME}.get
    found = wb.run("SELECT * FROM df")
    assert found.arrow.to_pylist() == [{"id": 1}]
    assert found.notes == ["df is a table and a Python variable; the table was read. Rename the variable to query it"]
    assert wb.run("SELECT * FROM df").notes == found.notes  # once each, not added up
    wb.run("DROP TABLE df")
    assert wb.run("SELECT count(*) AS n FROM df").arrow.to_pylist() == [{"n": 2}]


def test_a_frame_that_is_read_has_no_note_of_a_table(wb: Workbench) -> None:
    wb.session.variables = {"df": FRAME}.get
    found = [
        wb.run(q).notes
        for q in ("SELECT * FROM df", "SELECT count(*) AS n FROM df", "CREATE TABLE t AS SELECT * FROM df")
    ]
    assert found == [[], [], []]


def test_a_parameter_of_one_call_is_not_seen_by_the_next(wb: Workbench) -> None:
    wb.run("SELECT * FROM df", df=FRAME)
    with pytest.raises(TableNotFound):
        wb.run("SELECT * FROM df")


def test_hostile_names_and_values_are_data(wb: Workbench, tmp_path: Path) -> None:
    path = tmp_path / "a'; DROP TABLE t; --.csv"
    path.write_text('a,b\n<script>alert(1)</script>,"\' OR 1=1"\n')
    wb.run("CREATE TABLE t (id INT)")
    quoted = str(path).replace("'", "''")
    found = wb.run(f"SELECT * FROM '{quoted}'")
    assert found.arrow.to_pylist() == [{"a": "<script>alert(1)</script>", "b": "' OR 1=1"}]
    assert wb.table("t").schema.names == ("id",)


# -- storing


def test_rows_are_stored_without_spark(wb: Workbench) -> None:
    made = wb.run("CREATE TABLE t AS SELECT * FROM 'sales.csv'")
    assert made.snapshots == [("default.t", 1)]
    assert [f"{f.name} {f.type}" for f in wb.table("t").schema.fields] == [
        "id BIGINT", "name STRING", "amount DOUBLE", "day DATE",
    ]  # fmt: skip
    wb.run("CREATE TABLE k (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    assert wb.run("INSERT INTO k SELECT * FROM df", df=pa.table({"k": pa.array([1, 2], pa.int32()), "v": ["a", "b"]})).snapshots == [("default.k", 1)]  # fmt: skip
    wb.run("INSERT INTO k (v, id) SELECT name, id FROM 'sales.csv' WHERE id = 2")
    assert wb.run("SELECT * FROM t").arrow.to_pylist() == ROWS
    assert wb.run("SELECT * FROM k ORDER BY id").arrow.to_pylist() == [{"id": 1, "v": "a"}, {"id": 2, "v": "Ben"}]
    assert no_spark(wb)


def test_rows_that_do_not_fit_are_refused(wb: Workbench) -> None:
    wb.run("CREATE TABLE k (id BIGINT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    with pytest.raises(SchemaMismatch, match="4"):
        wb.run("INSERT INTO k SELECT * FROM 'sales.csv'")
    with pytest.raises(NullNotAllowed):
        wb.run("INSERT INTO k SELECT * FROM df", df=pa.table({"k": pa.array([None], pa.int64()), "v": ["a"]}))
    assert wb.table("k").latest_snapshot() is None


@pytest.mark.spark
def test_spark_joins_files_frames_and_tables(swb: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text(SALES)
    swb.run("CREATE TABLE cities (name STRING, city STRING); INSERT INTO cities VALUES ('Ann', 'Rome')")
    frame = swb.spark.createDataFrame([(1, "x"), (2, "y")], "id INT, tag STRING")
    found = swb.run(
        "SELECT upper(sales.name) AS n, tag, city FROM 'sales.csv' JOIN tags ON sales.id = tags.id LEFT JOIN cities USING (name) ORDER BY 1",
        tags=frame,
    )
    assert [tuple(r) for r in found.frame.collect()] == [("ANN", "x", "Rome"), ("BEN", "y", None)]
    assert len(found.notes) == 1
    swb.run("CREATE TABLE target (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    swb.run("INSERT INTO target VALUES (1, 'old')")
    swb.run(
        "MERGE INTO target t USING 'sales.csv' AS s ON t.id = s.id WHEN MATCHED THEN UPDATE SET name = s.name "
        "WHEN NOT MATCHED THEN INSERT (id, name) VALUES (s.id, s.name)"
    )
    assert swb.table("target").to_arrow().to_pylist() == [{"id": 1, "name": "Ann"}, {"id": 2, "name": "Ben"}]
    with pytest.raises(PaimonError, match="nam") as raised:
        swb.run("SELECT nam FROM 'sales.csv'")
    assert raised.value.hint == "did you mean `name`?"
    by_spark = swb.run(f"CREATE TABLE raw AS SELECT * FROM csv.`{tmp_path}/sales.csv`")
    assert any("FROM 'path' finds header and types" in note for note in by_spark.notes)


@pytest.mark.spark
def test_a_temporary_view_and_streaming_mode_read_a_file_once(
    swb: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sales.csv").write_text(SALES)
    swb.run("CREATE TEMPORARY VIEW seen AS SELECT name FROM 'sales.csv'")
    assert [r.name for r in swb.run("SELECT * FROM seen").frame.collect()] == ["Ann", "Ben"]
    swb.run("SET 'execution.runtime-mode' = 'streaming'")
    assert [r.name for r in swb.run("SELECT name FROM 'sales.csv'").frame.collect()] == ["Ann", "Ben"]


# -- instants, and types of columnar files


def test_instants_of_files_start_no_spark(wb: Workbench, tmp_path: Path) -> None:
    (tmp_path / "z.csv").write_text("id,t\n1,2013-01-01T06:00:00Z\n2,2013-07-01T06:00:00+02:00\n")
    wb.run("SET spark.sql.session.timeZone = Europe/Berlin")
    times = [dt.datetime(2013, 7, 1, 4, tzinfo=dt.UTC), dt.datetime(2013, 1, 1, 6, tzinfo=dt.UTC)]
    assert wb.run("SELECT t FROM 'z.csv' ORDER BY t DESC").to_arrow()["t"].to_pylist() == times
    wb.run("CREATE TABLE z AS SELECT * FROM 'z.csv'")
    assert wb.run("SELECT t FROM z ORDER BY t DESC LIMIT 5").to_arrow()["t"].to_pylist() == times
    assert no_spark(wb)


def test_types_of_columnar_files_are_the_users(wb: Workbench, tmp_path: Path) -> None:
    parquet.write_table(pa.table({"id": [1, 2], "Name": ["a", None], "n": ["1", "2"]}), tmp_path / "c.parquet")
    typed = wb.run("SELECT * FROM read_parquet('c.parquet', types = 'id STRING, n INT')").to_arrow()
    assert typed.to_pylist() == [{"id": "1", "Name": "a", "n": 1}, {"id": "2", "Name": None, "n": 2}]
    assert typed.schema.field("n").type == pa.int32()
    chosen = wb.run("SELECT * FROM 'c.parquet' /*+ OPTIONS('columns' = 'name STRING, ID SMALLINT') */").to_arrow()
    assert chosen.to_pylist() == [{"Name": "a", "id": 1}, {"Name": None, "id": 2}]
    with pytest.raises(PaimonError, match="column Name cannot be read as INT"):
        wb.run("SELECT * FROM read_parquet('c.parquet', types = 'Name INT')").to_arrow()
    with pytest.raises(PaimonError, match="has no column 'nam'"):
        wb.run("SELECT * FROM read_parquet('c.parquet', types = 'nam INT')").to_arrow()
