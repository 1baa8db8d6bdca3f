"""Changelogs: which rows a commit changed."""

from paimon_nb.table.lsm.changelog.produce import full_compaction_changelog, lookup_changelog, match_keys

__all__ = ["full_compaction_changelog", "lookup_changelog", "match_keys"]
