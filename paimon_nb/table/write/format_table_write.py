"""Writes rows of a format table into files that no reader sees before their commit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import DataWriter
from paimon_nb.format.data.schema_cast import cast_to_schema
from paimon_nb.options.support import Access
from paimon_nb.options.table import FORMAT_TABLE_COMMIT_HIVE_SYNC_URL
from paimon_nb.table.read.format_table import STAGING, compression_of, data_fields, file_format_of, new_file_name
from paimon_nb.table.write.input_rows import (
    INSERT,
    Kinds,
    Rows,
    as_table,
    partition_groups,
    row_kinds,
    split_by_bucket,
    take_rows,
    with_defaults,
)
from paimon_nb.table.write.waiting_rows import WaitingRows, max_open_writers

if TYPE_CHECKING:
    from types import TracebackType

    import pyarrow as pa

    from paimon_nb.table.read.store import TableStore


@dataclass(frozen=True, slots=True)
class StagedFile:
    """A finished file that waits for its commit. Can be pickled."""

    path: str
    """Where it is, in a directory that readers skip."""
    partition: bytes
    """The partition of its rows, as a serialized BinaryRow."""
    row_count: int
    size: int = 0
    """Bytes; 0 if no catalog wants to know."""


class FormatTableWrite:
    """Writes the rows of one commit; returned by `Table.write` of a format table.

    A context manager: leaving it without `prepare_commit()` deletes the written files.

    Args:
        store: the table.
    """

    def __init__(self, store: TableStore) -> None:
        store.check_supported(Access.WRITE)
        if store.options.get(FORMAT_TABLE_COMMIT_HIVE_SYNC_URL) and store.watcher is None:
            raise UnsupportedOperation(
                f"{store.name} cannot be written here: new partitions are not added to a Hive metastore",
                hint=f"open it in a catalog of metastore 'hive', RESET '{FORMAT_TABLE_COMMIT_HIVE_SYNC_URL.key}', or write with Java Paimon",
                option=FORMAT_TABLE_COMMIT_HIVE_SYNC_URL.key,
            )
        self.store = store
        self.row_count = 0
        self._fields = data_fields(store)
        self._directory = f"{store.root}/{STAGING}"
        self._target_size = max(1, store.options.target_file_size(False))
        self._open: dict[bytes, tuple[str, DataWriter, int]] = {}
        self._max_open = max_open_writers(store)
        self._waiting: WaitingRows | None = None
        self._waiting_partitions: dict[bytes, int] = {}
        """The number of each partition whose rows wait until the files of others are closed."""
        self._files: list[StagedFile] = []
        self._prepared = False

    def write(self, rows: Rows, kinds: Kinds | None = None) -> None:
        """Write rows. Columns are matched by name; missing columns get their default value.

        Args:
            rows: an Arrow table, batch or stream, or a pandas or polars frame.
            kinds: the row kind of each row; only `+I` is allowed.

        Raises:
            SchemaMismatch: a column does not fit the table. No row of this call is written.
            NullNotAllowed: a NOT NULL column contains NULL. No row of this call is written.
            UnsupportedOperation: a row is not an insert, or this writer is closed.
        """
        if self._prepared:
            raise UnsupportedOperation("this writer has been closed", hint="open another one with write()")
        table = as_table(rows)
        table = cast_to_schema(with_defaults(table, self.store.schema), self.store.schema.fields)
        codes = row_kinds(self.store, table, kinds)
        if (codes != INSERT).any():
            raise UnsupportedOperation(
                f"{self.store.name} is a format table: it takes inserts only, no updates or deletes",
                hint="use a Paimon table with a PRIMARY KEY",
            )
        self.row_count += table.num_rows
        partitions, groups = partition_groups(self.store, table)
        for group, _, numbers in split_by_bucket(table, groups, groups * 0):
            rows_of_files = take_rows(table, numbers).select([f.name for f in self._fields])
            partition = partitions[group]
            if partition in self._open or (
                partition not in self._waiting_partitions and len(self._open) < self._max_open
            ):
                self._write_partition(partition, rows_of_files)
                continue
            number = self._waiting_partitions.setdefault(partition, len(self._waiting_partitions))
            self._waiting = self._waiting or WaitingRows(self.store)
            self._waiting.add(rows_of_files, np.full(len(numbers), number))

    def _write_partition(self, partition: bytes, rows: pa.Table) -> None:
        opened = self._open.get(partition)
        path, writer, count = opened if opened is not None else self._new_file()
        self._open[partition] = path, writer, count + rows.num_rows
        writer.write(rows)
        if writer.bytes_written >= self._target_size:
            self._finish_file(partition)

    def _new_file(self) -> tuple[str, DataWriter, int]:
        store = self.store
        path = f"{self._directory}/{new_file_name(store)}"
        kind = file_format_of(store.options)
        return path, DataWriter(store.fs, path, self._fields, store.options, compression_of(store.options), kind), 0

    def _finish_file(self, partition: bytes) -> None:
        path, writer, count = self._open[partition]
        writer.close()
        del self._open[partition]
        size = self.store.fs.size(path) if self.store.partitions is not None else 0
        self._files.append(StagedFile(path, partition, count, size))

    def prepare_commit(self) -> list[StagedFile]:
        """Finish all files and close this writer.

        Returns:
            The files, for `FormatTableCommit.commit`. They can be pickled.
        """
        try:
            for partition in list(self._open):
                self._finish_file(partition)
            if self._waiting is not None:
                partitions = list(self._waiting_partitions)
                for number, tables in self._waiting.by_writer():
                    for rows in tables:
                        self._write_partition(partitions[number], rows)
                    if partitions[number] in self._open:
                        self._finish_file(partitions[number])
                self._waiting.close()
        except BaseException:
            self.abort()
            raise
        self._prepared = True
        return self._files

    prepare = prepare_commit
    """The same as `prepare_commit`."""

    def abort(self) -> None:
        """Delete all files of this writer that are not committed."""
        for _, writer, _ in self._open.values():
            writer.abort()
        self._open = {}
        if self._waiting is not None:
            self._waiting.close()
        delete_staged(self.store, self._files)
        self._prepared = True

    def __enter__(self) -> FormatTableWrite:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is not None or not self._prepared:
            self.abort()


def delete_staged(store: TableStore, files: list[StagedFile]) -> None:
    """Delete files that will not be committed. Their directory stays: another writer may use it."""
    for file in files:
        store.fs.delete(file.path)
