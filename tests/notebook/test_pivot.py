"""Rows of a result grouped in the grid: the same values as the query that becomes a cell."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from test_grid import Page

from paimon_nb.base.errors import SqlAnalysisError, UnsupportedOperation
from paimon_nb.notebook.grid.pivot import (
    MAX_ACROSS,
    MAX_GROUPS,
    PivotSpec,
    default_pivot,
    pivot,
    pivot_code,
    requested_pivot,
)
from paimon_nb.notebook.grid.rows import ArrangedRows, Arrangement
from paimon_nb.workbench import connect

if TYPE_CHECKING:
    from paimon_nb.notebook.grid.pivot import Pivot
    from paimon_nb.workbench import Workbench

SALES = pa.table(
    {
        "shop": ["north", "south", None, "north", "", "north"],
        "year": pa.array([2025, 2025, 2026, 2026, None, 2025], pa.int32()),
        "amount": pa.array(
            [Decimal("1.50"), Decimal("-2.00"), Decimal("7.25"), None, Decimal(0), Decimal("0.01")],
            pa.decimal128(38, 2),
        ),
        "big": pa.array([2**63 - 1, 2**63 - 1, 1, 0, None, 2**63 - 1], pa.int64()),
        "f": pa.array([0.0, -0.0, float("nan"), float("nan"), None, 1e-18]),
        "day": pa.array(
            [dt.date(1, 1, 1), dt.date(9999, 12, 31), None, dt.date(2026, 1, 1)] + [dt.date(2025, 1, 1)] * 2
        ),
        "ok": [True, False, None, True, True, False],
        "list": pa.array([["a"], [], None, ["b"], ["a"], ["c"]], pa.list_(pa.string())),
    }
)
STATEMENT = "SELECT * FROM sales"


def column(name: str) -> int:
    return int(SALES.column_names.index(name))


def table_of(
    *by: str, across: str | None = None, aggregate: str = "count", of: str | None = None, **more: Any
) -> Pivot:
    spec = PivotSpec(
        tuple(map(column, by)),
        None if across is None else column(across),
        aggregate,
        None if of is None else column(of),
        **more,
    )
    return pivot(ArrangedRows(SALES), spec)


def test_groups_with_values_across_and_totals() -> None:
    found = table_of("shop", across="year", aggregate="sum", of="amount").data()
    assert found["heads"] == ["shop", "2025", "2026", "NULL", "total"]
    assert found["rows"] == [
        ["", None, None, "0.00", "0.00"],
        ["north", "1.51", None, None, "1.51"],
        ["south", "-2.00", None, None, "-2.00"],
        [None, None, "7.25", None, "7.25"],
    ]
    assert found["total"] == [None, "-0.49", "7.25", "0.00", "6.76"]
    assert found["numbers"] == [False, True, True, True, True]


def test_sums_are_exact_and_zeros_of_both_signs_are_one_group() -> None:
    assert table_of("ok", aggregate="sum", of="big").data()["total"] == [None, str(3 * (2**63 - 1) + 1)]
    assert table_of("f").data()["rows"] == [["0.0", "2"], ["1e-18", "1"], ["nan", "2"], [None, "1"]]


@pytest.mark.parametrize("aggregate", ["min", "max"])
def test_extremes_keep_the_type_of_their_column(aggregate: str) -> None:
    found = table_of("ok", aggregate=aggregate, of="day")
    assert found.table.schema.types == [pa.bool_(), pa.date32()]
    least = {"min": ["2025-01-01", "0001-01-01", None], "max": ["9999-12-31", "2026-01-01", None]}[aggregate]
    assert [row[1] for row in found.data()["rows"]] == least


def test_the_order_is_that_of_a_clicked_column() -> None:
    found = table_of("shop", "year", aggregate="count", order=(2, True))
    assert [row[:3] for row in found.data()["rows"]][:2] == [["north", "2025", "2"], ["", None, "1"]]


def test_what_is_left_out_is_said_and_counted_in_the_total() -> None:
    rows = pa.table(
        {"k": list(range(MAX_GROUPS + 5)) * 2, "a": [i % (MAX_ACROSS + 2) for i in range(2 * MAX_GROUPS + 10)]}
    )
    found = pivot(ArrangedRows(rows), PivotSpec((0,), 1))
    assert (found.table.num_rows, found.table.num_columns) == (MAX_GROUPS, MAX_ACROSS + 2)
    assert found.total[-1] == f"{2 * MAX_GROUPS + 10}"
    assert [note.split()[1] for note in found.notes] == [str(MAX_GROUPS), str(MAX_ACROSS)]


def test_a_sum_that_has_no_type_is_a_sentence() -> None:
    rows = pa.table({"k": ["a", "a"], "v": pa.array([Decimal(9 * 10**37)] * 2, pa.decimal128(38, 0))})
    with pytest.raises(SqlAnalysisError, match="more than 38 digits"):
        pivot(ArrangedRows(rows), PivotSpec((0,), None, "sum", 1))


@pytest.mark.parametrize("rows", [SALES.slice(0, 0), SALES.slice(0, 1)], ids=["no rows", "one row"])
def test_few_rows(rows: pa.Table) -> None:
    found = pivot(ArrangedRows(rows), PivotSpec((0,), 1, "average", 2)).data()
    assert (len(found["rows"]), found["heads"][0], found["heads"][-1]) == (rows.num_rows, "shop", "total")


def test_the_first_table_is_chosen_from_the_types() -> None:
    assert default_pivot(SALES.select(["big", "shop", "amount"])) == PivotSpec((1,), None, "sum", 2)
    assert default_pivot(SALES.select(["list"])) is None
    assert default_pivot(pa.table({})) is None


@pytest.mark.parametrize(
    "change",
    [{"by": []}, {"by": [0, 0]}, {"by": [99]}, {"by": [7]}, {"across": 0}, {"across": "x"}, {"aggregate": "evil"}, {"measure": -1}, {"by": [0, 1, 2, 3]}],
    ids=str,
)  # fmt: skip
def test_a_message_that_is_not_valid_changes_nothing(change: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"by": [0], "across": None, "aggregate": "count", "measure": None, "order": None}
    assert requested_pivot(whole, SALES) == PivotSpec((0,))
    assert requested_pivot({**whole, **change}, SALES) is None


def test_an_aggregate_that_a_column_has_not_becomes_a_count() -> None:
    asked = {"by": [0], "across": None, "aggregate": "sum", "measure": column("list"), "order": [1, True]}
    assert requested_pivot(asked, SALES) == PivotSpec((0,), None, "count", column("list"), (1, True))


def test_a_pivot_table_follows_filters_and_becomes_a_cell() -> None:
    page = Page(SALES)
    page.grid.rows.statement = STATEMENT
    page.grid.on_message({"pivot": {}})
    page.grid.wait()
    assert page.grid.pivot["heads"] == ["shop", "sum amount"]
    page.grid.on_message({"pivot": {"across": column("year")}})
    page.grid.on_message({"filter": {"column": 0, "operator": "contains", "text": "north"}})
    page.grid.wait()
    assert page.grid.pivot["rows"] == [["north", "1.51", None, "1.51"]]
    ((answer, _),) = page.asks({"pivot_code": True})
    assert answer["code"].startswith("%%paimon\nSELECT shop,\n")
    assert "WHERE contains(lower(CAST(shop AS STRING)), lower('north'))" in answer["code"]
    page.grid.on_message({"pivot": None})
    page.grid.on_message({"unfilter": None})
    page.grid.wait()
    assert len(page.grid.pivot["rows"]) == 1


def test_code_for_columns_with_one_name_is_refused() -> None:
    rows = pa.table([[1], [2]], names=["a", "a"])
    found = pivot(ArrangedRows(rows), PivotSpec((0,)))
    with pytest.raises(UnsupportedOperation, match="two columns are named 'a'"):
        pivot_code("SELECT 1 a, 2 a", Arrangement(), rows, found)


def test_a_sum_that_no_bigint_holds_is_a_decimal_in_the_cell() -> None:
    spec = PivotSpec((column("ok"),), None, "sum", column("big"))
    assert "sum(CAST(big AS DECIMAL(38, 0))) AS" in pivot_code(
        STATEMENT, Arrangement(), SALES, pivot(ArrangedRows(SALES), spec)
    )


@pytest.fixture(scope="module")
def sales(tmp_path_factory: pytest.TempPathFactory) -> Workbench:
    wb = connect(str(tmp_path_factory.mktemp("pivot") / "warehouse"))
    wb.run(
        "CREATE TABLE sales (shop STRING, year INT, amount DECIMAL(38, 2), big BIGINT, f DOUBLE, day DATE, ok BOOLEAN, list ARRAY<STRING>)"
    )
    wb.table("sales").append(SALES)
    return wb


@pytest.mark.parametrize(
    "spec",
    [
        PivotSpec((0,), 1, "sum", 2), PivotSpec((0, 1)), PivotSpec((5,), 0, "average", 4), PivotSpec((1,), 6, "max", 5, (3, True)),
        PivotSpec((6,), 0, "distinct", 1), PivotSpec((0,), 5, "count", 2), PivotSpec((4,), 2, "min", 2), PivotSpec((2,), 1),
        PivotSpec((5,), None, "sum", 1), PivotSpec((6,), 1, "median", 4),
    ],
    ids=str,
)  # fmt: skip
def test_the_cell_computes_the_same_table(sales: Workbench, spec: PivotSpec) -> None:
    found = pivot(ArrangedRows(SALES), spec)
    code = pivot_code(STATEMENT, Arrangement(), SALES, found)
    answer = sales.run(code.removeprefix("%%paimon\n")).to_arrow()
    assert answer.column_names == found.table.column_names
    for name in answer.column_names:
        expected, actual = found.table.column(name).to_pylist(), answer.column(name).to_pylist()
        assert [str(v) for v in actual] == [str(v) for v in expected], name
    assert not sales.session.spark_started
