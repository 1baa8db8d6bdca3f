"""Memory and threads of writers; rules for ALTER."""

from __future__ import annotations

from paimon_nb.options.option import at_least, boolean, choice, integer, memory, text

ADD_COLUMN_BEFORE_PARTITION = boolean(
    "add-column-before-partition",
    False,
    "ADD COLUMN without a position goes before the first partition column, not to the end",
)
ALTER_COLUMN_NULL_TO_NOT_NULL_DISABLED = boolean(
    "alter-column-null-to-not-null.disabled", True, "forbid ALTER from nullable to NOT NULL"
)
CACHE_PAGE_SIZE = memory("cache-page-size", "64 kb", "page size of block cache")
DISABLE_EXPLICIT_TYPE_CASTING = boolean("disable-explicit-type-casting", False, "only implicit type changes in ALTER")
LOCAL_MERGE_BUFFER_SIZE = memory(
    "local-merge-buffer-size", None, "memory to merge rows of a key before they are shuffled"
)
LOCAL_SORT_MAX_NUM_FILE_HANDLES = integer("local-sort.max-num-file-handles", 128, "fan-in of external sort")
PAGE_SIZE = memory("page-size", "64 kb", "memory page")
SORT_ENGINE = choice("sort-engine", "loser-tree", "min-heap loser-tree", "loser-tree or min-heap")
SORT_SPILL_BUFFER_SIZE = memory("sort-spill-buffer-size", "64 mb", "spill sort buffer")
SORT_SPILL_THRESHOLD = integer("sort-spill-threshold", None, "readers before spilling")
SPILL_COMPRESSION = text("spill-compression", "zstd", "spill codec")
SPILL_COMPRESSION_ZSTD_LEVEL = integer("spill-compression.zstd-level", 1, "its level")
WRITE_BUFFER_FOR_APPEND = boolean("write-buffer-for-append", False, "buffer append writes")
WRITE_BUFFER_SIZE = memory("write-buffer-size", "256 mb", "memory to collect rows before a sorted file is written")
WRITE_BUFFER_SPILL_MAX_DISK_SIZE = memory("write-buffer-spill.max-disk-size", "infinite", "spill cap")
WRITE_BUFFER_SPILLABLE = boolean("write-buffer-spillable", True, "a full buffer may go to local disk")
WRITE_MAX_WRITERS_TO_SPILL = integer("write-max-writers-to-spill", 10, "open writers before spilling")
WRITE_ONLY = boolean(
    "write-only",
    False,
    "writers neither compact nor expire; a dedicated job does",
    fallback_keys=("write.compaction-skip",),
)
WRITE_BATCH_MEMORY = memory("write.batch-memory", "128 mb", "batch memory")
WRITE_BATCH_SIZE = integer(
    "write.batch-size", 1024, "rows per write batch", fallback_keys=("orc.write.batch-size",), check=at_least(1)
)
