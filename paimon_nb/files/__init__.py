"""Data files that are in no table: CSV, JSON, Parquet, ORC, Avro, Arrow, text and Excel files, read as they are.

One guess, DuckDB's, decides dialect, header, columns and types; it is checked against the whole file, so that no value changes without
a note ([decision](../../docs/decisions/0011-data-files.md)). Knows neither SQL statements nor Spark.
"""
