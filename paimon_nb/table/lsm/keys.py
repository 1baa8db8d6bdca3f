"""Keys of files as Python values with Paimon's order; knows no file and no level."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from paimon_nb.format.row import deserialize
from paimon_nb.format.types import DataType

Key = tuple[Any, ...]


def key_decoder(types: Sequence[DataType]) -> Callable[[bytes], Key]:
    """A function from a serialized key to a comparable tuple.

    Nulls first, numbers by value, text and bytes bytewise (code points sort as UTF-8 does), false before true.
    """
    frozen = tuple(types)

    @lru_cache(maxsize=65536)
    def decode(data: bytes) -> Key:
        return tuple(key_order(v) for v in deserialize(frozen, data))

    return decode


def key_order(value: Any) -> tuple[bool, Any]:
    """A value in the in-row Python form as an object with Paimon's order; null is smallest."""
    if value is None:
        return (False, 0)
    if isinstance(value, float):
        # Java compares keys by < and >: -0.0 equals 0.0. Its NaN then equals everything; here it sorts last.
        one = math.nan if value != value else value + 0.0
        bits = struct.unpack("<q", struct.pack("<d", one))[0]
        return (True, bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF) - 1)
    return (True, value)
