"""Scan planning: from a snapshot and a predicate to splits. Reads metadata only."""
