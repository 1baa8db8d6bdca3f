"""The changes of one snapshot, as data: what a commit attempt will publish."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from paimon_nb.format.manifest import ADD, DELETE, DataFile, IndexEntry, ManifestEntry
from paimon_nb.table.commit.message import CommitMessage

DELETION_VECTORS = "DELETION_VECTORS"
HASH = "HASH"


@dataclass(frozen=True)
class Change:
    """Entries of one snapshot. `kind` is the snapshot's commitKind."""

    kind: str
    entries: tuple[ManifestEntry, ...] = ()
    changelog: tuple[ManifestEntry, ...] = ()
    new_index: tuple[IndexEntry, ...] = ()
    deleted_index: tuple[IndexEntry, ...] = ()
    base_snapshot: int | None = None
    """The oldest snapshot that the change was planned from."""
    statistics: str | None = None
    """A new statistics file (ANALYZE)."""
    replaces_buckets: bool = False
    """True for INSERT OVERWRITE, which may change the bucket count of what it replaces."""
    drops_index_of: frozenset[bytes] | None = frozenset()
    """Partitions whose index files are all removed; None: all partitions."""
    joins_manifests: bool = False
    """Write the same files into as few manifests as possible, regardless of the merge thresholds."""

    @property
    def is_empty(self) -> bool:
        has_files = self.entries or self.changelog or self.new_index or self.deleted_index
        return not (has_files or self.statistics or self.joins_manifests)

    @property
    def must_check(self) -> bool:
        """True if live files are replaced, so that another commit can contradict this one."""
        return self.kind != "APPEND" or any(e.kind == DELETE for e in self.entries) or bool(self.new_index)


def append_change(messages: Iterable[CommitMessage]) -> Change:
    """The first snapshot. Replaced files or deletion vectors turn APPEND into OVERWRITE, as in Java."""
    messages = list(messages)
    entries: list[ManifestEntry] = []
    changelog: list[ManifestEntry] = []
    for m in messages:
        entries += _entries(ADD, m, m.new_files)
        entries += _entries(DELETE, m, m.deleted_files)
        changelog += _entries(ADD, m, m.changelog_files)
    new_index = tuple(i for m in messages for i in m.new_index)
    row_level = any(m.deleted_files for m in messages) or any(i.index_type == DELETION_VECTORS for i in new_index)
    return Change(
        kind="OVERWRITE" if row_level else "APPEND",
        entries=tuple(entries),
        changelog=tuple(changelog),
        new_index=new_index,
        deleted_index=tuple(i for m in messages for i in m.deleted_index),
        base_snapshot=oldest_base(m for m in messages if m.has_append),
    )


def compact_change(messages: Iterable[CommitMessage]) -> Change:
    """The second snapshot: DELETE the compaction's input, ADD its output."""
    messages = list(messages)
    entries: list[ManifestEntry] = []
    changelog: list[ManifestEntry] = []
    for m in messages:
        entries += _entries(DELETE, m, m.compact_before)
        entries += _entries(ADD, m, m.compact_after)
        changelog += _entries(ADD, m, m.compact_changelog)
    return Change(
        kind="COMPACT",
        entries=tuple(entries),
        changelog=tuple(changelog),
        new_index=tuple(i for m in messages for i in m.compact_new_index),
        deleted_index=tuple(i for m in messages for i in m.compact_deleted_index),
        base_snapshot=oldest_base(m for m in messages if m.has_compact),
    )


def oldest_base(messages: Iterable[CommitMessage]) -> int | None:
    """The oldest snapshot that any of the messages was planned from; None if one saw an empty table."""
    bases = [m.base_snapshot for m in messages]
    return None if not bases or None in bases else min(b for b in bases if b is not None)


def _entries(kind: int, message: CommitMessage, files: Iterable[DataFile]) -> list[ManifestEntry]:
    return [ManifestEntry(kind, message.partition, message.bucket, message.total_buckets, f) for f in files]


PartitionSpec = Mapping[str, object]
