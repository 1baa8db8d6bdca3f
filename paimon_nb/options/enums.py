"""Words that several options share: file formats, codecs and statistics modes."""

from __future__ import annotations

import re

FORMATS = frozenset({"avro", "csv", "json", "orc", "parquet", "text"})
"""Formats of data files; what the table's kind allows of them is not decided here."""

CODECS = frozenset({
    "none", "null", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "lz4_hadoop", "zstd", "zstandard", "zlib", "deflate",
    "lzo", "brotli", "bzip2", "xz",
})  # fmt: skip
"""Codecs that Parquet, ORC or Avro know by these names, in any case."""


def stats_mode(value: str) -> str | None:
    """Why `value` is no statistics mode, or None. Source: Paimon's SimpleColStatsCollector."""
    if re.fullmatch(r"none|full|counts|truncate\([1-9][0-9]*\)", value, re.IGNORECASE):
        return None
    return "it is one of none, counts, full, truncate(length)"
