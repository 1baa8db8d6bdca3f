"""Commits: from commit messages to published snapshots. Only this package makes rows visible."""

from paimon_nb.table.write.commit.commit import TableCommit
from paimon_nb.table.write.commit.format_table_commit import (
    FormatTableCommit,
    add_format_table_partitions,
    drop_format_table_partitions,
    truncate_format_table,
)
from paimon_nb.table.write.publish.changes import BATCH_IDENTIFIER, CommitMessage

__all__ = [
    "BATCH_IDENTIFIER",
    "CommitMessage",
    "FormatTableCommit",
    "TableCommit",
    "add_format_table_partitions",
    "drop_format_table_partitions",
    "truncate_format_table",
]
