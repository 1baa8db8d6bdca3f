"""Rows that no batch read sees yet: whoever rewrites what can be read must not throw them away."""

from __future__ import annotations

from collections.abc import Iterable

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.manifest import ManifestEntry
from paimon_nb.table.scan.plan.planner import visible_levels
from paimon_nb.table.store import TableStore


def refuse_hidden(store: TableStore, entries: Iterable[ManifestEntry]) -> None:
    """Raise `UnsupportedOperation` when one of the live files waits on level 0 of a table that shows higher levels only."""
    visible = visible_levels(store)
    waiting = [] if visible is None else [e for e in entries if not visible(e.file.level)]
    if waiting:
        raise UnsupportedOperation(
            f"{store.name}: rows of {len(waiting)} files on level 0 wait for a compaction; rewriting would lose them",
            hint=f"CALL sys.compact('{store.name}') first, with options => 'write-only=false' if the table is write-only",
            files=len(waiting),
        )
