"""UPDATE of some columns of a table with data evolution: writes files with only those columns, in one commit.

The same commit may insert rows, and delete rows by deletion vectors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.types import DataField, parse_type
from paimon_nb.spark.runtime.arrow_interop import collect, to_arrow
from paimon_nb.spark.scan.located_rows import FILE, ROW, LocatedRows
from paimon_nb.spark.write.row_level_write import positions_by_file
from paimon_nb.spark.write.table_write import write_messages
from paimon_nb.table.read.split.inline_blobs import as_stored
from paimon_nb.table.read.split.split_reader import read_split
from paimon_nb.table.write.column_file_writer import columns_change, write_columns
from paimon_nb.table.write.global_index import drop_stale_indexes
from paimon_nb.table.write.row_rewrite import delete_marked_rows

if TYPE_CHECKING:
    from collections.abc import Collection

    from pyspark.sql import DataFrame

    from paimon_nb.table.tables.table import Table
    from paimon_nb.table.write.commit import CommitMessage

_LOCATION = (DataField(-1, FILE, parse_type("INT")), DataField(-2, ROW, parse_type("BIGINT")))


def change_columns(
    table: Table,
    source: LocatedRows,
    updated: DataFrame,
    assigned: Collection[str],
    inserted: DataFrame | None = None,
    removed: DataFrame | None = None,
) -> tuple[list[int], int]:
    """Update columns of rows, insert rows and delete rows.

    The driver collects the new values. Of each file, only the assigned columns are rewritten.

    Args:
        table: the table.
        source: the rows from which `updated` was computed.
        updated: the table's columns, FILE and ROW of the changed rows.
        assigned: names of the changed columns.
        inserted: new rows; None: there are none.
        removed: FILE and ROW of the rows to delete, for a table with deletion vectors; None: there are none.

    Returns:
        The ids of the new snapshots, the number of updated rows.

    Raises:
        CommitConflict: another commit changed the same rows.
        EngineError: Spark failed; nothing was committed.
        WriteError: a row does not fit the table; nothing was committed.
    """
    store = source.plan.store
    # Java 1.3 cannot read such a file of a partitioned table without the partition columns.
    written = {*assigned, *store.schema.partition_keys}
    fields = tuple(f for f in store.schema.fields if f.name in written)
    changed = to_arrow(updated.select(*[f.name for f in (*fields, *_LOCATION)]), (*fields, *_LOCATION))
    numbers = np.asarray(changed.column(FILE), dtype=np.int64)
    drop_stale_indexes(store, source.plan.snapshot, assigned, {source.files[n].partition for n in np.unique(numbers)})
    commit = table.commit()
    messages: list[CommitMessage] = []
    try:
        for number in np.unique(numbers):
            split, own_rows = source.files[number], changed.filter(pa.array(numbers == number))
            # Deleted rows too: a column file has a value for each row of the other files.
            rows = read_split(as_stored(store), replace(split, deletion_vectors=None), [f.name for f in fields])
            messages.append(write_columns(store, split, fields, _replace_rows(rows, own_rows)))
        if removed is not None:
            messages += delete_marked_rows(store, source.plan, positions_by_file(source.files, collect(removed)))
        if inserted is not None:
            messages += write_messages(inserted, table.store.copy({"write-only": "true"}))[0]
        made = commit.publish(lambda latest: columns_change(store, latest, messages, source.files))
    except BaseException:
        commit.abort(messages)
        raise
    return ([] if made is None else [made]), changed.num_rows


def _replace_rows(rows: pa.Table, changed: pa.Table) -> pa.Table:
    """The rows, replaced by those of `changed` at the positions in ROW."""
    take = np.arange(rows.num_rows)
    take[np.asarray(changed.column(ROW), dtype=np.int64)] = rows.num_rows + np.arange(changed.num_rows)
    both = pa.concat_tables([rows, changed.select(rows.column_names).cast(rows.schema)])
    return both.take(pa.array(take))
