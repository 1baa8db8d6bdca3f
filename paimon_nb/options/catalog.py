"""Options of a catalog, by its kind, and of the file systems below it.

Names and defaults are Paimon's (its option reference); descriptions are ours.
"""

from __future__ import annotations

from paimon_nb.base.registry import Registry
from paimon_nb.options.option import Option, boolean, choice, duration, integer, long, memory, text

# Every catalog.
METASTORE = text("metastore", "filesystem", "kind of catalog: filesystem, hive, jdbc, rest")
WAREHOUSE = text("warehouse", None, "root directory of databases and tables")
URI = text("uri", None, "address of the metastore, the database, or the REST server")
DATA_FILE_EXTERNAL_PATHS = text(
    "data-file.external-paths",
    None,
    "locations outside the warehouse, separated by commas, where tables may store data files",
)
ALLOWED_SERVERS = text(
    "allowed-servers",
    None,
    "addresses of servers, separated by commas, to which requests may be sent if a table's options name them",
)
TABLE_TYPE = choice("table.type", "managed", "managed external", "whether DROP TABLE deletes the files")
CASE_SENSITIVE = boolean(
    "case-sensitive", None, "whether names are case-sensitive", fallback_keys=("allow-upper-case",)
)
SYNC_ALL_PROPERTIES = boolean("sync-all-properties", True, "copy all table options to the metastore")
FORMAT_TABLE_ENABLED = boolean("format-table.enabled", True, "show tables of plain files")
CATALOG_OPTIONS_TABLE_ENABLED = boolean("catalog-options-table.enabled", False, "answer sys.catalog_options")
CLIENT_POOL_SIZE = integer("client-pool-size", 2, "connections to the metastore")
FILE_IO_ALLOW_CACHE = boolean("file-io.allow-cache", True, "share file systems between catalogs")
RESOLVING_FILE_IO_ENABLED = boolean("resolving-file-io.enabled", False, "tables may use several schemes")
DEFAULT_DATABASE = text("default-database", "default", "database of a new session in Flink")
SPARK_DEFAULT_DATABASE = text("defaultDatabase", "default", "database of a new session in Spark")
DISABLE_CREATE_TABLE_IN_DEFAULT_DB = boolean(
    "disable-create-table-in-default-db", False, "forbid tables in the default database"
)

# Credentials, for a warehouse with privileges.
USER = text("user", "anonymous", "user of a warehouse with privileges")
PASSWORD = text("password", "anonymous", "the user's password")

# Locks, for stores that cannot publish a file exclusively.
LOCK_ENABLED = boolean("lock.enabled", None, "take the catalog's lock for every commit")
LOCK_TYPE = text("lock.type", None, "kind of lock: hive, jdbc")
LOCK_ACQUIRE_TIMEOUT = duration("lock-acquire-timeout", "8 min", "longest wait for the lock")
LOCK_CHECK_MAX_SLEEP = duration("lock-check-max-sleep", "8 s", "longest pause between two attempts")

# Caches.
CACHE_ENABLED = boolean("cache-enabled", True, "cache databases, tables and manifests")
CACHE_EXPIRE_AFTER_ACCESS = duration(
    "cache.expire-after-access",
    "10 min",
    "cache expiry after the last access",
    fallback_keys=("cache.expiration-interval",),
)
CACHE_EXPIRE_AFTER_WRITE = duration("cache.expire-after-write", "30 min", "cache expiry after the write")
CACHE_DELETION_VECTORS_MAX_NUM = integer("cache.deletion-vectors.max-num", 100000, "number of cached deletion vectors")
CACHE_MANIFEST_MAX_MEMORY = memory("cache.manifest.max-memory", None, "memory for all manifests")
CACHE_MANIFEST_SMALL_FILE_MEMORY = memory("cache.manifest.small-file-memory", "128 mb", "memory for small manifests")
CACHE_MANIFEST_SMALL_FILE_THRESHOLD = memory(
    "cache.manifest.small-file-threshold", "1 mb", "maximum size of a small manifest"
)
CACHE_MANIFEST_SOFT_VALUES = boolean("cache.manifest.soft-values", True, "free cached manifests when memory is short")
CACHE_PARTITION_MAX_NUM = long("cache.partition.max-num", 0, "partitions remembered")
CACHE_SNAPSHOT_MAX_NUM_PER_TABLE = integer("cache.snapshot.max-num-per-table", 20, "snapshots remembered")
LOCAL_CACHE_ENABLED = boolean("local-cache.enabled", False, "cache blocks of remote files on local disk")
LOCAL_CACHE_BLOCK_SIZE = memory("local-cache.block-size", "1 mb", "size of such a block")
LOCAL_CACHE_DIR = text("local-cache.dir", None, "directory of the cache")
LOCAL_CACHE_MAX_SIZE = memory("local-cache.max-size", None, "maximum size of the cache")
LOCAL_CACHE_WHITELIST = text("local-cache.whitelist", "meta,global-index", "kinds of files that are cached")

