"""The form for a new table: its statement in both dialects, what would be refused, what will hurt, the layout."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from xml.etree import ElementTree

import pytest
from hostile import PAYLOADS

from paimon_nb.notebook.create_model import Column, Draft, bucket_bytes, create_table_statement, try_create, warnings
from paimon_nb.notebook.create_svg import layout_svg
from paimon_nb.notebook.load_model import MAX_UPLOAD_BYTES
from paimon_nb.notebook.widgets.create import CHOICES, TYPES, CreateForm
from paimon_nb.options import TABLE_OPTIONS

if TYPE_CHECKING:
    from shell_kit import Shell

    from paimon_nb.workbench import Workbench

FULL = Draft(
    "visits",
    (
        Column("day", "STRING", key=True, partition=True), Column("id", "BIGINT", key=True, comment="who's there"),
        Column("Order", "DECIMAL(10, 2)", nullable=False), Column("a b`c", "ARRAY<STRING>"), *(Column(f"c{i}", t) for i, t in enumerate(TYPES)),
    ),
    {"bucket": "2", "merge-engine": "partial-update", "changelog-producer": ""},
    "it's a table",
)  # fmt: skip


def made(wb: Workbench, text: str) -> tuple[object, ...]:
    wb.run(text)
    schema = wb.table("visits").schema
    wb.run("DROP TABLE visits PURGE")
    return schema.fields, schema.primary_keys, schema.partition_keys, dict(schema.options), schema.comment


def test_both_dialects_make_the_same_table(wb: Workbench) -> None:
    flink, spark = made(wb, create_table_statement(FULL, "flink")), made(wb, create_table_statement(FULL, "spark"))
    described = [(f.id, f.name, str(f.type), f.description, f.default_value) for f in flink[0]]
    assert described == [
        (f.id, f.name, re.sub(r"MAP<(\w+) NOT NULL,", r"MAP<\1,", str(f.type)), f.description, f.default_value)
        for f in spark[0]  # keys of Spark's maps are never NULL
    ]
    assert flink[1:] == spark[1:]
    assert flink[1:] == (
        ("day", "id"), ("day",), {"bucket": "2", "merge-engine": "partial-update"}, "it's a table",
    )  # fmt: skip
    assert [f.name for f in flink[0]][:4] == ["day", "id", "Order", "a b`c"]
    assert flink[0][1].description == "who's there"


def test_the_statement_reads_well() -> None:
    assert create_table_statement(
        Draft("shop.visits", (Column("id", "BIGINT", key=True), Column("user")), {"bucket": "4"})
    ) == (
        "CREATE TABLE shop.visits (\n  id BIGINT NOT NULL,\n  `user` STRING,\n  PRIMARY KEY (id) NOT ENFORCED\n)\n"
        "WITH (\n  'bucket' = '4'\n)"
    )
    spark = create_table_statement(Draft("visits", (Column("id", "BIGINT", key=True),)), "spark")
    assert spark.endswith("TBLPROPERTIES (\n  'primary-key' = 'id'\n)")


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (replace(FULL, name=""), "no name"),
        (replace(FULL, columns=()), "no columns"),
        (Draft("t", (Column("a"), Column("a"))), "twice"),
        (Draft("t", (Column("a", "TEXTUAL"),)), "TEXTUAL"),
        (Draft("t", (Column("a", "ARRAY<INT>", key=True),)), "cannot be"),
        (Draft("t", (Column("a"),), {"bucket": "many"}), "bucket"),
        (Draft("t", (Column("a", "INT, b INT) WITH ('x' = 'y') --"),)), "unexpected"),
    ],
)  # fmt: skip
def test_what_would_be_refused_is_said(draft: Draft, said: str) -> None:
    assert said in " ".join(try_create(draft).problems)


def test_a_misspelt_option_is_remarked() -> None:
    assert try_create(Draft("t", (Column("a"),), {"bukket": "1"})).notes == (
        "unknown option 'bukket' is stored but has no effect; did you mean 'bucket'?",
    )


def columns(*named: str, **types: str) -> tuple[Column, ...]:
    """`id!` is a key, `day/` a partition column, `day!/` both."""
    return tuple(
        Column(n.strip("!/"), types.get(n.strip("!/"), "INT"), key="!" in n, partition="/" in n) for n in named
    )


@pytest.mark.parametrize(
    ("draft", "said"),
    [
        (Draft("t", columns("d!/", "v"), {"bucket": "1"}), "each partition holds a single row"),
        (Draft("t", columns("ok!", "v", ok="BOOLEAN"), {"bucket": "1"}), "few distinct values"),
        (Draft("t", columns("x!", x="DOUBLE"), {"bucket": "1"}), "floating-point"),
        (Draft("t", columns("id!", "day/")), "not in the primary key"),
        (Draft("t", columns("id!", "at!/", at="TIMESTAMP(3)"), {"bucket": "1"}), "too many distinct values"),
        (Draft("t", columns("id!", "day!/"), {"bucket": "1"}, partitions=50_000), "50,000 partitions"),
        (Draft("t", columns("id!")), "only one writing job at a time"),
        (Draft("t", columns("v"), {"merge-engine": "aggregation"}), "need a primary key"),
        (Draft("t", columns("id!", "n"), {"merge-engine": "aggregation", "bucket": "1"}), "no aggregate function"),
        (Draft("t", columns("id!", "n"), {"bucket": "64"}, rows=1000), "many small files"),
        (Draft("t", columns("id!", "n"), {"bucket": "1"}, rows=10**10), "slow compaction"),
    ],
)  # fmt: skip
def test_a_bad_choice_is_warned_of(draft: Draft, said: str) -> None:
    assert [w for w in warnings(draft) if said in w]


def test_a_good_choice_is_not() -> None:
    draft = Draft("t", columns("id!", "day!/", "v", day="STRING"), {"bucket": "2"}, rows=10**9, partitions=10)
    assert (try_create(draft).problems, warnings(draft)) == ((), [])
    assert 200e6 < (bucket_bytes(draft) or 0) < 1e9


def test_the_form_takes_what_the_page_sends(shell: Shell) -> None:
    form = shell.value("%paimon create shop.visits")
    assert isinstance(form, CreateForm)
    assert repr(form).startswith("CREATE TABLE shop.visits (")
    form._on_message(
        form,
        {
            "draft": {
                "name": "x",
                "columns": [{"name": "a", "type": "INT", "key": True}],
                "options": {"bucket": "1"},
                "rows": "1,000,000",
            }
        },
        [],
    )
    assert (form.draft.rows, form.view["problems"]) == (1_000_000, [])
    form.dialect = "spark"
    assert "TBLPROPERTIES" in form.view["ddl"]
    form._on_message(form, {"draft": {"name": 7, "columns": [{}], "options": {}, "rows": "soon"}}, [])
    assert form.view["problems"]
    assert set(form.view["choices"]["merge-engine"]) == set(TABLE_OPTIONS.find("merge-engine").choices)
    assert all(form.view["choices"][k] for k in CHOICES)


@pytest.mark.parametrize("payload", PAYLOADS[::5])
def test_hostile_names_stay_names(wb: Workbench, payload: str) -> None:
    draft = Draft(
        "visits", (Column(payload, "INT", comment=payload), Column("k", key=True)), {"x.note": payload}, payload
    )
    ElementTree.fromstring(layout_svg(replace(draft, name=payload)))
    if try_create(draft).problems:
        return  # refused as a name: nothing is made
    for dialect in ("flink", "spark"):
        fields, _, _, options, comment = made(wb, create_table_statement(draft, dialect))
        assert (fields[0].name, fields[0].description, options["x.note"], comment) == (
            payload,
            payload,
            payload,
            payload,
        )


def test_a_file_fills_the_form_and_the_statements_store_it(shell: Shell) -> None:
    shell.value("open('Sales 2026.csv', 'w').write('id;name;amount\\n1;Ann;2.5\\n2;Ben;\\n')")
    form = shell.value("%paimon load 'Sales 2026.csv'")
    options = {o["name"]: (o["guess"], o["choice"]) for o in form.view["source"].pop("options")}
    assert (options["delim"], options["header"], options["encoding"]) == ((";", ""), ("true", ""), ("utf-8", ""))
    assert form.view["source"] == {
        "how": "Sales 2026.csv: CSV, delimiter semicolon, header in line 1", "names": ["id", "name", "amount"],
        "rows": [["1", "Ann", "2.5"], ["2", "Ben", None]], "count": 2, "columns": 3,
    }  # fmt: skip
    assert form.sql == (
        "CREATE TABLE sales_2026 (\n  id BIGINT NOT NULL,\n  name STRING,\n  amount DOUBLE,\n  PRIMARY KEY (id) NOT ENFORCED\n);\n\n"
        "INSERT INTO sales_2026 SELECT * FROM 'Sales 2026.csv'"
    )
    shell.value("%%paimon\n" + form.sql)
    assert shell.value("%paimon SELECT * FROM sales_2026").to_arrow().num_rows == 2


def test_the_user_says_how_a_file_is_read_and_the_preview_follows(shell: Shell) -> None:
    shell.value("open('a.csv', 'w').write('# of 2026\\nid;amount;day\\n01;1.234,5;31.12.2025\\n02;-;01.01.2026\\n')")
    form = shell.value("%paimon load a.csv delim=;")
    assert [c["type"] for c in form.view["columns"]] == ["STRING", "STRING", "DATE"]
    choices = {"decimal_separator": ",", "thousands": ".", "delim": ";", "header": ""}
    form._on_message(form, {"read": choices}, [])
    assert (form.trouble, form.view["loaded"]) == ("", 1)
    assert [c["type"] for c in form.view["columns"]] == ["STRING", "DOUBLE", "DATE"]
    assert form.view["source"]["rows"] == [["01", "1234.5", "2025-12-31"], ["02", None, "2026-01-01"]]
    chosen = {o["name"]: (o["guess"], o["choice"]) for o in form.view["source"]["options"]}
    assert (chosen["decimal_separator"], chosen["delim"]) == ((".", ","), (";", ";"))
    columns = [{**c, "type": t} for c, t in zip(form.view["columns"], ("INT", "DECIMAL(8, 2)", "DATE"), strict=True)]
    form._on_message(form, {"draft": {**form.view, "columns": columns}, "loaded": 1}, [])
    assert form.sql.endswith(
        "INSERT INTO a SELECT * FROM read_csv('a.csv', decimal_separator = ',', thousands = '.', delim = ';', "
        "types = {'id': 'INT', 'amount': 'DECIMAL(8, 2)'})"
    )
    form._on_message(form, {"read": {**choices, "header": "maybe"}}, [])
    assert "header is true or false, not 'maybe'" in form.trouble
    form._on_message(form, {"read": {**choices, "nullstr": "-"}}, [])  # what the user wrote about the columns stays
    assert [c["type"] for c in form.view["columns"]] == ["INT", "DECIMAL(8, 2)", "DATE"]
    shell.value("%%paimon\n" + form.sql)
    assert [tuple(map(str, r.values())) for r in shell.value("%paimon SELECT * FROM a ORDER BY id").to_arrow().to_pylist()] == [
        ("1", "1234.50", "2025-12-31"), ("2", "None", "2026-01-01"),
    ]  # fmt: skip


def test_edited_types_of_a_file_with_a_schema_are_cast(shell: Shell) -> None:
    shell.value("import pandas as pd\npd.DataFrame({'id': [1], 'v': ['7']}).to_parquet('p.parquet')")
    form = shell.value("%paimon load p.parquet")
    columns = [form.view["columns"][0], {**form.view["columns"][1], "type": "INT"}]
    form._on_message(form, {"draft": {**form.view, "columns": columns}, "loaded": 0}, [])
    assert form.sql.endswith("INSERT INTO p (id, v) SELECT id, CAST(v AS INT) FROM 'p.parquet'")


def test_a_frame_fills_the_form_and_columns_may_be_left_out(shell: Shell) -> None:
    shell.value("import pandas as pd\nVisits = pd.DataFrame({'visit id': [1, 1], 'at': ['x', None]})")
    form = shell.value("%paimon load Visits shop.visits")
    assert form.sql.endswith("INSERT INTO shop.visits SELECT * FROM `Visits`")
    assert "PRIMARY KEY" not in form.sql  # its values repeat
    columns = [{**form.view["columns"][0], "name": "id"}, {"name": "note", "type": "STRING"}]
    form.on_message({"draft": {"name": "visits", "columns": columns}})
    assert form.sql.endswith("INSERT INTO visits (id) SELECT `visit id` FROM `Visits`")
    shell.value("%%paimon\n" + form.sql)
    assert shell.value("%paimon SELECT * FROM visits").to_arrow().to_pylist() == [{"id": 1, "note": None}] * 2


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("%paimon load", "%paimon load FILE|VARIABLE [TABLE]"),
        ("%paimon load number x=1", "a file has no option 'x'"),
        ("%paimon load none.csv", "no file 'none.csv'"),
        ("%paimon load number", "the format is not known"),
        ("%paimon load odd", "cannot be converted"),
    ],
)
def test_what_cannot_be_loaded_is_said(shell: Shell, line: str, message: str) -> None:
    shell.value("import pandas as pd\nodd = pd.DataFrame({'a': [1, 'x']})\nnumber = 3\nopen('number', 'w').write('1')")
    assert message in shell.error(line)[1]


def test_a_dropped_file_fills_the_form_and_is_stored_once(shell: Shell) -> None:
    form = shell.value("%paimon create")
    data = b"id,name\n1,Ann\n2,Ben\n"
    for loaded in (1, 2):
        form._on_message(form, {"file": "visits.csv", "size": len(data)}, [memoryview(data)])
        assert (form.trouble, form.view["loaded"], form.view["source"]["count"]) == ("", loaded, 2)
    shell.value("%%paimon\n" + form.sql)
    assert shell.value("%paimon SELECT * FROM visits").to_arrow().to_pylist() == [
        {"id": 1, "name": "Ann"},
        {"id": 2, "name": "Ben"},
    ]


def test_a_draft_typed_before_the_file_was_loaded_does_not_replace_it(shell: Shell) -> None:
    form = shell.value("%paimon create")
    form._on_message(form, {"file": "visits.csv", "size": 9}, [b"id\n1\n2\n3"])
    form._on_message(form, {"draft": {"name": "typed", "columns": []}, "loaded": 0}, [])
    assert (form.view["name"], [c["name"] for c in form.view["columns"]]) == ("visits", ["id"])
    form._on_message(form, {"draft": {**form.view, "name": "typed"}, "loaded": 1}, [])
    assert "INSERT INTO typed SELECT * FROM 'visits.csv'" in form.sql


@pytest.mark.parametrize(
    ("name", "size", "buffers", "message"),
    [
        ("large.csv", MAX_UPLOAD_BYTES + 1, [], "large.csv has 8,000,001 bytes; a page can send 8,000,000"),
        ("large.csv", 3, [b"x" * (MAX_UPLOAD_BYTES + 1)], "large.csv has 8,000,001 bytes"),
        ("../up.csv", 3, [b"a\n1"], "not the name of a plain file"),
        ("*.csv", 3, [b"a\n1"], "not the name of a plain file"),
        ("here.csv", 3, [b"a\n1"], "another here.csv"),
        ("bad.parquet", 4, [b"PAR2"], "bad.parquet"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_taken_is_named_and_leaves_nothing(
    shell: Shell, name: str, size: int, buffers: list[bytes], message: str
) -> None:
    shell.value("open('here.csv', 'w').write('other')")
    before = sorted(Path().iterdir())
    form = shell.value("%paimon create")
    form._on_message(form, {"file": name, "size": size}, buffers)
    assert message in form.trouble
    assert (form.view["loaded"], form.view["source"], sorted(Path().iterdir())) == (0, None, before)
