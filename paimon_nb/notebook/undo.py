"""Undo of a cell: rolls its tables back to the snapshot before it, if they have not changed since."""

from __future__ import annotations

import threading
import time
from dataclasses import field
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.table.write.publish.changes import commits_since, number_of_commits

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.publish.changes import ObservedCommit
    from paimon_nb.workbench import Workbench

SLACK_MS = 1_000
"""Tolerance for clock differences on one machine."""
MAX_CELLS = 50
"""Number of cells that can be undone."""
MAX_TEXTS = 1_000
"""Number of snapshots whose cell is remembered."""


@dataclass(frozen=True, slots=True)
class Written:
    """What one cell committed: table -> (first, last) snapshot."""

    tables: dict[str, tuple[int, int]]
    since_ms: int


@dataclass(slots=True)
class History:
    """Cells that committed, newest last."""

    cells: list[Written] = field(default_factory=list)
    _texts: dict[tuple[str, int], tuple[str, int, int]] = field(default_factory=dict)
    """(table, snapshot) -> the text of the cell that committed it, and when the cell began and ended."""

    def record(self, snapshots: Sequence[tuple[str, int]], since_ms: int, text: str = "") -> None:
        """Record what a cell committed; cells that only read are not recorded."""
        for name, snapshot in snapshots:
            self._texts.pop((name, snapshot), None)  # a rollback uses the ids again
            self._texts[name, snapshot] = (text.strip(), since_ms, now_ms())
        for oldest in list(self._texts)[:-MAX_TEXTS]:
            del self._texts[oldest]
        tables: dict[str, tuple[int, int]] = {}
        for name, snapshot in snapshots:
            first, last = tables.get(name, (snapshot, snapshot))
            tables[name] = (min(first, snapshot), max(last, snapshot))
        if tables:
            self.cells.append(Written(tables, since_ms))
            del self.cells[:-MAX_CELLS]

    def text(self, table: str, snapshot: int, time_ms: int) -> str:
        """The text of the cell that committed a snapshot; '' if it is not known.

        Args:
            time_ms: when the snapshot was committed, in milliseconds since 1970. After a rollback other writers use the ids again.
        """
        text, since_ms, until_ms = self._texts.get((table, snapshot), ("", 0, 0))
        return text if since_ms - SLACK_MS <= time_ms <= until_ms + SLACK_MS else ""

    def clear(self) -> None:
        """Forget all cells: they were written to another warehouse."""
        self.cells.clear()
        self._texts.clear()

    def undo(self, wb: Workbench) -> str:
        """Undo the newest cell and return what was done. All tables are checked before any is changed.

        Raises:
            UnsupportedOperation: nothing to undo, a table has changed since, or a tag protects a snapshot.
        """
        from paimon_nb.table.write.maintenance import rollback_to_snapshot

        if not self.cells:
            raise UnsupportedOperation("nothing to undo: no cell of this session committed data")
        cell = self.cells[-1]
        found = [(wb.table(name), first, last) for name, (first, last) in cell.tables.items()]
        for table, first, last in found:
            _check_rollback(table, first, last, cell.since_ms)
        self.cells.pop()
        messages = []
        for table, first, last in found:
            rollback_to_snapshot(table.store, first - 1)
            removed = f"snapshot {first} is" if first == last else f"snapshots {first} to {last} are"
            messages.append(f"{table.name} rolled back to snapshot {first - 1}; {removed} removed")
        return "\n".join(messages)


def _plain_path(address: str) -> str:
    return address.removeprefix("file://").removeprefix("file:").rstrip("/")


history = History()
"""The cells of this kernel."""


class PythonCells:
    """Records what Python cells commit: IPython calls `before` and `after` for each cell.

    Statements of `%%paimon` are recorded by the magic; a cell may have both. Commits of other threads, such as streams, are not the cell's.
    """

    def __init__(self, cells: History, warehouse: Callable[[], str | None]) -> None:
        """`warehouse`: the address of the one that is open, whose tables can be found again by their names."""
        self._warehouse = warehouse
        self._cells, self._number, self._since_ms, self._recorded = cells, number_of_commits(), 0, 0

    def before(self, _: Any = None) -> None:
        """A cell begins."""
        self._number, self._since_ms, self._recorded = number_of_commits(), now_ms(), len(self._cells.cells)

    def _table_name(self, commit: ObservedCommit) -> str | None:
        """`database.table`; None: a table of another warehouse."""
        warehouse = self._warehouse()
        if warehouse is None:
            return None
        root, base = (_plain_path(text) for text in (commit.root, warehouse))
        parts = root.removeprefix(base + "/").split("/")
        if not root.startswith(base + "/") or len(parts) != 2 or not parts[0].endswith(".db"):
            return None
        return str(Identifier(parts[0].removesuffix(".db"), parts[1], commit.branch))

    def after(self, result: Any = None) -> None:
        """A cell has ended."""
        thread = threading.get_ident()
        found = [
            (name, c.snapshot)
            for c in commits_since(self._number)
            if c.thread == thread and (name := self._table_name(c)) is not None
        ]
        if not found or not self._since_ms:
            return
        magic = [cell for cell in self._cells.cells[self._recorded :] if cell.since_ms >= self._since_ms]
        if magic:
            known = {(t, s) for w in magic for t, (first, last) in w.tables.items() for s in range(first, last + 1)}
            if not set(found) - known:
                return
            del self._cells.cells[self._recorded :]  # one cell, with all that it committed
            found = sorted({*found, *known})
        info = getattr(result, "info", None)
        self._cells.record(found, self._since_ms, getattr(info, "raw_cell", "") or "")


def _check_rollback(table: Table, first: int, last: int, since_ms: int) -> None:
    """Raise if a rollback would remove more than the cell committed."""
    store = table.store
    latest = store.latest()
    if latest is None or latest.id != last:
        now = f"the latest snapshot is {latest.id}" if latest else "it has no snapshots"
        raise UnsupportedOperation(
            f"{table.name} has changed since the cell committed snapshot {last}: {now}",
            hint=f"CALL sys.rollback_to('{table.name}', snapshot_id => {first - 1}) also reverts the later changes",
        )
    if store.snapshots.get(first).time_ms < since_ms - SLACK_MS:
        raise UnsupportedOperation(f"{table.name} was recreated after the cell wrote to it")
    try:
        store.snapshots.get(first - 1)
    except PaimonError:
        what = "the cell created the table's first snapshot" if first == 1 else f"snapshot {first - 1} has expired"
        raise UnsupportedOperation(
            f"{table.name}: {what}; there is no earlier snapshot to roll back to",
            hint=f"TRUNCATE TABLE {table.name} empties it",
        ) from None
    held = sorted(t.name for t in store.tags.all() if t.snapshot.id >= first)
    if held:
        raise UnsupportedOperation(
            f"tag {held[0]!r} of {table.name} protects a snapshot that undo would remove",
            hint=f"t.tags.delete({held[0]!r}) first",
        )


def now_ms() -> int:
    return int(time.time() * 1000)
