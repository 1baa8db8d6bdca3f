"""Every type in every state through everything that shows, copies or writes a value: no error, no value that changes."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv as csv
import pyarrow.parquet as parquet
import pytest
from sampling import sampled
from value_matrix import KINDS, STATES, Cell, cells

import paimon_nb
from paimon_nb.notebook.display import Rows
from paimon_nb.notebook.grid.source import GridSource
from paimon_nb.notebook.widgets.grid import BLOCK_COLUMNS, Grid
from paimon_nb.session.query.duckdb_tables import run_in_duckdb
from paimon_nb.session.query.engine_choice import with_engine

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from paimon_nb.workbench import Workbench

ALL = list(cells())
NEEDS_SPARK = ("TIMESTAMP_LTZ",)
"""Types whose queries the session leaves to Spark."""


def answered_by(engine: str, chosen: list[Cell]) -> list[Cell]:
    """The cells of the matrix that an engine answers."""
    if engine in ("plain local", "local"):
        return [c for c in chosen if not c.kind.sql.startswith(NEEDS_SPARK)]
    return chosen


class Shown:
    """A result on a page: what the page asks, and what it hears."""

    def __init__(self, rows: Rows) -> None:
        table, complete = rows.fetched
        self.rows, self.table = rows, table
        self.grid = Grid(rows, GridSource(rows.result, table, complete))
        self.heard: list[tuple[Any, list[bytes]]] = []
        self.grid.send = lambda content, buffers=None: self.heard.append((content, list(buffers or ())))  # type: ignore[method-assign]

    def asks(self, message: Any) -> list[tuple[Any, list[bytes]]]:
        self.heard.clear()
        self.grid._on_message(None, message, [])
        self.grid.wait()
        assert self.grid.trouble == "", (message, self.grid.trouble)
        return list(self.heard)

    def texts(self) -> list[str | None]:
        """The first column of the first page."""
        page, buffers = self.grid._encode_page(0, 0)
        length = page["rows"] * min(BLOCK_COLUMNS, len(self.grid.columns))
        valid, offsets, data = buffers
        texts = pa.StringArray.from_buffers(
            length, pa.py_buffer(offsets), pa.py_buffer(data), pa.py_buffer(valid) if valid else None
        )
        return list(texts.to_pylist())[: page["rows"]]


# -- doors: each raises or returns what differs


def page_of_rows(shown: Shown, cell: Cell) -> None:
    assert shown.texts() == cell.texts


def static_table(shown: Shown, cell: Cell) -> None:
    bundle = {"text": repr(shown.rows), "html": shown.grid._repr_mimebundle_()[0]["text/html"]}
    assert all(bundle.values())
    assert ("NULL" in bundle["text"]) == (None in cell.texts or "NULL" in cell.texts)


def sort(shown: Shown, cell: Cell) -> None:
    for descending in (False, True):
        shown.asks({"sort": [0, descending]})
        assert sorted(map(str, shown.texts())) == sorted(map(str, cell.texts))
    shown.asks({"sort": None})


def search(shown: Shown, cell: Cell) -> None:
    """A text that is shown is found where it is shown."""
    for text in dict.fromkeys(t for t in cell.texts if t and not t.endswith("…")):
        shown.asks({"search": text})
        found = shown.texts()
        assert [t for t in found if t is not None and text.lower() in t.lower()] == [
            t for t in cell.texts if t is not None and text.lower() in t.lower()
        ]
    shown.asks({"search": ""})


def only_this_value(shown: Shown, cell: Cell) -> None:
    """'Only ...' of a cell keeps the rows that look like it, 'Without ...' the others."""
    if not shown.grid.columns[0]["comparable"]:
        return
    for row, text in enumerate(cell.texts):
        shown.asks({"filter": {"column": 0, "operator": "=", "row": row}})
        same = ("nan",) if text == "nan" else ("0.0", "-0.0") if text in ("0.0", "-0.0") else (text,)
        assert shown.texts() == [t for t in cell.texts if t in same], text
        shown.asks({"unfilter": None})


def typed_filter(shown: Shown, cell: Cell) -> None:
    """A value typed as it is shown finds its rows."""
    if not shown.grid.columns[0]["comparable"]:
        return
    for text in dict.fromkeys(t for t in cell.texts if t is not None and not t.endswith("…")):
        shown.asks({"filter": {"column": 0, "operator": "=", "text": text}})
        same = ("0.0", "-0.0") if text in ("0.0", "-0.0") else (text,)
        assert shown.texts() == [t for t in cell.texts if t in same], text
        shown.asks({"unfilter": None})


def profile(shown: Shown, cell: Cell) -> None:
    ((answer, _),) = shown.asks({"profile": [0]})
    found = answer["profiles"][0]
    assert (found["rows"], found["nulls"]) == (len(cell.pairs), cell.texts.count(None))
    shares = [int(part.split(" %")[0]) for part in found["note"].split(" · ") if part[0].isdigit() and " % " in part]
    assert sum(shares) <= 100
    for number in range(len(found["bins"])):
        shown.asks({"filter": {"column": 0, "bins": [number, number]}})
        assert len(shown.texts()) >= found["bins"][number][1]
        shown.asks({"unfilter": None})


def statistics(shown: Shown, cell: Cell) -> None:
    ((answer, _),) = shown.asks({"statistics": 0})
    found = dict(answer["statistics"]["facts"])
    assert found["rows"] == f"{len(cell.pairs):,}"
    assert found["NULL"].startswith(f"{cell.texts.count(None):,}")


def selected_cells(shown: Shown, cell: Cell) -> None:
    ((answer, _),) = shown.asks({"summary": [0, len(cell.pairs)], "columns": [0]})
    assert answer["summary"].startswith(f"{len(cell.pairs):,} cell")


def chart(shown: Shown, cell: Cell) -> None:  # noqa: ARG001
    shown.asks({"chart": {}})
    shown.asks({"chart": {"kind": "histogram", "x": 0}})
    shown.asks({"chart": None})


def opened(shown: Shown, cell: Cell) -> None:
    for row, text in enumerate(cell.texts):
        ((answer, _),) = shown.asks({"value": [row, 0]})
        value = answer["value"]
        if text is None:
            assert value["text"] == "NULL"
        elif "text" in value and isinstance(shown.table.column(0)[row].as_py(), str):
            assert value["text"].startswith(text.removesuffix("…"))
        else:
            assert value.get("tree") or value.get("text") is not None


def copied(shown: Shown, cell: Cell) -> None:
    for form in ("tsv", "markdown", "json", "insert"):
        message = {"copy": [0, len(cell.pairs)], "columns": [0], "header": True, "form": form}
        ((answer, _),) = shown.asks(message)
        assert answer["rows"] == len(cell.pairs)
        if form == "tsv" and not any("\t" in t or "\n" in t or t.endswith("…") for t in cell.texts if t):
            assert answer["copied"].split("\n") == ["v", *(t or "" for t in cell.texts)]


def csv_file(shown: Shown, cell: Cell) -> None:
    ((_, (data,)),) = shown.asks({"export": "csv", "columns": [0, 1]})
    read = csv.read_csv(
        io.BytesIO(data),
        parse_options=csv.ParseOptions(newlines_in_values=True),
        convert_options=csv.ConvertOptions(column_types={"v": pa.string(), "n": pa.int64()}, strings_can_be_null=True, quoted_strings_can_be_null=False, null_values=[""]),
    )  # fmt: skip
    written = read.column("v").to_pylist()
    if cell.kind.sql == "DOUBLE":
        assert [t and str(float(t)) for t in written] == cell.texts
    else:
        same = [a == b or str(b).endswith("…") or _same_time(a, b) for a, b in zip(written, cell.texts, strict=True)]
        assert all(same), (written, cell.texts)


def _same_time(written: str | None, shown: str | None) -> bool:
    """Arrow writes times of a zone with Z, and all digits of a second."""
    if written is None or shown is None:
        return False
    first, second = written.removesuffix("Z").removesuffix("+0000"), shown.removesuffix("+00:00")
    return first == second or first.rstrip("0").rstrip(".") == (second.rstrip("0") if "." in second else second)


def parquet_file(shown: Shown, cell: Cell) -> None:  # noqa: ARG001
    ((_, (data,)),) = shown.asks({"export": "parquet", "columns": [0]})
    assert parquet.read_table(io.BytesIO(data)).num_rows == shown.table.num_rows


DOORS: dict[str, Callable[[Shown, Cell], None]] = {
    door.__name__: door
    for door in (
        page_of_rows, static_table, sort, search, only_this_value, typed_filter, profile, statistics, selected_cells, chart, opened,
        copied, csv_file, parquet_file,
    )
}  # fmt: skip


# -- engines


def shown_from(wb: Workbench, cell: Cell, engine: str) -> Shown:
    """The cell's column as this engine answers a displayed SELECT."""
    name = f"t{ALL.index(cell)}"
    if not wb.session.exists((name,)):
        wb.run(f"CREATE TABLE {name} (v {cell.kind.sql}, n INT)")
        table = wb.table(name)
        arrow = table.schema.arrow
        values = [value for value, _ in cell.pairs]
        if values:
            columns = [pa.array(values, arrow.field("v").type), pa.array(range(len(values)), pa.int32())]
            table.append(pa.Table.from_arrays(columns, schema=arrow))
    text = f"SELECT v, n FROM {name} ORDER BY n"
    if engine == "duckdb":
        result = run_in_duckdb(wb.session, text, {})
    elif engine == "plain local":
        result = wb.run(f"SELECT v, n FROM {name}")
    else:
        with with_engine(wb.session, engine):
            result = wb.run(text)
    rows = Rows(result, 20)
    rows.load()
    return Shown(rows)


