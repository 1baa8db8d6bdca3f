"""Files that others wrote: values are read as they are, or the note says what changed, or an error names the option that helps."""

from __future__ import annotations

import datetime as dt
import decimal
import gzip
import io
import json
import re
import time
import uuid
from typing import TYPE_CHECKING, Any

import fastavro
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from pyarrow import feather
from sampling import sampled
from test_file_corpus import COLUMNS

from paimon_nb.base.errors import BadOptionValue, PaimonError, SchemaMismatch, SourceUnavailable, UnsupportedFormat
from paimon_nb.files.open import OpenedFiles, open_data_file

if TYPE_CHECKING:
    from pathlib import Path

D = decimal.Decimal
UTC = dt.UTC


def read(path: Path, content: str | bytes, **options: Any) -> tuple[str, list[dict[str, Any]], str]:
    """The types, the rows and the note of a file with this content."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    data = open_data_file(str(path), options)
    return ", ".join(f"{f.name} {f.type}" for f in data.fields), data.rows().to_pylist(), data.note()


# -- no value changes without a note

UNCHANGED: list[tuple[str, str, str | bytes, str, list[tuple[Any, ...]]]] = [
    ("keys of later objects", "a.json", '[{"id":1},{"id":2,"name":"b"}]', "id BIGINT, name STRING", [(1, None), (2, "b")]),
    ("zeros of codes", "a.csv", "zip,city\n02134,Boston\n10001,NY\n", "zip STRING, city STRING", [("02134", "Boston"), ("10001", "NY")]),
    ("zeros after the sample", "a.csv", "zip\n" + "10001\n" * 30_000 + "02134\n", "zip STRING", [("10001",)] * 30_000 + [("02134",)]),
    ("plus signs", "a.csv", "phone\n+4917012345\n004917012345\n", "phone STRING", [("+4917012345",), ("004917012345",)]),
    ("hexadecimal numbers", "a.csv", "a,b\n0x1F,1\n0x20,2\n", "a STRING, b BIGINT", [("0x1F", 1), ("0x20", 2)]),
    ("64 bits and more", "a.csv", "id\n9223372036854775807\n9223372036854775809\n", "id DECIMAL(20, 0)", [(D(9223372036854775807),), (D(9223372036854775809),)]),
    ("38 digits", "a.csv", "id\n" + "1" * 38 + "\n", "id DECIMAL(38, 0)", [(D("1" * 38),)]),
    ("39 digits", "a.csv", "id\n" + "1" * 39 + "\n", "id STRING", [("1" * 39,)]),
    ("64 bits of JSON", "a.jsonl", '{"id":18446744073709551615}\n{"id":18446744073709551617}\n', "id DECIMAL(20, 0)", [(D(18446744073709551615),), (D(18446744073709551617),)]),
    ("nested 64 bits", "a.jsonl", '{"o":{"id":18446744073709551617}}\n', "o STRING", [('{"id":18446744073709551617}',)]),
    ("an array of large numbers", "a.json", '[{"id":12345678901234567890}]', "id DECIMAL(20, 0)", [(D(12345678901234567890),)]),
    ("a fraction after the sample", "a.csv", "a\n" + "1\n" * 30_000 + "1.5\n", "a DOUBLE", [(1.0,)] * 30_000 + [(1.5,)]),
    ("a word after the sample", "a.csv", "a\n" + "1\n" * 30_000 + "x\n", "a STRING", [("1",)] * 30_000 + [("x",)]),
    ("too large for DOUBLE", "a.csv", "a,b\n1e400,1\n2,2\n", "a STRING, b BIGINT", [("1e400", 1), ("2", 2)]),
    ("nanoseconds", "a.csv", "t\n2024-01-02 03:04:05.123456700\n", "t TIMESTAMP(9)", [(pd.Timestamp("2024-01-02 03:04:05.123456700"),)]),
    ("zones here and there", "a.csv", "t\n2024-01-02T03:04:05Z\n2024-01-02T03:04:05\n", "t STRING", [("2024-01-02T03:04:05Z",), ("2024-01-02T03:04:05",)]),
    ("zones of JSON", "a.jsonl", '{"t":"2024-01-02T03:04:05+02:00"}\n', "t TIMESTAMP(6) WITH LOCAL TIME ZONE", [(dt.datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC),)]),
    ("dates of JSON", "a.json", '[{"d":"2024-01-02"}]', "d DATE", [(dt.date(2024, 1, 2),)]),
    ("years in the header", "a.csv", "Country,Code,1960,1961\nGermany,DEU,2.4,2.5\nFrance,FRA,2.8,2.9\n", "Country STRING, Code STRING, 1960 DOUBLE, 1961 DOUBLE", [("Germany", "DEU", 2.4, 2.5), ("France", "FRA", 2.8, 2.9)]),
    ("dates in the header", "a.csv", "name,2024-01-01,2024-01-02\nx,2,1\ny,4,1\n", "name STRING, 2024-01-01 BIGINT, 2024-01-02 BIGINT", [("x", 2, 1), ("y", 4, 1)]),
    ("years that are values", "a.csv", "Ann,1960\nBen,1961\n", "column0 STRING, column1 BIGINT", [("Ann", 1960), ("Ben", 1961)]),
    ("equal words in the header", "a.csv", "name,name\na,b\n1,c\n", "name STRING, name_1 STRING", [("a", "b"), ("1", "c")]),
    ("a late letter of Latin-1", "a.csv", ("id,name\n" + "1,abcdefgh\n" * 8_000 + "2,Müller\n").encode("latin-1"), "id BIGINT, name STRING", [(1, "abcdefgh")] * 8_000 + [(2, "Müller")]),
    ("UTF-16 without a mark", "a.csv", "id,name\n1,Öl\n".encode("utf-16-le"), "id BIGINT, name STRING", [(1, "Öl")]),
    ("NA in texts", "a.csv", "a,b\nNA,x\ny,NA\n", "a STRING, b STRING", [("NA", "x"), ("y", "NA")]),
    ("NULL and the empty text", "a.csv", 'a,b\n"",1\n,2\nx,3\n', "a STRING, b BIGINT", [("", 1), (None, 2), ("x", 3)]),
    ("NUL in the header", "a.csv", b"a\x00,b\n1,2\n", "a BIGINT, b BIGINT", [(1, 2)]),
    ("only a header", "a.csv", "id,name", "id STRING, name STRING", []),
    ("ends of lines of old Macs", "a.csv", "id,name\r1,a\r", "id BIGINT, name STRING", [(1, "a")]),
    ("short lines", "a.csv", "id,name,x\n1,a\n2,b,c\n", "id BIGINT, name STRING, x STRING", [(1, "a", None), (2, "b", "c")]),
    ("long lines", "a.csv", "a,b\n1,2\n3,4,5\n6,7\n", "a BIGINT, b BIGINT, column2 BIGINT", [(1, 2, None), (3, 4, 5), (6, 7, None)]),
    ("a long line after the sample", "a.csv", "a,b\n" + "1,2\n" * 30_000 + "1,2,3\n", "a BIGINT, b BIGINT, column2 BIGINT", [(1, 2, None)] * 30_000 + [(1, 2, 3)]),
    ("a long line beside letters after a quotation", "a.csv", "a,b\n" + "1,2\n" * 30_000 + '"x"y,2\n1,2,3\n', "a STRING, b BIGINT, column2 BIGINT", [("1", 2, None)] * 30_000 + [('"x"y', 2, None), ("1", 2, 3)]),
    ("years that DATE does not have", "a.csv", "d\n-0044-03-15\n10000-01-01\n", "d STRING", [("-0044-03-15",), ("10000-01-01",)]),
    ("compressed without an ending", "a.csv", gzip.compress(b"a,b\n01,2\n"), "a STRING, b BIGINT", [("01", 2)]),
    ("JSON with a byte order mark", "a.json", '\ufeff[{"a":"é"},{"a":"x"}]', "a STRING", [("é",), ("x",)]),
    ("comments", "a.csv", "# from x\nid,name\n1,a\n", "id BIGINT, name STRING", [(1, "a")]),
    ("comments and other lines before the header", "a.csv", "# one\noh no\n# two\na;b\n1;x\n2;y\n3;z\n", "a BIGINT, b STRING", [(1, "x"), (2, "y"), (3, "z")]),
    ("comments before quoted line breaks", "a.csv", '# note\nb,a\n"1\n2",5\n3,4\n', "b STRING, a BIGINT", [("1\n2", 5), ("3", 4)]),
    ("single quotes", "a.csv", "a,b\n'x,y',1\n'z',2\n", "a STRING, b BIGINT", [("x,y", 1), ("z", 2)]),
    ("texts and numbers", "a.json", '[{"t":"a"},{"t":300}]', "t STRING", [("a",), ("300",)]),
    ("objects and texts", "a.jsonl", '{"t":"a"}\n{"t":{"x":1}}\n', "t STRING", [('"a"',), ('{"x":1}',)]),
    ("lists of other depth", "a.jsonl", '{"c":[1]}\n{"c":[[1]]}\n', "c ARRAY<STRING>", [(["1"],), (["[1]"],)]),
    ("an empty list", "a.jsonl", '{"id":1,"tags":[]}\n', "id BIGINT, tags ARRAY<STRING>", [(1, [])]),
    ("an empty object", "a.jsonl", '{"id":1,"meta":{}}\n', "id BIGINT, meta MAP<STRING NOT NULL, STRING>", [(1, [])]),
    ("an empty field", "a.jsonl", '{"o":{"x":null},"n":null}\n', "o ROW<`x` STRING>, n STRING", [({"x": None}, None)]),
    ("keys that a nested object lacks", "a.jsonl", '{"o":{"d":1.5}}\n{"o":{"e":2}}\n', "o ROW<`d` DOUBLE, `e` BIGINT>", [({"d": 1.5, "e": None},), ({"d": None, "e": 2},)]),
    ("keys that differ in case", "a.jsonl", '{"a":1,"A":2}\n', "a BIGINT, A_1 BIGINT", [(1, 2)]),
    ("keys that end with numbers", "a.jsonl", '{"t":"x","t_1":"y"}\n', "t STRING, t_1 STRING", [("x", "y")]),
    ("keys in both cases and with numbers", "a.jsonl", '{"a_1":1,"a":2,"A":"3","A_1":null}\n{"A_1":"5"}\n', "a_1 BIGINT, a BIGINT, A_1_1 STRING, A_1_2 STRING", [(1, 2, "3", None), (None, None, None, "5")]),
    ("objects beside keys in both cases", "a.jsonl", '{"o":{"x":1},"O":1}\n{"o":{"y":2}}\n', "o STRING, O_1 BIGINT", [('{"x":1}', 1), ('{"y":2}', None)]),
    ("keys that are names of types", "a.jsonl", '{"o":{"UUID":{"a":1},"JSON":"x","DATE":"2024-01-02","TIME":null,"a b, (c)":[{"DOUBLE":1.5}],"q\\"":1}}\n', 'o ROW<`UUID` ROW<`a` BIGINT>, `JSON` STRING, `DATE` DATE, `TIME` STRING, `a b, (c)` ARRAY<ROW<`DOUBLE` DOUBLE>>, `q"` BIGINT>', [({"UUID": {"a": 1}, "JSON": "x", "DATE": dt.date(2024, 1, 2), "TIME": None, "a b, (c)": [{"DOUBLE": 1.5}], 'q"': 1},)]),
    ("positive and negative numbers", "a.json", '[{"n":5},{"n":-7}]', "n BIGINT", [(5,), (-7,)]),
    ("nested times of UTC", "a.jsonl", '{"t":["2024-01-02T03:04:05.5Z","2024-01-02T03:04:05.120Z"]}\n', "t ARRAY<TIMESTAMP(6) WITH LOCAL TIME ZONE>", [([dt.datetime(2024, 1, 2, 3, 4, 5, 500000, UTC), dt.datetime(2024, 1, 2, 3, 4, 5, 120000, UTC)],)]),
    ("quotation marks that are letters", "a.tsv", "a\tb\n" + f"1\t{'x' * 120}\n" * 9_000 + '2\t"y" z.\n', "a BIGINT, b STRING", [(1, "x" * 120)] * 9_000 + [(2, '"y" z.')]),
    ("a name with letters of patterns", "[a]*?.csv", "id\n7\n", "id BIGINT", [(7,)]),
    ("commas in lines of another delimiter", "a.csv", "id;name;place;at;by;n\n" + '1;"a;x, y;z;u;1\n2;b;p, q, r;s;t;2;7;8\n3;c\n' * 40, "id BIGINT, name STRING, place STRING, at STRING, by STRING, n BIGINT, column6 BIGINT, column7 BIGINT", [(1, '"a', "x, y", "z", "u", 1, None, None), (2, "b", "p, q, r", "s", "t", 2, 7, 8), (3, "c", None, None, None, None, None, None)] * 40),
    ("dates of several formats", "a.json", '[{"o":{"a":"06-25-2025"},"p":["2025-06-25"]},{"o":{"b":"2025-06-25"},"p":[]}]', "o ROW<`a` STRING, `b` STRING>, p ARRAY<DATE>", [({"a": "06-25-2025", "b": None}, [dt.date(2025, 6, 25)]), ({"a": None, "b": "2025-06-25"}, [])]),
    ("blank lines above short lines", "a.csv", "\n\na,b\n1,2\n3\n", "a BIGINT, b BIGINT", [(1, 2), (3, None)]),
    ("a blank line above a longer line", "a.csv", "\na,b,c\n1,a,1.0\n2,b,2.0,\n3,c,3.0\n", "a BIGINT, b STRING, c DOUBLE, column3 STRING", [(1, "a", 1.0, None), (2, "b", 2.0, None), (3, "c", 3.0, None)]),
    ("line breaks in values of short lines", "a.csv", 'a,b,c\n1,"x\ny"\n2,"z",3\n', "a BIGINT, b STRING, c BIGINT", [(1, "x\ny", None), (2, "z", 3)]),
    ("titles with line breaks above rows", "a.csv", 'Name:,"x"\nTitle:,"a, b\n\nc"\n===\n' + '"p","1","2",\n"q","1","2"\n' * 2, "column0 STRING, column1 STRING, column2 BIGINT, column3 STRING", [("Name:", "x", None, None), ("Title:", "a, b\n\nc", None, None), ("===", None, None, None), *[("p", "1", 2, None), ("q", "1", 2, None)] * 2]),
    ("a short header and short rows", "a.csv", 'k,v\n1,"a\nb"\n2\n3,"c",4\n', "k BIGINT, v STRING, column2 BIGINT", [(1, "a\nb", None), (2, None, None), (3, "c", 4)]),
    ("a title above a longer header", "a.csv", "Series: x\n\nName:   y\na,b,\n1,2\n3,4\n5,6\n", "a BIGINT, b BIGINT, column2 STRING", [(1, 2, None), (3, 4, None), (5, 6, None)]),
    ("zeros of nanoseconds", "a.csv", "t,z,c\n2024-01-02 03:04:05.120000000,2024-01-02T03:04:05.000000000Z,01:02:03.100000\n", "t TIMESTAMP(6), z TIMESTAMP(6) WITH LOCAL TIME ZONE, c TIME(3)", [(dt.datetime(2024, 1, 2, 3, 4, 5, 120000), dt.datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC), dt.time(1, 2, 3, 100000))]),
    ("nested times with zones", "a.jsonl", '{"o":{"t":"2024-01-02T03:04:05+02:00"}}\n', "o ROW<`t` STRING>", [({"t": "2024-01-02T03:04:05+02:00"},)]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content", "types", "rows"), [c[1:] for c in UNCHANGED], ids=[c[0] for c in UNCHANGED]
)
def test_values_stay_as_they_are(
    tmp_path: Path, name: str, content: str | bytes, types: str, rows: list[tuple[Any, ...]]
) -> None:
    found, values, _ = read(tmp_path / name, content)
    assert found == types
    assert [tuple(r.values()) for r in values] == rows


@pytest.mark.parametrize(
    ("content", "rows", "note"),
    [
        ("x,d\n2.5,2024-01-01\nNA,NA\n", [(2.5, dt.date(2024, 1, 1)), (None, None)], "x: 'NA' is NULL; d: 'NA' is NULL"),
        ("d\n31.12.2024\n01.02.2024\n", [(dt.date(2024, 12, 31),), (dt.date(2024, 2, 1),)], "'31.12.2024' is a date by the format '%d.%m.%Y'"),
        ("b,c\nyes,1\nno,2\n", [(True, 1), (False, 2)], "b: 'no', 'yes' are booleans"),
        ("a\n-0\n5\n", [(0,), (5,)], "a: -0 is 0"),
        ("a\n0.12345678901234567890\n2\n", [(0.12345678901234568,), (2.0,)], "a: 1 values have more digits than DOUBLE keeps"),
        ("a,b\n 1 ,x\n 2 ,y\n", [(1, "x"), (2, "y")], "a: spaces around numbers are left out"),
        ("t\n2024-01-02 03:04:05+02:00\n", [(dt.datetime(2024, 1, 2, 1, 4, 5, tzinfo=UTC),)], "zones are left out, the instants stay"),
        ("t\n2024-01-02 03:04:05 Europe/Berlin\n", [(dt.datetime(2024, 1, 2, 2, 4, 5, tzinfo=UTC),)], "zones are left out, the instants stay"),
        ("t\n2024-01-02 03:04:05 Europe/Berlin\n2024-01-02 03:04:05\n", [("2024-01-02 03:04:05 Europe/Berlin",), ("2024-01-02 03:04:05",)], "some times have no zone"),
        ("a,A,\n1,2,3\n", [(1, 2, 3)], "column 2 'A' is named A_1; column 3 has no name and is named column2"),
    ],
)  # fmt: skip
def test_a_change_is_in_the_note(tmp_path: Path, content: str, rows: list[tuple[Any, ...]], note: str) -> None:
    _, values, found = read(tmp_path / "a.csv", content)
    assert [tuple(r.values()) for r in values] == rows
    assert note in found


JSON_NOTES = [
    ('{"":1}', {"json": [("", 1)]}, "an object has an empty key"),
    ('{"o":[{"":1}]}', {"o": [[("", 1)]]}, "an object has an empty key"),
    ('{"a":1,"a":2}', {"json": '{"a":1,"a":2}'}, "an object has the key 'a' twice"),
    ('{"o":{"a":0.12345678901234567890123}}', {"o": {"a": 0.12345678901234568}}, "numbers have more digits than DOUBLE keeps"),
    ('{"a":[0.30000000000000004,12345678901234.56]}', {"a": [0.30000000000000004, 12345678901234.56]}, ""),
    ('{"a":12345678901234567.5}', {"a": 12345678901234567.5}, "digits than DOUBLE keeps"),
    ('{"a":1,"A":2}', {"a": 1, "A_1": 2}, "column 2 'A' is named A_1"),
    ('{"a":1,"o":{"b":1.5,"c":"123456789012345678901.5"}}', {"a": 1, "o": {"b": 1.5, "c": "123456789012345678901.5"}}, ""),
]  # fmt: skip


@pytest.mark.parametrize(("content", "row", "note"), JSON_NOTES)
def test_the_note_of_json_says_what_is_unusual(tmp_path: Path, content: str, row: dict[str, Any], note: str) -> None:
    (tmp_path / "a.jsonl").write_text(content)
    data = open_data_file(str(tmp_path / "a.jsonl"))
    assert data.rows().to_pylist() == [row]
    assert note in data.changes()
    assert bool(note) == bool(data.changes())


@pytest.mark.parametrize(
    ("objects", "options", "types", "note"),
    [
        ([{f"c{i}": i for i in range(250)}] * 2, {}, 250, ""),
        ([{f"c{i}": i for i in range(250)}], {}, "json MAP<STRING NOT NULL, BIGINT>", "json: MAP of objects that have many keys"),
        ([{f"c{i}": i for i in range(250)}], {"map_inference_threshold": -1}, 250, ""),
        ([{f"c{n}": 1, f"d{n}": 2} for n in range(150)], {}, "json MAP<STRING NOT NULL, BIGINT>", "map_inference_threshold = -1 makes a field of each key"),
        ([{"m": {f"c{i}": i for i in range(250)}}] * 2, {}, "m MAP<STRING NOT NULL, BIGINT>", "m: MAP of objects that have many keys"),
        ([{"m": {f"c{i}": "2024-01-02" for i in range(250)}}] * 2, {}, "m MAP<STRING NOT NULL, DATE>", "m: MAP of objects that have many keys"),
        ([{"m": {"a": 1, "b": 2}}] * 2, {"map_inference_threshold": 1}, "json MAP<STRING NOT NULL, MAP<STRING NOT NULL, BIGINT>>", "json: MAP of objects"),
    ],
)  # fmt: skip
def test_objects_of_many_keys(tmp_path: Path, objects: list[Any], options: dict[str, Any], types: str | int, note: str) -> None:  # fmt: skip
    found, rows, said = read(tmp_path / "a.jsonl", "\n".join(map(json.dumps, objects)), **options)
    assert (found == types) if isinstance(types, str) else (len(rows[0]) == types)
    assert len(rows) == len(objects)
    assert note in said
    assert note or "MAP" not in said


# -- what the user knows better


@pytest.mark.parametrize(
    ("options", "types", "first"),
    [
        ({}, "a STRING, b STRING", {"a": "1.234,5", "b": "01.02.2024"}),
        ({"decimal_separator": ",", "thousands": "."}, "a DOUBLE, b STRING", {"a": 1234.5, "b": "01.02.2024"}),
        ({"types": "{'b': 'DATE'}", "dateformat": "%d.%m.%Y"}, "a STRING, b DATE", {"a": "1.234,5", "b": dt.date(2024, 2, 1)}),
        ({"all_varchar": True}, "a STRING, b STRING", {"a": "1.234,5", "b": "01.02.2024"}),
        ({"header": "false"}, "column0 STRING, column1 STRING", {"column0": "a", "column1": "b"}),
        ({"skip": 1, "header": False, "delim": ";"}, "column0 STRING, column1 STRING", {"column0": "1.234,5", "column1": "01.02.2024"}),
        ({"columns": "x STRING, y STRING"}, "x STRING, y STRING", {"x": "1.234,5", "y": "01.02.2024"}),
        ({"nullstr": "['01.02.2024', '-']"}, "a STRING, b STRING", {"a": "1.234,5", "b": None}),
        ({"delim": "|"}, "a;b STRING", {"a;b": "1.234,5;01.02.2024"}),
    ],
)  # fmt: skip
def test_options_correct_the_guess(tmp_path: Path, options: dict[str, Any], types: str, first: dict[str, Any]) -> None:
    found, rows, _ = read(tmp_path / "a.csv", "a;b\n1.234,5;01.02.2024\n2,5;x\n" if "dateformat" not in options else "a;b\n1.234,5;01.02.2024\n", **options)  # fmt: skip
    assert (found, rows[0]) == (types, first)


@pytest.mark.parametrize(
    ("options", "error", "message", "hint"),
    [
        ({"types": {"b": "INT"}}, SchemaMismatch, "a.csv, line 3, column 'b': 'x' is not a INTEGER", "nullstr = 'x'"),
        (
            {"types": {"b": "DATE"}},
            SchemaMismatch,
            "a.csv, line 2, column 'b': '2' is not a DATE",
            "dateformat = '%d.%m.%Y'",
        ),
        ({"typs": {"b": "INT"}}, BadOptionValue, "no option 'typs'", "did you mean 'types'"),
        ({"records": "true"}, BadOptionValue, "csv has no option 'records'", "options of csv"),
        ({"header": "maybe"}, BadOptionValue, "header is true or false, not 'maybe'", "names of the columns"),
        ({"columns": "a INT"}, BadOptionValue, "columns names 1 columns, and the file has 2: a, b", "some columns"),
        ({"types": {"b": "NUMBR"}}, BadOptionValue, "'NUMBR' is not a type", "BIGINT"),
        ({"encoding": "klingon"}, BadOptionValue, "no encoding 'klingon'", "latin-1"),
        ({"format": "doc"}, BadOptionValue, "no format 'doc'", "csv"),
    ],
)
def test_an_error_names_the_value_and_the_option(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], error: type[PaimonError], message: str, hint: str
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a,b\n1,2\n3,x\n")
    with pytest.raises(error) as raised:
        open_data_file("a.csv", options)
    assert message in raised.value.message
    assert hint in (raised.value.hint or "")


def test_an_error_counts_lines_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a1.csv").write_text("a,b\n1,2\n")
    (tmp_path / "a2.csv").write_text('b,a\n"1\n2",5\n\n3,"1.5,0"\n')
    with pytest.raises(SchemaMismatch, match=r"a2\.csv, line 5, column 'a': '1\.5,0' is not a INTEGER") as caught:
        open_data_file("a*.csv", {"types": {"a": "INT"}})
    assert "decimal_separator = ','" in str(caught.value.hint)
    with pytest.raises(SchemaMismatch, match="row 1, column 'b': a value has several lines"):
        open_data_file("a2.csv", {"multiline": False})


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"a":1}\nx\n{"a":2}', "a.json, line 2 cannot be read as JSON: unexpected character"),
        ('{"a":1}\n{"a":', "a.json, line 2 cannot be read as JSON: unexpected end of data"),
        ('[{"a":1},{"a":2},\n', "a.json cannot be read as JSON: the array is not closed"),
        ('[{"a":1},{"a":2}\n', "a.json cannot be read as JSON: unexpected character"),
        ("[", "a.json cannot be read as JSON: the array is not closed"),
    ],
)
def test_an_error_of_json_names_the_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: str, message: str) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.json").write_text(content)
    with pytest.raises(UnsupportedFormat) as caught:
        open_data_file("a.json")
    assert caught.value.message == message
    assert "ignore_errors = true" in str(caught.value.hint)


@pytest.mark.parametrize("ending", ["csv", "jsonl"])
def test_a_type_of_the_user_changes_no_value(tmp_path: Path, ending: str) -> None:
    """DuckDB makes 2 of 1.7, and leaves out offsets and times of day."""
    cases = {
        ("INT", "1.7"): None, ("INT", "1.0"): 1, ("BIGINT", "-2.50"): None, ("INT", "1e3"): 1000, ("DECIMAL(5, 2)", "1.239"): None,
        ("DECIMAL(5, 2)", "1.2300"): D("1.23"), ("TIMESTAMP", "2024-01-01 10:00:00+02:00"): None, ("TIMESTAMP", "2024-01-01T10:00:00Z"): dt.datetime(2024, 1, 1, 10),
        ("DATE", "2024-01-01 10:00:00"): None, ("DATE", "2024-01-01 00:00:00"): dt.date(2024, 1, 1), ("DATE", "2024-01-12"): dt.date(2024, 1, 12),
        ("TIMESTAMP", "2024-01-12"): dt.datetime(2024, 1, 12),
    }  # fmt: skip
    for (type, text), expected in cases.items():
        content = f"a,b\n{text},x\n" if ending == "csv" else json.dumps({"a": text, "b": "x"})
        (tmp_path / f"a.{ending}").write_text(content)
        if expected is None:
            with pytest.raises(SchemaMismatch, match=re.escape(repr(text))):
                open_data_file(str(tmp_path / f"a.{ending}"), {"types": {"a": type}})
            continue
        found = open_data_file(str(tmp_path / f"a.{ending}"), {"types": {"a": type}}).rows()["a"].to_pylist()
        assert found == [expected], (type, text)


def test_names_of_types_may_have_colons_and_commas(tmp_path: Path) -> None:
    types, _, _ = read(tmp_path / "a.csv", '"a:b","c,d"\n1,2\n', types="{'a:b': 'INT', 'c,d': 'DECIMAL(5, 1)'}")
    assert types == "a:b INT, c,d DECIMAL(5, 1)"


def test_an_encoding_that_is_named_is_used(tmp_path: Path) -> None:
    _, rows, _ = read(tmp_path / "a.csv", "city,n\n東京,1\n".encode("shift_jis"), encoding="shift_jis")
    assert rows == [{"city": "東京", "n": 1}]


# -- unusual columns


def unusual() -> pa.Table:
    return pa.table(
        {
            "id": [1, 2],
            "u": pa.array([uuid.UUID(int=1).bytes, None], pa.uuid()),
            "j": pa.array(['{"a":1}', None], pa.json_()),
            "t": pa.array([dt.time(1, 2, 3, 4), None], pa.time64("us")),
            "m": pa.array([dt.time(1, 2, 3), None], pa.time64("ns")),
            "d": pa.array([dt.timedelta(1), None], pa.duration("s")),
            "big": pa.array([D("1" * 50), None], pa.decimal256(60, 0)),
            "small": pa.array([D("1.5"), None], pa.decimal256(60, 1)),
            "n": pa.nulls(2),
            "e": pa.array([[], None], pa.list_(pa.null())),
        }
    )


@pytest.mark.parametrize("suffix", ["parquet", "arrow", "arrows"])
def test_unusual_columns_become_the_nearest_type(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    if suffix == "parquet":
        parquet.write_table(unusual(), path)
    else:
        writer = pa.ipc.new_file if suffix == "arrow" else pa.ipc.new_stream
        with writer(str(path), unusual().schema) as out:
            out.write_table(unusual())
    data = open_data_file(str(path))
    assert data.rows().slice(0, 1).to_pylist() == [
        {
            "id": 1, "u": str(uuid.UUID(int=1)), "j": '{"a":1}', "t": "01:02:03.000004", "m": dt.time(1, 2, 3),
            "d": 86400, "big": "1" * 50, "small": D("1.5"), "n": None, "e": [],
        }
    ]  # fmt: skip
    assert "u is STRING of a UUID" in data.note()
    assert data.rows(["id"]).to_pylist() == [{"id": 1}, {"id": 2}]
    assert data.count() == 2


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_extension_types_that_arrow_does_not_know(tmp_path: Path, suffix: str) -> None:
    """Also in a process that has loaded pandas' types, they are unknown to a field that only has their metadata."""
    period = pa.field("p", pa.int64(), metadata={"ARROW:extension:name": "pandas.period", "ARROW:extension:metadata": '{"freq": "M"}'})  # fmt: skip
    other = pa.field("o", pa.int64(), metadata={"ARROW:extension:name": "some.type", "ARROW:extension:metadata": ""})
    rows = pa.table([pa.array([648, None]), pa.array([1, 2])], schema=pa.schema([period, other]))
    if suffix == "parquet":
        parquet.write_table(rows, tmp_path / "a.parquet")
    else:
        feather.write_feather(rows, str(tmp_path / "a.feather"))
    data = open_data_file(str(tmp_path / f"a.{suffix}"))
    assert data.rows().to_pylist() == [{"p": "2024-01", "o": 1}, {"p": None, "o": 2}]
    assert data.rows(["o"]).to_pylist() == [{"o": 1}, {"o": 2}]
    assert "p is STRING of a period" in data.note()
    assert "o has the stored values of some.type" in data.note()


