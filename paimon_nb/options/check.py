"""Checks all options of a table at once: wrong values are errors, unknown names are warnings with the nearest name."""

from __future__ import annotations

import re
from collections.abc import Mapping

from paimon_nb.base.errors import BadOptionValue
from paimon_nb.base.registry import nearest
from paimon_nb.options.connector import CONNECTOR_OPTIONS
from paimon_nb.options.table import TABLE_OPTIONS

_PATTERNS = re.compile(
    r"fields\..+\.(aggregate-function|ignore-retract|list-agg-delimiter|distinct|nested-key|count-limit|"
    r"nested-sequence-field|nested-key-null-strategy|sequence-group|stats-mode|default-value)"
    r"|file-index\.[a-z0-9-]+\..+|(parquet|orc|avro|csv|json|metadata\.iceberg|materialized-table|watermark|s3|oss|fs|hadoop)\..+"
    r"|(commit|tag)\.callback\..+\.param|(primary-key|partition|path|comment|owner|provider|connector|location)"
)
_FORMATS = frozenset({"parquet", "orc", "avro", "csv", "json", "text"})
_CODECS = frozenset({"none", "null", "uncompressed", "snappy", "gzip", "lz4", "lz4_raw", "zstd", "zstandard", "zlib", "deflate", "lzo", "brotli", "bzip2", "xz"})  # fmt: skip
_WORDS = {"file.format": _FORMATS, "changelog-file.format": _FORMATS, "file.compression": _CODECS, "changelog-file.compression": _CODECS}  # fmt: skip


def is_pattern(key: str) -> bool:
    """Whether the key is of a family such as `fields.<column>.aggregate-function`."""
    return _PATTERNS.fullmatch(key) is not None


def validate_table_options(raw: Mapping[str, str]) -> list[str]:
    """Check every value; Java would store unknown keys silently, so those come back as warnings.

    Raises:
        BadOptionValue: names the option, what is wrong and what is allowed.
    """
    warnings = []
    fallback = {f: o for o in TABLE_OPTIONS.values() for f in o.fallback_keys}
    for key, value in raw.items():
        option = TABLE_OPTIONS.get(key) or fallback.get(key) or CONNECTOR_OPTIONS.get(key)
        if option is not None:
            option.value(value)
            words = _WORDS.get(key)
            if words is not None and value.strip().lower() not in words:
                raise BadOptionValue(
                    f"option {key!r} cannot be {value!r}", hint=f"use one of {', '.join(sorted(words))}", option=key
                )
        elif not is_pattern(key):
            near = nearest(key, TABLE_OPTIONS)
            warnings.append(
                f"no option {key!r} is known" + (f"; did you mean {near!r}?" if near else "; it is only kept")
            )
    return warnings
