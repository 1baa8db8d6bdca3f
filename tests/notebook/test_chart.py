"""Charts of a result in the kernel: defaults, aggregates, limits, and the same chart as Python code."""

from __future__ import annotations

import datetime as dt
import decimal
import json
import math
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from hostile import PAYLOADS

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.grid.chart import chart
from paimon_nb.notebook.grid.chart_code import chart_code
from paimon_nb.notebook.grid.chart_spec import AGGREGATES, KINDS, UNITS, ChartSpec, requested_spec
from paimon_nb.notebook.grid.rows import ArrangedRows, Arrangement
from paimon_nb.notebook.grid.source import GridSource
from paimon_nb.notebook.widgets.grid import Grid
from paimon_nb.session import Result

if TYPE_CHECKING:
    from shell_kit import Shell

    from paimon_nb.workbench import Workbench

SALES = pa.table({
    "day": [dt.date(2026, 1, 31), dt.date(2026, 2, 1), dt.date(2026, 2, 2), None],
    "shop": ["north", "south", "north", None],
    "amount": pa.array([decimal.Decimal(n) for n in ("1.50", "2.00", "4.00", "8.00")], pa.decimal128(10, 2)),
    "share": [0.5, math.nan, None, math.inf],
    "id": [1, 2, 3, 4],
})  # fmt: skip
DAY, SHOP, AMOUNT, SHARE, ID = range(5)


def grid_of(table: pa.Table) -> Grid:
    result = Result("rows", arrow=table)
    return Grid(Rows(result, 20), GridSource(result, table, complete=True))


def drawn(
    grid: Grid,
    kind: str = "",
    x: int = 0,
    y: int | None = None,
    colour: int | None = None,
    aggregate: str = "sum",
    unit: str = "",
) -> Any:
    """What the page gets when it asks for a chart; without a kind, for the default."""
    asked = {"kind": kind, "x": x, "y": y, "colour": colour, "aggregate": aggregate, "unit": unit} if kind else {}
    grid.on_message({"chart": asked})
    grid.wait()
    assert grid.trouble == ""
    return json.loads(json.dumps(grid.chart, allow_nan=False))


def series(chart: Any) -> dict[str, dict[str, Any]]:
    """Series -> label -> value."""
    return {s["name"]: dict(zip(chart["labels"], s["values"], strict=True)) for s in chart["series"]}


def test_defaults_are_chosen_from_the_types() -> None:
    few = pa.table({c: SALES.column(c) for c in ("shop", "amount", "id")})
    numbers = pa.table({"id": [1, 2], "v": [0.5, 0.7], "w": [1, 4]})
    specs = [drawn(grid_of(t))["spec"] for t in (SALES, few, numbers, SALES.select(["id"]), SALES.select(["shop"]))]
    assert [(s["kind"], s["x"], s["y"], s["colour"], s["aggregate"]) for s in specs] == [
        ("line", DAY, AMOUNT, SHOP, "sum"),
        ("bar", 0, 1, None, "sum"),
        ("scatter", 2, 1, None, "count"),
        ("histogram", 0, None, None, "count"),
        ("bar", 0, None, None, "count"),
    ]
    assert drawn(grid_of(pa.table({"b": [b"1"], "n": pa.nulls(1)})))["empty"].startswith("No column for this chart")


@pytest.mark.parametrize(
    ("aggregate", "expected"),
    [("sum", [8, 5.5, 2]), ("average", [8, 2.75, 2]), ("median", [8, 2.75, 2]), ("min", [8, 2, 1.5]), ("max", [8, 4, 2]), ("count", [2, 1, 1]), ("distinct", [2, 1, 1])],
)  # fmt: skip
def test_bars_are_aggregates_from_the_largest(aggregate: str, expected: list[float]) -> None:
    chart = drawn(grid_of(SALES), "bar", SHOP, AMOUNT, None, aggregate)
    assert chart["series"][0]["values"] == expected
    assert set(chart["labels"]) == {"north", "south", "NULL"}


