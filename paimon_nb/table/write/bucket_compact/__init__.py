"""Compaction of one bucket: picks sorted runs and rewrites them. Commits nothing; plans of whole tables are in `compact`."""
