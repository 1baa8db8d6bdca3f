"""The rows behind the result grid: order, filters, search, profiles, pages, opened values and files."""

from __future__ import annotations

import datetime as dt
import decimal
import io
import random
from typing import Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest

from paimon_nb.base.errors import SqlAnalysisError, UnsupportedOperation
from paimon_nb.notebook.grid import export
from paimon_nb.notebook.grid.copy_forms import as_tsv
from paimon_nb.notebook.grid.filters import Condition, typed_value
from paimon_nb.notebook.grid.profile import column_profile, counts_in_bins
from paimon_nb.notebook.grid.query_code import query_code
from paimon_nb.notebook.grid.rows import (
    ArrangedRows,
    Arrangement,
    filter_and_sort_rows,
    sorted_rows,
    with_further_column,
)
from paimon_nb.notebook.grid.text_order import text_order
from paimon_nb.notebook.grid.texts import display_texts, nested_text, value_text
from paimon_nb.notebook.grid.value_tree import MAX_PARTS, image_type, tree_of_nested_value

PEOPLE = pa.table(
    {
        "id": pa.array([1, 2, 3, 4, 5], pa.int32()),
        "name": ["Ann", None, "bob", "Cleo", "ann"],
        "paid": pa.array(
            [decimal.Decimal(p) for p in ("2.50", "-1.00", "10.00", "0.00", "2.50")], pa.decimal128(10, 2)
        ),
        "born": [dt.date(2000, 1, 1), dt.date(1999, 5, 5), None, dt.date(2000, 1, 1), dt.date(2010, 1, 1)],
        "tags": [["x"], [], None, ["y", "z"], ["x"]],
    }
)


def ids(rows: ArrangedRows) -> list[int]:
    return list(rows.rows_of(0, len(rows), [0]).column(0).to_pylist())


def condition(name: str, operator: str, *typed: str) -> Condition:
    column = PEOPLE.column_names.index(name)
    kind = PEOPLE.schema.field(name).type
    values: tuple[Any, ...] = typed if operator == "contains" else tuple(typed_value(kind, t) for t in typed)
    return Condition(column, name, operator, values)


# -- order


@pytest.mark.parametrize(
    ("column", "up", "down"),
    [
        ("id", [1, 2, 3, 4, 5], [5, 4, 3, 2, 1]),
        ("name", [1, 4, 5, 3, 2], [3, 5, 4, 1, 2]),
        ("paid", [2, 4, 1, 5, 3], [3, 1, 5, 4, 2]),
        ("born", [2, 1, 4, 5, 3], [5, 1, 4, 2, 3]),
        ("tags", [1, 5, 4, 2, 3], [2, 4, 1, 5, 3]),
    ],
)
def test_each_type_is_sorted_and_null_is_last(column: str, up: list[int], down: list[int]) -> None:
    at = PEOPLE.column_names.index(column)
    assert ids(filter_and_sort_rows(PEOPLE, Arrangement(sort=at))) == up
    assert ids(filter_and_sort_rows(PEOPLE, Arrangement(sort=at, descending=True))) == down


@pytest.mark.parametrize("descending", [False, True], ids=["up", "down"])
def test_texts_are_sorted_by_their_bytes(descending: bool) -> None:
    draw = random.Random(7)
    for _ in range(400):
        letters = draw.choice(["ab", "a\0", "abcdefgh", "äß€x"])
        lengths = [0, 1, 6, 7, 8, 9, 14, 15, 16, 31]
        texts_ = ["".join(draw.choices(letters, k=draw.choice(lengths))) for _ in range(draw.randint(0, 40))]
        beginning = "common start " * draw.randint(0, 6)  # also longer than what is compared as numbers
        values = [None if draw.random() < 0.1 else draw.choice(["", beginning]) + t for t in texts_]
        # The first chunk is a slice: its buffers begin elsewhere.
        column = pa.chunked_array([pa.array(["zz", *values[:9]]).slice(1), pa.array(values[9:], pa.string())])
        known = [i for i, v in enumerate(values) if v is not None]
        expected = sorted(known, key=lambda i: str(values[i]).encode(), reverse=descending)
        assert text_order(column, descending).tolist() == expected + [i for i, v in enumerate(values) if v is None]


