"""Quotes texts as SQL literals, for our own parser or for Spark's."""

from __future__ import annotations


def text_literal(value: str) -> str:
    """For standard SQL, Flink and our parser: a quote is doubled."""
    return "'" + value.replace("'", "''") + "'"


def spark_literal(value: str) -> str:
    """For Spark's parser, which reads `'a''b'` as `ab`: quotes and backslashes are escaped by a backslash."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
