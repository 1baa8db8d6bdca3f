"""`sys.bucket(count, key, ...)` and `sys.mod_bucket`: the bucket that a table of `count` buckets puts a key into.

Source: Paimon `PaimonFunctions.BucketFunction`. Types are Spark's, so timestamps have the precision 6, as in Java.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.base.errors import SqlAnalysisError, UnsupportedOperation
from paimon_nb.format.types import DataField, from_arrow_type
from paimon_nb.spark.errors import encode_raised_errors
from paimon_nb.spark.types import from_spark_arrow
from paimon_nb.spark.versions import arrow_udf

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from pyspark.sql import SparkSession

BUCKET_FUNCTIONS = {"bucket": "default", "mod_bucket": "mod"}
"""Name in the database `sys` -> value of the option `bucket-function.type`."""


def temporary_name(name: str) -> str:
    """The name of a function of BUCKET_FUNCTIONS in a Spark session."""
    return f"_paimon_{name}"


def register_bucket_functions(spark: SparkSession, names: Iterable[str]) -> None:
    """Register functions of BUCKET_FUNCTIONS in a session, once.

    Raises: UnsupportedOperation: Spark 4.0, whose Python functions do not get the types of their arguments.
    """
    from pyspark.sql.types import IntegerType

    known: set[str] = spark.__dict__.setdefault("_paimon_functions", set())
    for name in set(names) - known:
        udf = arrow_udf(_bucket_udf(name), IntegerType())
        if udf is None:
            raise UnsupportedOperation(
                f"sys.{name} needs Spark 4.1 or newer", hint="the column __paimon_bucket of a table has the bucket"
            )
        spark.udf.register(temporary_name(name), udf)
        known.add(name)


def _bucket_udf(name: str) -> Callable[..., pa.Array]:
    def bucket(count: pa.Array, *keys: pa.Array) -> pa.Array:
        return _bucket_numbers(name, count, keys)

    return bucket


def _bucket_numbers(name: str, count: pa.Array, keys: Sequence[pa.Array]) -> pa.Array:
    from paimon_nb.format.row import bucket_of

    with encode_raised_errors():
        if not keys or count.type != pa.int32() or count.null_count:
            raise SqlAnalysisError(
                f"sys.{name} needs the number of buckets, an INT, and one key or more", hint=f"sys.{name}(4, id)"
            )
        fields = [DataField(n, f"key {n}", from_arrow_type(key.type)) for n, key in enumerate(keys, 1)]
        rows = from_spark_arrow(pa.table(list(keys), names=[f.name for f in fields]), fields)
        counts = count.to_numpy()
        found = np.zeros(len(counts), dtype=np.int32)
        for each in np.unique(counts):
            same = np.flatnonzero(counts == each)
            columns = [rows.column(i).take(pa.array(same)).combine_chunks() for i in range(len(fields))]
            found[same] = bucket_of([f.type for f in fields], columns, int(each), BUCKET_FUNCTIONS[name])
        return pa.array(found)