def test_texts_that_repeat_are_sorted_too() -> None:
    column = pa.table({"c": ["red", "blue", None, "red", "green"] * 3000})
    order = sorted_rows(column, 0, descending=False)
    assert (
        column.column(0).take(order).to_pylist() == ["blue"] * 3000 + ["green"] * 3000 + ["red"] * 6000 + [None] * 3000
    )


# -- filters and search


@pytest.mark.parametrize(
    ("wanted", "found", "text", "sql"),
    [
        (condition("id", ">=", "4"), [4, 5], "id ≥ 4", "id >= 4"),
        (condition("name", "=", "ann"), [5], "name = ann", "name = 'ann'"),
        (condition("name", "<>", "ann"), [1, 3, 4], "name ≠ ann", "name <> 'ann'"),
        (condition("name", "contains", "AN"), [1, 5], "name contains AN", "contains(lower(CAST(name AS STRING)), lower('AN'))"),
        (condition("name", "is null"), [2], "name is null", "name IS NULL"),
        (condition("born", "is not null"), [1, 2, 4, 5], "born is not null", "born IS NOT NULL"),
        (condition("paid", "between", "0", "2.5"), [1, 4, 5], "paid 0.00 – 2.50", "paid BETWEEN 0.00 AND 2.50"),
        (condition("born", "<=", "2000-01-01"), [1, 2, 4], "born ≤ 2000-01-01", "born <= DATE '2000-01-01'"),
        (condition("tags", "contains", '"x"'), [1, 5], 'tags contains "x"', "contains(lower(CAST(tags AS STRING)), lower('\"x\"'))"),
    ],
)  # fmt: skip
def test_a_filter_keeps_its_rows_and_names_itself(wanted: Condition, found: list[int], text: str, sql: str) -> None:
    assert ids(filter_and_sort_rows(PEOPLE, Arrangement(filters=(wanted,)))) == found
    assert (str(wanted), wanted.sql()) == (text, sql)


def test_filters_search_and_order_work_together() -> None:
    wanted = Arrangement(sort=0, descending=True, filters=(condition("paid", ">=", "0"),), search="200")
    assert ids(filter_and_sort_rows(PEOPLE, wanted)) == [4, 1]
    assert ids(filter_and_sort_rows(PEOPLE, Arrangement(search="nothing like it"))) == []


@pytest.mark.parametrize(("kind", "text"), [(pa.int32(), "x"), (pa.int8(), "1000"), (pa.date32(), "soon"), (pa.binary(), "zz")])  # fmt: skip
def test_a_typed_value_that_does_not_fit_is_an_error(kind: pa.DataType, text: str) -> None:
    with pytest.raises(SqlAnalysisError, match="is not a value of type"):
        typed_value(kind, text)


# -- profiles


def test_a_histogram_counts_every_value_once() -> None:
    column = pa.chunked_array([pa.array([1, 2, 2, 3, 100, None], pa.int64())])
    found = column_profile(column)
    assert (found.kind, found.rows, found.nulls, found.distinct, found.low, found.high) == (
        "range",
        6,
        1,
        4,
        "1",
        "100",
    )
    assert sum(b.count for b in found.bins) == 5
    assert [b.count for b in found.bins] == list(counts_in_bins(found, column))


