"""Filters hidden rows out of a native Parquet scan, by file and row index.

The bitmaps of all files are in one array of 64-bit words. A second, small array has the first bit of each file's bitmap, at
the index `file size mod m`, where m is a modulus for which the files differ. The size is the cheapest property of a row's
file in Spark: the filter takes 1.3 times as long as a plain scan, with a hash of the file name 2.5 times. Both arrays are
literals in the plan, so there is one scan. Without the JVM bridge (Spark Connect), a broadcast join adds the words of the
file to each row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.spark.runtime.jvm_bridge import column_of, has_bridge, java_long_array, jvm

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from pyspark.sql import Column, DataFrame, SparkSession

_WORD = 64
_NOTHING = -(1 << 36)
"""First bit of a file without hidden rows: the word index of each of its rows is negative and fits an INT."""
MAX_FILES = 256
"""Maximum number of files in one mask: the modulus grows with its square."""


@dataclass(frozen=True)
class Mask:
    """The hidden rows of some files."""

    words: np.ndarray
    """uint64; bit i of a file's bitmap is its row i, 1 = hidden."""
    starts: Mapping[str, int]
    """File name -> first bit of its bitmap, a multiple of 64; negative for a file without hidden rows."""
    slots: np.ndarray
    """int64: the start of file f at `size(f) mod len(slots)`."""

    @classmethod
    def of(cls, hidden: Iterable[tuple[str, np.ndarray | None]], sizes: Mapping[str, int]) -> Mask:
        """Build a mask.

        Args:
            hidden: (file name, bool per physical row, True = hidden; None: no rows are hidden).
            sizes: file name -> bytes, all different.
        """
        starts: dict[str, int] = {}
        parts: list[np.ndarray] = []
        at = 0
        for name, rows in hidden:
            if rows is None:
                starts[name] = _NOTHING
                continue
            packed = np.packbits(rows, bitorder="little")
            words = np.pad(packed, (0, -len(packed) % 8)).view("<u8")
            starts[name] = at * _WORD
            parts.append(words)
            at += len(words)
        modulus = _smallest_distinct_modulus([sizes[name] for name in starts])
        slots = np.zeros(modulus, dtype=np.int64)
        for name, start in starts.items():
            slots[sizes[name] % modulus] = start
        return cls(np.concatenate(parts) if parts else np.zeros(0, "<u8"), starts, slots)


def groups_of_distinct_sizes(sizes: Iterable[tuple[str, int]]) -> list[list[str]]:
    """File names in groups whose sizes all differ; each group can have one mask."""
    groups: list[tuple[set[int], list[str]]] = []
    for name, size in sizes:
        group = next((g for g in groups if size not in g[0] and len(g[1]) < MAX_FILES), None)
        if group is None:
            group = (set(), [])
            groups.append(group)
        group[0].add(size)
        group[1].append(name)
    return [names for _, names in groups]


def _smallest_distinct_modulus(sizes: list[int]) -> int:
    """The smallest modulus for which the remainders of all sizes differ."""
    array = np.array(sizes, dtype=np.int64)
    modulus = max(1, len(array))
    while len(np.unique(array % modulus)) < len(array):
        modulus += 1
    return modulus


def without_hidden(frame: DataFrame, mask: Mask) -> DataFrame:
    """A file scan without the hidden rows. Every file must be in the mask, and the scan must still have `_metadata`."""
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    if not has_bridge(spark):
        return _filter_by_broadcast_join(frame, mask)
    slot = F.pmod(F.col("_metadata.file_size"), F.lit(len(mask.slots))).cast("int")
    position = F.col("_metadata.row_index") + F.get(_long_array_literal(spark, mask.slots), slot)
    word = F.get(_long_array_literal(spark, mask.words.view("<i8")), F.shiftright(position, 6).cast("int"))
    return frame.where(_bit_is_zero(word, position))


def _filter_by_broadcast_join(frame: DataFrame, mask: Mask) -> DataFrame:
    """The same with public API: a broadcast join on the file name."""
    from pyspark.sql import functions as F

    hiding = [n for n, start in mask.starts.items() if start >= 0]
    ends = [*(mask.starts[n] // _WORD for n in hiding[1:]), len(mask.words)]
    words = {n: mask.words[mask.starts[n] // _WORD : end].view("<i8") for n, end in zip(hiding, ends, strict=True)}
    rows = [(n, words[n].tolist() if n in words else []) for n in mask.starts]
    bits = frame.sparkSession.createDataFrame(rows, "__name string, __words array<bigint>")
    columns = frame.columns
    scan = frame.withColumns({"__file": F.col("_metadata.file_name"), "__row": F.col("_metadata.row_index")})
    joined = scan.join(F.broadcast(bits), F.col("__file") == F.col("__name"))
    word = F.get("__words", F.shiftright("__row", 6).cast("int"))
    return joined.where(_bit_is_zero(word, F.col("__row"))).select(*columns)


def _bit_is_zero(word: Column, position: Column) -> Column:
    """True where the bit at `position` is 0, or there is no word."""
    from pyspark.sql import functions as F

    bit = F.getbit(word, position.bitwiseAND(F.lit(_WORD - 1)).cast("int"))
    return F.coalesce(bit, F.lit(0).cast("tinyint")) == 0


def _long_array_literal(spark: SparkSession, values: np.ndarray) -> Column:
    """An `array<bigint>` literal, created through the JVM bridge: millions of elements take milliseconds."""
    expressions = jvm(spark).org.apache.spark.sql.catalyst.expressions
    types = jvm(spark).org.apache.spark.sql.types.DataTypes
    data = expressions.UnsafeArrayData.fromPrimitiveArray(java_long_array(spark, values.astype(">i8").tobytes()))
    return column_of(spark, expressions.Literal(data, types.createArrayType(types.LongType, False)))
