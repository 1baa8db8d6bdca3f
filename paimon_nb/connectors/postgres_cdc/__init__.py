"""The `postgres-cdc` connector."""
