"""Level 3, table semantics: Paimon's rules on top of the format. No Spark, no notebook, no catalogs here.

Four packages, lowest first: `lsm` (pure: levels, compaction picks, merge engines, changelogs), `read`, `write`, `tables`.
"""
