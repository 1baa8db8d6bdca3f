"""Level 3, table semantics: Paimon's rules on top of the format. No Spark, no notebook, no catalogs here."""
