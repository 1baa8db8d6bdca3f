"""Lance and Vortex files, which only their makers' libraries read and write: the extras `lance` and `vortex`.

The libraries open paths of the operating system. A file elsewhere is copied to a temporary one, and a new file is written to a temporary one first.
Source: Paimon 2.1 `LanceFileFormat`, `VortexFileFormat`; pypaimon `format_lance_reader.py`, `format_vortex_reader.py`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import CorruptFile, UnsupportedFormat
from paimon_nb.base.optional_packages import import_optional
from paimon_nb.format.data.schema_cast import to_logical, without_columns
from paimon_nb.format.types import DataField, DataType, Row, arrow_schema, arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions

_PACKAGES = {"lance": ("lance.file", "pylance"), "vortex": ("vortex", "vortex-data")}
_UNSUPPORTED = {
    "lance": ("MAP", "MULTISET", "VARIANT", "BLOB", "TIMESTAMP_LTZ"),
    "vortex": ("MAP", "MULTISET", "VARIANT", "BLOB"),
}
_LANCE_VERSION = "2.1"
"""The newest one that Paimon 2.1's Lance reads. Version 2.0 has no NULL of a ROW."""
_LANCE_VERSIONS = ((0, 3), (2, 0), (2, 1))
"""Those that the library knows; 0.3 is an early form of 2.0."""
_VORTEX_RATIO = 0.25
"""Java's estimate of a file's size as a share of its rows in memory."""


def check_types(kind: str, fields: Sequence[DataField]) -> None:
    """Raises UnsupportedFormat for a column that files of this format (`lance`, `vortex`) cannot store."""

    def is_refused(t: DataType) -> bool:
        return t.root in _UNSUPPORTED[kind] or (isinstance(t, Row) and not t.fields)

    for field in fields:
        if field.type.contains_type(is_refused):
            raise UnsupportedFormat(
                f"column {field.name!r} is {field.type.bare()}, which {kind} files cannot store",
                hint="use 'file.format' = 'parquet'", column=field.name, feature=field.type.root,
            )  # fmt: skip


def library(kind: str) -> Any:
    """The module that reads and writes files of this format. Raises EnvironmentError_."""
    module, package = _PACKAGES[kind]
    missing = f"{kind} files need the Python package {package}"
    return import_optional(module, missing, install=f"paimon-nb[{kind}]", package=package)


class _TemporaryFile:
    """A path of the operating system that is deleted with `close`."""

    def __init__(self, kind: str) -> None:
        handle, self.path = tempfile.mkstemp(suffix=f".{kind}", prefix="paimon-nb-")
        os.close(handle)

    def close(self) -> None:
        Path(self.path).unlink(missing_ok=True)


