"""Queries: table references become DataFrames, and the rest of the text goes to Spark."""