def test_enums_of_parquet_are_texts(tmp_path: Path) -> None:
    rows = pa.table({"e": ["a", None], "l": [["b"], []], "s": [{"n": 1, "e": "c"}, None]})
    parquet.write_table(rows, tmp_path / "a.parquet", store_schema=False)
    string, enum = b"\x25\x00\x4c\x1c\x00\x00", b"\x25\x08\x4c\x4c\x00\x00"  # annotations of a column in Thrift
    content = (tmp_path / "a.parquet").read_bytes()
    assert content.count(string) == 3
    (tmp_path / "a.parquet").write_bytes(content.replace(string, enum))
    data = open_data_file(str(tmp_path / "a.parquet"))
    assert ", ".join(f"{f.name} {f.type}" for f in data.fields) == "e STRING, l ARRAY<STRING>, s ROW<`n` BIGINT, `e` STRING>"  # fmt: skip
    assert data.rows().to_pylist() == rows.to_pylist()


def test_a_column_that_cannot_be_read_closes_no_other(tmp_path: Path) -> None:
    broken = pa.StructArray.from_arrays([pa.array([b"\x00"]), pa.array([b"\xff"])], names=["metadata", "value"])
    parquet.write_table(pa.table({"id": [1], "v": broken}), tmp_path / "a.parquet")
    data = open_data_file(str(tmp_path / "a.parquet"))
    assert data.rows(["id"]).to_pylist() == [{"id": 1}]
    assert data.count() == 1
    with pytest.raises(PaimonError):
        data.rows(["v"])


