"""Converts partitions to directory names and back. Knows values and text, no file system.

Source: Paimon `InternalRowPartitionComputer`, `PartitionPathUtils`; docs/spec/format.md section 11.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from paimon_nb.format.row.java_to_string import cast_to_string, java_to_string

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.row.binary_row import Value
    from paimon_nb.format.types import DataField, DataType

DEFAULT_PARTITION = "__DEFAULT_PARTITION__"
"""Directory value for null and blank strings (option `partition.default-name`)."""

_ESCAPED = re.compile(r"""[\x00-\x1f"#%'*/:=?\\\x7f{}\[\]^]""")
_PERCENTS = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
# Java's Character.isWhitespace: Unicode spaces except the no-break ones, and the ASCII separators.
_BLANK = re.compile(r"[\t-\r\x1c- \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000]*")


def partition_names(
    fields: Sequence[DataField], values: Sequence[Value], legacy: bool = True, default_name: str = DEFAULT_PARTITION
) -> dict[str, str]:
    """Column -> value text, in partition order, not escaped: as in `$partitions` and procedures.

    Args:
        legacy: option `partition.legacy-name`: Java's toString instead of CAST to STRING (DATE is a day number).
    """
    return {
        f.name: _partition_value_text(f.type, v, legacy, default_name) for f, v in zip(fields, values, strict=True)
    }  # fmt: skip


def partition_path(
    fields: Sequence[DataField], values: Sequence[Value], legacy: bool = True, default_name: str = DEFAULT_PARTITION
) -> str:
    """The partition's directory below the table: 'dt=x/h=1', or '' without partition columns."""
    return path_of_names(partition_names(fields, values, legacy, default_name))


def path_of_names(names: dict[str, str]) -> str:
    """'dt=x/h=1' for value texts from `partition_names`."""
    return "/".join(f"{escape(key)}={escape(value)}" for key, value in names.items())


def partition_values_of_path(path: str) -> dict[str, str]:
    """Column -> value text of the `key=value` segments of a path, unescaped, in order."""
    out: dict[str, str] = {}
    for segment in path.split("/"):
        key, equals, value = segment.partition("=")
        if equals and key and value:
            out[unescape(key)] = unescape(value)
    return out


def escape(text: str) -> str:
    """Java's escapePathName: `%` and two hexadecimal digits for control characters and `" # % ' * / : = ? \\ { } [ ] ^`."""
    return _ESCAPED.sub(lambda match: f"%{ord(match[0]):02X}", text)


def unescape(text: str) -> str:
    """The inverse of `escape`. Bytes above 127 are UTF-8, as pyarrow and DuckDB write them; Java escapes only ASCII characters."""
    return _PERCENTS.sub(lambda match: _decode(bytes.fromhex(match[0].replace("%", ""))), text)


def _decode(data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return data.decode("latin-1")


def is_blank(text: str) -> bool:
    """Whether the text is empty or only white space, as in Java."""
    return _BLANK.fullmatch(text) is not None


def _partition_value_text(t: DataType, value: Value, legacy: bool, default_name: str) -> str:
    if value is None:
        return default_name
    # Java's legacy name of bytes contains an object's address, which differs between processes, so the directory cannot
    # be found again.
    legacy = legacy and t.root not in ("BINARY", "VARBINARY")
    text = java_to_string(t, value) if legacy else cast_to_string(t, value)
    return default_name if text is None or is_blank(text) else text
