"""Data files, their indexes and statistics."""

from __future__ import annotations

from paimon_nb.options.enums import CODECS, FORMATS, problem_of_stats_mode
from paimon_nb.options.option import (
    LONG_MAX,
    at_least,
    between,
    boolean,
    choice,
    integer,
    long,
    mapping,
    memory,
    one_of,
    text,
    values_by_level,
)


def _modes_by_level(pairs: dict[str, str]) -> str | None:
    return values_by_level()(pairs) or next((why for why in map(problem_of_stats_mode, pairs.values()) if why), None)


def _check_boolean_or_number(value: str) -> str | None:
    """Java declares the option as Integer. Parquet's reader parses it as a boolean and treats numbers as true."""
    return None if value.lower() in ("true", "false") or value.lstrip("-").isdecimal() else "it must be true or false"


ASYNC_FILE_WRITE = boolean("async-file-write", True, "write files asynchronously")
CHANGELOG_FILE_COMPRESSION = text(
    "changelog-file.compression", None, "codec of changelog files; default: as for data files", check=one_of(CODECS)
)
CHANGELOG_FILE_FORMAT = choice(
    "changelog-file.format", None, " ".join(sorted(FORMATS)), "format of changelog files; default: as for data files"
)
CHANGELOG_FILE_PREFIX = text("changelog-file.prefix", "changelog-", "prefix of changelog file names")
CHANGELOG_FILE_STATS_MODE = text(
    "changelog-file.stats-mode",
    None,
    "statistics mode of changelog files; default: as for data files",
    check=problem_of_stats_mode,
)
DATA_FILE_PREFIX = text("data-file.prefix", "data-", "prefix of data file names")
DATA_FILE_THIN_MODE = boolean(
    "data-file.thin-mode", False, "omit the _KEY_ columns from data files; the value columns contain the same values"
)
FILE_INDEX_IN_MANIFEST_THRESHOLD = memory(
    "file-index.in-manifest-threshold",
    "500 bytes",
    "maximum size of an index that is stored in the manifest; a larger index has its own file",
)
FILE_INDEX_READ_ENABLED = boolean("file-index.read.enabled", True, "use file indexes to skip files")
FILE_OPERATION_THREAD_NUM = integer(
    "file-operation.thread-num",
    None,
    "threads for file operations such as deletes",
    fallback_keys=("delete-file.thread-num",),
)
FILE_READER_ASYNC_THRESHOLD = memory(
    "file-reader-async-threshold", "10 mb", "minimum size of files that are read asynchronously"
)
FILE_BLOCK_SIZE = memory("file.block-size", None, "size of a row group or stripe")
FILE_COMPRESSION = text("file.compression", "zstd", "codec of data files", check=one_of(CODECS))
FILE_COMPRESSION_PER_LEVEL = mapping("file.compression.per.level", "codec by LSM level", check=values_by_level(CODECS))
FILE_COMPRESSION_ZSTD_LEVEL = integer(
    "file.compression.zstd-level", 1, "compression level of zstd, 1 to 22", check=between(1, 22)
)
FILE_FORMAT = choice("file.format", "parquet", " ".join(sorted(FORMATS)), "format of data files")
FILE_FORMAT_PER_LEVEL = mapping("file.format.per.level", "file format by LSM level", check=values_by_level(FORMATS))
FILE_SUFFIX_INCLUDE_COMPRESSION = boolean("file.suffix.include.compression", False, "include the codec in file names")
METADATA_STATS_DENSE_STORE = boolean(
    "metadata.stats-dense-store", True, "omit columns without statistics from the stored statistics"
)
METADATA_STATS_KEEP_FIRST_N_COLUMNS = integer(
    "metadata.stats-keep-first-n-columns", -1, "number of leading columns with statistics; -1 all"
)
METADATA_STATS_MODE = text(
    "metadata.stats-mode",
    "truncate(16)",
    "column statistics in a file: none, counts, truncate(length), full",
    check=problem_of_stats_mode,
)
METADATA_STATS_MODE_PER_LEVEL = mapping(
    "metadata.stats-mode.per.level", "statistics mode by LSM level", check=_modes_by_level
)
PARQUET_ENABLE_DICTIONARY = text(
    "parquet.enable.dictionary",
    None,
    "'false' disables dictionary encoding; by default columns with repeated values use it",
    check=_check_boolean_or_number,
)
TARGET_FILE_ROW_NUM = long("target-file-row-num", LONG_MAX, "maximum number of rows in a data file", check=at_least(1))
TARGET_FILE_SIZE = memory(
    "target-file-size",
    None,
    "target size of data files; default: 128 MB for primary-key tables, 256 MB for append tables",
    check=at_least(1),
)
