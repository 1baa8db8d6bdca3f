"""Lookup joins: a stream joined with the current state of a table."""
