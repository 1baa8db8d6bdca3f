"""Append files whose VECTOR columns are stored beside them, in `.vector.<format>` files (`vector.file.format`).

Source: Paimon 2 `DedicatedFormatRollingFileWriter`.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.data.file_schema import FORMATS
from paimon_nb.format.types import Vector
from paimon_nb.options import table as opt
from paimon_nb.table.data_file_writer import AppendFileWriter, FileTarget

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.store import TableStore


def open_append_writer(
    store: TableStore, target: FileTarget, next_sequence: int = 0, *, tracked: bool = False
) -> AppendFileWriter:
    """A writer of append files as the table's options ask for: with files for its vectors, or without."""
    if vector_fields(store) and not tracked:
        return AppendFileWriterWithVectors(store, target, next_sequence)
    return AppendFileWriter(store, target, next_sequence, tracked=tracked)


def vector_fields(store: TableStore) -> tuple[DataField, ...]:
    """The columns that are stored in separate files."""
    if not store.evolves_data or not store.options.get(opt.VECTOR_FILE_FORMAT):
        return ()
    return tuple(f for f in store.schema.fields if isinstance(f.type, Vector))


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


class AppendFileWriterWithVectors(AppendFileWriter):
    """Files with the other columns of a table, each followed by the vector files of its rows."""

    def __init__(self, store: TableStore, target: FileTarget, next_sequence: int = 0) -> None:
        super().__init__(store, target, next_sequence)
        self._columns = vector_fields(store)
        self._vectors: VectorFileWriter | None = None

    def _stored_fields(self) -> Sequence[DataField]:
        return tuple(f for f in self.store.schema.fields if f not in self._columns)

    def _file_columns(self, part: pa.Table) -> pa.Table:
        if self._vectors is None:
            self._vectors = VectorFileWriter(self.store, self.target, self._columns)
        self._vectors.write(part)
        return super()._file_columns(part)

    def _describe_file(self, size: int) -> DataFile:
        return replace(super()._describe_file(size), write_cols=tuple(f.name for f in self._stored_fields()))

    def _close_file(self) -> None:
        super()._close_file()
        if self._vectors is not None:
            self.done += self._vectors.finish()
            self._vectors = None

    def abort(self) -> None:
        """Delete everything written so far."""
        super().abort()
        if self._vectors is not None:
            self._vectors.abort()
