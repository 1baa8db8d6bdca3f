"""Options whose keys contain a name: `fields.<column>.aggregate-function`, `file-index.<kind>.columns` and others."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from paimon_nb.options.enums import stats_mode
from paimon_nb.options.option import Option, at_least, boolean, choice, integer, number, text


@dataclass(frozen=True, slots=True)
class Pattern:
    """A family of keys with the option of each key."""

    template: str
    """The key pattern in documentation."""
    regex: str
    option: Option[Any]

    def matches(self, key: str) -> bool:
        return re.fullmatch(self.regex, key, re.DOTALL) is not None


def _field(option: Option[Any]) -> Pattern:
    return Pattern(f"fields.<column>.{option.key}", rf"fields\..+\.{re.escape(option.key)}", option)


def _prefix(prefix: str, doc: str) -> Pattern:
    return Pattern(f"{prefix}.*", rf"{re.escape(prefix)}\..+", text(f"{prefix}.*", None, doc))


PATTERNS: tuple[Pattern, ...] = (
    _field(text("aggregate-function", None, "how values of one key become one")),
    _field(boolean("ignore-retract", False, "the aggregate takes no -U and -D")),
    _field(text("list-agg-delimiter", ",", "what listagg puts between values")),
    _field(boolean("distinct", False, "collect and listagg keep a value once")),
    _field(text("nested-key", None, "columns that tell rows of nested_update apart")),
    _field(text("nested-sequence-field", None, "columns that order rows of nested_update")),
    _field(choice("nested-key-null-strategy", "merge", "merge ignore error", "what a nested key with NULL does")),
    _field(integer("count-limit", None, "most rows that nested_update keeps")),
    _field(text("sequence-group", None, "columns that are updated together, by the order of these")),
    _field(text("stats-mode", None, "statistics of this column", check=stats_mode)),
    _field(text("ts-field", None, "field that orders the entries of merge_map")),
    _field(choice("map.storage-layout", "default", "default shared-shredding", "how a MAP column is stored")),
    _field(integer("map.shared-shredding.max-columns", 256, "columns a shredded MAP may take", check=at_least(1))),
    _field(text("map.shared-shredding.column-placement-policy", None, "which key gets which of those columns")),
    _field(text("default-value", None, "value for NULL while reading; an older way than DEFAULT")),
    Pattern(
        "fields.<column>.pk-<kind>.<parameter>",
        r"fields\..+\.pk-(vector|full-text|btree|bitmap|multivalue)\..+",
        text("pk-index.parameter", None, "a parameter of a primary-key index; built by Java only"),
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
    _prefix("parquet", "handed to the Parquet writer"),
    _prefix("orc", "handed to the ORC writer"),
    _prefix("avro", "handed to the Avro writer"),
    _prefix("csv", "handed to the reader of CSV format tables"),
    _prefix("json", "handed to the reader of JSON format tables"),
    _prefix("metadata.iceberg", "Iceberg metadata beside the table; kept, written by Java only"),
    _prefix("s3", "access to S3"),
    _prefix("s3a", "access to S3"),
    _prefix("oss", "access to OSS; used by Java only"),
    _prefix("fs", "a file system's own option"),
    _prefix("hadoop", "Hadoop's own option"),
    _prefix("jdbc", "connection of a JDBC catalog"),
    _prefix("security.kerberos", "Kerberos"),
    _prefix("table-default", "default of a table option, on a catalog"),
    _prefix("header", "header of a REST catalog's requests"),
    _prefix("dlf", "REST catalog of DLF"),
)  # fmt: skip
"""The first match counts."""


def find_pattern(key: str) -> Pattern | None:
    """The family that `key` belongs to."""
    return next((p for p in PATTERNS if p.matches(key)), None)
