"""Writes and compactions of Paimon tables as Spark jobs."""