class _Reader:
    """One open file; columns are found by name. Its rows are one row group."""

    kind = ""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        self.path, self.fields = path, tuple(fields)
        self._copy: _TemporaryFile | None = None
        self._library = library(self.kind)
        local = fs.local_path(path)
        try:
            with fs.open(path) as source:  # also tells a missing file
                if local is None:
                    self._copy = _TemporaryFile(self.kind)
                    local = self._copy.path
                    with Path(local).open("wb") as target:
                        shutil.copyfileobj(source, target)
            with self._broken_file_as_error():
                self._count, names = self._open_file(local)
            if missing := [f.name for f in self.fields if f.name not in names]:
                raise CorruptFile(path, f"it has no column {missing[0]!r}")
        except BaseException:
            self.close()
            raise

    def _open_file(self, local: str) -> tuple[int, Sequence[str]]:
        """(number of rows, names of the columns)"""
        raise NotImplementedError

    def _decoded_batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        """The rows of the columns of `fields`, in that order."""
        raise NotImplementedError

    @property
    def num_rows(self) -> int:
        return self._count

    @property
    def row_groups(self) -> list[int]:
        return [self._count] if self._count else []

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All rows, in file order."""
        if not self.fields:
            return without_columns(0 if groups == [] else self._count)
        return pa.Table.from_batches(
            self.batches(self._count or 1, groups), schema=arrow_schema(self.fields, nullable=True)
        )

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """In batches of at most `rows` rows."""
        if not self._count or groups == []:
            return
        if not self.fields:
            yield from without_columns(self._count).to_batches(rows)
            return
        decoded = self._decoded_batches(rows)
        while True:
            with self._broken_file_as_error():
                batch = next(decoded, None)
                result = None if batch is None else self._with_logical_types(batch)
            if result is None:
                return
            yield result

    def _with_logical_types(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = [to_logical(_without_views(batch.column(i)), f.type) for i, f in enumerate(self.fields)]
        return pa.RecordBatch.from_arrays(columns, schema=arrow_schema(self.fields, nullable=True))

    def close(self) -> None:
        if self._copy is not None:
            self._copy.close()

    @contextmanager
    def _broken_file_as_error(self) -> Iterator[None]:
        """The libraries raise anything for a broken file, also the panics of Rust, which are no `Exception`."""
        try:
            yield
        except UnsupportedFormat:
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise CorruptFile(self.path, f"not readable as {self.kind} ({error!s:.100})") from None


class LanceReader(_Reader):
    kind = "lance"

    def _open_file(self, local: str) -> tuple[int, Sequence[str]]:
        _check_lance_version(local, self.path)
        names = [f.name for f in self.fields]
        found = self._library.LanceFileReader(local).metadata()
        if self.fields and set(names) <= set(found.schema.names):
            self._file = self._library.LanceFileReader(local, columns=names)
        return found.num_rows, found.schema.names

    def _decoded_batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        names = [f.name for f in self.fields]
        for batch in self._file.read_all(batch_size=rows).to_batches():
            yield batch.select(names)


class VortexReader(_Reader):
    kind = "vortex"

    def _open_file(self, local: str) -> tuple[int, Sequence[str]]:
        self._file = self._library.open(local)
        return len(self._file), self._file.dtype.to_arrow_schema().names

    def _decoded_batches(self, rows: int) -> Iterator[pa.RecordBatch]:
        names = [f.name for f in self.fields]
        for batch in self._file.scan(names, batch_size=rows).to_arrow():
            yield batch.select(names)


def _check_lance_version(local: str, path: str) -> None:
    """The library ends the process where it meets a version that it does not know."""
    with Path(local).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 8))
        tail = file.read(8)
    if tail[4:] != b"LANC":
        raise ValueError("it does not end as such a file")
    version = int.from_bytes(tail[:2], "little"), int.from_bytes(tail[2:4], "little")
    if version not in _LANCE_VERSIONS:
        raise UnsupportedFormat(
            f"{path} is of version {version[0]}.{version[1]} of Lance", hint="Paimon 2.1 has files of versions 2.0 and 2.1",
            path=path, feature="lance",
        )  # fmt: skip


def _without_views(column: pa.Array) -> pa.Array:
    """The column with texts and bytes in Arrow's usual layout: Vortex returns views."""
    plain = _plain_type(column.type)
    return column if plain == column.type else column.cast(plain)


def _plain_type(t: pa.DataType) -> pa.DataType:
    types = pa.types
    if types.is_string_view(t):
        return pa.string()
    if types.is_binary_view(t):
        return pa.binary()
    if types.is_struct(t):
        return pa.struct([f.with_type(_plain_type(f.type)) for f in t])
    if types.is_fixed_size_list(t):
        return pa.list_(t.value_field.with_type(_plain_type(t.value_type)), t.list_size)
    if types.is_list(t) or types.is_large_list(t):
        return pa.list_(t.value_field.with_type(_plain_type(t.value_type)))
    return t


class _Writer:
    """Writes one file. Codecs have no effect: the formats choose encodings themselves."""

    kind = ""

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        check_types(self.kind, fields)
        self._library, self._out = library(self.kind), out
        self._schema = pa.schema([pa.field(f.name, arrow_type(f.type), f.type.nullable) for f in fields])
        self._bytes, self._file = 0, _TemporaryFile(self.kind)

    @property
    def pending_bytes(self) -> int:
        return self._bytes

    def write(self, table: pa.Table) -> None:
        self._bytes += table.nbytes
        self._add(pa.Table.from_arrays(table.columns, schema=self._schema))

    def close(self) -> None:
        try:
            self._finish()
            with Path(self._file.path).open("rb") as source:
                shutil.copyfileobj(source, self._out)
        finally:
            self._file.close()
            self._bytes = 0

    def abort(self) -> None:
        self._file.close()

    def _add(self, table: pa.Table) -> None:
        raise NotImplementedError

    def _finish(self) -> None:
        raise NotImplementedError


class LanceWriter(_Writer):
    kind = "lance"

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        super().__init__(out, fields, options, compression)
        try:
            self._writer = self._library.LanceFileWriter(self._file.path, self._schema, version=_LANCE_VERSION)
        except BaseException:
            self._file.close()
            raise

    def _add(self, table: pa.Table) -> None:
        for batch in table.to_batches():
            self._writer.write_batch(batch)

    def _finish(self) -> None:
        self._writer.close()


class VortexWriter(_Writer):
    """Its rows are in memory until the file ends: the library encodes a whole file at once."""

    kind = "vortex"

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        super().__init__(out, fields, options, compression)
        self._tables: list[pa.Table] = []

    @property
    def pending_bytes(self) -> int:
        return int(self._bytes * _VORTEX_RATIO)

    def _add(self, table: pa.Table) -> None:
        self._tables.append(table)

    def _finish(self) -> None:
        rows = pa.concat_tables([self._schema.empty_table(), *self._tables])
        self._library.io.write(self._library.array(rows), self._file.path)
        self._tables = []
