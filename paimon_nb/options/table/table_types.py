"""Table types: chain, format, materialized; data evolution and row tracking."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, integer, long, memory, number, text

CHAIN_TABLE_CHAIN_PARTITION_KEYS = text(
    "chain-table.chain-partition-keys", None, "partition keys of the chain; a suffix of all partition keys"
)
CHAIN_TABLE_ENABLED = boolean("chain-table.enabled", False, "enable the chain table")
CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED = boolean(
    "chain-table.split.key-range-enabled", True, "split reads of a chain table by key range"
)
CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = boolean(
    "chain-table.streaming.merge-snapshot", False, "merge the anchor snapshot when a stream of a chain table starts"
)
DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS = boolean(
    "data-evolution.compaction.rewrite-row-ids", False, "deprecated; must be false"
)
DATA_EVOLUTION_ENABLED = boolean(
    "data-evolution.enabled", False, "column-wise updates by row id", fixed_after_data=True
)
DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING = boolean(
    "data-evolution.merge-into.file-pruning", True, "prune files in MERGE INTO of some columns"
)
DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST = boolean(
    "data-evolution.merge-into.source-persist", False, "cache the source of MERGE INTO"
)
DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = long(
    "data-evolution.reassign.skip-contiguous-row-count",
    1000000000,
    "number of contiguous rows from which reassign_row_id skips them",
)
DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE = memory(
    "data-evolution.row-id-conflict-rewrite.max-size",
    "256 mb",
    "maximum size of a rewrite after a row id conflict (pypaimon)",
)
DATA_EVOLUTION_ROW_SIDECAR_ENABLED = boolean(
    "data-evolution.row-sidecar.enabled", False, "write a copy of the rows in row format for point lookups"
)
DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS = long(
    "data-evolution.row-sidecar.max-selected-rows", 4096, "maximum number of selected rows for reads of the sidecar"
)
DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO = number(
    "data-evolution.row-sidecar.max-selection-ratio", 0.05, "maximum share of selected rows for reads of the sidecar"
)
FORMAT_TABLE_COMMIT_HIVE_SYNC_URL = text("format-table.commit-hive-sync-url", None, "URL of the Hive synchronization")
FORMAT_TABLE_FILE_COMPRESSION = text("format-table.file.compression", None, "codec of format tables")
FORMAT_TABLE_IMPLEMENTATION = choice("format-table.implementation", "paimon", "paimon engine", "paimon or engine")
FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = boolean(
    "format-table.partition-path-only-value", False, "partition directories contain only values, without key="
)
FORMAT_TABLE_SCAN_LIST_PARALLELISM = integer(
    "format-table.scan.list-parallelism", 64, "threads for listing directories"
)
MATERIALIZED_TABLE_DEFINITION_QUERY = text(
    "materialized-table.definition-query", None, "the query that fills the table"
)
MATERIALIZED_TABLE_INTERVAL_FRESHNESS = text(
    "materialized-table.interval-freshness", None, "maximum age of the content"
)
MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT = choice(
    "materialized-table.interval-freshness.time-unit", None, "second minute hour day", "unit of the maximum age"
)
MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE = choice(
    "materialized-table.logical-refresh-mode", None, "continuous full automatic", "refresh mode in the definition"
)
MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES = text(
    "materialized-table.refresh-handler-bytes", None, "serialized handle of the refresh job"
)
MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION = text(
    "materialized-table.refresh-handler-description", None, "description of the refresh job"
)
MATERIALIZED_TABLE_REFRESH_MODE = choice(
    "materialized-table.refresh-mode", None, "continuous full automatic", "effective refresh mode"
)
MATERIALIZED_TABLE_REFRESH_STATUS = choice(
    "materialized-table.refresh-status", None, "initializing activated suspended", "state of the refresh job"
)
BRANCH_MERGE_ENABLED = boolean(
    "branch-merge.enabled",
    False,
    "allow merging branches of an append table; it is never compacted, overwritten or deleted from",
    fixed_after_data=True,
)
ROW_TRACKING_ENABLED = boolean(
    "row-tracking.enabled", False, "assign a unique id to every row of an append table", fixed_after_data=True
)
ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = boolean(
    "row-tracking.partition-group-on-commit", True, "assign row ids partition by partition"
)
