"""The rows of a table that replaces another one, which they may read."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.spark.write.staged_rows import staged_rows

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.session.core.session import ResolvedTable


@contextmanager
def rows_computed_before(replaced: ResolvedTable, schema: TableSchema, frame: DataFrame) -> Iterator[DataFrame]:
    """The rows of a DataFrame inside the block, where the caller replaces a table.

    A table that is replaced in place is as it was until the rows are written, so they can be read from it. Else its directory
    moves first: the rows are computed now and stay in the executors.

    Args:
        replaced: the table.
        schema: the new schema.
        frame: the rows.

    Raises:
        EngineError: Spark failed.
    """
    if replaced.catalog.keeps_directory(replaced.name, schema):
        yield frame
        return
    with staged_rows(frame, None) as rows:
        yield rows
