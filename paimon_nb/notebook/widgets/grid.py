"""The result grid: the rows of a query, with sorting, filters, search, column profiles, copies and downloads."""

from __future__ import annotations

import threading
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import anywidget
import traitlets

from paimon_nb.notebook.display import Rows, html_table, text_table
from paimon_nb.notebook.grid.cell_edits import text_to_edit
from paimon_nb.notebook.grid.chart import Chart, chart
from paimon_nb.notebook.grid.chart_code import chart_code
from paimon_nb.notebook.grid.chart_spec import (
    ChartSpec,
    axis_role,
    default_spec,
    requested_spec,
    spec_fitted_to_columns,
)
from paimon_nb.notebook.grid.copy_forms import COPY_FORMS, as_tsv
from paimon_nb.notebook.grid.export import MIME, as_file
from paimon_nb.notebook.grid.filters import OPERATORS, Condition, is_comparable, typed_value
from paimon_nb.notebook.grid.pivot import Pivot, PivotSpec, default_pivot, pivot, pivot_code, requested_pivot
from paimon_nb.notebook.grid.profile import Profile, column_profile, counts_in_bins
from paimon_nb.notebook.grid.query_code import query_code
from paimon_nb.notebook.grid.rows import (
    ArrangedRows,
    Arrangement,
    Superseded,
    filter_and_sort_rows,
    rows_sorted_by,
    with_further_column,
)
from paimon_nb.notebook.grid.statistics import Listed, column_statistics, listed_values, summary_of_cells
from paimon_nb.notebook.grid.texts import display_value, value_text
from paimon_nb.notebook.grid.types import is_number, type_text, types_of_fields
from paimon_nb.notebook.grid.value_tree import MAX_IMAGE, MAX_TEXT, image_type, tree_of_nested_value
from paimon_nb.notebook.widgets.base import report_errors, script, show_error, stylesheet

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.notebook.grid.cell_edits import CellEdits
    from paimon_nb.notebook.grid.source import GridSource

BLOCK_ROWS, BLOCK_COLUMNS = 64, 16
MAX_PAGES, MAX_COPIED, MAX_SUMMED = 32, 200_000, 20_000_000
"""Pages of one request, cells of one copy, cells of one sum."""
_PART_BYTES = 4 << 20


