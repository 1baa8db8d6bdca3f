"""Timestamps as other engines write them into text files and directory names: `2024-01-05T10:11:12.345+02:00`. Knows no columns."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data.cast import cast_column
from paimon_nb.format.types import Timestamp, VarChar, arrow_type

if TYPE_CHECKING:
    from paimon_nb.format.types import LocalZonedTimestamp

ISO_TIMESTAMP = re.compile(
    r"(\d{4,9}-\d\d-\d\d)(?:T| (?=.*[Z+-]))(\d\d:\d\d)(:\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d(?::?\d\d)?)?", re.ASCII
)
"""What `parse_as_java` does not read: a `T`, or an offset."""
_UNITS_PER_MINUTE = {"s": 60, "ms": 60_000, "us": 60_000_000, "ns": 60_000_000_000}


def timestamp_of_text(text: str | None, t: Timestamp | LocalZonedTimestamp) -> pa.Array:
    """One value. A text with an offset is an instant, which is in UTC for TIMESTAMP; one without is in the local zone, if the type has one.

    Raises: ReadError: not a timestamp.
    """
    t = t.with_nullable(True)
    found = ISO_TIMESTAMP.fullmatch(text) if text is not None else None
    if found is None:
        return cast_column(pa.array([text], pa.string()), VarChar(), t)
    wall = pa.array([f"{found[1]} {found[2]}{found[3] or ':00'}"])
    if found[4] is None:
        return cast_column(wall, VarChar(), t)
    target = arrow_type(t)
    units = cast_column(wall, VarChar(), Timestamp(t.precision)).cast(pa.int64())[0].as_py()
    return pa.array([units - _offset_minutes(found[4]) * _UNITS_PER_MINUTE[target.unit]], pa.int64()).cast(target)


def _offset_minutes(offset: str) -> int:
    """The minutes of `Z`, `+02`, `+0230` and `-02:30`."""
    if offset == "Z":
        return 0
    minutes = int(offset[1:3]) * 60 + int(offset[3:].lstrip(":") or 0)
    return -minutes if offset[0] == "-" else minutes
