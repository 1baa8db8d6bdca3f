"""Where a row lies, as columns that a query may name: paimon-spark's metadata columns, on tables without keys.

A row of a key table comes from several files, so it lies nowhere in particular; Java refuses to say, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.identifier import quote
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.spark.runtime.arrow_interop import from_arrow
from paimon_nb.spark.write.row_level_write import FILE, ROW, placed

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from paimon_nb.table.scan.predicate.model import Predicate
    from paimon_nb.table.table import Table

FILE_PATH, ROW_INDEX = "__paimon_file_path", "__paimon_row_index"
PARTITION, BUCKET = "__paimon_partition", "__paimon_bucket"
_FILES = (
    DataField(-1, FILE, parse_type("INT")),
    DataField(-2, FILE_PATH, parse_type("STRING")),
    DataField(-3, BUCKET, parse_type("INT")),
)


def with_metadata_columns(
    spark: SparkSession, table: Table, filter: Predicate | None, metadata: Sequence[str]
) -> DataFrame:
    """The table's rows, then those of these columns that are wanted. The table has no primary key."""
    from pyspark.sql import functions as F

    found = placed(spark, table, filter)
    store = found.plan.store
    files = pa.table(
        [
            pa.array(range(len(found.files)), pa.int32()),
            pa.array([store.data_path(s.partition, s.bucket, s.files[0]) for s in found.files], pa.string()),
            pa.array([s.bucket for s in found.files], pa.int32()),
        ],
        names=[f.name for f in _FILES],
    )
    rows = found.frame.join(F.broadcast(from_arrow(spark, files, _FILES)), FILE)
    known = {
        FILE_PATH: F.col(FILE_PATH),
        ROW_INDEX: F.col(ROW).alias(ROW_INDEX),
        PARTITION: F.struct(*[F.col(quote(k)) for k in table.partition_keys]).alias(PARTITION),
        BUCKET: F.col(BUCKET),
    }
    known |= {f.name: F.col(quote(f.name)) for f in TRACKING_FIELDS if f.name in found.carried}
    own = [F.col(quote(n)) for n in table.schema.names]
    return rows.select(*own, *(column for name, column in known.items() if name in metadata))
