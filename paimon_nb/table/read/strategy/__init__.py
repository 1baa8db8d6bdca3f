"""How the rows of a planned scan are read without Spark: a strategy for each split, rows by position, late materialization.

Spark reads with the same plan and the same strategies, see `spark/scan/table_scan.py`.
"""
