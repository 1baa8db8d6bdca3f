"""Enum values shared by options: file formats, codecs and statistics modes."""

from __future__ import annotations

import re

FORMATS = frozenset({"avro", "csv", "json", "lance", "orc", "parquet", "text", "vortex"})
"""Formats of data files; whether the table's kind allows them is checked elsewhere."""

CODECS = frozenset({
    "none", "null", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "lz4_hadoop", "zstd", "zstandard", "zlib", "deflate",
    "lzo", "brotli", "bzip2", "xz",
})  # fmt: skip
"""Codec names of Parquet, ORC and Avro, case-insensitive."""


def problem_of_stats_mode(value: str) -> str | None:
    """Why `value` is not a statistics mode, or None. Source: Paimon's SimpleColStatsCollector."""
    if re.fullmatch(r"none|full|counts|truncate\([1-9][0-9]*\)", value, re.IGNORECASE):
        return None
    return "it is one of none, counts, full, truncate(length)"
