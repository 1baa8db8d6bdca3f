"""Spark's user API over Paimon tables: sessions, readers, writers and streams that know Paimon names."""
