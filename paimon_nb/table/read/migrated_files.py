"""Data files whose partition columns come from the partition: files of other systems that a migration or clone imported, ORC
files partitioned by a timestamp, and files of tables that merge these columns.

Source: Paimon `PartitionUtils.java`, which always fills such columns; `FileMetaUtils.java`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data import format_of
from paimon_nb.format.row import EMPTY_ROW, to_scalar
from paimon_nb.format.types import DataField, LocalZonedTimestamp, Timestamp

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.table.read.store import TableStore

_PAIMON_NAME = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+\.[^/]*$")
"""Suffix of the file names of all Paimon writers: the writer's UUID and a count."""


def is_imported_file(file: DataFile) -> bool:
    """Whether a data file may come from another system: it has another name pattern, or no sequence numbers.

    Java's clone of a Hive table uses Paimon's names, and the sequence numbers 0 to 0. A file of one row written by
    Paimon has these too; its partition columns then come from the partition, with the same result.
    """
    return _PAIMON_NAME.search(file.file_name) is None or (file.max_sequence == 0 and file.min_key == EMPTY_ROW)


def stores_partition_columns(store: TableStore, file: DataFile) -> bool:
    """Whether the file stores the values of its partition columns.

    ORC cannot store fractions of the last second before 1970: its readers, Java's too, return 00:00:00.1 for 23:59:59.1.
    Outside the primary key, partition columns are values: a retraction that a writer merges sets them to NULL.
    """
    if is_imported_file(file):
        return False
    if store.schema.is_cross_partition and store.options.merge_engine in ("aggregation", "partial-update"):
        return False
    times = any(isinstance(f.type, Timestamp | LocalZonedTimestamp) for f in store.schema.partition_fields)
    return not (times and format_of(file.file_name) == "orc")


def fields_in_file(store: TableStore, file: DataFile, fields: Sequence[DataField]) -> list[DataField]:
    """The fields of `fields` that are read from the file instead of its partition."""
    if not store.schema.partition_keys or stores_partition_columns(store, file):
        return list(fields)
    return [f for f in fields if f.name not in store.schema.partition_keys]


def with_partition_columns(store: TableStore, partition: bytes, file: DataFile | None, rows: pa.Table) -> pa.Table:
    """The rows with partition columns from the partition, where the file does not store them. None: it has other values."""
    if not store.schema.partition_keys or (file is not None and stores_partition_columns(store, file)):
        return rows
    for field, value in zip(store.schema.partition_fields, store.partition_values(partition), strict=True):
        if (at := rows.schema.get_field_index(field.name)) >= 0:
            same = pa.repeat(to_scalar(field.type, value), rows.num_rows)
            rows = rows.set_column(at, rows.schema.field(at), same)
    return rows
