"""rbm32 and rbm64: serialised roaring bitmaps, OR-ed."""

from __future__ import annotations

from typing import Any

from paimon_nb.table.merge.aggregate.base import Aggregate


class Rbm32(Aggregate):
    """The portable 32-bit form."""

    name = "rbm32"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        from pyroaring import BitMap

        both = BitMap.deserialize(accumulator) | BitMap.deserialize(value)
        both.run_optimize()
        return both.serialize()


class Rbm64(Aggregate):
    """The portable 64-bit form."""

    name = "rbm64"

    def add(self, accumulator: Any, value: Any) -> Any:
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        from pyroaring import BitMap64

        return (BitMap64.deserialize(accumulator) | BitMap64.deserialize(value)).serialize()
