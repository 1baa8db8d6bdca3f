"""Bit slices: the numbers of rows as one bitmap per bit, which are compared without decoding. Knows no index layout.

Source: O'Neil and Quass, "Improved query performance with variant indexes"; Paimon `BitSliceIndexRoaringBitmap`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
from pyroaring import BitMap

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.index import roaring

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True, slots=True)
class Slices:
    """Non-negative numbers of the rows in `present`."""

    present: BitMap
    slices: Sequence[BitMap]
    """`slices[i]` holds the rows whose number has bit i."""

    def rows_compared_with(self, number: int) -> tuple[BitMap, BitMap, BitMap]:
        """Rows whose number is (less than, equal to, greater than) `number`."""
        if number < 0:
            return BitMap(), BitMap(), self.present
        if number >> len(self.slices):
            return self.present, BitMap(), BitMap()
        less, equal, greater = BitMap(), self.present, BitMap()
        for i in reversed(range(len(self.slices))):
            if number >> i & 1:
                less |= equal - self.slices[i]
                equal = equal & self.slices[i]
            else:
                greater |= equal & self.slices[i]
                equal = equal - self.slices[i]
        return less, equal, greater


def slices_of(numbers: npt.NDArray[np.uint64], rows: npt.NDArray[np.int64], count: int) -> list[BitMap]:
    """`count` slices of non-negative numbers at the given rows."""
    return [roaring.bitmap_of(rows[(numbers >> np.uint64(i)) & np.uint64(1) == 1]) for i in range(count)]
