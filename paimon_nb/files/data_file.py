"""A data file, or several that belong together, whose columns and types are known before its rows are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from paimon_nb.base.errors import ColumnNotFound, SchemaMismatch, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files.library_errors import library_errors
from paimon_nb.files.nearest_types import nearest_column, needs_values, unique_names
from paimon_nb.format.types.arrow_builders import from_arrow_schema

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField

MAX_TYPES = 12
"""Columns whose types a note lists."""


class Reader(Protocol):
    """Reads columns of a file in types of Arrow, whatever they are."""

    schema: pa.Schema
    """The columns as the file has them; names may repeat."""
    how: str
    """'CSV, delimiter semicolon, header in line 1'."""
    notes: list[str]
    """What the guess changed."""
    guess: Mapping[str, str]
    """The options of the file as they were found, by name; {} if the format has none."""

    def read(self, columns: Sequence[int]) -> pa.Table:
        """These columns, by position; at least one."""

    def count(self) -> int:
        """The number of rows."""


@dataclass(frozen=True, slots=True)
class _Column:
    """A column as it is read: its name in the result, its type, and the note."""

    name: str
    type: pa.DataType | None
    note: str = ""
    error: SchemaMismatch | None = None


class DataFile:
    """The columns and rows of a file. A column that no query names is not decoded, so it cannot be an error.

    Attributes:
        how: how it was read: 'CSV, delimiter comma, header in line 1'.
        guess: the options of the file as they were found: {'delim': ',', 'header': 'true'}.
        kind: its format: 'csv'.
        size: its bytes.
    """

    def __init__(self, reader: Reader, name: str, size: int, kind: str = "") -> None:
        self._reader, self._name, self.kind = reader, name, kind
        self.guess = dict(reader.guess)
        self.how, self.size = reader.how, size
        names, renamed = unique_names(reader.schema.names)
        if not names:
            raise SchemaMismatch(f"{name} has no columns", hint="a query needs at least one")
        self._renamed = renamed
        self._columns = [self._column(i, n) for i, n in enumerate(names)]

    def _column(self, position: int, name: str) -> _Column:
        """The type of a column; one that depends on the values reads them."""
        import pyarrow as pa

        try:
            field = self._reader.schema.field(position)
            if needs_values(field.type):
                found = nearest_column(self._read([position]).column(0))
            else:
                found = nearest_column(field_without_rows(field.type))
            return _Column(name, found.column.type, found.note)
        except SchemaMismatch as error:
            return _Column(name, None, "", error)
        except (pa.ArrowException, KeyError, NotImplementedError) as error:  # a type that pyarrow does not know
            text = f"its type is not supported ({str(error).splitlines()[0][:100]})"
            return _Column(name, None, "", SchemaMismatch(f"column {name!r}: {text}", hint="leave this column out"))

    @property
    def names(self) -> list[str]:
        """The names of the columns that can be read, in order."""
        return [c.name for c in self._columns if c.type is not None]

    @property
    def all_names(self) -> list[str]:
        """The names of all columns, also of those that have no type."""
        return [c.name for c in self._columns]

    @property
    def schema(self) -> pa.Schema:
        """The columns in Paimon's Arrow types."""
        import pyarrow as pa

        return pa.schema([pa.field(c.name, c.type) for c in self._columns if c.type is not None])

    @property
    def fields(self) -> tuple[DataField, ...]:
        """The columns in Paimon's types."""
        return tuple(from_arrow_schema(self.schema))

    def rows(self, columns: Sequence[str] | None = None) -> pa.Table:
        """The rows with these columns; None: all.

        Raises:
            ColumnNotFound: no such column. SchemaMismatch: a value that no type has.
        """
        import pyarrow as pa

        positions = self._positions(columns)
        if not positions:
            return pa.table({"": pa.nulls(self._reader.count(), pa.bool_())}).select([])
        read = self._read(positions)
        arrays = [self._in_type(read.column(i), self._columns[p]) for i, p in enumerate(positions)]
        return pa.table(arrays, names=[self._columns[p].name for p in positions])

    def count(self) -> int:
        """The number of rows, without decoding a column."""
        with library_errors(self._name, self.how):
            return self._reader.count()

    def _read(self, positions: Sequence[int]) -> pa.Table:
        """Columns by position. An error of one of several columns names it."""
        try:
            with library_errors(self._name, self.how):
                return self._reader.read(positions)
        except UnsupportedFormat:
            for p in positions if len(positions) > 1 else ():
                with library_errors(f"{self._name}, column {self._columns[p].name!r}", self.how):
                    self._reader.read([p])
            raise

    def _positions(self, columns: Sequence[str] | None) -> list[int]:
        if columns is None:
            return [i for i, c in enumerate(self._columns) if c.type is not None]
        by_name = {c.name.lower(): i for i, c in enumerate(self._columns)}
        missing = next((c for c in columns if c.lower() not in by_name), None)
        if missing is not None:
            raise ColumnNotFound(f"{self._name} has no column {missing!r}", column=missing)
        positions = sorted({by_name[c.lower()] for c in columns})
        for error in (self._columns[p].error for p in positions):
            if error is not None:
                raise error
        return positions

    def _in_type(self, column: pa.ChunkedArray, target: _Column) -> pa.ChunkedArray:
        import pyarrow as pa

        with library_errors(f"{self._name}, column {target.name!r}", self.how):
            found = nearest_column(column).column
        if found.type == target.type:
            return found
        try:
            return found.cast(target.type)
        except pa.ArrowException as error:
            text = str(error).split("\n", 1)[0][:200]
            raise SchemaMismatch(f"{self._name}, column {target.name!r}: {text}") from None

    def note(self) -> str:
        """What a statement says about the file: how it was read, its types, what changed."""
        return "; ".join([self.how, column_types_text(self.fields), *filter(None, [self.changes()])])

    def changes(self) -> str:
        """What differs from the file: names, types and values; '' if nothing."""
        changed = [*self._renamed, *self._reader.notes]
        changed += [f"{c.name} is {c.note}" for c in self._columns if c.note]
        unread = [f"{c.name} cannot be read: {c.error.message}" for c in self._columns if c.error is not None]
        return "; ".join([*_shortened(changed), *_shortened(unread)])


def _shortened(notes: Sequence[str]) -> list[str]:
    if len(notes) <= MAX_TYPES:
        return list(notes)
    return [*notes[:MAX_TYPES], f"and {len(notes) - MAX_TYPES} more notes of this kind"]


def field_without_rows(t: pa.DataType) -> pa.ChunkedArray:
    """A column of a type without rows."""
    import pyarrow as pa

    return pa.chunked_array([], t)


def column_types_text(fields: Sequence[DataField]) -> str:
    """'id BIGINT, name STRING'; the first columns of many."""
    types = ", ".join(f"{f.name} {f.type}" for f in fields[:MAX_TYPES])
    return f"{types} and {len(fields) - MAX_TYPES} more columns" if len(fields) > MAX_TYPES else types