def test_unions_and_names_that_differ_in_case(tmp_path: Path) -> None:
    union = pa.UnionArray.from_dense(
        pa.array([0, 1], pa.int8()), pa.array([0, 0], pa.int32()), [pa.array([5]), pa.array(["x"])]
    )
    rows = pa.table([pa.array([1, 2]), pa.array([3, 4]), union], names=["a", "A", "u"])
    with pa.ipc.new_file(str(tmp_path / "a.arrow"), rows.schema) as out:
        out.write_table(rows)
    data = open_data_file(str(tmp_path / "a.arrow"))
    assert data.rows().to_pylist() == [{"a": 1, "A_1": 3, "u": "5"}, {"a": 2, "A_1": 4, "u": "x"}]
    assert "column 2 'A' is named A_1" in data.note()


def test_avro_of_any_writer(tmp_path: Path) -> None:
    schema = {
        "type": "record", "name": "r", "fields": [
            {"name": "id", "type": "long"},
            {"name": "u", "type": ["null", "string", "int"]},
            {"name": "when", "type": {"type": "long", "logicalType": "timestamp-millis"}},
            {"name": "kind", "type": {"type": "enum", "name": "k", "symbols": ["A", "B"]}},
            {"name": "next", "type": ["null", "r"]},
        ],
    }  # fmt: skip
    now = dt.datetime(2024, 1, 2, tzinfo=UTC)
    rows = [
        {
            "id": 1,
            "u": 7,
            "when": now,
            "kind": "B",
            "next": {"id": 2, "u": None, "when": now, "kind": "A", "next": None},
        }
    ]
    out = io.BytesIO()
    fastavro.writer(out, schema, rows)
    types, values, note = read(tmp_path / "a.avro", out.getvalue())
    assert types == "id BIGINT, u STRING, when TIMESTAMP(3) WITH LOCAL TIME ZONE, kind STRING, next ROW<`id` BIGINT, `u` STRING, `when` TIMESTAMP(3) WITH LOCAL TIME ZONE, `kind` STRING, `next` STRING>"  # fmt: skip
    assert (values[0]["u"], values[0]["kind"], values[0]["next"]["id"]) == ("7", "B", 2)
    assert "u is STRING of the values of a union" in note


