"""Sets of row ids: 64-bit roaring bitmaps, as Java's `RoaringNavigableMap64` writes them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap64

from paimon_nb.base.errors import CorruptFile

if TYPE_CHECKING:
    from collections.abc import Iterable


def row_ids_of(values: npt.NDArray[np.int64] | Iterable[int]) -> BitMap64:
    """A set of these row ids."""
    return BitMap64(values.astype(np.uint64) if isinstance(values, np.ndarray) else values)


def row_id_range(first: int, last: int) -> BitMap64:
    """All row ids from `first` to `last`, both inclusive."""
    found = BitMap64()
    if last >= first:
        found.add_range(first, last + 1)
    return found


def row_ids_as_array(rows: BitMap64) -> npt.NDArray[np.int64]:
    """The row ids in ascending order."""
    return np.frombuffer(rows.to_array(), dtype=np.uint64).astype(np.int64)


def row_ids_to_bytes(rows: BitMap64) -> bytes:
    """Serialize a set, with runs where they are shorter."""
    rows.run_optimize()
    return bytes(rows.serialize())


def row_ids_from_bytes(data: bytes, path: str) -> BitMap64:
    """Raises: CorruptFile: the bytes are not such a set; it names `path`."""
    try:
        return BitMap64.deserialize(data)
    except ValueError as error:
        raise CorruptFile(path, f"a set of row ids is broken ({error!s:.80})") from None
