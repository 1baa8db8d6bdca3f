"""Memory and threads of writers; rules for ALTER."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, integer, memory, text

ADD_COLUMN_BEFORE_PARTITION = boolean(
    "add-column-before-partition",
    False,
    "ADD COLUMN without a position adds the column before the first partition column, not at the end",
)
ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = boolean(
    "alter-column-null-to-not-null.disabled", True, "forbid changing a nullable column to NOT NULL"
)
CACHE_PAGE_SIZE = memory("cache-page-size", "64 kb", "page size of the block cache")
DISABLE_EXPLICIT_TYPE_CASTING = boolean(
    "disable-explicit-type-casting", False, "allow only implicit type changes in ALTER TABLE"
)
LOCAL_MERGE_BUFFER_SIZE = memory("local-merge-buffer-size", None, "memory for merging rows of a key before the shuffle")
LOCAL_SORT_MAX_NUM_FILE_HANDLES = integer(
    "local-sort.max-num-file-handles", 128, "maximum number of open files in an external sort"
)
PAGE_SIZE = memory("page-size", "64 kb", "size of a memory page")
SORT_ENGINE = choice("sort-engine", "loser-tree", "min-heap loser-tree", "algorithm of the sort-merge")
SORT_SPILL_BUFFER_SIZE = memory("sort-spill-buffer-size", "64 mb", "memory of an external sort")
SORT_SPILL_THRESHOLD = integer("sort-spill-threshold", None, "maximum number of sort readers before rows are spilled")
SPILL_COMPRESSION = text("spill-compression", "zstd", "codec of spilled rows")
SPILL_COMPRESSION_ZSTD_LEVEL = integer("spill-compression.zstd-level", 1, "compression level of spilled rows")
WRITE_BUFFER_FOR_APPEND = boolean("write-buffer-for-append", False, "buffer rows of append tables")
WRITE_BUFFER_SIZE = memory(
    "write-buffer-size", "256 mb", "memory for rows before they are sorted and written to a file"
)
WRITE_BUFFER_SPILL_MAX_DISK_SIZE = memory(
    "write-buffer-spill.max-disk-size", "infinite", "maximum disk space for spilled rows"
)
WRITE_BUFFER_SPILLABLE = boolean("write-buffer-spillable", True, "allow spilling a full buffer to local disk")
WRITE_MAX_WRITERS_TO_SPILL = integer(
    "write-max-writers-to-spill",
    10,
    "buckets of an append table that are written at once; the rows of others wait in memory or on local disk",
)
WRITE_ONLY = boolean(
    "write-only",
    False,
    "writers do not compact or expire; a dedicated job does",
    fallback_keys=("write.compaction-skip",),
)
WRITE_BATCH_MEMORY = memory("write.batch-memory", "128 mb", "memory of a write batch")
WRITE_BATCH_SIZE = integer(
    "write.batch-size", 1024, "rows per write batch", fallback_keys=("orc.write.batch-size",), check=at_least(1)
)
