"""The public `Table` and what it shows: inspection, system tables, copies."""
