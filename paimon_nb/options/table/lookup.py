"""Caches and local files of lookups."""

from __future__ import annotations

from paimon_nb.options.option import boolean, duration, integer, long, memory, number, text

LOCAL_KV_DB_BLOCK_SIZE = memory("local-kv-db.block-size", "4 kb", "block size of local lookup files")
LOOKUP_BLOB_AS_DESCRIPTOR = boolean("lookup.blob-as-descriptor", False, "cache blob references instead of blobs")
LOOKUP_CACHE_FILE_RETENTION = duration("lookup.cache-file-retention", "1 h", "how long local lookup files are retained")
LOOKUP_CACHE_MAX_DISK_SIZE = memory("lookup.cache-max-disk-size", "infinite", "maximum disk usage of the cache")
LOOKUP_CACHE_MAX_MEMORY_SIZE = memory("lookup.cache-max-memory-size", "256 mb", "maximum memory of the cache")
LOOKUP_CACHE_ROWS = long("lookup.cache-rows", 10000, "number of rows in the row cache")
LOOKUP_CACHE_SPILL_COMPRESSION = text("lookup.cache-spill-compression", "zstd", "codec of local lookup files")
LOOKUP_CACHE_BLOOM_FILTER_ENABLED = boolean(
    "lookup.cache.bloom.filter.enabled", True, "write Bloom filters to local lookup files"
)
LOOKUP_CACHE_BLOOM_FILTER_FPP = number(
    "lookup.cache.bloom.filter.fpp", 0.05, "false positive rate of the Bloom filters"
)
LOOKUP_CACHE_HIGH_PRIORITY_POOL_RATIO = number(
    "lookup.cache.high-priority-pool-ratio", 0.25, "share of the cache for index and filter blocks"
)
LOOKUP_CONTINUOUS_DISCOVERY_INTERVAL = duration(
    "lookup.continuous.discovery-interval", None, "interval between refreshes of the lookup table"
)
LOOKUP_HASH_LOAD_FACTOR = number("lookup.hash-load-factor", 0.75, "load factor of hash lookup files")
LOOKUP_MERGE_BUFFER_SIZE = memory("lookup.merge-buffer-size", "8 mb", "memory for the records of a key in a merge")
LOOKUP_MERGE_RECORDS_THRESHOLD = integer(
    "lookup.merge-records-threshold", 1024, "number of records of a key from which they are buffered on disk"
)
LOOKUP_REMOTE_FILE_ENABLED = boolean(
    "lookup.remote-file.enabled", False, "store lookup files in the file system of the table"
)
LOOKUP_REMOTE_FILE_LEVEL_THRESHOLD = integer(
    "lookup.remote-file.level-threshold", -2147483648, "lowest LSM level with remote lookup files"
)
