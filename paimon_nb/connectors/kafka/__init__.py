"""The `kafka` and `upsert-kafka` connectors."""
