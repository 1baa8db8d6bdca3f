"""How rows are laid out: kind of table, keys, buckets, partition names, places of files."""

from __future__ import annotations

from paimon_nb.options.option import (
    at_least,
    boolean,
    check_bucket_count,
    choice,
    duration,
    integer,
    long,
    memory,
    text,
)

AUTO_CREATE = boolean("auto-create", False, "make the table at its path when a connector uses it first")
BRANCH = text("branch", "main", "branch to read and write")
BUCKET = integer(
    "bucket",
    -1,
    "number of buckets; -1 dynamic (keyed) or bucket-unaware (append), -2 postponed",
    check=check_bucket_count,
)
BUCKET_APPEND_ORDERED = boolean(
    "bucket-append-ordered", True, "rows of a bucket of an append table are read in the order they were written"
)
BUCKET_FUNCTION_TYPE = choice(
    "bucket-function.type",
    "default",
    "default mod hive",
    "how a key becomes a bucket: default is Murmur3 of the binary row, mod is the number itself, hive is Hive's hash",
    fixed_after_data=True,
)
BUCKET_KEY = text(
    "bucket-key",
    None,
    "columns hashed to a bucket; the primary key without partition columns unless set",
    fixed_after_data=True,
)
CROSS_PARTITION_UPSERT_BOOTSTRAP_PARALLELISM = integer(
    "cross-partition-upsert.bootstrap-parallelism", 10, "threads loading key index"
)
CROSS_PARTITION_UPSERT_INDEX_TTL = duration("cross-partition-upsert.index-ttl", None, "age limit of key index")
DATA_FILE_EXTERNAL_PATHS = text("data-file.external-paths", None, "other roots for data files, separated by commas")
DATA_FILE_EXTERNAL_PATHS_SPECIFIC_FS = text(
    "data-file.external-paths.specific-fs", None, "scheme to use with the strategy specific-fs"
)
DATA_FILE_EXTERNAL_PATHS_STRATEGY = choice(
    "data-file.external-paths.strategy",
    "none",
    "none specific-fs round-robin weight-robin entropy-inject",
    "how a root is chosen for a new data file",
)
DATA_FILE_EXTERNAL_PATHS_WEIGHTS = text("data-file.external-paths.weights", None, "weights of external roots")
DATA_FILE_PATH_DIRECTORY = text(
    "data-file.path-directory",
    None,
    "directory below the table's path that holds the data files",
    fixed_after_data=True,
)
DYNAMIC_BUCKET_ASSIGNER_PARALLELISM = integer(
    "dynamic-bucket.assigner-parallelism",
    None,
    "as dynamic-bucket.initial-buckets, where that is not set",
    check=at_least(1),
)
DYNAMIC_BUCKET_INITIAL_BUCKETS = integer(
    "dynamic-bucket.initial-buckets",
    None,
    "buckets that the first keys of a partition are spread over; one unless set, or up to 8 with dynamic-bucket.max-buckets",
    check=at_least(1),
)
DYNAMIC_BUCKET_MAX_BUCKETS = integer("dynamic-bucket.max-buckets", -1, "most buckets of a partition; -1 no limit")
DYNAMIC_BUCKET_TARGET_ROW_NUM = long(
    "dynamic-bucket.target-row-num", 2000000, "keys in a bucket before the next one is opened", check=at_least(1)
)
DYNAMIC_PARTITION_OVERWRITE = boolean(
    "dynamic-partition-overwrite", True, "INSERT OVERWRITE replaces only the partitions it writes to"
)
INDEX_FILE_IN_DATA_FILE_DIR = boolean(
    "index-file-in-data-file-dir", False, "keep index files beside the data files", fixed_after_data=True
)
PARTITION = text("partition", None, "partition columns, for clients without SQL DDL", fixed_after_data=True)
PARTITION_DEFAULT_NAME = text("partition.default-name", "__DEFAULT_PARTITION__", "directory value for NULL and blank")
PARTITION_LEGACY_NAME = boolean(
    "partition.legacy-name", True, "write partition values as Java's toString does: dates as day numbers"
)
PARTITION_SINK_STRATEGY = choice(
    "partition.sink-strategy", "none", "none hash partition_dynamic", "shuffle by partition"
)
PATH = text("path", None, "place of the table, where no catalog knows it")
POSTPONE_BATCH_WRITE_FIXED_BUCKET = boolean("postpone.batch-write-fixed-bucket", True, "batch writes real buckets")
POSTPONE_BATCH_WRITE_FIXED_BUCKET_MAX_PARALLELISM = integer(
    "postpone.batch-write-fixed-bucket.max-parallelism", 2048, "bucket cap"
)
POSTPONE_BATCH_WRITE_FIXED_BUCKET_RESCALE_LOAD_FACTOR = integer(
    "postpone.batch-write-fixed-bucket.rescale-load-factor", 32, "load before rescale"
)
POSTPONE_DEFAULT_BUCKET_NUM = integer(
    "postpone.default-bucket-num", None, "buckets of new partitions", check=at_least(1)
)
POSTPONE_MERGE_ON_READ = boolean("postpone.merge-on-read", False, "read postponed rows too")
POSTPONE_TARGET_ROW_NUM_PER_BUCKET = long("postpone.target-row-num-per-bucket", None, "rows per bucket estimate")
POSTPONE_TARGET_SIZE_PER_BUCKET = memory("postpone.target-size-per-bucket", "1 gb", "bytes per bucket estimate")
PRIMARY_KEY = text("primary-key", None, "primary key columns, for clients without SQL DDL", fixed_after_data=True)
PRIMARY_KEY_NULLABLE = boolean("primary-key.nullable", False, "allow NULL in the primary key", fixed_after_data=True)
TYPE = choice(
    "type",
    "table",
    "table format-table materialized-table object-table lance-table iceberg-table",
    "kind of table",
    fixed_after_data=True,
)
