"""SELECTs that an embedded engine (DuckDB) answers in this process, exactly as Spark would.

`answer.py` decides and runs; `translate.py` makes the engine's SQL of a query's structure, `expressions.py` that of its expressions,
`sources.py` opens the tables, `engine.py` runs it.
"""