@pytest.mark.parametrize(
    ("rows", "types", "values"),
    [
        (
            pa.ListViewArray.from_arrays(pa.array([3, 0, 1], pa.int32()), pa.array([1, 0, 2], pa.int32()), pa.array([1, 2, 3, 4]), mask=pa.array([False, True, False])),
            "ARRAY<BIGINT>", [[4], None, [2, 3]],
        ),
        (
            pa.Array.from_buffers(pa.decimal128(3, 2), 2, pa.array([D("-116.97"), D("1.00")], pa.decimal128(5, 2)).buffers()),
            "DECIMAL(38, 2)", [D("-116.97"), D("1.00")],
        ),
        (
            pa.Array.from_buffers(pa.decimal128(38, 0), 3, [None, pa.py_buffer(b"".join(n.to_bytes(16, "little", signed=True) for n in (10**38, -(10**38), 7)))]),
            "STRING", [str(10**38), str(-(10**38)), "7"],
        ),
    ],
    ids=["lists in another order", "more digits than the type has", "39 digits in 128 bits"],
)  # fmt: skip
def test_arrow_data_that_other_writers_leave(tmp_path: Path, rows: pa.Array, types: str, values: list[Any]) -> None:
    table = pa.table({"a": rows})
    with pa.ipc.new_stream(str(tmp_path / "a.arrows"), table.schema) as out:
        out.write_table(table)
    data = open_data_file(str(tmp_path / "a.arrows"))
    assert [str(f.type) for f in data.fields] == [types]
    assert data.rows()["a"].to_pylist() == values


