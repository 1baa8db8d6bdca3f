"""Check for rows that batch reads do not see yet: a rewrite of the visible rows must not lose them."""

from __future__ import annotations

from collections.abc import Iterable

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.format.manifest import ManifestEntry
from paimon_nb.table.scan.plan.planner import visible_levels
from paimon_nb.table.store import TableStore


def refuse_hidden(store: TableStore, entries: Iterable[ManifestEntry]) -> None:
    """Raise `UnsupportedOperation` if a live file is on level 0 of a table whose reads skip level 0."""
    visible = visible_levels(store)
    waiting = [] if visible is None else [e for e in entries if not visible(e.file.level)]
    if waiting:
        raise UnsupportedOperation(
            f"{store.name}: {len(waiting)} files on level 0 are not compacted yet; rewriting would lose their rows",
            hint=f"CALL sys.compact('{store.name}') first (with options => 'write-only=false' if the table is write-only)",
            files=len(waiting),
        )
