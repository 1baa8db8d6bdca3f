"""Reading a data file of any format into the memory form."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Protocol

import pyarrow as pa

from paimon_nb.base.registry import Registry
from paimon_nb.format.data.avro import AvroReader
from paimon_nb.format.data.fields import format_of
from paimon_nb.format.data.orc import OrcReader
from paimon_nb.format.data.parquet import ParquetReader
from paimon_nb.format.types import DataField
from paimon_nb.fs import FileIO

BATCH_ROWS = 1 << 16


class Reader(Protocol):
    """One open data file."""

    @property
    def num_rows(self) -> int: ...

    def read(self) -> pa.Table: ...

    def batches(self, rows: int) -> Iterator[pa.RecordBatch]: ...


READERS: Registry[Callable[[FileIO, str, Sequence[DataField]], Reader]] = Registry(
    "file format", {"parquet": ParquetReader, "orc": OrcReader, "avro": AvroReader}
)


def open_data_file(fs: FileIO, path: str, fields: Sequence[DataField]) -> Reader:
    """A reader of the given columns. Raises `MissingFile`, `CorruptFile`, `UnsupportedFormat`."""
    return READERS.find(format_of(path))(fs, path, fields)


def read_data_file(
    fs: FileIO, path: str, fields: Sequence[DataField], columns: Sequence[str] | None = None
) -> pa.Table:
    """All rows of a file in file order.

    Args:
        fields: the file's own columns, under the schema that it was written with. columns: which of them, in which order.

    Raises:
        MissingFile, CorruptFile, UnsupportedFormat.
    """
    return open_data_file(fs, path, _selected(fields, columns)).read()


def iter_data_file(
    fs: FileIO, path: str, fields: Sequence[DataField], columns: Sequence[str] | None = None, rows: int = BATCH_ROWS
) -> Iterator[pa.RecordBatch]:
    """The same in pieces of at most `rows` rows."""
    return open_data_file(fs, path, _selected(fields, columns)).batches(rows)


def _selected(fields: Sequence[DataField], columns: Sequence[str] | None) -> Sequence[DataField]:
    if columns is None:
        return fields
    by_name = {f.name: f for f in fields}
    return [by_name[c] for c in columns]
