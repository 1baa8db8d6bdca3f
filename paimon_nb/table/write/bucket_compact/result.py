"""The result of a compaction in one bucket, as data."""

from __future__ import annotations

from dataclasses import field, replace
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from paimon_nb.format.manifest import DataFile, IndexEntry
    from paimon_nb.table.write.publish.changes import CommitMessage


@dataclass
class CompactResult:
    """Files replaced and created. An upgraded file is in both, with two levels."""

    before: list[DataFile] = field(default_factory=list)
    after: list[DataFile] = field(default_factory=list)
    changelog: list[DataFile] = field(default_factory=list)
    new_index: list[IndexEntry] = field(default_factory=list)
    deleted_index: list[IndexEntry] = field(default_factory=list)

    def attach_to(self, message: CommitMessage) -> CommitMessage:
        """The message with this result as its compact increment."""
        return replace(
            message,
            compact_before=tuple(self.before),
            compact_after=tuple(self.after),
            compact_changelog=tuple(self.changelog),
            compact_new_index=tuple(self.new_index),
            compact_deleted_index=tuple(self.deleted_index),
        )
