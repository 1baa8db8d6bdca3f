"""Commits: from commit messages to published snapshots. Only this package makes rows visible."""

from paimon_nb.table.commit.commit import TableCommit
from paimon_nb.table.publish.changes import BATCH_IDENTIFIER, CommitMessage

__all__ = ["BATCH_IDENTIFIER", "CommitMessage", "TableCommit"]
