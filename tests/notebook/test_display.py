"""Rows as an output cell: limits, text, escapes."""

from __future__ import annotations

import datetime as dt
import decimal
from html import escape

import pyarrow as pa
import pytest
from hostile import PAYLOADS, live_nodes, shown_text

from paimon_nb.notebook.display import MAX_COLUMNS, MAX_ROWS, Rows
from paimon_nb.session.core.result import Result


def bundle(table: pa.Table, limit: int = MAX_ROWS, notes: list[str] | None = None) -> tuple[str, str]:
    rows = Rows(Result("rows", arrow=table, notes=notes or []), limit)
    page = rows._repr_mimebundle_()
    assert set(page) == {"text/plain", "text/html"}
    return page["text/plain"], page["text/html"]


def test_a_huge_answer_stays_small() -> None:
    column = pa.array([f"value {i} " + "x" * 40 for i in range(10_000)])
    table = pa.table({f"c{i}": column for i in range(300)})
    text, html = bundle(table, limit=10_000)
    assert len(html.encode()) < 1_000_000
    assert 0 < html.count("<tr>") - 1 <= MAX_ROWS
    assert html.count("<th>") == MAX_COLUMNS
    assert "rows (output size limit); to_pandas() returns all rows" in html
    assert "100 columns not shown" in html
    assert len(text.encode()) < 1_000_000
    assert "rows (output size limit); to_pandas() returns all rows" in text


def test_long_values_are_cut() -> None:
    _, html = bundle(pa.table({"v": ["x" * 1_000_000], "w": ["short"]}))
    assert len(html) < 5_000
    assert "…" in html


def test_what_may_be_cut_by_a_narrow_cell_stands_whole_in_its_tip() -> None:
    long = "a 'long' name " * 5
    _, html = bundle(pa.table({"v": [long, "short"]}))
    assert html.count("title=") == 1
    assert f'title="{escape(long)}">{escape(long)}</td>' in html


def test_text_is_the_same_for_the_same_rows() -> None:
    table = pa.table(
        {
            "i": pa.array([1, None, -30]), "f": [1.5, float("nan"), 1e300], "d": [decimal.Decimal("1.10"), None, decimal.Decimal("-2.00")],
            "b": [True, None, False], "s": ["a\nb", None, ""], "y": [b"\x00\xff", None, b""],
            "t": [dt.datetime(2026, 1, 2, 3, 4, 5), None, dt.datetime(1, 1, 1)], "l": [[1, 2], None, []],
        }
    )  # fmt: skip
    assert bundle(table)[0] == (
        "   i       f      d  b      s     y     t                    l\n"
        "----  ------  -----  -----  ----  ----  -------------------  ------\n"
        "   1     1.5   1.10  true   a\\nb  00ff  2026-01-02 03:04:05  [1, 2]\n"
        "NULL     nan   NULL  NULL   NULL  NULL  NULL                 NULL\n"
        " -30  1e+300  -2.00  false              0001-01-01 00:00:00  []"
    )


def test_no_rows_and_no_columns() -> None:
    assert bundle(pa.table({"a": pa.array([], pa.int32())}))[0].endswith("(no rows)")
    assert "no rows" in bundle(pa.table({"a": pa.array([], pa.int32())}))[1]
    assert bundle(pa.table({}))[0].endswith("(no rows)")


def test_a_single_long_text_is_shown_whole() -> None:
    ddl = "CREATE TABLE t (\n" + ",\n".join(f"  `column_{i}` STRING" for i in range(20)) + "\n)"
    text, html = bundle(pa.table({"createtab_stmt": [ddl]}))
    assert text == ddl
    assert "`column_19` STRING" in html


@pytest.mark.parametrize(
    ("value", "text"), [(True, "true"), ("2 rows inserted", "2 rows inserted"), (None, ""), (7, "7")]
)
def test_a_summary_stands_alone(value: object, text: str) -> None:
    plain, html = bundle(pa.table({"result": [value]}), notes=["a note"])
    assert plain == f"{text}\n  a note"
    assert f"<div>{text}</div>" in html
    assert "<table>" not in html


@pytest.mark.parametrize("where", ["value", "column", "note", "result"])
def test_hostile_text_is_text(where: str) -> None:
    for payload in PAYLOADS:
        table = {
            "value": pa.table({"v": [payload], "w": [1]}),
            "column": pa.table({payload: ["x"], "w": [1]}),
            "note": pa.table({"v": ["x"], "w": [1]}),
            "result": pa.table({"result": [payload]}),
        }[where]
        _, html = bundle(table, notes=[payload] if where == "note" else [])
        assert live_nodes(html) == [], payload
        assert payload.replace("\x00", "") in shown_text(html).replace("\x00", ""), payload