def test_times_are_cut_to_a_unit_and_stacked_by_colour() -> None:
    chart = drawn(grid_of(SALES), "bar", DAY, AMOUNT, SHOP, "sum", "month")
    assert series(chart) == {
        "north": {"2026-01": 1.5, "2026-02": 4},
        "south": {"2026-01": None, "2026-02": 2},
        "NULL": {"2026-01": None, "2026-02": None},
    }
    assert (chart["stacked"], chart["notes"]) == (True, ["1 row without a value in day left out."])
    assert chart["alternative"].startswith(
        "Bar chart of sum of amount by day, coloured by shop: 2 ranges on the x axis."
    )
    labels = {
        unit: drawn(grid_of(SALES), "line", DAY, ID, None, "sum", unit)["labels"]
        for unit in ("week", "quarter", "year")
    }
    assert labels == {"week": ["week of 2026-01-26", "week of 2026-02-02"], "quarter": ["2026 Q1"], "year": ["2026"]}


def test_values_without_a_place_are_counted_in_a_note() -> None:
    chart = drawn(grid_of(SALES), "bar", SHOP, SHARE, None, "sum")
    assert chart["notes"] == ["3 rows without a value in share left out."]
    assert series(chart)[""] == {"north": 0.5, "south": None, "NULL": None}


def test_ranges_hold_each_value_once() -> None:
    draw = np.random.default_rng(1)
    whole, parts = draw.integers(-50, 1000, 5000), draw.normal(size=5000)
    table = pa.table({"n": whole, "v": parts})
    for column, values in enumerate((whole, parts)):
        chart = drawn(grid_of(table), "histogram", column)
        expected = [
            int(((values >= a) & (values < b)).sum()) or None
            for a, b in zip(chart["starts"], chart["ends"], strict=True)
        ]
        assert chart["series"][0]["values"] == expected
        assert len(expected) <= 42


def test_a_chart_follows_filters_and_search() -> None:
    grid = grid_of(SALES)
    drawn(grid, "bar", SHOP, AMOUNT)
    grid.on_message({"filter": {"column": AMOUNT, "operator": "<=", "text": "4"}})
    grid.wait()
    assert series(grid.chart)[""] == {"north": 5.5, "south": 2}
    grid.on_message({"search": "south"})
    grid.wait()
    assert series(grid.chart)[""] == {"south": 2}
    grid.on_message({"chart": None})
    grid.on_message({"unfilter": None})
    grid.wait()
    assert series(grid.chart)[""] == {"south": 2}, "a closed tab is not drawn again"


def test_changes_that_follow_each_other_are_all_kept() -> None:
    grid = grid_of(SALES)
    drawn(grid)
    for change in ({"kind": "bar"}, {"aggregate": "max"}, {"colour": None}, {"x": SHOP}, {"colour": 99}):
        grid.on_message({"chart": change})
    grid.wait()
    assert grid.chart["title"] == "largest amount by shop"


def test_what_goes_to_the_page_is_bounded() -> None:
    n = 30_000
    draw = np.random.default_rng(2)
    table = pa.table({
        "name": [f"name {i}" for i in range(n)], "t": pa.array(draw.integers(0, 2**40, n) * 1000, pa.timestamp("us")),
        "v": draw.normal(size=n), "long": ["ä" * 5000] * 1000 + ["ä"] * (n - 1000),
    })  # fmt: skip
    grid, sizes = grid_of(table), []
    for kind in KINDS:
        sizes += [len(json.dumps(drawn(grid, kind, x, 2, 0, "sum", "second" if x == 1 else ""))) for x in range(4)]
    assert max(sizes) < 400_000
    names = drawn(grid, "bar", 0, None, 0, "count")
    assert (len(names["labels"]), names["notes"][-1]) == (40, "The largest 40 of 30,000 values.")
    assert [s["name"] for s in names["series"]][-1] == "other"
    dots = drawn(grid, "scatter", 1, 2)
    assert (len(dots["series"][0]["values"]), dots["notes"]) == (4000, ["A random sample of 4,000 of 30,000 rows."])


EXTREMES = {
    "floats": pa.table({"x": [1e308, -1e308, math.nan, math.inf, None, 5e-324] * 5, "y": [1e308] * 30}),
    "empty": pa.table({"x": pa.array([], pa.int64()), "y": pa.array([], pa.timestamp("ns"))}),
    "nulls": pa.table({"x": pa.array([None, None], pa.float64()), "y": pa.array([None, None], pa.string())}),
    "years": pa.table({"x": [dt.date(1, 1, 1), dt.date(9999, 12, 31)] * 30, "y": [True, None] * 30}),
    "large": pa.table({"x": pa.array([2**63 - 1, -(2**63)] * 20), "y": pa.array([decimal.Decimal(10) ** 37] * 40, pa.decimal128(38, 0))}),
    "times": pa.table({"x": pa.array([1, 2, None], pa.time64("us")), "y": pa.array([0, 1, 2], pa.timestamp("s", "Europe/Berlin"))}),
    "same name": pa.table([pa.array(["a"]), pa.array([1])], names=["c", "c"]),
    "hostile": pa.table({p: list(PAYLOADS) for p in PAYLOADS[:4]}),
}  # fmt: skip