def faults_of(wb: Workbench, chosen: list[Cell], engine: str) -> tuple[int, list[str]]:
    """The number of cells of the matrix that were tried, and what went wrong."""
    faults, tried = [], 0
    for cell in chosen:
        shown = shown_from(wb, cell, engine)
        for name, door in DOORS.items():
            tried += 1
            try:
                door(shown, cell)
            except Exception as error:  # the whole list is the outcome
                faults.append(f"{cell} · {engine} · {name}: {type(error).__name__} {str(error)[:400]}")
                shown = shown_from(wb, cell, engine)
    return tried, faults


@pytest.fixture(scope="module")
def matrix(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workbench]:
    with paimon_nb.connect(str(tmp_path_factory.mktemp("matrix") / "wh")) as wb:
        yield wb


@pytest.mark.parametrize("engine", sampled(["duckdb", "plain local"], 2))
def test_a_sample_of_types_is_shown_copied_and_written_unchanged(matrix: Workbench, engine: str) -> None:
    """Each type, in a state that differs from type to type."""
    sample = [Cell(kind, STATES[i % len(STATES)]) for i, kind in enumerate(KINDS)]
    assert faults_of(matrix, answered_by(engine, sample), engine)[1] == []


@pytest.mark.nightly
@pytest.mark.parametrize("engine", ["plain local", "local", "duckdb"])
def test_all_types_are_shown_copied_and_written_unchanged(matrix: Workbench, engine: str) -> None:
    tried, faults = faults_of(matrix, answered_by(engine, ALL), engine)
    print(f"{tried:,} cells of the matrix through {engine}")
    assert faults == []


@pytest.mark.nightly
@pytest.mark.spark
def test_spark_gives_all_types_unchanged(matrix: Workbench) -> None:
    tried, faults = faults_of(matrix, ALL, "spark")
    print(f"{tried:,} cells of the matrix through Spark")
    assert faults == []
