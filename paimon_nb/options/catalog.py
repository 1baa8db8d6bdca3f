"""Options of a catalog.

Names and defaults are Paimon's (its option reference); the words are ours.
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import Option, boolean, duration, integer, memory, text

CACHE_ENABLED = boolean("cache-enabled", True, "catalog object cache")
CACHE_DELETION_VECTORS_MAX_NUM = integer("cache.deletion-vectors.max-num", 100000, "DV metas cached")
CACHE_EXPIRE_AFTER_ACCESS = duration("cache.expire-after-access", "10 min", "idle lifetime")
CACHE_EXPIRE_AFTER_WRITE = duration("cache.expire-after-write", "30 min", "max lifetime")
CACHE_MANIFEST_MAX_MEMORY = memory("cache.manifest.max-memory", None, "manifest cache cap")
CACHE_MANIFEST_SMALL_FILE_MEMORY = memory("cache.manifest.small-file-memory", "128 mb", "memory for small manifests")
CACHE_MANIFEST_SMALL_FILE_THRESHOLD = memory("cache.manifest.small-file-threshold", "1 mb", "what is small")
CACHE_MANIFEST_SOFT_VALUES = boolean("cache.manifest.soft-values", True, "soft references")
CACHE_PARTITION_MAX_NUM = integer("cache.partition.max-num", 0, "partitions cached")
CACHE_SNAPSHOT_MAX_NUM_PER_TABLE = integer("cache.snapshot.max-num-per-table", 20, "snapshots cached")
CASE_SENSITIVE = boolean("case-sensitive", None, "name case rule")
CATALOG_OPTIONS_TABLE_ENABLED = boolean("catalog-options-table.enabled", False, "sys.catalog_options on")
CLIENT_POOL_SIZE = integer("client-pool-size", 2, "connections")
FILE_IO_ALLOW_CACHE = boolean("file-io.allow-cache", True, "static FileIO cache")
FORMAT_TABLE_ENABLED = boolean("format-table.enabled", True, "format tables on")
LOCAL_CACHE_BLOCK_SIZE = memory("local-cache.block-size", "1 mb", "block size")
LOCAL_CACHE_DIR = text("local-cache.dir", None, "disk location")
LOCAL_CACHE_ENABLED = boolean("local-cache.enabled", False, "local block cache")
LOCAL_CACHE_MAX_SIZE = memory("local-cache.max-size", None, "cap")
LOCAL_CACHE_WHITELIST = text("local-cache.whitelist", "meta,global-index", "file kinds cached")
LOCK_ACQUIRE_TIMEOUT = duration("lock-acquire-timeout", "8 min", "lock wait")
LOCK_CHECK_MAX_SLEEP = duration("lock-check-max-sleep", "8 s", "lock poll ceiling")
LOCK_ENABLED = boolean("lock.enabled", None, "catalog lock on")
LOCK_TYPE = text("lock.type", None, "hive, jdbc, …")
METASTORE = text("metastore", "filesystem", "filesystem, hive, jdbc, rest")
RESOLVING_FILE_IO_ENABLED = boolean("resolving-file-io.enabled", False, "several schemes per table")
SYNC_ALL_PROPERTIES = boolean("sync-all-properties", True, "copy options to metastore")
TABLE_TYPE = text("table.type", "managed", "managed or external")
URI = text("uri", None, "metastore address")
WAREHOUSE = text("warehouse", None, "root path")

CATALOG_OPTIONS: Registry[Option[object]] = Registry(
    "catalog option", {o.key: o for o in list(globals().values()) if isinstance(o, Option)}
)
