"""Options whose keys contain a name: `fields.<column>.aggregate-function`, `file-index.<kind>.columns` and others."""

from __future__ import annotations

import re
from typing import Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options.enums import problem_of_stats_mode
from paimon_nb.options.option import Option, at_least, boolean, choice, integer, memory, number, text


@dataclass(frozen=True, slots=True)
class Pattern:
    """A family of keys with the option of each key."""

    template: str
    """The key pattern in documentation."""
    regex: str
    option: Option[Any]

    def matches(self, key: str) -> bool:
        return re.fullmatch(self.regex, key, re.DOTALL) is not None


def _field_option(option: Option[Any]) -> Pattern:
    return Pattern(f"fields.<column>.{option.key}", rf"fields\..+\.{re.escape(option.key)}", option)


def _prefix_option(prefix: str, doc: str) -> Pattern:
    return Pattern(f"{prefix}.*", rf"{re.escape(prefix)}\..+", text(f"{prefix}.*", None, doc))


MULTIVALUE_INDEX_COMPRESSION = text(
    "multivalue-index.compression", "none", "codec of the dictionary: none, lz4 or zstd"
)
MULTIVALUE_INDEX_COMPRESSION_LEVEL = integer("multivalue-index.compression-level", 1, "level of that codec")
MULTIVALUE_INDEX_DICTIONARY_BLOCK_SIZE = memory(
    "multivalue-index.dictionary-block-size", "16 kb", "target size of the blocks of the dictionary", check=at_least(1)
)

PATTERNS: tuple[Pattern, ...] = (
    _field_option(text("aggregate-function", None, "how values of one key become one")),
    _field_option(boolean("ignore-retract", False, "the aggregate takes no -U and -D")),
    _field_option(text("list-agg-delimiter", ",", "what listagg puts between values")),
    _field_option(boolean("distinct", False, "collect and listagg keep a value once")),
    _field_option(text("nested-key", None, "columns that identify rows of nested_update")),
    _field_option(text("nested-sequence-field", None, "columns that order rows of nested_update")),
    _field_option(choice("nested-key-null-strategy", "merge", "merge ignore error", "what a nested key with NULL does")),
    _field_option(integer("count-limit", None, "most rows that nested_update keeps")),
    _field_option(text("sequence-group", None, "columns that are updated together, by the order of these")),
    _field_option(text("stats-mode", None, "statistics of this column", check=problem_of_stats_mode)),
    _field_option(text("ts-field", None, "field that orders the entries of merge_map")),
    _field_option(choice("map.storage-layout", "default", "default shared-shredding", "how a MAP column is stored")),
    _field_option(integer("map.shared-shredding.max-columns", 256, "columns a shredded MAP may take", check=at_least(1))),
    _field_option(
        choice("map.shared-shredding.column-placement-policy", "lru", "lru plain sequential", "which key gets which of those columns")
    ),
    _field_option(text("default-value", None, "value for NULL while reading; an older way than DEFAULT")),
    Pattern(
        "field.<column>.vector-dim",
        r"field\..+\.vector-dim",
        integer("vector-dim", None, "length of the vectors of an ARRAY column in vector-field", check=at_least(1)),
    ),
    Pattern(
        "fields.<column>.pk-<kind>.<parameter>",
        r"fields\..+\.pk-(vector|full-text|btree|bitmap|multivalue)\..+",
        text("pk-index.parameter", None, "a parameter of an index of a primary-key table"),
    ),
    Pattern(
        "fields.<column>.distance.metric",
        r"fields\..+\.((index\.)?dimension|(distance\.)?metric|nlist|expected-vector-count|pq\.(m|code-ratio|bits|use-opq)|use-opq|"
        r"rq\.bits|target-recall|max-bytes-per-vector|deployment-profile|train\.sample-ratio|(diskann\.)?(build-preset|max-degree|"
        r"build-search-list-size|alpha|seed|memory-budget-bytes|storage-layout|raw-vector-encoding|build-distance))",
        text("vector-index.option", None, "build option of a vector index of this column, as are dimension, nlist and others"),
    ),
    Pattern(
        "file-index.<kind>.columns",
        r"file-index\.[a-z0-9-]+\.columns",
        text("file-index.columns", None, "columns with this index"),
    ),
    Pattern(
        "file-index.bloom-filter.<column>.fpp",
        r"file-index\.bloom-filter\..+\.fpp",
        number("fpp", 0.1, "share of files read in vain", check=lambda v: None if 0 < v < 1 else "it is above 0 and below 1"),
    ),
    Pattern(
        "file-index.bloom-filter.<column>.items",
        r"file-index\.bloom-filter\..+\.items",
        integer("items", 1_000_000, "distinct values expected in a file", check=at_least(1)),
    ),
    Pattern(
        "file-index.<kind>.<column>.<parameter>",
        r"file-index\.[a-z0-9-]+\..+\..+",
        text("file-index.parameter", None, "a parameter of the index"),
    ),
    Pattern("commit.callback.<n>.param", r"commit\.callback\..+\.param", text("param", None, "for the callback")),
    Pattern("tag.callback.<n>.param", r"tag\.callback\..+\.param", text("param", None, "for the callback")),
    _prefix_option("metadata.iceberg.rest", "setting of the client of Iceberg's REST catalog: uri, warehouse, token ..."),
    _prefix_option("metadata.iceberg.table-properties", "property of the table in Iceberg's REST catalog"),
    _prefix_option("parquet", "handed to the Parquet writer"),
    _prefix_option("orc", "handed to the ORC writer"),
    _prefix_option("avro", "handed to the Avro writer"),
    _prefix_option("csv", "handed to the reader of CSV format tables"),
    _prefix_option("json", "handed to the reader of JSON format tables"),
    *(_prefix_option(kind, f"build option of vector indexes of type {kind}")
      for kind in ("ivf-flat", "ivf-pq", "ivf-sq", "ivf-rq", "diskann")),
    _prefix_option("full-text", "build option of full-text indexes: tokenizer, language, stem ..."),
    _prefix_option("multivalue-index", "build option of indexes of array elements: compression, dictionary-block-size ..."),
    _prefix_option("s3", "access to S3"),
    _prefix_option("s3a", "access to S3"),
    _prefix_option("oss", "access to OSS; used by Java only"),
    _prefix_option("fs", "a file system's own option"),
    _prefix_option("hadoop", "Hadoop's own option"),
    _prefix_option("jdbc", "connection of a JDBC catalog"),
    _prefix_option("security.kerberos", "Kerberos"),
    _prefix_option("table-default", "default of a table option, on a catalog"),
    _prefix_option("header", "header of a REST catalog's requests"),
    _prefix_option("dlf", "REST catalog of DLF"),
)  # fmt: skip
"""The first match counts."""


def find_pattern(key: str) -> Pattern | None:
    """The family that `key` belongs to."""
    return next((p for p in PATTERNS if p.matches(key)), None)
