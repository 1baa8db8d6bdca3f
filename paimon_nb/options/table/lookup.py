"""Local files of lookups."""

from __future__ import annotations

from paimon_nb.options.option import boolean, duration, integer, long, memory, number, text

LOCAL_KV_DB_BLOCK_SIZE = memory("local-kv-db.block-size", "4 kb", "local store block")
LOOKUP_BLOB_AS_DESCRIPTOR = boolean("lookup.blob-as-descriptor", False, "lookup keeps blob reference")
LOOKUP_CACHE_FILE_RETENTION = duration("lookup.cache-file-retention", "1 h", "age of local lookup files")
LOOKUP_CACHE_MAX_DISK_SIZE = memory("lookup.cache-max-disk-size", "infinite", "disk cap")
LOOKUP_CACHE_MAX_MEMORY_SIZE = memory("lookup.cache-max-memory-size", "256 mb", "memory cap")
LOOKUP_CACHE_ROWS = long("lookup.cache-rows", 10000, "row cache size")
LOOKUP_CACHE_SPILL_COMPRESSION = text("lookup.cache-spill-compression", "zstd", "codec of local files")
LOOKUP_CACHE_BLOOM_FILTER_ENABLED = boolean("lookup.cache.bloom.filter.enabled", True, "bloom in lookup files")
LOOKUP_CACHE_BLOOM_FILTER_FPP = number("lookup.cache.bloom.filter.fpp", 0.05, "its false positive rate")
LOOKUP_CACHE_HIGH_PRIORITY_POOL_RATIO = number(
    "lookup.cache.high-priority-pool-ratio", 0.25, "cache share for index blocks"
)
LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL = duration(
    "lookup.continuous.discovery-interval", None, "between two looks for new rows to look up"
)
LOOKUP_HASH_LOAD_FACTOR = number("lookup.hash-load-factor", 0.75, "hash file load factor")
LOOKUP_MERGE_BUFFER_SIZE = memory("lookup.merge-buffer-size", "8 mb", "buffer per merged key")
LOOKUP_MERGE_RECORDS_THRESHOLD = integer("lookup.merge-records-threshold", 1024, "records before buffering")
LOOKUP_REMOTE_FILE_ENABLED = boolean("lookup.remote-file.enabled", False, "share lookup files remotely")
LOOKUP_REMOTE_FILE_LEVEL_THRESHOLD = integer(
    "lookup.remote-file.level-threshold", -2147483648, "lowest level with remote files"
)
