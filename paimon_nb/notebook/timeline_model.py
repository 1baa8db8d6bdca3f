"""The model behind the timeline: one entry per commit. Reads metadata only."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

SIGN = {"APPEND": "+", "COMPACT": "▾", "OVERWRITE": "↻", "ANALYZE": "∑"}
"""A sign for each commit kind, in addition to its colour."""


@dataclass(frozen=True, slots=True)
class Commit:
    """One snapshot."""

    id: int
    kind: str
    user: str
    time_ms: int
    total_rows: int
    delta_rows: int
    schema_id: int
    tags: tuple[str, ...] = ()
    consumers: tuple[str, ...] = ()
    """Consumers whose next snapshot this is."""
    branches: tuple[str, ...] = ()
    """Branches created from this snapshot."""

    @property
    def flags(self) -> tuple[str, ...]:
        """Labels shown above the commit, each with its sign."""
        signed = (("⚑", self.tags), ("↳", self.branches), ("▸", self.consumers))
        return tuple(f"{sign} {name}" for sign, names in signed for name in names)


@dataclass(frozen=True, slots=True)
class TimelineModel:
    """All retained commits, oldest first."""

    table: str
    commits: tuple[Commit, ...]
    branches: tuple[str, ...] = ()


def timeline_of_snapshots(store: TableStore, last: int | None = None) -> TimelineModel:
    """Read the whole history, or its newest snapshots. Includes expired snapshots that a tag keeps readable."""
    tags: dict[int, list[str]] = {}
    snapshots = {s.id: s for s in store.snapshots.all(last)}
    oldest = min(snapshots, default=0) if last is not None and len(snapshots) >= last else 0
    for tag in store.tags.all():
        if tag.snapshot.id < oldest:
            continue
        tags.setdefault(tag.snapshot.id, []).append(tag.name)
        snapshots.setdefault(tag.snapshot.id, tag.snapshot)
    readers: dict[int, list[str]] = {}
    for consumer in store.consumers.ids():
        readers.setdefault(store.consumers.next_snapshot(consumer), []).append(consumer)
    forks = _branches_by_first_snapshot(store)
    commits = tuple(
        Commit(
            s.id, s.commit_kind, s.commit_user, s.time_ms, s.total_record_count or 0, s.delta_record_count or 0, s.schema_id,
            tuple(sorted(tags.get(s.id, ()))), tuple(sorted(readers.get(s.id, ()))),
            tuple(sorted(forks.get(s.id, ()))),
        )
        for s in sorted(snapshots.values(), key=lambda s: s.id)
    )  # fmt: skip
    return TimelineModel(store.name, commits, tuple(store.branches.names()))


def _branches_by_first_snapshot(store: TableStore) -> dict[int, list[str]]:
    """Snapshot id -> branches created from it; branches without a snapshot are omitted."""
    from paimon_nb.format.snapshot import SnapshotDirectory

    forks: dict[int, list[str]] = {}
    for name in store.branches.names():
        first = SnapshotDirectory(store.fs, store.branches.root(name)).earliest_id()
        if first is not None:
            forks.setdefault(first, []).append(name)
    return forks


def timeline_text(model: TimelineModel) -> str:
    """The history as text; without times, so that it is deterministic."""
    lines = [f"{model.table}: {len(model.commits)} snapshot{'s' * (len(model.commits) != 1)}"]
    for c in model.commits[-40:]:
        named = (*c.tags, *c.flags[len(c.tags) :])  # tags are shown without a sign
        flags = f"  [{', '.join(named)}]" if named else ""
        lines.append(
            f"  {SIGN.get(c.kind, '?')} {c.id:>4} {c.kind:<9} {c.delta_rows:>+10,} rows  = {c.total_rows:,}{flags}"
        )
    return "\n".join(lines)