def test_a_column_of_parquet_without_values_or_with_broken_texts(tmp_path: Path) -> None:
    texts = pa.Array.from_buffers(pa.string(), 1, pa.array([b"\xc3"]).buffers())
    parquet.write_table(pa.table({"id": [1], "s": texts}), tmp_path / "a.parquet")
    data = open_data_file(str(tmp_path / "a.parquet"))
    assert data.rows(["id"]).to_pylist() == [{"id": 1}]
    with pytest.raises(SchemaMismatch, match="column 's' has a text that is not UTF-8"):
        data.rows()


def test_a_union_of_orc_closes_no_other_column(tmp_path: Path) -> None:
    pyorc = pytest.importorskip("pyorc")
    with (tmp_path / "a.orc").open("wb") as stream, pyorc.Writer(stream, "struct<id:int,u:uniontype<int,string>>") as out:  # fmt: skip
        out.writerows([(1, 5), (2, "x")])
    data = open_data_file(str(tmp_path / "a.orc"))
    assert data.rows().to_pylist() == [{"id": 1, "u": "5"}, {"id": 2, "u": "x"}]


FAR = [dt.datetime(9999, 12, 31, 23, 59, 59, 999999), None, dt.datetime(1, 1, 1), dt.datetime(2024, 1, 2, 3, 4, 5, 6)]
"""Times that 64-bit nanoseconds do not have, as Hive and Spark write for 'for ever', beside one that they have."""


