"""Changelogs: which rows a commit changed, and how they are shown."""

from paimon_nb.table.changelog.produce import full_compaction_changelog, lookup_changelog, match_keys
from paimon_nb.table.changelog.shape import KIND_TEXT, to_audit, to_binlog

__all__ = ["KIND_TEXT", "full_compaction_changelog", "lookup_changelog", "match_keys", "to_audit", "to_binlog"]
