"""Differences between the supported Spark releases, 4.0 to 4.3."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    import pyarrow as pa
    from pyspark.sql import Column, DataFrame
    from pyspark.sql.types import DataType


@cache
def has_time_type() -> bool:
    """Whether Spark has the TIME type, since release 4.1. In Spark 4.0 a TIME column is a STRING."""
    from pyspark.sql import types

    return hasattr(types, "TimeType")


def arrow_udf(function: Callable[[pa.Array], pa.Array], returns: DataType) -> Callable[[Column], Column] | None:
    """A Python function from an Arrow array to an Arrow array as a column expression; None before release 4.1."""
    from pyspark.sql import functions

    make: Callable[..., Callable[[Column], Column]] | None = getattr(functions, "arrow_udf", None)
    return None if make is None else make(function, returns)


def repartition_by_id(frame: DataFrame, partitions: int, number: Column) -> DataFrame:
    """Shuffle each row to the partition whose number (0 to `partitions` - 1) is in the column `number`."""
    if hasattr(type(frame), "repartitionById"):  # since release 4.1
        return frame.repartitionById(partitions, number)
    from pyspark.sql import functions as F

    keys = F.array(*(F.lit(v).cast("bigint") for v in _keys_by_partition(partitions)))
    return frame.repartition(partitions, F.get(keys, number.cast("int")))


@cache
def _keys_by_partition(partitions: int) -> tuple[int, ...]:
    """A BIGINT per partition that Spark's hash partitioning assigns to it. Its hash is Murmur3 with seed 42, as Paimon's."""
    from paimon_nb.format.row.bucket import hash_words

    candidates = np.arange(partitions * 32 + 64, dtype=np.int64)
    homes = np.mod(hash_words([candidates]), partitions)
    found, first = np.unique(homes, return_index=True)
    assert len(found) == partitions, "32 candidates per partition suffice"
    return tuple(int(v) for v in candidates[first])
