"""Level 5: Spark. Sessions, reads, writes, streams and compactions of Paimon tables in Spark. Contains no SQL parsing."""
