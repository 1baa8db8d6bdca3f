"""Hidden rows as one filter over a native Parquet scan: bits by file and row index. Knows files by name, no table.

All files' bits lie in one array of 64-bit words. A second, small array says where a file's bits begin; a file finds its
place there by a hash of its name that is perfect for these files. Both arrays are literals in the plan, so the scan stays
one scan and the filter costs two array look-ups a row. Without the JVM bridge (Spark Connect) a broadcast join gives each
row its file's words.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import xxhash

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_SPARK_HASH_SEED = 42
"""Seed of Spark's `xxhash64` function."""
_WORD = 64
MAX_FILES = 2_000
"""More files need a hash table beyond a few MB."""


@dataclass(frozen=True)
class Mask:
    """Which rows of which files are hidden."""

    words: np.ndarray
    """uint64; bit i of a file's part is its row i, 1 = hidden."""
    starts: Mapping[str, int]
    """File name -> bit where its part begins, a multiple of 64."""

    @classmethod
    def of(cls, hidden: Mapping[str, np.ndarray]) -> Mask:
        """From boolean arrays by file name, one entry a physical row, True = hidden."""
        starts: dict[str, int] = {}
        parts: list[np.ndarray] = []
        at = 0
        for name, rows in hidden.items():
            packed = np.packbits(rows, bitorder="little")
            words = np.pad(packed, (0, -len(packed) % 8)).view("<u8")
            starts[name] = at * _WORD
            parts.append(words)
            at += len(words)
        return cls(np.concatenate(parts) if parts else np.zeros(0, "<u8"), starts)

    def slots(self) -> np.ndarray:
        """int64 array of starts such that file f's is at `xxhash64(f) mod len`."""
        hashes = {name: _spark_hash(name) for name in self.starts}
        size = max(1, len(hashes))
        while len({h % size for h in hashes.values()}) < len(hashes):
            size += 1
        out = np.zeros(size, dtype=np.int64)
        for name, h in hashes.items():
            out[h % size] = self.starts[name]
        return out


def _spark_hash(name: str) -> int:
    unsigned = xxhash.xxh64_intdigest(name.encode(), seed=_SPARK_HASH_SEED)
    return unsigned - (1 << 64) if unsigned >= 1 << 63 else unsigned


def without_hidden(frame: DataFrame, mask: Mask) -> DataFrame:
    """A file scan without the hidden rows. Every file of the scan must be in the mask; `_metadata` must still be there."""
    from pyspark.sql import functions as F  # noqa: N812

    spark = frame.sparkSession
    if not hasattr(spark, "_jvm") or spark._jvm is None:
        return _joined(frame, mask)
    slots = mask.slots()
    slot = F.pmod(F.xxhash64(F.col("_metadata.file_name")), F.lit(len(slots))).cast("int")
    place = F.col("_metadata.row_index") + F.get(_long_array(spark, slots), slot)
    word = F.get(_long_array(spark, mask.words.view("<i8")), F.shiftright(place, 6).cast("int"))
    return frame.where(F.getbit(word, place.bitwiseAND(F.lit(_WORD - 1)).cast("int")) == 0)


def _joined(frame: DataFrame, mask: Mask) -> DataFrame:
    """The same with public API only: a broadcast join on the file name."""
    from pyspark.sql import functions as F  # noqa: N812

    names = list(mask.starts)
    ends = [*(mask.starts[n] // _WORD for n in names[1:]), len(mask.words)]
    rows = [
        (n, mask.words[mask.starts[n] // _WORD : end].view("<i8").tolist()) for n, end in zip(names, ends, strict=True)
    ]
    bits = frame.sparkSession.createDataFrame(rows, "__name string, __words array<bigint>")
    columns = frame.columns
    scan = frame.withColumns({"__file": F.col("_metadata.file_name"), "__row": F.col("_metadata.row_index")})
    joined = scan.join(F.broadcast(bits), F.col("__file") == F.col("__name"))
    word = F.get("__words", F.shiftright("__row", 6).cast("int"))
    return joined.where(F.getbit(word, F.col("__row").bitwiseAND(F.lit(_WORD - 1)).cast("int")) == 0).select(*columns)


def _long_array(spark: SparkSession, values: np.ndarray) -> Column:
    """An `array<bigint>` literal made through the JVM bridge; millions of elements in milliseconds."""
    from pyspark.sql import Column

    jvm = spark._jvm
    array = spark.sparkContext._gateway.new_array(jvm.long, len(values))
    buffer = jvm.java.nio.ByteBuffer.wrap(bytearray(values.astype(">i8").tobytes()))
    buffer.asLongBuffer().get(array)
    expressions = jvm.org.apache.spark.sql.catalyst.expressions
    types = jvm.org.apache.spark.sql.types.DataTypes
    data = expressions.UnsafeArrayData.fromPrimitiveArray(array)
    literal = expressions.Literal(data, types.createArrayType(types.LongType, False))
    return Column(jvm.org.apache.spark.sql.classic.ExpressionUtils.column(literal))
