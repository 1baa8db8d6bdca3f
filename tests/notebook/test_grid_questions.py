"""What a reader asks a grid: statistics, sums of selected cells, values of a filter, other forms of a copy, a cell with the filters."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from test_grid import Page

from paimon_nb.notebook.grid.copy_forms import as_insert, as_json, as_markdown
from paimon_nb.notebook.grid.profile import column_profile
from paimon_nb.notebook.grid.statistics import column_statistics, summary_of_cells
from paimon_nb.notebook.grid.texts import display_texts

if TYPE_CHECKING:
    from shell_kit import Shell

    from paimon_nb.notebook.widgets.grid import Grid

SALES = pa.table(
    {
        "region": ["EU", None, "US", "EU", ""],
        "amount": pa.array(
            [Decimal("1.50"), Decimal("-2.00"), None, Decimal("3.25"), Decimal(0)], pa.decimal128(38, 2)
        ),
        "n": pa.array([2**63 - 1, 2**63 - 1, 1, 0, None], pa.int64()),
    }
)


def test_statistics_of_a_column_of_numbers() -> None:
    found = column_statistics(SALES.column("amount"))
    assert found.facts[:5] == [
        ("rows", "5"),
        ("NULL", "1 (20 %)"),
        ("distinct", "4"),
        ("min", "-2.00"),
        ("max", "3.25"),
    ]
    assert dict(found.facts)["mean"] == "0.6875"
    assert dict(found.facts)["median"] == "0.75"
    assert dict(found.facts)["zeros"] == "1"


def test_statistics_of_a_column_of_texts() -> None:
    found = column_statistics(SALES.column("region"))
    assert dict(found.facts)["length in characters"] == "0 to 2, mean 1.5"
    assert found.top[0] == ("EU", "2", "40 %")
    assert ("''", "1", "20 %") in found.top


def test_sums_of_whole_numbers_and_decimals_are_exact() -> None:
    total = 2 * (2**63 - 1) + 1
    assert summary_of_cells([SALES.column("n")]).startswith(f"5 cells · 1 NULL · sum {total:,} · average ")
    assert (
        summary_of_cells([SALES.column("amount")])
        == "5 cells · 1 NULL · sum 2.75 · average 0.6875 · min -2.00 · max 3.25"
    )
    assert summary_of_cells([SALES.column("region")]) == "5 cells · 1 NULL · min '' · max US"
    assert summary_of_cells([SALES.column("region"), SALES.column("n")]) == "10 cells · 2 NULL"


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (["Zürich", "Zürich", None, None], "50 % Zürich · 50 % NULL"),
        (["a", "a", "b"], "66 % a"),
        (["one", "two", "three"], "3 distinct"),
        (["NULL", "NULL", None], "66 % 'NULL' · 33 % NULL"),
        (["", "", "x"], "66 % ''"),
        ([None, None], "100 % NULL"),
        (["a"] * 999 + ["b", None], "99 % a · < 1 % NULL"),
    ],
)
def test_the_percentages_of_a_header_are_of_all_rows(values: list[Any], note: str) -> None:
    assert column_profile(pa.chunked_array([pa.array(values, pa.string())])).note == note


def test_values_are_listed_found_and_ticked() -> None:
    page = Page(SALES)
    ((answer, _),) = page.asks({"values": 0, "containing": ""})
    assert sorted(answer["listed"]["values"]) == [("''", 1), ("EU", 2), ("NULL", 1), ("US", 1)]
    ((answer, _),) = page.asks({"values": 0, "containing": "u"})
    assert answer["listed"]["values"] == [("EU", 2), ("US", 1)]
    page.asks({"filter": {"column": 0, "among": [1]}})
    assert (page.grid.state["filters"], page.grid.state["shown"]) == (["region in US"], 1)
    page.asks({"unfilter": None})
    ((answer, _),) = page.asks({"values": 0, "containing": ""})
    null = [text for text, _ in answer["listed"]["values"]].index("NULL")
    page.asks({"filter": {"column": 0, "among": [null, -1, 99]}})
    assert (page.grid.state["filters"], page.grid.state["shown"]) == (["region in NULL"], 1)


def test_a_copy_as_markdown_json_and_insert() -> None:
    rows = pa.table(
        {"id": [1, 2], "t": ["a|b\n", None], "m": pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int32()))}
    )
    assert as_markdown(rows).split("\n")[2:] == ['| 1 | a\\|b  | {"k": 1} |', "| 2 | *NULL* | {} |"]
    assert as_json(rows).split("\n")[1:3] == [
        '  {"id": 1, "t": "a|b\\n", "m": {"k": 1}},',
        '  {"id": 2, "t": null, "m": {}}',
    ]
    assert as_insert(rows) == (
        "INSERT INTO my_table (id, t, m) VALUES\n  (1, 'a|b\n', map('k', 1)),\n  (2, NULL, map());"
    )


def test_durations_and_intervals_are_shown() -> None:
    day = pa.array([86_400_000_000 + 1, -1_500_000, None], pa.duration("us"))
    assert display_texts(day) == ["1 day 00:00:00.000001", "-00:00:01.5", None]
    months = pa.array([pa.MonthDayNano([14, -3, 10**9]), pa.MonthDayNano([0, 0, 0])])
    assert display_texts(months) == ["1 year 2 months -3 days 00:00:01", "00:00:00"]
    nested = pa.array([[pa.scalar(1, pa.duration("s"))]], pa.list_(pa.duration("s")))
    assert display_texts(nested) == ['["00:00:01"]']
    page = Page(pa.table({"d": day}))
    assert [c["type"] for c in page.grid.columns] == ["INTERVAL DAY TO SECOND"]
    for message in ({"sort": [0, True]}, {"search": "day"}, {"profile": [0]}, {"statistics": 0}, {"chart": {}}):
        page.asks(message)
        assert page.grid.trouble == "", message


def test_a_refused_value_is_a_slip_and_a_failure_is_not() -> None:
    """A slip leaves the rows as they are: the page tells it beside the control, and does not dim them."""
    page = Page(SALES)
    page.asks({"filter": {"column": 1, "operator": "=", "text": "many"}})
    assert (page.grid.is_refused, page.grid.trouble.split(";")[0]) == (
        True,
        "'many' is not a value of type DECIMAL(38, 2)",
    )
    page.asks({"filter": {"column": 1, "operator": "=", "text": "3.25"}})
    assert (page.grid.trouble, page.grid.state["shown"]) == ("", 1)


@pytest.fixture
def grid_of(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The grid of a cell, as a notebook shows it."""
    from paimon_nb.notebook.magics import grids

    monkeypatch.setattr(grids, "has_front_end", lambda: True)

    def grid(cell: str) -> Grid:
        shown = grids.show_grid(shell.value(cell))
        assert shown is not None
        return shown

    return grid