@pytest.mark.parametrize("nested", [False, True])
def test_int96_times_beyond_nanoseconds(tmp_path: Path, nested: bool) -> None:
    times = pa.array(FAR, pa.timestamp("us"))
    column = (
        pa.StructArray.from_arrays([pa.array([[t] for t in FAR], pa.list_(times.type))], ["l"]) if nested else times
    )
    parquet.write_table(
        pa.table({"id": range(4), "t": column}),
        tmp_path / "a.parquet",
        use_deprecated_int96_timestamps=True,
        row_group_size=3,
    )
    data = open_data_file(str(tmp_path / "a.parquet"))
    assert str(data.fields[1].type) == ("ROW<`l` ARRAY<TIMESTAMP(6)>>" if nested else "TIMESTAMP(6)")
    assert data.rows()["t"].to_pylist() == ([{"l": [t]} for t in FAR] if nested else FAR)


@pytest.mark.parametrize("nested", [False, True])
def test_orc_times_beyond_nanoseconds(tmp_path: Path, nested: bool) -> None:
    pytest.importorskip("pyorc")
    from pyarrow import orc

    times = pa.array(FAR, pa.timestamp("us"))
    column = (
        pa.StructArray.from_arrays([pa.array([[t] for t in FAR], pa.list_(times.type))], ["l"]) if nested else times
    )
    orc.write_table(pa.table({"id": range(4), "t": column}), tmp_path / "a.orc")
    data = open_data_file(str(tmp_path / "a.orc"))
    assert str(data.fields[1].type) == ("ROW<`l` ARRAY<TIMESTAMP(6)>>" if nested else "TIMESTAMP(6)")
    assert data.rows()["t"].to_pylist() == ([{"l": [t]} for t in FAR] if nested else FAR)
    assert data.rows(["id"]).to_pylist() == [{"id": i} for i in range(4)]


