"""Level 5: Spark. Sessions, reads, writes and compactions of Paimon tables as Spark work. Knows plans and tables, no SQL text."""