class Grid(anywidget.AnyWidget):
    """The rows of a result. `Rows` shows it where a front end is connected.

    Args:
        rows: the result. source: its rows.
        facts: what the footer says about the read: time, snapshot, bytes, engine.
    """

    _esm = script(
        "panel.js", "grid_rows.js", "grid_menus.js", "grid_edits.js", "chart_axes.js", "chart.js", "pivot.js", "grid.js"
    )
    _css = stylesheet("style.css", "grid.css", "chart.css")
    trouble = traitlets.Unicode("").tag(sync=True)
    is_refused = traitlets.Bool(False).tag(sync=True)
    columns: traitlets.List[dict[str, Any]] = traitlets.List().tag(sync=True)
    state = traitlets.Dict().tag(sync=True)
    first_page = traitlets.Dict().tag(sync=True)
    first_buffers: traitlets.List[bytes] = traitlets.List().tag(sync=True)
    chart = traitlets.Dict().tag(sync=True)
    """The points of the chart; {}: the Chart tab was not opened."""
    pivot = traitlets.Dict().tag(sync=True)
    """The pivot table; {}: the Pivot tab was not opened."""

    edits: CellEdits | None = None
    """The changes of cells; None: the rows are not those of one table."""
    make_current: Callable[[Rows], None] | None = None
    """Makes the rows `_paimon` in the notebook, where the code of a chart finds them: another cell may have run since."""

    def __init__(self, rows: Rows, source: GridSource, facts: Sequence[str] = ()) -> None:
        self.rows, self._source, self._facts = rows, source, tuple(facts)
        self._arranged = ArrangedRows(source.rows)
        self._order: tuple[tuple[tuple[tuple[int, bool], ...], int], Any] | None = None
        """The last sort: (columns, id of the rows), the order."""
        self._profiles: dict[int, Profile] = {}
        self._listed: dict[int, Listed] = {}
        """The values that the page offers for a filter, by column."""
        self._lock = threading.Lock()
        self._requested: Arrangement | None = None
        self._thread: threading.Thread | None = None
        self._generation = 0
        self._open: Callable[[], None] | None = None
        """Draws the tab that is open beside the rows."""
        self._drawing_due = False
        self._spec: ChartSpec | None = None
        self._drawn: Chart | None = None
        self._pivot_spec: PivotSpec | None = None
        self._pivoted: Pivot | None = None
        page, buffers = self._encode_page(0, 0)
        super().__init__(
            columns=_column_descriptions(source.rows, types_of_fields(rows.result.fields)),
            state=self._state(),
            first_page=page,
            first_buffers=buffers,
        )
        self.on_msg(self._on_message)

    # -- what is shown

    @property
    def arrangement(self) -> Arrangement:
        """The sorted column, the filters and the searched text."""
        return self._arranged.arrangement

    @property
    def visible(self) -> pa.Table:
        """The visible rows in order, as Arrow."""
        return self._arranged.rows_of(0, len(self._arranged), range(self._source.rows.num_columns))

    def _state(self, busy: str = "") -> dict[str, Any]:
        arranged = self.arrangement
        return {
            "generation": self._generation,
            "total": self._source.rows.num_rows,
            "shown": len(self._arranged),
            "complete": self._source.complete,
            "sort": None if arranged.sort is None else [arranged.sort, arranged.descending],
            "then": [list(column) for column in arranged.then],
            "filters": [str(f) for f in arranged.filters],
            "search": arranged.search,
            "busy": busy,
            "sql": bool(self.rows.statement),
            "edits": None if self.edits is None else self._edit_state(self.edits),
            "footer": self.footer(),
            "notes": list(self.rows.notes),
        }

    def footer(self) -> str:
        """The number of rows, and what the read took."""
        total, visible = self._source.rows.num_rows, len(self._arranged)
        number = f"{total:,} row{'s' * (total != 1)}"
        if not self._source.complete or self._source.cut:
            number = f"the first {number}"
        if visible != total:
            number = f"{visible:,} of {number}"
        return " · ".join((number, *self._facts))

    def _encode_page(self, row: int, column: int) -> tuple[dict[str, int], list[bytes]]:
        """One page: its position, and the texts as the buffers of an Arrow array."""
        import pyarrow as pa

        stop = min(row + BLOCK_ROWS, len(self._arranged))
        values = self._arranged.page(row, stop, column, column + BLOCK_COLUMNS)
        buffers = pa.array(values, pa.string()).buffers()
        position = {"row": row, "column": column, "rows": max(0, stop - row), "generation": self._generation}
        return position, [b"" if b is None else b.to_pybytes() for b in buffers]

    # -- what the reader asks for

    @report_errors
    def _on_message(self, _: Any, content: Any, _buffers: Any) -> None:
        self.on_message(content)

    def on_message(self, content: Any) -> None:
        """Handle a message from the page. Pages are untrusted: unexpected messages are ignored."""
        arranged = self._requested or self.arrangement
        match content:
            case {"pages": list(positions), "generation": int(generation)}:
                self._send_pages(positions[:MAX_PAGES], generation)
            case {"sort": [int(column), bool(descending)], "then": True} if (
                self._is_column(column) and arranged.sort is not None
            ):
                self.arrange(with_further_column(arranged, column, descending=descending))
            case {"sort": [int(column), bool(descending)]} if self._is_column(column):
                self.arrange(replace(arranged, sort=column, descending=descending, then=()))
            case {"sort": None}:
                self.arrange(replace(arranged, sort=None, then=()))
            case {"search": str(text)}:
                self.arrange(replace(arranged, search=text[:1000]))
            case {"filter": dict(requested)}:
                condition = self._condition_of_message(requested)
                if condition is not None and condition not in arranged.filters:
                    self.arrange(replace(arranged, filters=(*arranged.filters, condition)))
            case {"unfilter": int(at)}:
                self.arrange(replace(arranged, filters=arranged.filters[:at] + arranged.filters[at + 1 :]))
            case {"unfilter": None}:
                self.arrange(replace(arranged, filters=(), search=""))
            case {"load": True}:
                self.load()
            case {"cancel": True}:
                self._source.cancel()
            case {"profile": list(columns)}:
                self._send_profiles([c for c in columns if self._is_column(c)][:64])
            case {"value": [int(row), int(column)]} if self._is_cell(row, column):
                self._send_value(row, column)
            case {"copy": [int(first), int(stop)], "columns": list(columns), "header": bool(header), **other}:
                form = str(other.get("form", ""))
                self._send_copy(first, stop, [c for c in columns if self._is_column(c)], header=header, form=form)
            case {"summary": [int(first), int(stop)], "columns": list(columns)}:
                self._send_summary(first, stop, [c for c in columns if self._is_column(c)])
            case {"statistics": int(column)} if self._is_column(column):
                self._send_statistics(column)
            case {"values": int(column), "containing": str(text)} if self._is_column(column):
                self._send_listed_values(column, text[:1000])
            case {"query": True} if self.rows.statement:
                self.send({"code": query_code(self.rows.statement, self.arrangement, self._source.rows)})
            case {"edit": [int(row), int(column)], "text": str() | None as text} if self._is_cell(row, column):
                self._change_cell(row, column, text)
            case {"edit_value": [int(row), int(column)]} if self._is_cell(row, column):
                self.send(
                    {
                        "edit_value": {
                            "row": row,
                            "column": column,
                            "text": text_to_edit(self._arranged.value(row, column)),
                        }
                    }
                )
            case {"edits": "show" | "write" | "discard" | "undo" as what} if self.edits is not None:
                self._finish_edits(self.edits, what)
            case {"chart": None} | {"pivot": None}:
                self._open = None
            case {"chart": dict(change)} if not change:
                self.draw_chart_of_visible_rows(self._spec)
            case {"chart": dict(change)}:
                before = self._spec or (self._drawn.spec if self._drawn else None)
                whole = {**(asdict(before) if before else {}), **change}
                if spec := requested_spec(whole, self._source.rows.num_columns):
                    self.draw_chart_of_visible_rows(spec)
            case {"pivot": dict(change)}:
                self.draw_pivot_table(change)
            case {"pivot_code": True} if self._pivoted is not None and self.rows.statement:
                code = pivot_code(self.rows.statement, self.arrangement, self._source.rows, self._pivoted)
                self.send({"code": code})
            case {"chart_code": True} if self._drawn is not None:
                self._send_code(self._drawn)
            case {"export": "csv" | "parquet" as kind, "columns": list(columns)}:
                self._send_file(kind, [c for c in columns if self._is_column(c)])

    # -- changed cells

    def allow_edits(self, edits: CellEdits) -> None:
        """Let the reader change cells."""
        self.edits = edits
        self.state = self._state()

    def _edit_state(self, edits: CellEdits) -> dict[str, Any]:
        index = self._arranged.index
        positions = {int(row): at for at, row in enumerate(index)} if index is not None and edits.pending else {}
        cells = [[e.row if index is None else positions.get(e.row, -1), e.column] for e in edits.pending]
        return {"cells": cells, "undo": bool(edits.written) and not edits.pending, "count": len(edits.pending)}

    def _change_cell(self, row: int, column: int, text: str | None) -> None:
        if self.edits is None:
            return
        index = self._arranged.index
        source_row = row if index is None else int(index[row])
        self._show_changed(self.edits.change(self._source.rows, source_row, column, text), [(row, column)])

    def _finish_edits(self, edits: CellEdits, what: str) -> None:
        rows = self._source.rows
        match what:
            case "show":
                self.send({"edits_sql": edits.statements(rows)})
            case "write":
                snapshots = edits.write(rows)
                self._show_changed(rows, [])
                self.send({"edits_said": f"written in snapshot {', '.join(map(str, snapshots))}"})
            case "discard":
                self._show_changed(edits.discard(rows), None)
            case "undo":
                restored, done = edits.undo(rows)
                self._show_changed(restored, None)
                self.send({"edits_said": done})

    def _show_changed(self, rows: pa.Table, cells: Sequence[tuple[int, int]] | None) -> None:
        """The rows with other values, in the order that is shown. `cells`: where; None: anywhere."""
        self._source.rows = rows
        self._arranged = ArrangedRows(rows, self._arranged.index, self.arrangement)
        self._profiles.clear()
        self._listed.clear()
        self._order = None
        if cells is None:
            self._generation += 1
            self._send_first_page()
            return
        self._send_pages([[row, column] for row, column in cells], self._generation)
        with self.hold_sync():
            self.trouble = ""
            self.state = self._state()

    def _is_column(self, column: Any) -> bool:
        return isinstance(column, int) and 0 <= column < self._source.rows.num_columns

    def _is_cell(self, row: int, column: int) -> bool:
        return 0 <= row < len(self._arranged) and self._is_column(column)

    def _condition_of_message(self, requested: dict[str, Any]) -> Condition | None:
        """The condition that a message describes; None: not a valid message."""
        column = requested.get("column")
        if not self._is_column(column):
            return None
        assert isinstance(column, int)
        values, name = self._arranged.table.column(column), self._arranged.table.column_names[column]
        match requested:
            case {"operator": "is null" | "is not null" as operator}:
                return Condition(column, name, operator)
            case {"operator": "contains", "text": str(text)}:
                return Condition(column, name, "contains", (text,))
            case {"operator": "=" | "<>" as operator, "row": int(row)} if self._is_cell(row, column):
                value = self._arranged.value(row, column)
                if not value.is_valid:
                    return Condition(column, name, "is null" if operator == "=" else "is not null")
                return Condition(column, name, operator, (value,)) if is_comparable(values.type) else None
            case {"among": list(numbers)} if column in self._listed:
                listed = self._listed[column].values
                ticked = tuple(listed[i] for i in numbers if isinstance(i, int) and 0 <= i < len(listed))
                return Condition(column, name, "in", ticked) if ticked else None
            case {"bins": [int(first), int(last)]} if column in self._profiles:
                bins = self._profiles[column].bins
                if not 0 <= first <= last < len(bins):
                    return None
                if self._profiles[column].kind == "values":
                    return Condition(column, name, "=", (bins[first].low,))
                return Condition(column, name, "between", (bins[first].low, bins[last].high))
            case {"operator": str(operator), "text": str(text)} if operator in OPERATORS and is_comparable(values.type):
                return Condition(column, name, operator, (typed_value(values.type, text),))
        return None

    # -- arranging, in a thread of its own: the kernel stays free, and a newer request replaces an older one

    def arrange(self, requested: Arrangement) -> None:
        """Sort and filter the rows; returns at once. The page gets the rows when they are arranged."""
        with self._lock:
            self._requested = requested
            if self._thread is None:
                self._start()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._work_until_done, name="paimon-grid", daemon=True)
        self._thread.start()

    def draw_chart_of_visible_rows(self, spec: ChartSpec | None = None) -> None:
        """Draw a chart of the visible rows; returns at once. All rows are read first.

        Args:
            spec: what to draw; None: a chart that suits the types of the columns.
        """
        self._spec = spec
        self._draw_tab(self._draw_requested_chart)

    def draw_pivot_table(self, change: dict[str, Any]) -> None:
        """Group the visible rows; returns at once. All rows are read first.

        Args:
            change: other values for fields of `PivotSpec`; {}: the table that was there, or a first one that suits the types.
        """
        found = self._pivot_spec or default_pivot(self._source.rows)
        if change:
            found = found and requested_pivot({**asdict(found), **change}, self._source.rows)
        if found is not None or not change:
            self._pivot_spec = found
            self._draw_tab(self._draw_pivot)

    def _draw_tab(self, draw: Callable[[], None]) -> None:
        """Draw a tab, now and whenever the rows change; returns at once."""
        with self._lock:
            self._open, self._drawing_due = draw, True
            if self._thread is None:
                self._start()

    def load(self) -> None:
        """Read all rows; returns at once."""
        self.arrange(self._requested or self.arrangement)

    def wait(self) -> None:
        """Wait until the rows are arranged."""
        while (thread := self._thread) is not None:
            thread.join()

    def _work_until_done(self) -> None:
        while True:
            with self._lock:
                requested, self._drawing_due = self._requested, False
            try:
                if requested is not None or not self._source.complete:
                    self._arrange(requested or self.arrangement, requested)
                if self._open is not None:
                    self._open()
            except Superseded:
                continue
            except Exception as error:  # in a thread: only the page can show it
                show_error(self, error)
                self.state = self._state()
            with self._lock:
                if self._requested is requested and not self._drawing_due:
                    self._requested = self._thread = None
                    return

    def _arrange(self, requested: Arrangement, request: Arrangement | None) -> None:
        """Arrange the rows. `request`: what the page asked for; `Superseded` is raised when it asks for something else."""

        def check() -> None:
            if self._requested is not request:
                raise Superseded

        if not self._source.complete:
            self.state = self._state("Reading all rows …")
            self._source.load()
            self._profiles.clear()
            self._listed.clear()
            self._order = None
        self.state = self._state(
            "Sorting …" if requested.sort is not None and not requested.filtered else "Searching …"
        )
        rows = self._source.rows
        order = self._cached_sort_order(rows, requested) if requested.sort is not None else None
        check()
        arranged = filter_and_sort_rows(rows, requested, order, check)
        with self._lock:
            check()
            self._arranged = arranged
            self._generation += 1
        self._send_first_page()

    def _cached_sort_order(self, rows: pa.Table, requested: Arrangement) -> Any:
        assert requested.sort is not None
        columns = ((requested.sort, requested.descending), *requested.then)
        key = (columns, id(rows))
        if self._order is None or self._order[0] != key:
            self._order = (key, rows_sorted_by(rows, columns))
        return self._order[1]

    def _send_first_page(self) -> None:
        page, buffers = self._encode_page(0, 0)
        with self.hold_sync():
            self.trouble = ""
            self.first_page, self.first_buffers = page, buffers
            self.state = self._state()

    def _draw_requested_chart(self) -> None:
        """Count and aggregate the visible rows for the chart."""
        rows = self._source.rows
        spec = default_spec(rows) if self._spec is None else spec_fitted_to_columns(self._spec, rows.schema)
        if spec is None:
            self._drawn, self.chart = None, {"empty": "No column for this chart: it needs numbers, times or texts."}
            return
        self.state = self._state("Counting …")
        self._drawn = chart(self._arranged, spec)
        with self.hold_sync():
            self.trouble = ""
            self.chart = {"spec": asdict(spec), **self._drawn.data()}
            self.state = self._state()

    def _draw_pivot(self) -> None:
        """Group the visible rows for the pivot table."""
        spec = self._pivot_spec
        if spec is None:
            self.pivot = {"notes": ["No column has values that can be grouped."]}
            return
        self.state = self._state("Grouping …")
        self._pivoted = pivot(self._arranged, spec)
        with self.hold_sync():
            self.trouble = ""
            self.pivot = {"spec": asdict(spec), **self._pivoted.data()}
            self.state = self._state()

    # -- answers

    def _send_pages(self, positions: Sequence[Any], generation: int) -> None:
        if generation != self._generation:
            return
        found = [
            self._encode_page(row - row % BLOCK_ROWS, column - column % BLOCK_COLUMNS)
            for row, column in (position for position in positions if isinstance(position, list) and len(position) == 2)
            if isinstance(row, int) and isinstance(column, int) and self._is_cell(row, column)
        ]
        self.send({"pages": [page for page, _ in found]}, [b for _, buffers in found for b in buffers])

    def _send_profiles(self, columns: Sequence[int]) -> None:
        answers: dict[int, Any] = {}
        for column in columns:
            if column not in self._profiles:
                self._profiles[column] = column_profile(self._source.rows.column(column))
            found = self._profiles[column]
            part = (
                counts_in_bins(found, self._arranged.visible(column))
                if self.arrangement.filtered and found.bins
                else None
            )
            answers[column] = {
                "kind": found.kind, "text": str(found), "low": found.low, "high": found.high,
                "note": found.note, "bins": [[b.label, b.count] for b in found.bins], "shown": part, "rows": found.rows, "nulls": found.nulls,
            }  # fmt: skip
        self.send({"profiles": answers, "generation": self._generation})

    def _send_value(self, row: int, column: int) -> None:
        value = display_value(self._arranged.value(row, column))
        answer: dict[str, Any] = {"row": row, "column": column}
        buffers: list[bytes] = []
        if isinstance(value, bytes) and (kind := image_type(value)) and len(value) <= MAX_IMAGE:
            answer["image"] = kind
            buffers = [value]
        elif isinstance(value, bytes):
            answer["text"] = f"{len(value):,} bytes\n{value[:4096].hex(' ')}" + ("\n…" if len(value) > 4096 else "")
        elif isinstance(value, dict | list):
            answer["tree"] = tree_of_nested_value(value, self._source.rows.column_names[column])
        else:
            text = "NULL" if value is None else value_text(value, 1 << 62) or ""
            answer["text"] = text[:MAX_TEXT] + (f"\n… {len(text):,} characters" if len(text) > MAX_TEXT else "")
        self.send({"value": answer}, buffers)

    def _send_copy(self, first: int, stop: int, columns: Sequence[int], *, header: bool, form: str) -> None:
        stop = min(stop, len(self._arranged), max(0, first) + MAX_COPIED // max(1, len(columns)))
        part = self._arranged.rows_of(max(0, first), stop, columns)
        text = COPY_FORMS[form](part) if form in COPY_FORMS else as_tsv(part, header=header)
        self.send({"copied": text, "rows": part.num_rows, "columns": len(columns)})

    def _send_summary(self, first: int, stop: int, columns: Sequence[int]) -> None:
        first, stop = max(0, first), min(stop, len(self._arranged))
        cells = max(0, stop - first) * len(columns)
        if cells > MAX_SUMMED:
            text = f"{cells:,} cells"
        else:
            text = summary_of_cells(self._arranged.rows_of(first, stop, columns).columns)
        self.send({"summary": text})

    def _send_statistics(self, column: int) -> None:
        found = column_statistics(self._arranged.visible(column))
        self.send({"statistics": {"column": column, "facts": found.facts, "top": found.top}})

    def _send_listed_values(self, column: int, containing: str) -> None:
        found = listed_values(self._source.rows.column(column), containing)
        answer: dict[str, Any] = {"column": column, "containing": containing}
        if found is not None:
            self._listed[column] = found
            answer |= {"values": list(zip(found.texts(), found.counts, strict=True)), "left_out": found.left_out}
        self.send({"listed": answer})

    def _send_code(self, drawn: Chart) -> None:
        code = chart_code(drawn, self._source.rows, self.arrangement)
        if self.make_current is not None:
            self.make_current(self.rows)
        self.send({"code": code})

    def _send_file(self, kind: str, columns: Sequence[int]) -> None:
        data = as_file(self._arranged.rows_of(0, len(self._arranged), columns), kind)
        parts = range(0, max(1, len(data)), _PART_BYTES)
        for i, start in enumerate(parts):
            head = {"name": f"rows.{kind}", "mime": MIME[kind], "part": i, "parts": len(parts)}
            self.send({"file": head}, [data[start : start + _PART_BYTES]])

    # -- without a kernel

    def __repr__(self) -> str:
        return text_table(self.rows.preview)

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        live = super()._repr_mimebundle_(**kwargs)
        data, meta = live if isinstance(live, tuple) else (live or {}, {})
        preview = self.rows.preview
        return {**data, "text/plain": text_table(preview), "text/html": html_table(preview)}, meta


def _column_descriptions(rows: pa.Table, types: Mapping[int, str]) -> list[dict[str, Any]]:
    """Name, type and width of each column."""
    from paimon_nb.notebook.grid.texts import display_texts

    first_rows = rows.slice(0, 30)
    out = []
    for i, field in enumerate(rows.schema):
        longest = max((len(t) for t in display_texts(first_rows.column(i)) if t), default=4) if i < 200 else 12
        kind = types.get(i) or type_text(field.type)
        head_width = 8 * min(len(field.name), 30) + 46  # bold, with the arrow of a sorted column and the menu
        width = max(7.2 * max(longest, min(len(kind), 24)) + 18, head_width)
        out.append({
            "name": field.name, "type": kind, "number": is_number(field.type), "comparable": is_comparable(field.type), "role": axis_role(field.type),
            "width": int(min(max(width, 84), 320)),
        })  # fmt: skip
    return out
