"""Estimates how many bytes rows take in memory, to choose how many of them are read at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split

UNPACKED = 8
"""How many times larger rows are in memory than in a file, about: zstd and dictionaries."""
_VALUE_BYTES = {"TINYINT": 1, "SMALLINT": 2, "INT": 4, "DATE": 4, "FLOAT": 4, "BOOLEAN": 1, "DECIMAL": 16}
_OTHER_BYTES, _TEXT_BYTES = 8, 40
"""Bytes of a value of another type; of a text or bytes, about."""


def bytes_per_row(fields: Sequence[DataField]) -> int:
    """Bytes of a decoded row, by the types of its columns."""
    kinds = [f.type.root for f in fields]
    return sum(_TEXT_BYTES if k.endswith(("CHAR", "BINARY")) else _VALUE_BYTES.get(k, _OTHER_BYTES) for k in kinds)


def split_bytes(split: Split, fields: Sequence[DataField]) -> int:
    """Bytes of a split's decoded rows. Files of repeated values are much smaller than their rows, so the types count, too."""
    return max(split.size * UNPACKED, split.row_count * bytes_per_row(fields))
