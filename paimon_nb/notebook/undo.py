"""Undo of a cell: its tables go back to the snapshot before it, if nothing happened to them since."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, UnsupportedOperation

if TYPE_CHECKING:
    from paimon_nb.table.table import Table
    from paimon_nb.workbench import Workbench

SLACK_MS = 1_000
"""Clocks of one machine agree to this."""
KEPT = 50
"""Cells that can be taken back."""


@dataclass(frozen=True, slots=True)
class Written:
    """What one cell committed: table -> (first, last) snapshot."""

    tables: dict[str, tuple[int, int]]
    since_ms: int


@dataclass(slots=True)
class History:
    """Cells that wrote, newest last."""

    cells: list[Written] = field(default_factory=list)

    def remember(self, snapshots: Sequence[tuple[str, int]], since_ms: int) -> None:
        """Keep what a cell committed; nothing is kept of cells that only read."""
        tables: dict[str, tuple[int, int]] = {}
        for name, snapshot in snapshots:
            first, last = tables.get(name, (snapshot, snapshot))
            tables[name] = (min(first, snapshot), max(last, snapshot))
        if tables:
            self.cells.append(Written(tables, since_ms))
            del self.cells[:-KEPT]

    def undo(self, wb: Workbench) -> str:
        """Take the newest cell back; says what was done. All tables are looked at before one is changed.

        Raises:
            UnsupportedOperation: nothing to undo, or a table was changed since, or is needed as it is.
        """
        from paimon_nb.table.maintenance import rollback_to_snapshot

        if not self.cells:
            raise UnsupportedOperation("no cell of this session wrote anything that can be undone")
        cell = self.cells[-1]
        found = [(wb.table(name), first, last) for name, (first, last) in cell.tables.items()]
        for table, first, last in found:
            _check(table, first, last, cell.since_ms)
        self.cells.pop()
        said = []
        for table, first, last in found:
            rollback_to_snapshot(table.store, first - 1)
            gone = f"snapshot {first} is" if first == last else f"snapshots {first} to {last} are"
            said.append(f"{table.name} is back at snapshot {first - 1}; {gone} gone")
        return "\n".join(said)


def _check(table: Table, first: int, last: int, since_ms: int) -> None:
    """Refuse wherever a rollback would take away more than the cell brought."""
    store = table.store
    latest = store.latest()
    if latest is None or latest.id != last:
        now = f"snapshot {latest.id} is the latest now" if latest else "it has no snapshot now"
        raise UnsupportedOperation(
            f"{table.name} was changed since: the cell ended with snapshot {last}, {now}",
            hint=f"CALL sys.rollback_to('{table.name}', snapshot_id => {first - 1}) takes the later changes back, too",
        )
    if store.snapshots.get(first).time_ms < since_ms - SLACK_MS:
        raise UnsupportedOperation(f"{table.name} is another table than the one that the cell wrote to")
    try:
        store.snapshots.get(first - 1)
    except PaimonError:
        what = "the cell made the table's first snapshot" if first == 1 else f"snapshot {first - 1} has expired"
        raise UnsupportedOperation(
            f"{table.name}: {what}, there is nothing to go back to", hint=f"TRUNCATE TABLE {table.name} empties it"
        ) from None
    held = sorted(t.name for t in store.tags.all() if t.snapshot.id >= first)
    if held:
        raise UnsupportedOperation(
            f"tag {held[0]!r} of {table.name} keeps a snapshot that would go", hint=f"t.delete_tag({held[0]!r}) first"
        )


def now_ms() -> int:
    return int(time.time() * 1000)