@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_values_are_drawn_or_left_out(name: str) -> None:
    grid = grid_of(EXTREMES[name])
    drawn(grid)
    for kind in KINDS:
        for x, y in ((0, 1), (1, 0), (0, None)):
            drawn(grid, kind, x, y, y, "average")


@pytest.mark.parametrize(
    "message",
    [
        {"chart": 5}, {"chart": {"kind": "pie", "x": 0}}, {"chart": {"kind": "bar", "x": 99, "y": None, "colour": None, "aggregate": "sum", "unit": ""}},
        {"chart": {"kind": "bar", "x": True, "y": None, "colour": None, "aggregate": "sum", "unit": ""}},
        {"chart": {"kind": "bar", "x": 0, "y": None, "colour": -1, "aggregate": "eval", "unit": "aeon"}}, {"chart_code": True},
    ],
    ids=str,
)  # fmt: skip
def test_an_unexpected_message_draws_nothing(message: Any) -> None:
    grid = grid_of(SALES)
    grid.on_message(message)
    grid.wait()
    assert grid.chart == {}


CODED = [
    ("bar", SHOP, AMOUNT, None, "sum", ""), ("bar", DAY, AMOUNT, SHOP, "sum", "month"), ("bar", SHOP, None, None, "count", ""), ("line", DAY, AMOUNT, None, "average", "week"),
    ("histogram", AMOUNT, None, None, "count", ""), ("scatter", ID, AMOUNT, SHOP, "sum", ""), ("area", ID, AMOUNT, None, "median", ""), ("bar", ID, SHOP, None, "distinct", ""),
]  # fmt: skip


@pytest.mark.parametrize("asked", CODED, ids=lambda a: f"{a[0]}-{a[4]}")
def test_the_code_draws_the_same_chart(asked: tuple[Any, ...]) -> None:
    grid, heard = grid_of(SALES), list[Any]()
    grid.send = lambda content, *_: heard.append(content)  # type: ignore[method-assign]
    grid.on_message({"filter": {"column": AMOUNT, "operator": "<=", "text": "4"}})
    grid.wait()
    chart = drawn(grid, *asked)
    heard.clear()
    grid.on_message({"chart_code": True})
    (answer,) = heard
    variables: dict[str, Any] = {"_paimon": grid.rows}
    exec(answer["code"], variables)
    traces = variables["figure"].data
    y = sorted(float(v) for trace in traces for v in trace.y if not math.isnan(v))
    shown = [v[1] if isinstance(v, list) else v for s in chart["series"] for v in s["values"] if v is not None]
    assert y == pytest.approx(sorted(shown))
    assert variables["figure"].layout.title.text == chart["title"]


def test_code_for_columns_with_one_name_is_refused() -> None:
    grid = grid_of(EXTREMES["same name"])
    drawn(grid, "bar", 0, 1)
    grid._on_message(None, {"chart_code": True}, [])
    assert grid.trouble.startswith("two columns are named 'c'")


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_all_rows_of_a_query_of_spark_are_counted(wb: Workbench) -> None:
    wb.run("SET 'paimon-nb.engine' = 'spark'; CREATE TABLE t (id BIGINT); INSERT INTO t SELECT id FROM range(3000)")
    rows = Rows(wb.run("SELECT id % 3 AS n FROM t"), 20, ahead=100)
    grid = Grid(rows, GridSource(rows.result, *rows.fetched))
    wb.run("INSERT INTO t SELECT id FROM range(500)")
    assert series(drawn(grid, "bar", 0))[""] == {"0": 1000, "1": 1000, "2": 1000}


