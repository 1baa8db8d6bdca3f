"""Streaming statements: planning, execution, sinks, progress and lookup joins."""
