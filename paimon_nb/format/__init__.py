"""Level 2: what the bytes of a Paimon table are. Knows no merge rules, no Spark, no IPython."""