# Hive.
ALTER_TABLE_CASCADE = boolean("alter-table-cascade", True, "ALTER also changes the partitions' schemas")
CLIENT_POOL_CACHE_EVICTION_INTERVAL_MS = long(
    "client-pool-cache.eviction-interval-ms", 300_000, "idle clients are closed after so many ms"
)
CLIENT_POOL_CACHE_KEYS = text("client-pool-cache.keys", None, "properties that distinguish clients")
HADOOP_CONF_DIR = text("hadoop-conf-dir", None, "directory of Hadoop's configuration")
HIVE_CONF_DIR = text("hive-conf-dir", None, "directory of hive-site.xml")
HIVE_SKIP_UPDATE_STATS = boolean("hive.skip-update-stats", False, "ALTER does not update Hive's statistics")
LOCATION_IN_PROPERTIES = boolean("location-in-properties", False, "store a table's location in its properties")
METASTORE_CLIENT_CLASS = text(
    "metastore.client.class", "org.apache.hadoop.hive.metastore.HiveMetaStoreClient", "class of the client, in Java"
)

# JDBC.
CATALOG_KEY = text("catalog-key", "jdbc", "name of this catalog among others in one database")
LOCK_KEY_MAX_LENGTH = integer("lock-key-max-length", 255, "longest name of a lock")
JDBC_USER = text("jdbc.user", None, "user of the database")
JDBC_PASSWORD = text("jdbc.password", None, "password of the database")
LINEAGE_USE_CATALOG_KEY_AS_IDENTIFIER = boolean(
    "lineage-use-catalog-key-as-identifier", False, "Flink's lineage names the catalog by its key"
)

# Spark.
CATALOG_CREATE_UNDERLYING_SESSION_CATALOG = boolean(
    "catalog.create-underlying-session-catalog", False, "a generic catalog has its own session catalog"
)
V1_FUNCTION_ENABLED = boolean("v1Function.enabled", True, "functions of the session catalog are visible")

# REST.
TOKEN_PROVIDER = text("token.provider", None, "how requests to the REST server are signed: bear or dlf")
TOKEN = text("token", None, "bearer token")
TOKEN_PATH = text("token.path", None, "file with the bearer token; read again when it changes")
REST_CONNECTION_TIMEOUT = duration(
    "rest.client.connection-timeout", "10 s", "time to open a connection to the REST server"
)
REST_READ_TIMEOUT = duration("rest.client.read-timeout", "60 s", "time for one reply of the REST server")
DATA_TOKEN_ENABLED = boolean(
    "data-token.enabled", False, "ask the REST server for each table's storage credentials, and renew them"
)
DLF_REGION = text("dlf.region", None, "region that DLF's signatures are for; default: the one in the address")
DLF_ACCESS_KEY_ID = text("dlf.access-key-id", None, "access key for DLF")
DLF_ACCESS_KEY_SECRET = text("dlf.access-key-secret", None, "secret of the access key")
DLF_SECURITY_TOKEN = text("dlf.security-token", None, "security token of a temporary access key")
DLF_TOKEN_LOADER = text("dlf.token-loader", None, "where temporary access keys come from: local_file or ecs")
DLF_TOKEN_PATH = text("dlf.token-path", None, "file with a temporary access key as JSON; read again before it expires")
DLF_TOKEN_ECS_METADATA_URL = text(
    "dlf.token-ecs-metadata-url",
    "http://100.100.100.200/latest/meta-data/Ram/security-credentials/",
    "address of the ECS metadata service",
)
DLF_TOKEN_ECS_ROLE_NAME = text("dlf.token-ecs-role-name", None, "RAM role of the ECS instance; default: the one it has")
DLF_SIGNING_ALGORITHM = text(
    "dlf.signing-algorithm",
    None,
    "default (DLF4-HMAC-SHA256) or openapi; default: openapi for addresses with 'dlfnext'",
)
PREFIX = text("prefix", None, "path segment after /v1 of the REST server; the server sets it")

# S3 and what speaks its protocol.
S3_ENDPOINT = text(
    "s3.endpoint", None, "address of the server; default: Amazon", fallback_keys=("s3a.endpoint", "fs.s3a.endpoint")
)
S3_ACCESS_KEY = text(
    "s3.access-key", None, "who asks",
    fallback_keys=("s3.access.key", "s3a.access-key", "s3a.access.key", "fs.s3a.access-key", "fs.s3a.access.key"),
)  # fmt: skip
S3_SECRET_KEY = text(
    "s3.secret-key", None, "secret key",
    fallback_keys=("s3.secret.key", "s3a.secret-key", "s3a.secret.key", "fs.s3a.secret-key", "fs.s3a.secret.key"),
)  # fmt: skip
S3_SESSION_TOKEN = text(
    "s3.session.token", None, "token of a temporary key", fallback_keys=("s3a.session.token", "fs.s3a.session.token")
)
S3_REGION = text(
    "s3.region", None, "region of the bucket",
    fallback_keys=("s3.endpoint.region", "s3a.endpoint.region", "fs.s3a.endpoint.region"),
)  # fmt: skip
S3_PATH_STYLE_ACCESS = boolean(
    "s3.path-style-access", False, "the bucket is in the path, not in the host name",
    fallback_keys=("s3.path.style.access", "s3a.path.style.access", "fs.s3a.path-style-access", "fs.s3a.path.style.access"),
)  # fmt: skip

CATALOG_OPTIONS: Registry[Option[object]] = Registry(
    "catalog option", {o.key: o for o in list(globals().values()) if isinstance(o, Option)}
)
