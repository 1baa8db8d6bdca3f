"""All system tables of one table, by the name after `$`. The module of a system table is imported when it is looked up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.registry import LazyRegistry

if TYPE_CHECKING:
    from paimon_nb.table.tables.system.columns import SystemTable

SYSTEM_TABLES: LazyRegistry[SystemTable] = LazyRegistry(
    "system table",
    "paimon_nb.table.tables.system",
    {
        "snapshots": "snapshots:SNAPSHOTS",
        "schemas": "schemas:SCHEMAS",
        "options": "options:OPTIONS",
        "files": "files:FILES",
        "file_key_ranges": "file_key_ranges:FILE_KEY_RANGES",
        "file_indexes": "file_indexes:FILE_INDEXES",
        "manifests": "manifests:MANIFESTS",
        "partitions": "partitions:PARTITIONS",
        "buckets": "buckets:BUCKETS",
        "tags": "tags:TAGS",
        "branches": "branches:BRANCHES",
        "consumers": "consumers:CONSUMERS",
        "statistics": "statistics:STATISTICS",
        "aggregation_fields": "aggregation_fields:AGGREGATION_FIELDS",
        "table_indexes": "table_indexes:TABLE_INDEXES",
        "audit_log": "audit_log:AUDIT_LOG",
        "binlog": "binlog:BINLOG",
        "ro": "read_optimized:READ_OPTIMIZED",
        "row_tracking": "row_tracking:ROW_TRACKING",
    },
    plugins=PluginGroup(
        "system_tables", "a SystemTable", lambda plugin: all(hasattr(plugin, a) for a in ("fields", "read"))
    ),
)
