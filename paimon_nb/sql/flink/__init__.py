"""Flink's functions, operators and types as Spark SQL, as edits of the user's text."""
