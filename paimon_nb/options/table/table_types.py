"""Other kinds of table: chain, format, materialized, data evolution."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, integer, long, memory, number, text

CHAIN_TABLE_CHAIN_PARTITION_KEYS = text("chain-table.chain-partition-keys", None, "suffix of partition keys that chain")
CHAIN_TABLE_ENABLED = boolean("chain-table.enabled", False, "turn on chain table")
CHAIN_TABLE_SPLIT_KEY_RANGE_ENABLED = boolean(
    "chain-table.split.key-range-enabled", True, "split chain reads by key range"
)
CHAIN_TABLE_STREAMING_MERGE_SNAPSHOT = boolean(
    "chain-table.streaming.merge-snapshot", False, "merge anchor snapshot when a chain stream starts"
)
DATA_EVOLUTION_COMPACTION_REWRITE_ROW_IDS = boolean(
    "data-evolution.compaction.rewrite-row-ids", False, "legacy, must stay false"
)
DATA_EVOLUTION_ENABLED = boolean(
    "data-evolution.enabled", False, "column-wise updates by row id", fixed_after_data=True
)
DATA_EVOLUTION_MERGE_INTO_FILE_PRUNING = boolean(
    "data-evolution.merge-into.file-pruning", True, "prune files in partial MERGE"
)
DATA_EVOLUTION_MERGE_INTO_SOURCE_PERSIST = boolean(
    "data-evolution.merge-into.source-persist", False, "cache MERGE source"
)
DATA_EVOLUTION_REASSIGN_SKIP_CONTIGUOUS_ROW_COUNT = long(
    "data-evolution.reassign.skip-contiguous-row-count", 1000000000, "long runs skipped in reassign_row_id"
)
DATA_EVOLUTION_ROW_ID_CONFLICT_REWRITE_MAX_SIZE = memory(
    "data-evolution.row-id-conflict-rewrite.max-size", "256 mb", "rebase limit for conflicting updates (pypaimon)"
)
DATA_EVOLUTION_ROW_SIDECAR_ENABLED = boolean(
    "data-evolution.row-sidecar.enabled", False, "extra row-format copy for point reads"
)
DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTED_ROWS = long(
    "data-evolution.row-sidecar.max-selected-rows", 4096, "row limit to use sidecar"
)
DATA_EVOLUTION_ROW_SIDECAR_MAX_SELECTION_RATIO = number(
    "data-evolution.row-sidecar.max-selection-ratio", 0.05, "ratio limit to use sidecar"
)
FORMAT_TABLE_COMMIT_HIVE_SYNC_URL = text("format-table.commit-hive-sync-url", None, "hive sync endpoint")
FORMAT_TABLE_FILE_COMPRESSION = text("format-table.file.compression", None, "codec of format tables")
FORMAT_TABLE_IMPLEMENTATION = choice("format-table.implementation", "paimon", "paimon engine", "paimon or engine")
FORMAT_TABLE_PARTITION_PATH_ONLY_VALUE = boolean("format-table.partition-path-only-value", False, "dirs without key=")
FORMAT_TABLE_SCAN_LIST_PARALLELISM = integer("format-table.scan.list-parallelism", 64, "listing threads")
MATERIALIZED_TABLE_DEFINITION_QUERY = text(
    "materialized-table.definition-query", None, "the query that fills the table"
)
MATERIALIZED_TABLE_INTERVAL_FRESHNESS = text(
    "materialized-table.interval-freshness", None, "how old the content may be"
)
MATERIALIZED_TABLE_INTERVAL_FRESHNESS_TIME_UNIT = choice(
    "materialized-table.interval-freshness.time-unit", None, "second minute hour day", "unit of that age"
)
MATERIALIZED_TABLE_LOGICAL_REFRESH_MODE = choice(
    "materialized-table.logical-refresh-mode", None, "continuous full automatic", "how the user wants it refreshed"
)
MATERIALIZED_TABLE_REFRESH_HANDLER_BYTES = text(
    "materialized-table.refresh-handler-bytes", None, "the refreshing job, serialized"
)
MATERIALIZED_TABLE_REFRESH_HANDLER_DESCRIPTION = text(
    "materialized-table.refresh-handler-description", None, "the refreshing job in words"
)
MATERIALIZED_TABLE_REFRESH_MODE = choice(
    "materialized-table.refresh-mode", None, "continuous full automatic", "how it is refreshed"
)
MATERIALIZED_TABLE_REFRESH_STATUS = choice(
    "materialized-table.refresh-status", None, "initializing activated suspended", "state of the refreshing job"
)
BRANCH_MERGE_ENABLED = boolean(
    "branch-merge.enabled",
    False,
    "an append table whose branches can be merged: nothing is compacted, replaced or deleted",
    fixed_after_data=True,
)
ROW_TRACKING_ENABLED = boolean(
    "row-tracking.enabled", False, "give every row of an append table a unique id", fixed_after_data=True
)
ROW_TRACKING_PARTITION_GROUP_ON_COMMIT = boolean(
    "row-tracking.partition-group-on-commit", True, "group files by partition for ids"
)
