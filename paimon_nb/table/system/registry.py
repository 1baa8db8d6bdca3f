"""All system tables of one table, by the name after `$`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.registry import Registry
from paimon_nb.table.system.aggregation_fields import AGGREGATION_FIELDS
from paimon_nb.table.system.audit_log import AUDIT_LOG
from paimon_nb.table.system.binlog import BINLOG
from paimon_nb.table.system.branches import BRANCHES
from paimon_nb.table.system.buckets import BUCKETS
from paimon_nb.table.system.consumers import CONSUMERS
from paimon_nb.table.system.file_indexes import FILE_INDEXES
from paimon_nb.table.system.file_key_ranges import FILE_KEY_RANGES
from paimon_nb.table.system.files import FILES
from paimon_nb.table.system.manifests import MANIFESTS
from paimon_nb.table.system.options import OPTIONS
from paimon_nb.table.system.partitions import PARTITIONS
from paimon_nb.table.system.read_optimized import READ_OPTIMIZED
from paimon_nb.table.system.row_tracking import ROW_TRACKING
from paimon_nb.table.system.schemas import SCHEMAS
from paimon_nb.table.system.snapshots import SNAPSHOTS
from paimon_nb.table.system.statistics import STATISTICS
from paimon_nb.table.system.table_indexes import TABLE_INDEXES
from paimon_nb.table.system.tags import TAGS

if TYPE_CHECKING:
    from paimon_nb.table.system.columns import SystemTable

SYSTEM_TABLES: Registry[SystemTable] = Registry(
    "system table",
    {
        "snapshots": SNAPSHOTS,
        "schemas": SCHEMAS,
        "options": OPTIONS,
        "files": FILES,
        "file_key_ranges": FILE_KEY_RANGES,
        "file_indexes": FILE_INDEXES,
        "manifests": MANIFESTS,
        "partitions": PARTITIONS,
        "buckets": BUCKETS,
        "tags": TAGS,
        "branches": BRANCHES,
        "consumers": CONSUMERS,
        "statistics": STATISTICS,
        "aggregation_fields": AGGREGATION_FIELDS,
        "table_indexes": TABLE_INDEXES,
        "audit_log": AUDIT_LOG,
        "binlog": BINLOG,
        "ro": READ_OPTIMIZED,
        "row_tracking": ROW_TRACKING,
    },
)
