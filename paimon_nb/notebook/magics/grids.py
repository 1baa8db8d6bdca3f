"""Shows the result of a query as a grid, and closes the grid of the cell's earlier run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from IPython.core.getipython import get_ipython

from paimon_nb.notebook.magics.active import current
from paimon_nb.notebook.magics.streams import cell_id
from paimon_nb.notebook.progress import has_front_end
from paimon_nb.notebook.python_cells import ROWS_AHEAD, cell_output
from paimon_nb.notebook.undo import now_ms
from paimon_nb.table.tables.inspect.formatting import bytes_text, count_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.notebook.display import Rows
    from paimon_nb.notebook.grid.cell_edits import CellEdits
    from paimon_nb.notebook.widgets.grid import Grid
    from paimon_nb.session import Result
    from paimon_nb.table.read.plan.snapshot_scan import ScanPlan


def show_grid(rows: Rows) -> Grid | None:
    """The grid of a query's result; None: no interactive front end, or not a query."""
    if not has_front_end() or not rows.preview.is_query or rows.preview.plain_text is not None:
        return None
    from paimon_nb.notebook.grid.source import GridSource
    from paimon_nb.notebook.widgets.grid import Grid

    table, complete = rows.fetched
    if not table.num_columns:
        return None
    grid = Grid(rows, GridSource(rows.result, table, complete), rows.facts)
    grid.make_current = _make_current
    if (edits := _cell_edits(rows)) is not None:
        grid.allow_edits(edits)
    cell = cell_id(get_ipython())
    if cell is not None:
        earlier = current.grids.get(cell)
        if earlier is not None and earlier.rows is not rows:
            earlier.close()  # its output is gone; the front end and the kernel forget it
        current.grids[cell] = grid
    return grid


def _cell_edits(rows: Rows) -> CellEdits | None:
    """What changes cells of the result in its table, if it has rows of one table."""
    if current.workbench is None or not rows.statement:
        return None
    from paimon_nb.notebook.grid.cell_edits import CellEdits, edited_table

    wb = current.workbench
    found = edited_table(wb, rows.statement)
    if found is None:
        return None
    name, columns = found

    def record(table: str, snapshots: Sequence[int], text: str) -> None:
        current.history.record([(table, s) for s in snapshots], now_ms(), text)

    return CellEdits(lambda: wb.table(name), columns, record, lambda: current.history.undo(wb))


def show_result(result: Result, **_: Any) -> Any:
    """The output of a Python cell whose value is a result: as that of a SQL cell."""
    limit = current.shell.magics_manager.registry["PaimonMagics"].limit
    return cell_output(result, limit, ROWS_AHEAD if has_front_end() else 0)


def _make_current(rows: Rows) -> None:
    current.shell.user_ns["_paimon"] = rows


def read_facts(seconds: float, plans: Sequence[ScanPlan], result: Any) -> tuple[str, ...]:
    """What a query's read took: time, snapshots, engine; and the planned files with their whole size, of which it may read a part."""
    snapshots = {p.store.name: p.snapshot.id for p in plans if p.snapshot is not None}
    files = {file.file_name: file.file_size for p in plans for file in p.files}
    if len(snapshots) == 1:
        where = [f"snapshot {next(iter(snapshots.values()))}"]
    else:
        where = [f"{name} snapshot {snapshot}" for name, snapshot in list(snapshots.items())[:4]]
    size = f"from {count_text(len(files), 'file')}, {bytes_text(sum(files.values()))}" if files else ""
    engine = "Spark" if result.arrow is None else "" if result.kind == "summary" else "paimon_nb"
    return tuple(filter(None, (f"{seconds:.1f} s", ", ".join(where), size, engine)))
