"""The result grid in the kernel: what it answers to a page, honest or hostile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from hostile import PAYLOADS

from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.grid.source import MAX_CELLS, MAX_ROWS, GridSource
from paimon_nb.notebook.widgets.grid import BLOCK_COLUMNS, BLOCK_ROWS, Grid
from paimon_nb.session import Result

if TYPE_CHECKING:
    from shell_kit import Shell

    from paimon_nb.workbench import Workbench


class Page:
    """A page that shows the grid: what it sends, and what it hears."""

    def __init__(self, table: pa.Table) -> None:
        result = Result("rows", arrow=table)
        self.grid = Grid(Rows(result, 20), GridSource(result, table, complete=True), ("0.1 s", "snapshot 4"))
        self.heard: list[tuple[Any, list[bytes]]] = []
        self.grid.send = lambda content, buffers=None: self.heard.append((content, list(buffers or ())))  # type: ignore[method-assign]

    def asks(self, message: Any) -> list[tuple[Any, list[bytes]]]:
        """The answers to a message, when all work is done."""
        self.heard.clear()
        self.grid._on_message(None, message, [])
        self.grid.wait()
        return list(self.heard)

    def page(self, row: int = 0, column: int = 0) -> list[str | None]:
        ((content, buffers),) = self.asks({"pages": [[row, column]], "generation": self.grid.state["generation"]})
        (place,) = content["pages"]
        return texts(place["rows"] * min(BLOCK_COLUMNS, len(self.grid.columns) - column), buffers)


def texts(length: int, buffers: list[bytes]) -> list[str | None]:
    """The buffers of a page as its texts."""
    made = [pa.py_buffer(b) if b else None for b in buffers]
    return list(pa.StringArray.from_buffers(length, made[1], made[2], made[0]).to_pylist())


@pytest.fixture
def numbers() -> Page:
    return Page(pa.table({"n": pa.array(range(1000)), "s": [f"text {i % 7}" for i in range(1000)]}))


def test_the_first_page_comes_with_the_grid(numbers: Page) -> None:
    grid = numbers.grid
    assert texts(BLOCK_ROWS * 2, grid.first_buffers)[:2] == ["0", "1"]
    assert grid.state["footer"] == "1,000 rows · 0.1 s · snapshot 4"
    assert [(c["name"], c["type"], c["number"]) for c in grid.columns] == [
        ("n", "BIGINT", True),
        ("s", "STRING", False),
    ]


def test_pages_follow_sort_filter_and_search(numbers: Page) -> None:
    numbers.asks({"sort": [0, True]})
    assert numbers.page()[:2] == ["999", "998"]
    numbers.asks({"filter": {"column": 1, "operator": "=", "row": 0}})
    assert numbers.grid.state["filters"] == ["s = text 5"]
    assert numbers.grid.state["footer"].startswith("143 of 1,000 rows")
    numbers.asks({"search": "99"})
    assert numbers.page()[:3] == ["999", "992", "299"]
    numbers.asks({"unfilter": 0})
    assert numbers.grid.state["filters"] == []
    numbers.asks({"unfilter": None})
    assert numbers.grid.state["shown"] == 1000
    numbers.asks({"sort": None})
    assert numbers.page()[:2] == ["0", "1"]


def test_a_part_of_the_histogram_filters(numbers: Page) -> None:
    ((answer, _),) = numbers.asks({"profile": [0, 1]})
    assert next(label for label, _ in answer["profiles"][0]["bins"]) == "0 – 49"
    numbers.asks({"filter": {"column": 0, "bins": [0, 1]}})
    assert numbers.grid.state["filters"] == ["n 0 – 99"]
    ((answer, _),) = numbers.asks({"profile": [0]})
    assert answer["profiles"][0]["shown"][:3] == [50, 50, 0]
    numbers.asks({"filter": {"column": 1, "bins": [3, 3]}})
    assert numbers.grid.state["shown"] in (14, 15)


def test_a_typed_value_that_does_not_fit_is_reported(numbers: Page) -> None:
    numbers.asks({"filter": {"column": 0, "operator": ">=", "text": "many"}})
    assert "'many' is not a value of type BIGINT" in numbers.grid.trouble
    numbers.asks({"filter": {"column": 0, "operator": ">=", "text": "990"}})
    assert (numbers.grid.trouble, numbers.grid.state["shown"]) == ("", 10)


def test_cells_are_copied_and_rows_downloaded(numbers: Page) -> None:
    ((copied, _),) = numbers.asks({"copy": [1, 3], "columns": [1, 0], "header": True})
    assert copied == {"copied": "s\tn\ntext 1\t1\ntext 2\t2", "rows": 2, "columns": 2}
    numbers.asks({"filter": {"column": 0, "operator": "<=", "text": "1"}})
    ((head, (data,)),) = numbers.asks({"export": "csv", "columns": [0]})
    assert head == {"file": {"name": "rows.csv", "mime": "text/csv", "part": 0, "parts": 1}}
    assert data == b'"n"\n0\n1\n'


def test_values_are_opened() -> None:
    picture = b"\x89PNG\r\n\x1a\n" + bytes(10)
    page = Page(pa.table({"v": [{"a": [1]}], "p": [picture], "b": [b"<svg onload=alert(1)>"], "t": ["x" * 300_000]}))
    ((tree, _),) = page.asks({"value": [0, 0]})
    assert tree["value"]["tree"] == ["v", "1 entry", [["a", "1 entry", [["0", "1", []]]]]]
    ((image, buffers),) = page.asks({"value": [0, 1]})
    assert (image["value"]["image"], buffers) == ("image/png", [picture])
    ((binary, buffers),) = page.asks({"value": [0, 2]})
    assert binary["value"]["text"].startswith("21 bytes\n3c 73")
    assert buffers == []
    ((long, _),) = page.asks({"value": [0, 3]})
    assert long["value"]["text"].endswith("… 300,000 characters")
    assert len(long["value"]["text"]) < 101_000


@pytest.mark.parametrize(
    "message",
    [
        None, [], {"pages": "x"}, {"pages": [[-1, 0]], "generation": 0}, {"pages": [[0, 99], ["a", 0], 5], "generation": 0}, {"sort": [99, False]},
        {"sort": ["a", 1]}, {"filter": {"column": 0, "operator": "DROP"}}, {"filter": {"column": "0"}}, {"filter": {"column": 0, "bins": [5, 99]}},
        {"filter": {"column": 0, "operator": "=", "row": 10**9}}, {"unfilter": 99}, {"value": [10**12, 0]}, {"value": [0, 99]},
        {"copy": [-5, 10**12], "columns": [99], "header": False}, {"export": "exe", "columns": [0]}, {"profile": ["x", 99]}, {"search": 5},
    ],
    ids=str,
)  # fmt: skip
def test_an_unexpected_message_changes_nothing(numbers: Page, message: Any) -> None:
    before = dict(numbers.grid.state)
    for answer, buffers in numbers.asks(message):
        assert (answer.get("pages", []), buffers) == ([], [])
    assert {**numbers.grid.state, "generation": before["generation"]} == before


def test_hostile_texts_are_sent_as_they_are() -> None:
    page = Page(pa.table({p: list(PAYLOADS) for p in PAYLOADS[:8]}))
    assert page.page()[: len(PAYLOADS)] == list(PAYLOADS)
    assert [c["name"] for c in page.grid.columns] == list(PAYLOADS[:8])


def test_what_goes_to_the_page_is_bounded() -> None:
    column = pa.array(["ä" * 100_000] * 200)
    wide = pa.table({f"c{i}": column for i in range(300)})
    page = Page(wide)
    first = sum(map(len, page.grid.first_buffers))
    assert first < BLOCK_ROWS * BLOCK_COLUMNS * 1010
    assert len(page.grid._esm) + len(page.grid._css) < 105_000
    asked = [[0, c] for c in range(0, 300, BLOCK_COLUMNS)] * 10
    ((content, buffers),) = page.asks({"pages": asked, "generation": 0})
    assert len(content["pages"]) == 32
    assert sum(map(len, buffers)) < 32 * BLOCK_ROWS * BLOCK_COLUMNS * 1010
    ((copied, _),) = page.asks({"copy": [0, 200], "columns": [0], "header": False})
    assert copied["rows"] == 200


def test_a_newer_wish_replaces_an_older_one(numbers: Page) -> None:
    for text in ("9", "99", "999"):
        numbers.grid.on_message({"search": text})
    numbers.grid.wait()
    assert (numbers.grid.state["search"], numbers.grid.state["shown"]) == ("999", 1)


def test_a_grid_needs_a_front_end(shell: Shell) -> None:
    shell.value("%%paimon\nCREATE TABLE t (id INT);\nINSERT INTO t VALUES (1)")
    rows = shell.value("%%paimon\nSELECT * FROM t")
    assert set(rows._repr_mimebundle_()) == {"text/plain", "text/html"}
    assert rows.facts[1:] == ("snapshot 1", rows.facts[2], "paimon_nb")
    assert re.fullmatch(r"from 1 file, \d+ B", rows.facts[2])


def test_a_limit_shows_a_table_of_that_many_rows(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a front end, too: who asks for three rows does not want the grid of all."""
    for module in ("grids", "paimon"):
        monkeypatch.setattr(f"paimon_nb.notebook.magics.{module}.has_front_end", lambda: True)
    shell.value("%%paimon\nCREATE TABLE lim (id INT);\nINSERT INTO lim VALUES (1), (2), (3), (4), (5)")
    bundle = shell.value("%%paimon --limit 3\nSELECT * FROM lim ORDER BY id")._repr_mimebundle_()
    assert set(bundle) == {"text/plain", "text/html"}
    assert bundle["text/html"].count("<tr") == 1 + 3
    assert "Showing the first 3 rows" in bundle["text/plain"]
    grid = shell.value("%%paimon\nSELECT * FROM lim ORDER BY id")._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in (grid[0] if isinstance(grid, tuple) else grid)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_query_of_spark_is_read_to_its_end_on_request(wb: Workbench) -> None:
    wb.run("SET 'paimon-nb.engine' = 'spark'; CREATE TABLE t (id BIGINT); INSERT INTO t SELECT id FROM range(3000)")
    rows = Rows(wb.run("SELECT id + 1 AS n FROM t ORDER BY id"), 20, ahead=100)
    table, complete = rows.fetched
    assert (table.num_rows, complete, rows.preview.table.num_rows) == (100, False, 20)
    grid = Grid(rows, GridSource(rows.result, table, complete))
    assert grid.state["footer"] == "the first 100 rows"
    wb.run("INSERT INTO t SELECT id FROM range(500)")
    grid.on_message({"sort": [0, True]})
    grid.wait()
    assert (grid.state["footer"], grid.visible.column(0)[0].as_py()) == ("3,000 rows", 3000)


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
def test_a_table_that_is_dropped_under_a_grid_leaves_its_rows(wb: Workbench) -> None:
    wb.run(
        "SET 'paimon-nb.engine' = 'spark'; CREATE TABLE gone (id BIGINT); INSERT INTO gone SELECT id FROM range(200000)"
    )
    rows = Rows(wb.run("SELECT id % 7 AS n FROM gone"), 20, ahead=100)
    grid = Grid(rows, GridSource(rows.result, *rows.fetched))
    wb.run("DROP TABLE gone")
    grid.on_message({"sort": [0, False]})
    grid.wait()
    assert grid.trouble
    assert "Traceback" not in grid.trouble
    assert (grid.state["total"], grid.state["busy"]) == (100, "")
    grid.trouble = ""
    grid.on_message({"pages": [[0, 0]], "generation": grid.state["generation"]})
    assert grid.trouble == ""


def test_the_kernel_keeps_a_bounded_number_of_rows() -> None:
    narrow, wide = (pa.table({f"c{i}": [1] for i in range(n)}) for n in (1, 1000))
    assert GridSource(Result("rows"), narrow, complete=False).max_rows == MAX_ROWS
    assert GridSource(Result("rows"), wide, complete=False).max_rows == MAX_CELLS // 1000


@pytest.mark.spark
@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize(
    "column",
    [
        "CAST(NULL AS ARRAY<ARRAY<STRING>>)", "CAST(NULL AS MAP<STRING, ARRAY<STRING>>)",
        "CAST(NULL AS ARRAY<MAP<STRING, STRING>>)", "CAST(array() AS ARRAY<ARRAY<STRING>>)",
    ],
)  # fmt: skip
def test_lists_without_values_from_spark_are_shown(wb: Workbench, column: str) -> None:
    result = wb.run(f"SELECT {column} AS x, 1999999999 AS y")

    rows = Rows(result, 20)
    grid = Grid(rows, GridSource(result, rows.preview.table, complete=True), ())

    assert texts(2, grid.first_buffers) == ["[]" if "array()" in column else None, "1999999999"]
    assert result.to_arrow().nbytes < 200
