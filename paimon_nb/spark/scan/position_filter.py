"""Hidden rows as one filter over a native Parquet scan: bits by file and row index. Knows files by name and size, no table.

All files' bits lie in one array of 64-bit words; a second, small array tells where a file's bits begin. A row finds its
file's place by the file's size modulo a number for which these files differ: sizes are the cheapest thing that Spark can
tell of a row's file (1.3 x of a plain scan; a hash of the name cost 2.5 x). Both arrays are literals in the plan, so the scan
stays one scan. Without the JVM bridge (Spark Connect) a broadcast join gives each row its file's words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.spark.runtime.jvm_bridge import column_of, has_bridge, jvm, long_array

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession

_WORD = 64
_NOTHING = -(1 << 36)
"""Where a file's part begins that hides nothing: its words lie before the array for every row that a file can have, and
their number still fits an INT."""
MAX_FILES = 256
"""Files in one mask: the modulus grows with their square."""


@dataclass(frozen=True)
class Mask:
    """Which rows of which files are hidden."""

    words: np.ndarray
    """uint64; bit i of a file's part is its row i, 1 = hidden."""
    starts: Mapping[str, int]
    """File name -> bit where its part begins, a multiple of 64; negative for files that hide nothing."""
    slots: np.ndarray
    """int64: the start of file f at `size(f) mod len(slots)`."""

    @classmethod
    def of(cls, hidden: Mapping[str, np.ndarray | None], sizes: Mapping[str, int]) -> Mask:
        """
        Args:
            hidden: file name -> bool per physical row, True = hidden; None hides nothing. sizes: file name -> bytes, all
                different.
        """
        starts: dict[str, int] = {}
        parts: list[np.ndarray] = []
        at = 0
        for name, rows in hidden.items():
            if rows is None:
                starts[name] = _NOTHING
                continue
            packed = np.packbits(rows, bitorder="little")
            words = np.pad(packed, (0, -len(packed) % 8)).view("<u8")
            starts[name] = at * _WORD
            parts.append(words)
            at += len(words)
        modulus = _modulus([sizes[name] for name in starts])
        slots = np.zeros(modulus, dtype=np.int64)
        for name, start in starts.items():
            slots[sizes[name] % modulus] = start
        return cls(np.concatenate(parts) if parts else np.zeros(0, "<u8"), starts, slots)


def separable(sizes: Iterable[tuple[str, int]]) -> list[list[str]]:
    """Names of files in groups whose sizes all differ; each group can have one mask."""
    groups: list[tuple[set[int], list[str]]] = []
    for name, size in sizes:
        home = next((g for g in groups if size not in g[0] and len(g[1]) < MAX_FILES), None)
        if home is None:
            home = (set(), [])
            groups.append(home)
        home[0].add(size)
        home[1].append(name)
    return [names for _, names in groups]


def _modulus(sizes: list[int]) -> int:
    """The smallest number for which no two sizes leave the same rest."""
    array = np.array(sizes, dtype=np.int64)
    modulus = max(1, len(array))
    while len(np.unique(array % modulus)) < len(array):
        modulus += 1
    return modulus


def without_hidden(frame: DataFrame, mask: Mask) -> DataFrame:
    """A file scan without the hidden rows. Every file of the scan must be in the mask; `_metadata` must still be there."""
    from pyspark.sql import functions as F

    spark = frame.sparkSession
    if not has_bridge(spark):
        return _joined(frame, mask)
    slot = F.pmod(F.col("_metadata.file_size"), F.lit(len(mask.slots))).cast("int")
    position = F.col("_metadata.row_index") + F.get(_long_array(spark, mask.slots), slot)
    word = F.get(_long_array(spark, mask.words.view("<i8")), F.shiftright(position, 6).cast("int"))
    return frame.where(_clear(word, position))


def _joined(frame: DataFrame, mask: Mask) -> DataFrame:
    """The same with public API only: a broadcast join on the file name."""
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
    return joined.where(_clear(word, F.col("__row"))).select(*columns)


def _clear(word: Column, position: Column) -> Column:
    """True where the bit at `place` is 0, or there is no word."""
    from pyspark.sql import functions as F

    bit = F.getbit(word, position.bitwiseAND(F.lit(_WORD - 1)).cast("int"))
    return F.coalesce(bit, F.lit(0).cast("tinyint")) == 0


def _long_array(spark: SparkSession, values: np.ndarray) -> Column:
    """An `array<bigint>` literal made through the JVM bridge; millions of elements in milliseconds."""
    expressions = jvm(spark).org.apache.spark.sql.catalyst.expressions
    types = jvm(spark).org.apache.spark.sql.types.DataTypes
    data = expressions.UnsafeArrayData.fromPrimitiveArray(long_array(spark, values.astype(">i8").tobytes()))
    return column_of(spark, expressions.Literal(data, types.createArrayType(types.LongType, False)))
