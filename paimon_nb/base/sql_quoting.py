"""Texts as SQL literals. Knows no grammar: who writes for our own parser and who writes for Spark's must say which."""

from __future__ import annotations


def text_literal(value: str) -> str:
    """As standard SQL, Flink and our parser read it: a quote is written twice."""
    return "'" + value.replace("'", "''") + "'"


def spark_literal(value: str) -> str:
    """As Spark's parser reads it, to which `'a''b'` is `ab`: quotes and backslashes follow a backslash."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