def test_stripes_of_orc_with_and_without_far_times(tmp_path: Path) -> None:
    pytest.importorskip("pyorc")
    from pyarrow import orc

    times = [dt.datetime(2024, 1, 2) + dt.timedelta(seconds=n * n, microseconds=n) for n in range(5_000)] + FAR
    orc.write_table(
        pa.table({"t": pa.array(times, pa.timestamp("us"))}), tmp_path / "a.orc", stripe_size=1, batch_size=1000
    )
    assert orc.ORCFile(tmp_path / "a.orc").nstripes > 1
    assert open_data_file(str(tmp_path / "a.orc")).rows()["t"].to_pylist() == times


def test_an_error_has_no_words_of_the_library(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with pa.ipc.new_stream(whole, pa.schema([("a", pa.int64())])) as out:
        out.write_table(pa.table({"a": list(range(100))}))
    for name, content, message in (
        ("a.arrows", whole.getvalue()[:-200], "cannot be read as Arrow: it ends too early"),
        ("a.parquet", b"PAR1xx", "cannot be read as Parquet: its bytes are not valid"),
    ):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnsupportedFormat, match=message) as caught:
            open_data_file(str(tmp_path / name))
        assert caught.value.cause


# -- places


def test_folders_patterns_and_urls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for year, code in ((2023, "01"), (2024, "02")):
        folder = tmp_path / f"t/y={year}/c={code}"
        folder.mkdir(parents=True)
        (folder / "a.csv").write_text(f"v\n{year}.5\n")
    expected = [{"v": 2023.5, "y": 2023, "c": "01"}, {"v": 2024.5, "y": 2024, "c": "02"}]
    for path in ("t", "t/**/*.csv", f"{(tmp_path / 't').as_uri()}", "t/y=*/*/a.csv"):
        assert open_data_file(path).rows().to_pylist() == expected, path
    assert open_data_file("t/**/*.csv", {"hive_partitioning": False}).names == ["v"]
    named = open_data_file("t/**/*.csv", {"filename": True}).rows(["filename"]).to_pylist()
    assert named == [{"filename": "t/y=2023/c=01/a.csv"}, {"filename": "t/y=2024/c=02/a.csv"}]
    with pytest.raises(SourceUnavailable, match=r"no file 't/a\.csv'"):
        open_data_file("t/a.csv")


