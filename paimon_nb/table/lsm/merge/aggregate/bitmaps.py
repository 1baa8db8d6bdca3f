"""rbm32 and rbm64: unions of serialised roaring bitmaps."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from paimon_nb.base.errors import CorruptFile
from paimon_nb.table.lsm.merge.aggregate.base import Aggregate
from paimon_nb.table.lsm.merge.aggregate.roaring64 import AggregatedBitmap64


class _Bitmap(Aggregate):
    types = frozenset({"VARBINARY"})

    def add(self, accumulator: Any, value: Any) -> Any:
        """Raises CorruptFile for bytes that are not a bitmap of this format."""
        if accumulator is None or value is None:
            return value if accumulator is None else accumulator
        try:
            return self.union(accumulator, value)
        except ValueError as error:
            raise CorruptFile(
                f"a value of column {self.field.name!r}", f"it is not a bitmap of {self.name}",
                hint=f"write bitmaps in Java's {self.name} format",
            ) from error  # fmt: skip

    @abstractmethod
    def union(self, a: bytes, b: bytes) -> bytes: ...


class Rbm32(_Bitmap):
    """The portable 32-bit format."""

    name = "rbm32"

    def union(self, a: bytes, b: bytes) -> bytes:
        from pyroaring import BitMap

        both = BitMap.deserialize(a) | BitMap.deserialize(b)
        both.run_optimize()
        return bytes(both.serialize())


class Rbm64(_Bitmap):
    """The format of Java's `Roaring64Bitmap`, which differs from the portable one."""

    name = "rbm64"

    def union(self, a: bytes, b: bytes) -> bytes:
        both = AggregatedBitmap64.from_bytes(a)
        both.add_all(AggregatedBitmap64.from_bytes(b))
        return both.to_bytes()
