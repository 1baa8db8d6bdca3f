"""Data files, their indexes and statistics."""

from __future__ import annotations

from paimon_nb.options.enums import CODECS, FORMATS, stats_mode
from paimon_nb.options.option import (
    among,
    at_least,
    between,
    boolean,
    choice,
    integer,
    levels_of,
    long,
    mapping,
    memory,
    text,
)
from paimon_nb.options.parsing import LONG_MAX


def _modes_by_level(pairs: dict[str, str]) -> str | None:
    return levels_of()(pairs) or next((why for why in map(stats_mode, pairs.values()) if why), None)


def _switch(value: str) -> str | None:
    """Java types this option Integer and never reads it so: Parquet's own reader wants a boolean, and takes numbers as true."""
    return None if value.lower() in ("true", "false") or value.lstrip("-").isdecimal() else "it is true or false"


ASYNC_FILE_WRITE = boolean("async-file-write", True, "write files with async IO")
CHANGELOG_FILE_COMPRESSION = text(
    "changelog-file.compression", None, "codec of changelog files; as data files unless set", check=among(CODECS)
)
CHANGELOG_FILE_FORMAT = choice(
    "changelog-file.format", None, " ".join(sorted(FORMATS)), "format of changelog files; as data files unless set"
)
CHANGELOG_FILE_PREFIX = text("changelog-file.prefix", "changelog-", "start of a changelog file's name")
CHANGELOG_FILE_STATS_MODE = text(
    "changelog-file.stats-mode", None, "statistics mode of changelog files; as data files unless set", check=stats_mode
)
DATA_FILE_PREFIX = text("data-file.prefix", "data-", "start of a data file's name")
DATA_FILE_THIN_MODE = boolean(
    "data-file.thin-mode", False, "leave the _KEY_ columns out of data files; they are among the values anyway"
)
FILE_INDEX_IN_MANIFEST_THRESHOLD = memory(
    "file-index.in-manifest-threshold",
    "500 bytes",
    "an index up to this size is kept in the manifest, a larger one in its own file",
)
FILE_INDEX_READ_ENABLED = boolean("file-index.read.enabled", True, "skip files by their indexes")
FILE_OPERATION_THREAD_NUM = integer(
    "file-operation.thread-num", None, "parallel deletes etc.", fallback_keys=("delete-file.thread-num",)
)
FILE_READER_ASYNC_THRESHOLD = memory("file-reader-async-threshold", "10 mb", "async read above this size")
FILE_BLOCK_SIZE = memory("file.block-size", None, "size of a row group or stripe")
FILE_COMPRESSION = text("file.compression", "zstd", "codec of data files", check=among(CODECS))
FILE_COMPRESSION_PER_LEVEL = mapping(
    "file.compression.per.level", "codec by level of the tree", check=levels_of(CODECS)
)
FILE_COMPRESSION_ZSTD_LEVEL = integer("file.compression.zstd-level", 1, "effort of zstd, 1 to 22", check=between(1, 22))
FILE_FORMAT = choice("file.format", "parquet", " ".join(sorted(FORMATS)), "format of data files")
FILE_FORMAT_PER_LEVEL = mapping("file.format.per.level", "format by level of the tree", check=levels_of(FORMATS))
FILE_SUFFIX_INCLUDE_COMPRESSION = boolean("file.suffix.include.compression", False, "put the codec in the file's name")
METADATA_STATS_DENSE_STORE = boolean("metadata.stats-dense-store", True, "store no statistics for columns without any")
METADATA_STATS_KEEP_FIRST_N_COLUMNS = integer(
    "metadata.stats-keep-first-n-columns", -1, "statistics for the first columns only; -1 all"
)
METADATA_STATS_MODE = text(
    "metadata.stats-mode",
    "truncate(16)",
    "what is known of each column in a file: none, counts, truncate(length), full",
    check=stats_mode,
)
METADATA_STATS_MODE_PER_LEVEL = mapping(
    "metadata.stats-mode.per.level", "statistics mode by level of the tree", check=_modes_by_level
)
PARQUET_ENABLE_DICTIONARY = text(
    "parquet.enable.dictionary",
    None,
    "'false' writes no dictionaries; else columns whose values come again have one",
    check=_switch,
)
TARGET_FILE_ROW_NUM = long("target-file-row-num", LONG_MAX, "rows at which a data file rolls", check=at_least(1))
TARGET_FILE_SIZE = memory(
    "target-file-size",
    None,
    "bytes at which a data file rolls; 128 MB for keyed tables, 256 MB for append tables unless set",
    check=at_least(1),
)