def test_the_code_reads_the_result_of_its_own_cell(shell: Shell) -> None:
    shell.value("%%paimon\nCREATE TABLE t (id INT, v STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    first = shell.value("%%paimon\nSELECT v FROM t")
    shell.value("%%paimon\nSELECT id FROM t")
    grid = Grid(first, GridSource(first.result, *first.fetched))
    grid.send = lambda *_: None  # type: ignore[method-assign]  # no page listens
    grid.make_current = lambda rows: shell.ip.push({"_paimon": rows})
    drawn(grid)
    grid.on_message({"chart_code": True})
    assert shell.value("list(_paimon.to_arrow().column_names)") == ["v"]


def test_every_choice_of_the_page_is_known() -> None:
    from pathlib import Path

    script = (Path(__file__).parents[2] / "paimon_nb" / "notebook" / "widgets" / "chart.js").read_text()
    for word in (*KINDS, *AGGREGATES, *UNITS):
        assert f'"{word}"' in script


def test_a_chart_for_each_value_of_a_column_on_the_same_axes() -> None:
    rows = pa.table({"x": ["a", "a", "b", "b"], "f": ["1", "2", "1", None], "v": [1, 10, 100, 1000]})
    drawn = chart(ArrangedRows(rows), ChartSpec("bar", 0, 2, None, "sum", facet=1))
    assert drawn.keys is not None
    assert list(drawn.keys.labels) == ["b", "a"]
    assert drawn.title == "sum of v by x, for each f"
    assert [(name, [values for _, values in series]) for name, series in drawn.panels] == [
        ("1", [(100.0, 1.0)]), ("2", [(None, 10.0)]), ("NULL", [(1000.0, None)]),
    ]  # fmt: skip
    assert drawn.series[0][1] == (1100.0, 11.0)
    assert len(drawn.data()["panels"]) == 3
    assert "facet_col='f'" in chart_code(drawn, rows, Arrangement())


def test_shares_are_parts_of_a_hundred_and_bars_stand_beside_each_other_on_request() -> None:
    rows = pa.table({"x": ["a", "a", "b"], "c": ["u", "v", "u"], "v": [1, 3, 5]})
    spec = ChartSpec("bar", 0, 2, 1, "sum", stack="share")
    drawn = chart(ArrangedRows(rows), spec)
    assert dict(drawn.series) == {"u": (100.0, 25.0), "v": (None, 75.0)}
    assert (drawn.y_title, drawn.stacked) == ("share of sum of v in %", True)
    assert "barnorm='percent'" in chart_code(drawn, rows, Arrangement())
    assert not chart(ArrangedRows(rows), replace(spec, stack="beside")).stacked


def test_a_logarithmic_axis_leaves_out_what_has_no_place_and_says_so() -> None:
    rows = pa.table({"x": ["a", "b", "c"], "v": [1000, 0, -5]})
    drawn = chart(ArrangedRows(rows), ChartSpec("bar", 0, 1, None, "sum", scale="log"))
    assert sorted(v for _, values in drawn.series for v in values if v is not None) == [1000.0]
    assert drawn.notes == ("2 values of 0 or less left out: a logarithmic axis has no place for them.",)
    assert "log_y=True" in chart_code(drawn, rows, Arrangement())


@pytest.mark.parametrize(
    "change", [{"facet": 99}, {"facet": "x"}, {"scale": "evil"}, {"second": -1}, {"stack": 1}], ids=str
)
def test_a_facet_a_scale_or_a_stack_that_is_none_draws_nothing(change: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"kind": "bar", "x": 0, "y": None, "colour": None, "aggregate": "count", "unit": ""}
    assert requested_spec({**whole, "facet": 1, "scale": "log", "stack": "share"}, 2) is not None
    assert requested_spec({**whole, **change}, 2) is None


def test_a_second_column_is_a_line_on_its_own_axis() -> None:
    rows = pa.table({"x": ["a", "a", "b"], "c": ["u", "v", "u"], "v": [1, 3, 5], "w": [0.5, None, 8.0]})
    drawn = chart(ArrangedRows(rows), ChartSpec("bar", 0, 2, 1, "sum", second=3))
    assert drawn.second == ("sum of w", (8.0, 0.5))
    assert (list(drawn.keys.labels) if drawn.keys else [], drawn.data()["second"]["values"]) == (["b", "a"], [8.0, 0.5])
    assert drawn.title.endswith(", with sum of w at the right")
    with pytest.raises(UnsupportedOperation, match="two axes"):
        chart_code(drawn, rows, Arrangement())
    counted = chart(ArrangedRows(rows), ChartSpec("bar", 0, None, None, "count", second=3))
    assert counted.second == ("average w", (0.5, 8.0))
