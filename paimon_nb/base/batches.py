"""Rows of an Arrow batch."""

BATCH_ROWS = 1 << 16
"""Rows of a batch wherever nothing else limits it. Arrow, Spark and DuckDB compute on batches of this order at full speed, and each column of eight bytes takes half a megabyte."""
