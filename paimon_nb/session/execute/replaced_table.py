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
    """The rows of a DataFrame inside the block, where the caller replaces a table. They are computed now, as they may fail.

    Args:
        replaced: the table. Its directory keeps many rows if the replacement keeps the directory; else they stay in the
            executors.
        schema: the new schema.
        frame: the rows.

    Raises:
        EngineError: Spark failed.
    """
    catalog, name = replaced.catalog, replaced.name
    store = catalog.table(name).store if catalog.keeps_directory(name, schema) else None
    with staged_rows(frame, store) as rows:
        yield rows
