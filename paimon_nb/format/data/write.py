"""Writing a data file of any format."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from paimon_nb.base.errors import NullNotAllowed
from paimon_nb.base.registry import Registry
from paimon_nb.format.data.avro import AvroWriter
from paimon_nb.format.data.file_schema import file_compression, format_of
from paimon_nb.format.data.json_files import JsonWriter
from paimon_nb.format.data.orc_writer import OrcWriter
from paimon_nb.format.data.parquet_writer import ParquetWriter
from paimon_nb.format.types import DataField
from paimon_nb.fs import FileIO
from paimon_nb.options import TableOptions


class _FormatWriter(Protocol):
    @property
    def pending_bytes(self) -> int: ...

    def write(self, table: pa.Table) -> None: ...

    def close(self) -> None: ...

    def abort(self) -> None: ...


WRITERS: Registry[Callable[[Any, Sequence[DataField], TableOptions, str], _FormatWriter]] = Registry(
    "file format", {"parquet": ParquetWriter, "orc": OrcWriter, "avro": AvroWriter, "json": JsonWriter}
)


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """What is known of a finished file."""

    size: int
    row_count: int


class DataWriter:
    """A new data file. Its columns come in the order of `fields`, in the memory form."""

    def __init__(
        self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions, compression: str
    ) -> None:
        self._fs, self._path = fs, path
        self._never_null = [f.name for f in fields if not f.type.nullable]
        self._out = fs.create(path)
        self._rows = 0
        try:
            self._writer = WRITERS.find(format_of(path))(self._out, fields, options, compression)
        except BaseException:
            self._out.abort()
            raise

    def write(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Append rows.

        Raises NullNotAllowed: what came in was looked at, but a merge can make a NULL of its own, and old files may hold some.
        """
        table = pa.Table.from_batches([rows]) if isinstance(rows, pa.RecordBatch) else rows
        for name in self._never_null:
            if table.column(name).null_count:
                raise NullNotAllowed(
                    f"column {name!r} is NOT NULL, and NULL would be written into {self._path}",
                    hint="aggregates and files from before the column was NOT NULL make such rows: ALTER TABLE ... MODIFY the column to allow NULL",
                    column=name,
                )
        self._rows += table.num_rows
        self._writer.write(table)

    @property
    def bytes_written(self) -> int:
        """Bytes in the file, and about those that its encoder holds back: what to compare with a target size."""
        return self._out.tell() + self._writer.pending_bytes

    def close(self) -> WrittenFile:
        """Finish the file and make it durable."""
        try:
            self._writer.close()
            size = self._out.tell()
            self._out.close()
        except BaseException:
            self.abort()
            raise
        return WrittenFile(size, self._rows)

    def abort(self) -> None:
        """Throw the file away. The encoder goes first: it must not touch a file that is closed."""
        self._writer.abort()
        self._out.abort()


def open_data_writer(
    fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions, level: int, *, changelog: bool = False
) -> DataWriter:
    """A writer of the format that the path's extension says, with the level's codec."""
    return DataWriter(fs, path, fields, options, file_compression(options, level, changelog=changelog))