def test_columns_of_several_files_are_combined_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a1.csv").write_text("a,b\n1,x\n")
    (tmp_path / "a2.csv").write_text("b;a\ny;2.5\n")
    parquet.write_table(pa.table({"k": [1]}), tmp_path / "p1.parquet")
    parquet.write_table(pa.table({"k": [2.5], "v": ["x"]}), tmp_path / "p2.parquet")
    assert open_data_file("a*.csv").rows().to_pylist() == [{"a": 1.0, "b": "x"}, {"a": 2.5, "b": "y"}]
    assert open_data_file("p*.parquet").rows().to_pylist() == [{"k": 1.0, "v": None}, {"k": 2.5, "v": "x"}]


def test_a_file_that_changes_is_opened_again(tmp_path: Path) -> None:
    path, opened = tmp_path / "a.csv", OpenedFiles()
    for text, names in (("a\n1\n", ["a"]), ("bb,c\n1,2\n", ["bb", "c"])):
        path.write_text(text)
        assert opened.open((str(path),), {}).names == names


def test_a_broken_file_is_an_error_of_ours(tmp_path: Path) -> None:
    for name, content in (("a.parquet", b"PAR1xx"), ("a.orc", b"ORCxx"), ("a.arrow", b"ARROW1xx"), ("a.avro", b"Obj\x01x"), ("a.xlsx", b"PKx"), ("a.json", b'[{"a":')):  # fmt: skip
        (tmp_path / name).write_bytes(content)
        with pytest.raises(UnsupportedFormat, match="cannot be read as"):
            open_data_file(str(tmp_path / name))


@pytest.mark.parametrize("cell", sampled(["1", "0.5", "x", "NA"], 4))
def test_a_file_of_many_columns_is_opened_in_little_memory(tmp_path: Path, cell: str) -> None:
    """One query about 200 columns took 4 GB: planning it grows with the square of the columns."""
    names = [f"c{i}" for i in range(250)]
    rows = [",".join(names), ",".join([cell] * 250), ",".join(["2"] * 250)]
    _, found, _ = read(tmp_path / "wide.csv", "\n".join(rows) + "\n")
    first, second = {"1": (1, 2), "0.5": (0.5, 2.0), "x": ("x", "2"), "NA": (None, 2)}[cell]
    assert found == [dict.fromkeys(names, first), dict.fromkeys(names, second)]


@pytest.mark.parametrize("step", [7, pytest.param(1, marks=pytest.mark.nightly)])
def test_a_column_is_read_alike_in_narrow_and_wide_files(tmp_path: Path, step: int) -> None:
    values = {kind: texts for kind, (texts, _) in COLUMNS.items()} | {"spaces": ["1", " 2", "3"], "empty": ["", "", ""], "words": ["-", "x", "NA"]}  # fmt: skip
    wide = {f"{kind} {n}": texts for n in range(12) for kind, texts in values.items()}

    def lines(columns: dict[str, list[str]]) -> str:
        rows = [list(columns), *zip(*columns.values(), strict=True)]
        return "".join(",".join(["x", *row]) + "\n" for row in rows)

    (tmp_path / "wide.csv").write_text(lines(wide))
    data = open_data_file(str(tmp_path / "wide.csv"))
    rows, types = data.rows(), {f.name: str(f.type) for f in data.fields}
    for kind, texts in list(values.items())[::step]:
        (tmp_path / "narrow.csv").write_text(lines({kind: texts}))
        narrow = open_data_file(str(tmp_path / "narrow.csv"))
        assert types[f"{kind} 11"] == str(narrow.fields[1].type)
        assert rows[f"{kind} 11"].to_pylist() == narrow.rows()[kind].to_pylist()
        notes = [n.replace(" 0: ", ": ", 1) for n in data._reader.notes if n.startswith(f"{kind} 0: ")]
        assert notes == [n for n in narrow._reader.notes if n.startswith(f"{kind}: ")]


@pytest.mark.nightly
def test_the_time_of_a_file_grows_with_its_columns(tmp_path: Path) -> None:
    """20,190 columns took more than 100 s. Four times the columns are four times the work, not sixteen times."""

    def cpu(count: int) -> float:
        lines = [[f"c{i}" for i in range(count)], *([["1", "2.5", "x", "2024-01-02"][i % 4] for i in range(count)] for _ in range(3))]  # fmt: skip
        (tmp_path / f"{count}.csv").write_text("".join(",".join(line) + "\n" for line in lines))
        before = time.process_time()
        assert open_data_file(str(tmp_path / f"{count}.csv")).rows().num_rows == 3
        return time.process_time() - before

    cpu(300)  # imports
    assert cpu(4000) < 9 * cpu(1000)
