"""The `mysql-cdc` connector."""
