"""Data files that do not tell their partition columns: those that another system wrote and a migration or clone took over, and
ORC files whose partition is a time.

Source: Paimon `PartitionUtils.java`, which fills such columns whatever the file holds; `FileMetaUtils.java`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import pyarrow as pa

from paimon_nb.format.data import format_of
from paimon_nb.format.manifest import DataFile
from paimon_nb.format.row import EMPTY_ROW, to_scalar
from paimon_nb.format.types import DataField, LocalZonedTimestamp, Timestamp
from paimon_nb.table.store import TableStore

_OURS = re.compile(r"-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}-\d+\.[^/]*$")
"""How every writer of Paimon ends a file's name: the writer's UUID and a count."""


def is_imported(file: DataFile) -> bool:
    """Whether a data file may be none of Paimon's own: it bears another name, or nobody counted its rows.

    Java's clone of a Hive table gives names of Paimon, and the sequence numbers 0 to 0. A file of one row that Paimon
    wrote has these too; its partition columns are then not read but told, which is the same.
    """
    return _OURS.search(file.file_name) is None or (file.max_sequence == 0 and file.min_key == EMPTY_ROW)


def tells_partition(file: DataFile, partition: Sequence[DataField]) -> bool:
    """Whether the file holds the values of its partition's columns. ORC has no place for the fractions of the last second before
    1970: its readers, Java's too, make 00:00:00.1 of 23:59:59.1."""
    if is_imported(file):
        return False
    times = any(isinstance(f.type, Timestamp | LocalZonedTimestamp) for f in partition)
    return not (times and format_of(file.file_name) == "orc")


def in_file(store: TableStore, file: DataFile, fields: Sequence[DataField]) -> list[DataField]:
    """Those of `fields` that are read from the file, not told by its partition."""
    if not store.schema.partition_keys or tells_partition(file, store.schema.partition_fields):
        return list(fields)
    return [f for f in fields if f.name not in store.schema.partition_keys]


def with_partition(store: TableStore, partition: bytes, file: DataFile, rows: pa.Table) -> pa.Table:
    """The rows with the partition's own values in its columns, where the file cannot have told them."""
    if not store.schema.partition_keys or tells_partition(file, store.schema.partition_fields):
        return rows
    for field, value in zip(store.schema.partition_fields, store.partition_values(partition), strict=True):
        if (at := rows.schema.get_field_index(field.name)) >= 0:
            same = pa.repeat(to_scalar(field.type, value), rows.num_rows)
            rows = rows.set_column(at, rows.schema.field(at), same)
    return rows
