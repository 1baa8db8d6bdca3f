"""Level 0: errors, names, registries, redaction and the clock. Knows nothing of Paimon's bytes or rules."""