@pytest.mark.parametrize(
    "values",
    [
        pa.array([0.5, 1.5, float("nan"), float("inf"), None]),
        pa.array([decimal.Decimal("0.10"), decimal.Decimal("0.30")]),
        pa.array([-(2**63), 2**63 - 1]),
        pa.array([7, 7]),
        pa.array([dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 1, 0, 0, 1)], pa.timestamp("us")),
        pa.array([dt.datetime(1, 1, 1), dt.datetime(9999, 1, 1)], pa.timestamp("ms")),
    ],
    ids=str,
)
def test_the_ends_of_a_histogram_hold_the_ends_of_the_values(values: pa.Array) -> None:
    column = pa.chunked_array([values])
    found = column_profile(column)
    whole = Condition(0, "c", "between", (found.bins[0].low, found.bins[-1].high))
    finite = [v for v in values.to_pylist() if v is not None and v == v and v != float("inf")]
    assert len(filter_and_sort_rows(pa.table({"c": column}), Arrangement(filters=(whole,)))) == len(finite)


@pytest.mark.parametrize(
    ("values", "note"),
    [
        (pa.array([2**53 + 1, 2**53, 2**62 + 1]), "9007199254740992 – 4611686018427387905"),
        (pa.array([-(2**53) - 1, 0, 2**63 - 1]), "-9007199254740993 – 9223372036854775807"),
        (
            pa.array([-1, 253402300799999000], pa.timestamp("us")),
            "1969-12-31 23:59:59.999999 – 9999-12-31 23:59:59.999000",
        ),
        (
            pa.array([decimal.Decimal("12345678901234567.001"), decimal.Decimal("-0.001")], pa.decimal128(38, 3)),
            "-0.001 – 12345678901234567.001",
        ),
    ],
    ids=["bigint", "extremes", "timestamp", "decimal"],
)
def test_the_header_shows_the_exact_ends(values: pa.Array, note: str) -> None:
    """Also of values that no floating-point number holds; values that differ by one are two."""
    found = column_profile(pa.chunked_array([values]))
    assert (found.note, found.distinct) == (note, len(values))


def test_frequent_values_are_listed_and_unique_ones_counted() -> None:
    frequent = column_profile(pa.chunked_array([["a", "b", "a", None]]))
    assert [(b.label, b.count) for b in frequent.bins] == [("a", 2), ("b", 1)]
    unique = column_profile(pa.chunked_array([[f"v{i}" for i in range(1000)]]))
    assert (unique.kind, str(unique)) == ("none", "1,000 distinct · no NULL")
    assert str(column_profile(pa.chunked_array([pa.nulls(3, pa.string())]))) == "0 distinct · 100 % NULL"


# -- values


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"street": "Main", "zip": [1, None]}, '{"street": "Main", "zip": [1, null]}'),
        ([("k", 1), ("l", None)], '{"k": 1, "l": null}'),
        ([True, 1.5, float("nan"), decimal.Decimal("1.10")], '[true, 1.5, "nan", 1.10]'),
        ([dt.date(2026, 1, 2), b"\x01", 'a"b'], '["2026-01-02", "01", "a\\"b"]'),
        ([(dt.date(2026, 1, 2), {"a": []})], '{"2026-01-02": {"a": []}}'),
    ],
)
def test_nested_values_are_written_as_json(value: Any, text: str) -> None:
    assert nested_text(value) == text == value_text(value)


def test_large_values_are_cut_before_they_are_copied() -> None:
    rows = pa.table({"t": ["ä" * 2_500_000] * 8, "b": [b"\xff" * 5_000_000] * 8})
    before = pa.total_allocated_bytes()
    page = ArrangedRows(rows).page(0, 8, 0, 2)
    assert {len(t) for t in page if t is not None} == {500}
    assert pa.total_allocated_bytes() - before < 1_000_000
    shuffled = filter_and_sort_rows(rows, Arrangement(filters=(Condition(0, "t", "is not null"),)))
    assert shuffled.page(4, 8, 0, 1) == ["ä" * 499 + "…"] * 4


def test_pages_are_columns_of_texts() -> None:
    rows = ArrangedRows(PEOPLE)
    assert rows.page(1, 3, 0, 2) == ["2", "3", None, "bob"]
    assert rows.page(4, 99, 3, 99) == ["2010-01-01", '["x"]']
    assert display_texts(pa.chunked_array([], pa.string())) == []


