"""Append files whose large columns are stored beside them: VECTOR in `.vector.<format>` files, BLOB in `.blob` files.

Source: Paimon 2 `DedicatedFormatRollingFileWriter`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.file_schema import BLOB_FORMAT, FORMATS
from paimon_nb.format.types import Vector, is_blob_type
from paimon_nb.options import table as opt
from paimon_nb.table.write.data_file_writer import AppendFileWriter, FileTarget
from paimon_nb.table.write.managed_blobs import value_to_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.store import TableStore


def open_append_writer(
    store: TableStore, target: FileTarget, next_sequence: int = 0, *, tracked: bool = False
) -> AppendFileWriter:
    """A writer of append files as the table's columns and options ask for: with files for its large columns, or without."""
    if dedicated_fields(store) and not tracked:
        return AppendFileWriterWithDedicatedFiles(store, target, next_sequence)
    return AppendFileWriter(store, target, next_sequence, tracked=tracked)


def dedicated_fields(store: TableStore) -> tuple[DataField, ...]:
    """The columns that are stored in separate files."""
    if not store.evolves_data:
        return ()
    vectors = bool(store.options.get(opt.VECTOR_FILE_FORMAT))
    return tuple(
        f
        for f in store.schema.fields
        if (is_blob_type(f.type) and f.name not in store.inline_blobs) or (vectors and isinstance(f.type, Vector))
    )


def open_dedicated_writers(
    store: TableStore, target: FileTarget, columns: Sequence[DataField]
) -> list[AppendFileWriter]:
    """Writers of the files of these columns: one for all vectors, one for each BLOB."""
    vectors = [f for f in columns if isinstance(f.type, Vector)]
    writers: list[AppendFileWriter] = [VectorFileWriter(store, target, vectors)] if vectors else []
    return writers + [BlobFileWriter(store, target, f) for f in columns if is_blob_type(f.type)]


class VectorFileWriter(AppendFileWriter):
    """`.vector.<format>` files with these columns."""

    def __init__(self, store: TableStore, target: FileTarget, columns: Sequence[DataField]) -> None:
        name = str(store.options.get(opt.VECTOR_FILE_FORMAT)).lower()
        if name not in FORMATS:
            raise UnsupportedFormat(
                f"vector.file.format {name!r} cannot be written here",
                hint=f"use one of {', '.join(FORMATS)}; the format may differ from file to file",
                feature=name,
            )
        size = store.options.get(opt.VECTOR_TARGET_FILE_SIZE) or store.options.target_file_size(has_primary_key=False)
        # File indexes cover whole rows only.
        own = {k: v for k, v in store.schema.options.items() if not k.startswith("file-index.")}
        own |= {opt.FILE_FORMAT.key: name, opt.TARGET_FILE_SIZE.key: f"{size} b"}
        super().__init__(store.at_schema(store.schema.with_options(own)), target)
        self.columns = tuple(columns)

    def _extension(self) -> str:
        return f"vector.{super()._extension()}"

    def _stored_fields(self) -> Sequence[DataField]:
        return self.columns

    def _describe_file(self, size: int) -> DataFile:
        return replace(super()._describe_file(size), write_cols=tuple(f.name for f in self.columns))


class BlobFileWriter(AppendFileWriter):
    """`.blob` files with this column. A value that is a descriptor is copied from the location that it names."""

    def __init__(self, store: TableStore, target: FileTarget, column: DataField) -> None:
        size = store.options.get(opt.BLOB_TARGET_FILE_SIZE) or store.options.target_file_size(has_primary_key=False)
        own = {k: v for k, v in store.schema.options.items() if not k.startswith("file-index.")}
        own |= {opt.TARGET_FILE_SIZE.key: f"{size} b"}
        super().__init__(store.at_schema(store.schema.with_options(own)), target)
        self.column = column

    def write(self, table: pa.Table) -> None:
        """Append rows one by one: a file ends with the value that makes it large enough."""
        for row in range(table.num_rows):
            super().write(self._with_blob_descriptor_resolved(table.slice(row, 1)))

    def _with_blob_descriptor_resolved(self, part: pa.Table) -> pa.Table:
        column = part.column(self.column.name)
        value = column[0].as_py()
        resolved = self._resolved(value)
        return part if resolved is value else pa.table([pa.array([resolved], column.type)], names=[self.column.name])

    def _resolved(self, value: Any) -> Any:
        """`value`, or a copy in which the bytes replace the descriptors."""
        if isinstance(value, list):
            new = [(e[0], self._resolved(e[1])) if isinstance(e, tuple) else self._resolved(e) for e in value]
            return value if all(_element(a) is _element(b) for a, b in zip(new, value, strict=True)) else new
        return None if value is None else value_to_store(self.store, value)

    def _extension(self) -> str:
        return BLOB_FORMAT

    def _stored_fields(self) -> Sequence[DataField]:
        return (self.column,)

    def _describe_file(self, size: int) -> DataFile:
        return replace(super()._describe_file(size), write_cols=(self.column.name,))


def _element(entry: Any) -> Any:
    """The value of an array's element or of a map's pair."""
    return entry[1] if isinstance(entry, tuple) else entry


class AppendFileWriterWithDedicatedFiles(AppendFileWriter):
    """Files with the other columns of a table, each followed by the files of the large columns of its rows."""

    def __init__(self, store: TableStore, target: FileTarget, next_sequence: int = 0) -> None:
        super().__init__(store, target, next_sequence)
        self._columns = dedicated_fields(store)
        self._dedicated: list[AppendFileWriter] = []

    def _stored_fields(self) -> Sequence[DataField]:
        return tuple(f for f in self.store.schema.fields if f not in self._columns)

    def _file_columns(self, part: pa.Table) -> pa.Table:
        if not self._dedicated:
            self._dedicated = open_dedicated_writers(self.store, self.target, self._columns)
        for writer in self._dedicated:
            writer.write(part)
        return super()._file_columns(part)

    def _describe_file(self, size: int) -> DataFile:
        return replace(super()._describe_file(size), write_cols=tuple(f.name for f in self._stored_fields()))

    def _close_file(self) -> None:
        super()._close_file()
        for writer in self._dedicated:
            self.done += writer.finish()
        self._dedicated = []

    def abort(self) -> None:
        """Delete everything written so far."""
        super().abort()
        for writer in self._dedicated:
            writer.abort()
