"""Commit message: files written and files replaced by a writer. Plain picklable data without logic."""

from __future__ import annotations

from dataclasses import dataclass

from paimon_nb.format.manifest import DataFile, IndexEntry

BATCH_IDENTIFIER = 9223372036854775807
"""`commitIdentifier` of batch writes (docs/spec/format.md section 2)."""


@dataclass(frozen=True, slots=True)
class CommitMessage:
    """The work of one writer in one bucket: an append increment and a compact increment.

    They become two snapshots, APPEND and COMPACT (docs/spec/format.md section 3).
    """

    partition: bytes
    bucket: int
    total_buckets: int
    new_files: tuple[DataFile, ...] = ()
    deleted_files: tuple[DataFile, ...] = ()
    """Files that a row-level UPDATE or DELETE on an append table replaced."""
    changelog_files: tuple[DataFile, ...] = ()
    new_index: tuple[IndexEntry, ...] = ()
    deleted_index: tuple[IndexEntry, ...] = ()
    compact_before: tuple[DataFile, ...] = ()
    compact_after: tuple[DataFile, ...] = ()
    compact_changelog: tuple[DataFile, ...] = ()
    compact_new_index: tuple[IndexEntry, ...] = ()
    compact_deleted_index: tuple[IndexEntry, ...] = ()
    base_snapshot: int | None = None
    """The snapshot that this work was planned from; None: the table was empty."""
    row_count: int = 0
    """Rows that the writer received, for the count check before the commit."""

    @property
    def has_append(self) -> bool:
        """True if the first snapshot would not be empty."""
        return bool(
            self.new_files or self.deleted_files or self.changelog_files or self.new_index or self.deleted_index
        )

    @property
    def has_compact(self) -> bool:
        """True if the COMPACT snapshot would not be empty."""
        return bool(
            self.compact_before
            or self.compact_after
            or self.compact_changelog
            or self.compact_new_index
            or self.compact_deleted_index
        )

    @property
    def written(self) -> set[str]:
        """Names of the data and index files that this work wrote; files that were only upgraded belong to the table."""
        return (
            {f.file_name for f in self.new_files} | {i.file_name for i in self.new_index} | self.written_by_compaction
        )

    @property
    def written_by_compaction(self) -> set[str]:
        """Those that belong to the COMPACT snapshot."""
        upgraded = {f.file_name for f in self.compact_before}
        return {f.file_name for f in self.compact_after} - upgraded | {i.file_name for i in self.compact_new_index}

    @property
    def is_empty(self) -> bool:
        return not (self.has_append or self.has_compact)
