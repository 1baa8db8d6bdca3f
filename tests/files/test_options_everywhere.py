"""Each option of a file, at each place where a file is read: as a hint in both dialects, as an argument, in CTAS, COPY INTO, the load form and Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from test_file_corpus import rows_of

import paimon_nb
from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.sql_quoting import text_literal
from paimon_nb.files.options import OPTIONS
from paimon_nb.notebook.create_model import create_table_statement
from paimon_nb.notebook.load_model import file_source

if TYPE_CHECKING:
    from pathlib import Path

    import pyarrow as pa
    from pyspark.sql import SparkSession

    from paimon_nb.workbench import Workbench

Case = tuple[str, str | bytes, dict[str, str], list[list[Any]]]
"""Name and content of a file, options, and its rows."""
SEMICOLON = {"delim": ";", "decimal_separator": ","}
CASES: dict[str, Case] = {
    "header": ("a.csv", "x,y\nz,w\n", {"header": "false"}, [["x", "y"], ["z", "w"]]),
    "skip": ("a.csv", "junk\nmore\na,b\n1,2\n", {"skip": "2"}, [[1, 2]]),
    "comment": ("a.csv", "a,b\n1,2\n%note\n3,4\n", {"comment": "%"}, [[1, 2], [3, 4]]),
    "delim": ("a.csv", "a^b\n1^2\n", {"delim": "^"}, [[1, 2]]),
    "quote": ("a.csv", "a,b\n`1,2`,x\n", {"quote": "`"}, [["1,2", "x"]]),
    "escape": ("a.csv", 'a,b\n"1\\"2",x\n', {"escape": "\\"}, [['1"2', "x"]]),
    "new_line": ("a.csv", "a,b\r\n1,2\r\n", {"new_line": "\\r\\n"}, [[1, 2]]),
    "strict_mode": ("a.csv", "a,b\r\n1,2\r\n3,4\r\n", {"strict_mode": "true"}, [[1, 2], [3, 4]]),
    "decimal_separator": ("a.csv", "a;b\n1,5;x\n", SEMICOLON, [[1.5, "x"]]),
    "thousands": ("a.csv", "a;b\n1.234,5;x\n", {**SEMICOLON, "thousands": "."}, [[1234.5, "x"]]),
    "dateformat": ("a.csv", "a,b\n01.02.2024,x\n", {"dateformat": "%d.%m.%Y"}, [["2024-02-01", "x"]]),
    "timestampformat": ("a.csv", "a,b\n01.02.2024 03:04,x\n", {"timestampformat": "%d.%m.%Y %H:%M"}, [["2024-02-01T03:04:00", "x"]]),
    "encoding": ("a.csv", "a,b\n東京,1\n".encode("shift_jis"), {"encoding": "shift_jis"}, [["東京", 1]]),
    "nullstr": ("a.csv", "a,b\n1,?\n-,x\n", {"nullstr": "['?', '-']"}, [[1, None], [None, "x"]]),
    "all_varchar": ("a.csv", "a,b\n1,2024-01-01\n", {"all_varchar": "true"}, [["1", "2024-01-01"]]),
    "columns": ("a.csv", "1,2\n3,4\n", {"columns": "x STRING, y DOUBLE", "header": "false"}, [["1", 2.0], ["3", 4.0]]),
    "types": ("a.csv", "a,b\n1,2\n", {"types": "{'a': 'STRING'}"}, [["1", 2]]),
    "multiline": ("a.csv", 'a,b\n"1\n2",3\n', {"multiline": "true"}, [["1\n2", 3]]),
    "sample_size": ("a.csv", "a,b\n" + "1,2\n" * 50 + "x,3\n", {"sample_size": "5"}, [["1", 2]] * 50 + [["x", 3]]),
    "ignore_errors": ("a.csv", "a,b\n1,2\nx,3\n", {"ignore_errors": "true", "types": "{'a': 'INT'}"}, [[1, 2], [None, 3]]),
    "JSON on several lines": ("a.json", '{"a":1,\n"b":2}\n{"a":3,"b":4}', {"multiline": "true"}, [[1, 2], [3, 4]]),
    "types of JSON": ("a.jsonl", '{"a":1,"b":2}\n', {"types": "{'a': 'STRING'}"}, [["1", 2]]),
    "columns of JSON": ("a.json", '[{"a":1,"b":2.5,"c":3}]', {"columns": "b DECIMAL(5, 2), a INT"}, [[2.5, 1]]),
    "dates of JSON": ("a.jsonl", '{"a":"01.02.2024","b":["03.02.2024"]}\n', {"dateformat": "%d.%m.%Y"}, [["2024-02-01", ["2024-02-03"]]]),
    "times of JSON": ("a.jsonl", '{"a":"01.02.2024 03:04","b":2}\n', {"timestampformat": "%d.%m.%Y %H:%M"}, [["2024-02-01T03:04:00", 2]]),
    "texts of JSON": ("a.json", '[{"a":{"x":1},"b":[1,true],"c":null,"d":2.5,"e":"2024-01-01","f":"g"}]', {"all_varchar": "true"}, [['{"x":1}', "[1,true]", None, "2.5", "2024-01-01", "g"]]),
    "sample of JSON": ("a.jsonl", '{"a":1}\n' * 30 + '{"a":"x","b":2}\n', {"sample_size": "3"}, [["1", None]] * 30 + [["x", 2]]),
    "encoding of JSON": ("a.json", '[{"a":"Ö","b":2}]'.encode("latin-1"), {"encoding": "latin-1"}, [["Ö", 2]]),
}  # fmt: skip
SLICE = ("skip", "strict_mode", "thousands", "columns of JSON", "dates of JSON", "texts of JSON")
OF_THE_TABLE = ("columns", "types", "all_varchar", "columns of JSON", "types of JSON", "texts of JSON", "ignore_errors")
"""What COPY INTO takes from its table, and ON_ERROR."""


def written(wb: Workbench, name: str, statement: str) -> pa.Table:
    """The rows of a table after a statement that makes it."""
    wb.run(statement)
    return wb.table(name).to_arrow()


def ways(wb: Workbench, path: str, options: dict[str, str]) -> dict[str, pa.Table]:
    """The rows of a file with options, by each way that needs no Spark."""
    hint = "/*+ OPTIONS(" + ", ".join(f"'{k}' = {text_literal(v)}" for k, v in options.items()) + ") */"
    flink_hint = hint.replace("\\\\", "\\")  # a backslash is an ordinary character there
    arguments = ", ".join(f"{k} => {text_literal(v)}" for k, v in options.items())
    function = "read_json" if "json" in path else "read_csv"
    draft, source = file_source(path, "by_form", options)
    wb.run(create_table_statement(draft, "spark"))
    found = {
        "hint": wb.run(f"SELECT * FROM '{path}' {hint}").to_arrow(),
        "function": wb.run(f"SELECT * FROM {function}('{path}', {arguments})").to_arrow(),
        "CTAS": written(wb, "by_ctas", f"CREATE TABLE by_ctas AS SELECT * FROM '{path}' {hint}"),
        "load form": written(wb, "by_form", source.insert(draft)),
        "Python": wb.create_table("by_python", path, file_options=options).to_arrow(),
    }
    wb.run("SET 'execution.runtime-mode' = 'batch'")
    found["Flink's dialect"] = wb.run(f"SELECT * FROM '{path}' {flink_hint}").to_arrow()
    wb.run("RESET 'execution.runtime-mode'")
    (count,) = wb.run(f"SELECT count(*) AS n FROM '{path}' {hint}").to_arrow()["n"].to_pylist()
    assert count == found["hint"].num_rows
    return found


def sorted_rows(rows: pa.Table) -> list[str]:
    return sorted(map(repr, rows_of(rows)))


@pytest.mark.filterwarnings("ignore::UserWarning")  # notes of create_table
@pytest.mark.parametrize(
    "case", [pytest.param(c, marks=[] if c in SLICE else pytest.mark.nightly) for c in CASES]
)  # fmt: skip
def test_an_option_means_the_same_everywhere(tmp_path: Path, case: str) -> None:
    name, content, options, expected = CASES[case]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    wb = paimon_nb.connect(str(tmp_path / "w"))
    found = {way: sorted_rows(rows) for way, rows in ways(wb, str(tmp_path / name), options).items()}
    assert found == dict.fromkeys(found, sorted(map(repr, expected)))
    assert not wb.session.spark_started


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_and_copy_into_read_by_the_same_options(spark: SparkSession, tmp_path: Path) -> None:
    swb = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    swb.run("SET 'paimon-nb.engine' = 'spark'")
    for case, (name, content, options, rows) in CASES.items():
        folder = tmp_path / case
        folder.mkdir()
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        expected = sorted(map(repr, rows))
        hint = "/*+ OPTIONS(" + ", ".join(f"'{k}' = {text_literal(v)}" for k, v in options.items()) + ") */"
        source = f"'{folder / name}' {hint}"
        assert sorted_rows(swb.run(f"SELECT * FROM {source}").to_arrow()) == expected, case
        if case in OF_THE_TABLE:
            continue
        swb.run(f"CREATE OR REPLACE TABLE t AS SELECT * FROM {source} LIMIT 0")
        kind = "JSON" if "json" in name else "CSV"
        lines = {} if kind == "JSON" or "header" in options else {"header": "true"}
        given = ", ".join(f"{k.upper()} = {text_literal(v)}" for k, v in ({**lines, **options}).items())
        if case == "nullstr":
            given = given.replace(text_literal(options["nullstr"]), "('?', '-')")
        copy = f"COPY INTO t FROM '{folder}' FILE_FORMAT = (TYPE = {kind}, {given})"
        if case == "dates of JSON":
            with pytest.raises(SchemaMismatch, match=r"column 'b' is ARRAY<DATE>: there is no cast"):
                swb.run(copy)
            continue
        swb.run(copy)
        assert sorted_rows(swb.table("t").to_arrow()) == expected, case


def test_every_option_of_text_files_has_a_case() -> None:
    shown = {option for _, _, options, _ in CASES.values() for option in options}
    of_other_tests = {
        "format", "compression", "names", "null_padding", "max_line_size", "records", "maximum_depth", "maximum_object_size", "map_inference_threshold",
        "sheet", "filename", "hive_partitioning", "union_by_name",
    }  # fmt: skip
    assert shown | of_other_tests == set(OPTIONS)
