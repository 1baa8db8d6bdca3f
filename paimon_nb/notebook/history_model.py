"""The history of a table as rows, and what a rollback would remove. Reads metadata only."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.manifest import ADD
from paimon_nb.table.tables.inspect.formatting import bytes_text
from paimon_nb.table.write.maintenance.reachable import delta_entries

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from paimon_nb.format.manifest import ManifestEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.notebook.timeline_model import Commit
    from paimon_nb.table.read.store import TableStore

_COUNTED_ROWS = 5_000_000
"""Rows in files up to which a preview counts the merged rows."""
MAX_STATEMENT = 400
"""Characters of a statement that are sent to the page."""


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """One commit, as texts."""

    id: int
    time: str
    """In UTC."""
    operation: str
    rows: str
    """Physical rows: the change, and the total after it."""
    files: str
    """Data files added and removed; '' if the manifest is gone."""
    size: str
    """Bytes of the same files."""
    user: str
    statement: str
    """The cell that committed it, if it ran in this session."""
    tags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RollbackPreview:
    """What a rollback to `target` would remove.

    Args:
        latest: the latest snapshot when the preview was made. lines: one sentence per consequence.
    """

    target: int
    latest: int
    lines: tuple[str, ...]


def history_rows(
    store: TableStore, commits: Sequence[Commit], statement: Callable[[int, int], str] = lambda _id, _time_ms: ""
) -> list[HistoryRow]:
    """The rows of these commits, in their order.

    Args:
        statement: the statement of a snapshot, by its id and time in milliseconds; '' if it is not known.
    """
    return [_history_row(store, commit, statement(commit.id, commit.time_ms)) for commit in commits]


def _history_row(store: TableStore, commit: Commit, statement: str) -> HistoryRow:
    files, size = _file_change_texts(store, commit)
    time = dt.datetime.fromtimestamp(commit.time_ms / 1000, dt.UTC)
    text = statement.strip()
    return HistoryRow(
        commit.id, f"{time:%Y-%m-%d %H:%M:%S}", commit.kind.lower(), f"{commit.delta_rows:+,} = {commit.total_rows:,}".replace("-", "−"), files, size,
        commit.user, text if len(text) <= MAX_STATEMENT else text[: MAX_STATEMENT - 1] + "…", commit.tags,
    )  # fmt: skip


def _file_change_texts(store: TableStore, commit: Commit) -> tuple[str, str]:
    """Files and bytes that a commit added and removed; files that only moved to another level do not count."""
    try:
        entries = list(delta_entries(store, snapshot_of_commit(store, commit)))
    except PaimonError:  # a tag keeps the snapshot, but not its delta manifests
        return "", ""
    sides: tuple[dict[str, ManifestEntry], dict[str, ManifestEntry]] = ({}, {})
    for entry in entries:
        sides[entry.kind != ADD][entry.file.file_name] = entry
    added, removed = sides
    moved = added.keys() & removed.keys()
    sizes = [sum(e.file.file_size for name, e in side.items() if name not in moved) for side in sides]
    counts = [len(side) - len(moved) for side in sides]
    return (
        " ".join(f"{sign}{n:,}" for sign, n in zip("+−", counts, strict=True) if n) or "0",
        " ".join(f"{sign}{bytes_text(n)}" for sign, n in zip("+−", sizes, strict=True) if n) or "0 B",
    )


def snapshot_of_commit(store: TableStore, commit: Commit) -> Snapshot:
    """The snapshot, also if only a tag keeps it. Raises SnapshotExpired, SnapshotNotFound."""
    return store.tags.get(commit.tags[0]).snapshot if commit.tags else store.snapshots.get(commit.id)


def version_arguments(store: TableStore, snapshot: int) -> dict[str, Any]:
    """The arguments of `Table.scan` and `Table.at` that read a snapshot, also if only a tag keeps it.

    Raises:
        SnapshotExpired, SnapshotNotFound: it does not exist.
    """
    store.snapshots.invalidate_cache()  # it may have expired
    if snapshot not in store.snapshots.ids():
        for tag in store.tags.all():
            if tag.snapshot.id == snapshot:
                return {"tag": tag.name}
        store.snapshots.get(snapshot)  # raises with the available snapshots
    return {"snapshot": snapshot}


def _rows_line(store: TableStore, latest: Snapshot | None, target: Snapshot) -> str:
    """The rows of the table before and after the rollback; of large tables, where that takes a merge, those of the files."""
    before, after = (s.total_record_count or 0 if s else 0 for s in (latest, target))
    if max(before, after) <= _COUNTED_ROWS:
        try:
            return f"Rows: {_row_count(store, latest):,} now, {_row_count(store, target):,} after it."
        except PaimonError:  # files are missing; the rollback may solve that
            pass
    return f"Rows in files, before merging: {before:,} now, {after:,} after it."


def _row_count(store: TableStore, snapshot: Snapshot | None) -> int:
    from paimon_nb.table.tables.table import Table

    return 0 if snapshot is None else Table(store).at(**version_arguments(store, snapshot.id)).count()


def rollback_preview(store: TableStore, commit: Commit) -> RollbackPreview:
    """What a rollback to a commit would remove. Raises SnapshotExpired, SnapshotNotFound."""
    target, latest = snapshot_of_commit(store, commit), store.latest()
    newest = latest.id if latest else commit.id
    newer = [i for i in store.snapshots.ids() if i > commit.id]
    names = [n for n in store.tags.names() if store.tags.get(n).snapshot.id > commit.id]
    lines = []
    if newer:
        what = (
            f"Snapshot {newer[0]} is"
            if len(newer) == 1
            else f"Snapshots {newer[0]} to {newer[-1]} ({len(newer):,}) are"
        )
        lines.append(f"{what} deleted, with the files that only they use.")
    if names:
        quoted = ", ".join(map(repr, names))
        lines.append(f"Tag {quoted} is deleted." if len(names) == 1 else f"Tags {quoted} are deleted.")
    lines.append(_rows_line(store, latest, target))
    if latest is not None and latest.schema_id != target.schema_id:
        lines.append(
            f"The schema stays at version {store.schema.id}; the snapshot was written with version {target.schema_id}."
        )
    behind = [c for c in store.consumers.ids() if store.consumers.next_snapshot(c) > commit.id + 1]
    if behind:
        lines.append(f"Consumers that have read later snapshots: {', '.join(behind)}.")
    lines.append("This cannot be undone.")
    return RollbackPreview(commit.id, newest, tuple(lines))
