"""Imports data files of other systems into a table: moves them, builds their manifest entries, undoes the moves on failure.

Source: Paimon 1.3 `FileMetaUtils.java`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError
from paimon_nb.format.data import iter_data_file
from paimon_nb.format.manifest import EMPTY_STATS, DataFile
from paimon_nb.format.row import EMPTY_ROW
from paimon_nb.table.read.migrated_files import with_partition_columns
from paimon_nb.table.write.data_file_writer import FileTarget, value_stats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.fs import FileIO, FileStatus
    from paimon_nb.table.read.store import TableStore

SUFFIX = "_paimon_"
"""Java's suffix for the name of the temporary target table."""


def imported_name(name: str, kind: str) -> str:
    """The name of an imported file, with the extension of its format."""
    return name if name.endswith(f".{kind}") else f"{name}.{kind}"


def undo_moves(fs: FileIO, moved: Sequence[tuple[str, str]]) -> bool:
    """Move files back. Returns False if one could not be moved: then nothing may be deleted."""
    complete = True
    for old, new in reversed(moved):
        try:
            if fs.exists(new):
                fs.move(new, old)
        except (OSError, PaimonError):
            complete = False
    return complete


def describe_file(fs: FileIO, store: TableStore, partition: bytes, path: str, status: FileStatus) -> DataFile:
    """The file's manifest entry. Reads all rows, so an unreadable file is detected before the commit."""
    fields = [f for f in store.schema.fields if f.name not in store.schema.partition_keys]
    collector = value_stats(store, FileTarget(partition, 0))
    entry = DataFile(
        path.rsplit("/", 1)[-1], status.size, 0, EMPTY_ROW, EMPTY_ROW, EMPTY_STATS, EMPTY_STATS, 0, 0, store.schema.id, 0,
        creation_time_ms=clock.local_now_ms(), delete_row_count=0, file_source=0,
    )  # fmt: skip
    rows = 0
    for batch in iter_data_file(fs, path, fields, [f.name for f in fields]):
        part = pa.Table.from_batches([batch])
        for at, field in enumerate(store.schema.arrow):
            if field.name in store.schema.partition_keys:
                part = part.add_column(at, field.name, pa.nulls(part.num_rows, field.type))
        collector.add(with_partition_columns(store, partition, entry, part))
        rows += part.num_rows
    stats, columns = collector.result()

    return replace(entry, row_count=rows, value_stats=stats, value_stats_cols=columns)
