"""Text formatting of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.format.row import cast_to_string

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore


def partition_text(store: TableStore, partition: bytes) -> str:
    """`dt=2024-01-01, hh=1`, values as in system tables; '' for a table without partitions."""
    if not store.schema.partition_keys:
        return ""
    return ", ".join(
        f"{f.name}={'null' if v is None else cast_to_string(f.type, v)}"
        for f, v in zip(store.schema.partition_fields, store.partition_values(partition), strict=True)
    )


def count_text(number: int, thing: str) -> str:
    """`1 row`, `2 rows`."""
    return f"{number:,} {thing}{'s' * (number != 1)}"


def bytes_text(size: float) -> str:
    """`1.5 MB`: powers of 1000, at most three digits."""
    for unit in ("B", "kB", "MB", "GB"):
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" or size >= 100 else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:,.1f} TB"
