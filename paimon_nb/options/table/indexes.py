"""Indexes over a whole table and over primary keys: stored for Java; this engine builds none."""

from __future__ import annotations

from paimon_nb.options.option import boolean, choice, integer, long, text

FULL_TEXT_INDEX_SEARCH_MODE = choice("full-text-index.search-mode", "fast", "fast full detail", "fast/full/… search")
GLOBAL_INDEX_BUILD_MAX_PARALLELISM = integer("global-index.build.max-parallelism", 4096, "index build tasks")
GLOBAL_INDEX_BUILD_MAX_SHARD = integer("global-index.build.max-shard", 32, "index shards")
GLOBAL_INDEX_COLUMN_UPDATE_ACTION = choice(
    "global-index.column-update-action",
    "throw_error",
    "throw_error drop_partition_index ignore",
    "what an update does to an index",
)
GLOBAL_INDEX_ENABLED = boolean("global-index.enabled", True, "use global indexes")
GLOBAL_INDEX_EXTERNAL_PATH = text("global-index.external-path", None, "root of index files")
GLOBAL_INDEX_ROW_COUNT_PER_SHARD = long("global-index.row-count-per-shard", 100000, "rows per shard")
GLOBAL_INDEX_SEARCH_MODE = choice("global-index.search-mode", None, "fast full detail", "fallback search mode")
GLOBAL_INDEX_THREAD_NUM = integer("global-index.thread-num", 32, "index IO threads")
PK_BITMAP_INDEX_COLUMNS = text("pk-bitmap.index.columns", None, "pk bitmap index")
PK_BTREE_INDEX_COLUMNS = text("pk-btree.index.columns", None, "pk btree index")
PK_FULL_TEXT_INDEX_COLUMNS = text("pk-full-text.index.columns", None, "pk text index")
PK_MULTIVALUE_INDEX_COLUMNS = text("pk-multivalue.index.columns", None, "pk array index")
PK_VECTOR_INDEX_COLUMNS = text("pk-vector.index.columns", None, "pk vector index")
SCALAR_INDEX_SEARCH_MODE = choice("scalar-index.search-mode", "fast", "fast full detail", "scalar index mode")
VECTOR_INDEX_SEARCH_MODE = choice("vector-index.search-mode", "fast", "fast full detail", "vector mode")
VECTOR_SEARCH_DISTRIBUTE_ENABLED = boolean("vector-search.distribute.enabled", False, "distributed search")
VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE = integer(
    "vector-search.lateral-join.batch-size", 256, "batch for lateral search"
)
