"""Level 3, what the bytes mean: Paimon's rules over the format. No Spark, no notebook, no catalogs here."""
