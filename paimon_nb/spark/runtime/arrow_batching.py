"""Narrow rows go from the JVM to Python in batches bounded by rows, not by bytes. Knows rows' widths and no tables.

Spark ends a batch at `spark.sql.execution.arrow.maxBytesPerBatch`. To know the bytes it asks every Arrow vector after
every row, which is more than half of the way to Python: loading 2M rows took 6.3 s with that limit and 4.2 s without it.
Without it, a batch of wide rows can outgrow Arrow's 2 GB a vector, or the memory. So the job first runs with a guard on
the width of each row and no limit, and where a wide row turns up it runs again as the session is set up.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from paimon_nb.spark.runtime.jvm_bridge import in_cloned_session

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

ROW_BYTES = 64 << 10
"""Strings and binaries of a narrow row have no more bytes than this in all."""
BATCH_ROWS = 4096
"""So that a batch has at most 256 MB. Larger ones were no faster."""
_WIDE = "paimon_nb: a row is wider than"

T = TypeVar("T")


def narrow_first(frame: DataFrame, job: Callable[[DataFrame], T]) -> T:
    """What `job` makes of the frame; it must leave nothing behind when it fails, as it may run twice.

    The user's session is not touched: the fast attempt runs in a clone of it with other batch settings.
    """
    guarded = _guarded(frame)
    fast = None if guarded is None else _in_clone(guarded)
    if fast is None:
        return job(frame)
    try:
        return job(fast)
    except Exception as error:
        if _WIDE not in str(error):
            raise
    return job(frame)


def _guarded(frame: DataFrame) -> DataFrame | None:
    """The frame, failing at the first wide row; None where the width of a column's values cannot be asked for cheaply."""
    from pyspark.sql import functions as F
    from pyspark.sql import types as T

    from paimon_nb.base.identifier import quote

    widths: list[Column] = []
    for field in frame.schema.fields:
        if isinstance(field.dataType, T.StringType | T.BinaryType):
            widths.append(F.coalesce(F.octet_length(F.col(quote(field.name))), F.lit(0)).cast("bigint"))
        elif isinstance(field.dataType, T.ArrayType | T.MapType | T.StructType | T.VariantType | T.UserDefinedType):
            return None
    if not widths:
        return frame
    total = widths[0]
    for width in widths[1:]:
        total = total + width
    too_wide = F.raise_error(F.lit(f"{_WIDE} {ROW_BYTES} bytes")).cast("boolean")
    return frame.where(F.when(total > ROW_BYTES, too_wide).otherwise(F.lit(True)))


def _in_clone(frame: DataFrame) -> DataFrame | None:
    """The frame as one of a session that is its own but for the batch settings; None where there is no such bridge."""
    from py4j.protocol import Py4JError

    conf = {
        "spark.sql.execution.arrow.maxRecordsPerBatch": str(BATCH_ROWS),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    }
    try:
        return in_cloned_session(frame, conf)
    except (AttributeError, Py4JError):
        return None