def test_types_are_those_of_the_table(shell: Shell, grid_of: Any) -> None:
    shell.value("%%paimon -q\nCREATE TABLE t (a TIMESTAMP(3), b TIME(0), d ARRAY<TIMESTAMP(0)>)")
    kinds = ["TIMESTAMP(3)", "TIME(0)", "ARRAY<TIMESTAMP(0)>"]
    assert [c["type"] for c in grid_of("%%paimon\nSELECT * FROM t").columns] == kinds
    assert [c["type"] for c in grid_of("%%paimon\nSELECT d, a AS x FROM t WHERE a IS NULL").columns] == [
        kinds[2],
        kinds[0],
    ]
    assert [c["type"] for c in grid_of("%%paimon --engine duckdb\nSELECT a FROM t").columns] == [kinds[0]]


def test_filters_search_and_order_become_a_query_with_the_same_rows(shell: Shell, grid_of: Any) -> None:
    shell.value("%%paimon -q\nCREATE TABLE t (id INT, v STRING)")
    shell.value("import pyarrow as pa; wb = get_ipython().run_line_magic('paimon', 'workbench')")
    shell.value(
        "wb.table('t').append(pa.table({'id': pa.array(range(20), pa.int32()), 'v': [f'x{i % 3}' for i in range(20)]}))"
    )
    grid = grid_of("%%paimon\nSELECT 1 AS one;\nSELECT * FROM t -- all\n;")
    heard: list[Any] = []
    grid.send = lambda content, buffers=None: heard.append(content)  # type: ignore[method-assign]  # noqa: ARG005
    for message in (
        {"values": 1, "containing": "x1"}, {"filter": {"column": 1, "among": [0]}}, {"filter": {"column": 0, "operator": ">=", "text": "5"}},
        {"search": "1"}, {"sort": [0, True]}, {"query": True},
    ):  # fmt: skip
        grid.on_message(message)
        grid.wait()
    rows = shell.value(heard[-1]["code"])
    assert rows.to_arrow().to_pydict() == grid.visible.to_pydict()
    assert "WHERE v IN ('x1')\n  AND id >= 5\n  AND (contains(" in heard[-1]["code"]


@pytest.mark.spark
@pytest.mark.nightly
def test_types_are_those_of_the_table_when_spark_answers(shell: Shell, grid_of: Any) -> None:
    shell.value("%%paimon -q\nCREATE TABLE t (a TIMESTAMP(3), b ROW<a TIMESTAMP(0)>)")
    kinds = ["TIMESTAMP(3)", "ROW<a TIMESTAMP(0)>"]
    assert [c["type"] for c in grid_of("%%paimon --engine spark\nSELECT * FROM t").columns] == kinds
    assert [c["type"] for c in grid_of("%%paimon --engine spark\nSELECT x.b AS c FROM t x").columns] == kinds[1:]
    assert [c["type"] for c in grid_of("%%paimon --engine spark\nSELECT b.a FROM t").columns] == ["TIMESTAMP(6)"]
