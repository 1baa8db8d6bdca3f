"""Indexes over a whole table, and those of primary-key tables: they are built and used."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, integer, long, memory, number, text

BITMAP_INDEX_COMPRESSION = text("bitmap-index.compression", "none", "codec of the dictionary: none, lz4 or zstd")
BITMAP_INDEX_COMPRESSION_LEVEL = integer("bitmap-index.compression-level", 1, "level of that codec")
BITMAP_INDEX_DICTIONARY_BLOCK_SIZE = memory(
    "bitmap-index.dictionary-block-size", "16 kb", "target size of the blocks of the dictionary", check=at_least(1)
)
BITMAP_INDEX_FALLBACK_SCAN_MAX_SIZE = memory(
    "bitmap-index.fallback-scan-max-size", "256 mb", "maximum size of the files that a range or LIKE scans; 0 b: none"
)
BTREE_INDEX_BLOCK_SIZE = memory("btree-index.block-size", "64 kb", "size of the blocks", check=at_least(1))
BTREE_INDEX_CACHE_SIZE = memory("btree-index.cache-size", "128 mb", "cache of blocks")
BTREE_INDEX_COMPRESSION = text("btree-index.compression", "none", "codec of the blocks: none, lz4 or zstd")
BTREE_INDEX_COMPRESSION_LEVEL = integer("btree-index.compression-level", 1, "level of that codec")
BTREE_INDEX_FALLBACK_SCAN_MAX_SIZE = memory(
    "btree-index.fallback-scan-max-size", "256 mb", "maximum size of the files that a range or LIKE scans; 0 b: none"
)
BTREE_INDEX_HIGH_PRIORITY_POOL_RATIO = number("btree-index.high-priority-pool-ratio", 0.1, "share of the cache")
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
GLOBAL_INDEX_ROW_COUNT_PER_SHARD = long(
    "global-index.row-count-per-shard", 100000, "rows of a file of a vector or full-text index", check=at_least(1)
)
GLOBAL_INDEX_SEARCH_MODE = choice("global-index.search-mode", None, "fast full detail", "fallback search mode")
GLOBAL_INDEX_THREAD_NUM = integer("global-index.thread-num", 32, "index IO threads")
PK_BITMAP_INDEX_COLUMNS = text("pk-bitmap.index.columns", None, "columns of a key table with a bitmap index")
PK_BTREE_INDEX_COLUMNS = text("pk-btree.index.columns", None, "columns of a key table with a btree index")
PK_FULL_TEXT_INDEX_COLUMNS = text("pk-full-text.index.columns", None, "column of a key table with a full-text index")
PK_MULTIVALUE_INDEX_COLUMNS = text(
    "pk-multivalue.index.columns", None, "ARRAY columns of a key table with an index of their elements"
)
PK_VECTOR_INDEX_COLUMNS = text("pk-vector.index.columns", None, "column of a key table with a vector index")
SORTED_INDEX_BUILD_MAX_PARALLELISM = integer(
    "sorted-index.build.max-parallelism",
    4096,
    "index build tasks",
    fallback_keys=("btree-index.build.max-parallelism",),
)
SORTED_INDEX_RECORDS_PER_RANGE = long(
    "sorted-index.records-per-range",
    10_000_000,
    "rows of an index file, about",
    check=at_least(1),
    fallback_keys=("btree-index.records-per-range",),
)
SCALAR_INDEX_SEARCH_MODE = choice("scalar-index.search-mode", "fast", "fast full detail", "scalar index mode")
VECTOR_INDEX_SEARCH_MODE = choice("vector-index.search-mode", "fast", "fast full detail", "vector mode")
VECTOR_SEARCH_DISTRIBUTE_ENABLED = boolean("vector-search.distribute.enabled", False, "distributed search")
VECTOR_SEARCH_LATERAL_JOIN_BATCH_SIZE = integer(
    "vector-search.lateral-join.batch-size", 256, "batch for lateral search"
)
