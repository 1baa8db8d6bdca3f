"""Databases kept in Paimon tables: snapshot, then every change, schema changes included. Writes through a catalog; no Spark."""
