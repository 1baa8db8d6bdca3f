"""Materialized tables: their definition in the table's options, their content, and how it is kept fresh."""
