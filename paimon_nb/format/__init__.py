"""Level 2: Paimon's file format. Contains no merge rules, no Spark, no IPython."""