def test_an_opened_value_has_its_parts() -> None:
    value = {"street": "Main", "tags": ["a", None], "m": [("k", {"x": 1})]}
    assert tree_of_nested_value(value, "addr") == [
        "addr", "3 entries", [
            ["street", "Main", []],
            ["tags", "2 entries", [["0", "a", []], ["1", "NULL", []]]],
            ["m", "1 entry", [["k", "1 entry", [["x", "1", []]]]]],
        ],
    ]  # fmt: skip

    def size(node: list[Any]) -> int:
        return 1 + sum(map(size, node[2]))

    assert size(tree_of_nested_value([[i] * 100 for i in range(100_000)])) <= MAX_PARTS + 200


def test_pictures_are_known_by_their_bytes() -> None:
    assert image_type(b"\x89PNG\r\n\x1a\n...") == "image/png"
    assert image_type(b"RIFF....WEBPVP8 ") == "image/webp"
    assert image_type(b"<svg onload=alert(1)>") is None


# -- files


def test_files_hold_the_rows() -> None:
    assert parquet.read_table(io.BytesIO(export.as_file(PEOPLE, "parquet"))).equals(PEOPLE)
    back = csv.read_csv(io.BytesIO(export.as_file(PEOPLE, "csv")))
    assert back.column("tags").to_pylist() == ['["x"]', "[]", None, '["y", "z"]', '["x"]'] or back.num_rows == 5
    assert export.as_file(pa.table({"b": [b"\x01\xff"]}), "csv") == b'"b"\n"01ff"\n'


def test_a_copy_has_one_line_for_each_row() -> None:
    rows = pa.table({"a": ["x\ty", "l1\nl2", None], "b": [1, 2, 3]})
    assert as_tsv(rows, header=True) == "a\tb\nx y\t1\nl1 l2\t2\n\t3"


def test_a_download_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "MAX_BYTES", 10)
    with pytest.raises(UnsupportedOperation, match="a download may take"):
        export.as_file(PEOPLE, "csv")


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.decimal128(38, 18), ["12345678901.000000000000000001", "-99999999999999999999.5"]),
        (pa.decimal128(38, 0), ["99999999999999999999999999999999999999", "-1"]),
        (pa.decimal128(38, 38), ["0.99999999999999999999999999999999999999", "0"]),
        (pa.decimal256(76, 30), ["1e45", "-1e-30"]),
    ],
)
def test_a_histogram_of_decimals_with_many_digits(kind: pa.DataType, values: list[str]) -> None:
    """Python's own decimal context has 28 digits; Spark's computed prices are DECIMAL(38,18)."""
    column = pa.chunked_array([pa.array([decimal.Decimal(v) for v in values], kind)])
    found = column_profile(column)
    assert (found.kind, found.rows, sum(b.count for b in found.bins)) == ("range", 2, 2)
    low, high = found.bins[0].low.as_py(), found.bins[-1].high.as_py()
    assert low <= min(column.to_pylist()) + abs(low) / 10**12
    assert high >= max(column.to_pylist()) - abs(high) / 10**12


def test_rows_are_sorted_by_several_columns() -> None:
    table = pa.table({"a": ["x", "y", None, "x", "y"], "b": [1, 2, 3, 4, None], "n": [0, 1, 2, 3, 4]})
    by_a = Arrangement(sort=0)
    both = with_further_column(by_a, 1, descending=True)
    orders = [
        filter_and_sort_rows(table, a).rows_of(0, 5, [2]).column(0).to_pylist()
        for a in (by_a, both, with_further_column(both, 0, descending=True))
    ]
    assert orders == [[0, 3, 1, 4, 2], [3, 0, 1, 4, 2], [1, 4, 3, 0, 2]]
    assert query_code("SELECT * FROM t", both, table).splitlines()[-1] == "ORDER BY a NULLS LAST, b DESC NULLS LAST"
