"""Parquet, ORC and Arrow files: they have a schema of their own, and columns are read one by one as a query names them."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.files import formats
from paimon_nb.files.stored_extensions import StoredExtensions, with_texts_of_enums

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa
    import pyarrow.parquet as parquet

    from paimon_nb.files.data_file import Reader
    from paimon_nb.files.locations import Found

_ARROW_TYPES = {"BIGINT": "int64", "DATE": "date32", "VARCHAR": "string"}


class ParquetReader:
    """Reads a Parquet file."""

    def __init__(self, file: Found) -> None:
        import pyarrow as pa
        import pyarrow.parquet as parquet

        self.how = "Parquet"
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        self._file = parquet.ParquetFile(file.path)  # not mapped: its writer may overwrite it
        if _overflows(self._file, file.path):
            self._file = parquet.ParquetFile(file.path, coerce_int96_timestamp_unit="us")
            self.notes.append("times beyond nanoseconds (INT96): TIMESTAMP(6)")
        self._stored = StoredExtensions(with_texts_of_enums(self._file))
        self.notes += self._stored.notes
        whole: pa.Schema = self._stored.schema
        self.schema: pa.Schema = pa.schema([f for f in whole if not _is_empty_group(f.type)], whole.metadata)
        self._positions = [i for i, f in enumerate(whole) if not _is_empty_group(f.type)]
        self.notes += [f"{f.name} is left out, because it has no fields" for f in whole if _is_empty_group(f.type)]

    def read(self, columns: Sequence[int]) -> pa.Table:
        names = self.schema.names
        selected = [names[i] for i in columns]
        plain = all(names.count(n) == 1 and "." not in n for n in selected) and not any("." in n for n in names)
        rows = self._file.read(selected if plain else None, use_pandas_metadata=False)
        rows = rows.select(selected) if plain else rows.select(list(columns))
        for name, column in zip(selected, rows.columns, strict=True):
            _check_texts(name, column)
        return self._stored.read([self._positions[i] for i in columns], rows)

    def count(self) -> int:
        return int(self._file.metadata.num_rows)


def _overflows(file: parquet.ParquetFile, path: Any) -> bool:
    """Whether a time of an INT96 column does not fit into 64-bit nanoseconds: the library returns another time for it."""
    import pyarrow.parquet as parquet

    leaves = [file.schema.column(i) for i in range(len(file.schema))]
    names = [leaf.path for leaf in leaves if leaf.physical_type == "INT96"]
    if not names:
        return False
    exact = parquet.ParquetFile(path, coerce_int96_timestamp_unit="us")
    return any(
        (nanos // 1000 != micros).any()
        for group in range(file.num_row_groups)
        for nanos, micros in zip(
            _numbers(file.read_row_group(group, names)), _numbers(exact.read_row_group(group, names)), strict=True
        )
    )


def _numbers(rows: pa.Table) -> Iterator[Any]:
    """The times of a table as 64-bit numbers, those inside of lists, rows and maps, too."""
    import pyarrow as pa

    inside = [c.combine_chunks() for c in rows.columns]
    while inside:
        array = inside.pop()
        if pa.types.is_timestamp(array.type):
            yield array.cast(pa.int64()).fill_null(0).to_numpy()
        elif pa.types.is_map(array.type):
            inside += [array.keys, array.items]
        elif pa.types.is_nested(array.type):
            flat = array.flatten()
            inside += flat if isinstance(flat, list) else [flat]


def _is_empty_group(t: pa.DataType) -> bool:
    """Whether a column has no values, so that the library does not return it."""
    import pyarrow as pa

    return bool(pa.types.is_struct(t) and all(_is_empty_group(f.type) for f in t))


def _check_texts(name: str, column: pa.ChunkedArray) -> None:
    """Raises SchemaMismatch: a text is not UTF-8; the library does not look, and fails when a value is shown."""
    import pyarrow as pa

    if not pa.types.is_string(column.type) and not pa.types.is_nested(column.type):
        return
    try:
        column.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            return
        raise SchemaMismatch(
            f"column {name!r} has a text that is not UTF-8",
            hint="leave this column out of the SELECT list",
            column=name,
        ) from None


class OrcReader:
    """Reads an ORC file."""

    def __init__(self, file: Found) -> None:
        from paimon_nb.format.data.orc_process import OrcFile

        self.how = "ORC"
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        # Broken bytes may end the process that decodes them, so another one does.
        self._source, self._path = Path(file.path).open("rb"), str(file.path)  # noqa: SIM115
        with closing(OrcFile(self._source, self._path, None)) as whole:
            self.schema: pa.Schema = whole.value("schema").schema
            self._count = int(whole.value("num_rows"))

    def read(self, columns: Sequence[int]) -> pa.Table:
        import pyarrow as pa

        from paimon_nb.format.data.orc_process import OrcFile

        # Arrow makes no empty array of a union, so an empty table has no chunks.
        empty = pa.Table.from_batches([], self.schema).select(list(columns))
        names = self.schema.names
        by_name = bool(columns) and len(set(names)) == len(names) and not any("." in n for n in names)
        with closing(OrcFile(self._source, self._path, [names[i] for i in columns] if by_name else None)) as file:
            stripes = [rows if by_name else rows.select(list(columns)) for rows in file.rows(None)]
        for i, stored in enumerate(empty.schema):
            # Times that 64-bit nanoseconds do not have come in microseconds, from some stripes.
            wide = next((s.schema.field(i).type for s in stripes if s.schema.field(i).type != stored.type), None)
            if wide is not None:
                self.notes.append(f"{stored.name} has times beyond nanoseconds: TIMESTAMP(6)")
                empty, *stripes = (
                    t.set_column(i, stored.name, t.column(i).cast(wide, safe=False)) for t in (empty, *stripes)
                )
        return pa.concat_tables([empty, *stripes])

    def count(self) -> int:
        return self._count


class ArrowReader:
    """Reads a file or a stream of Arrow, also a Feather file of version 1."""

    def __init__(self, file: Found) -> None:
        self.how = "Arrow"
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        self._rows = self._with_wider_decimals(_arrow_rows(file))
        self._stored = StoredExtensions(self._rows.schema)
        self.notes += self._stored.notes
        self.schema: pa.Schema = self._stored.schema

    def read(self, columns: Sequence[int]) -> pa.Table:
        import pyarrow as pa

        from paimon_nb.format.types.arrow_from_outside import sound_table

        rows = self._rows.select(list(columns))
        for column in rows.columns:
            column.validate(full=pa.types.is_nested(column.type) or not pa.types.is_primitive(column.type))
        return self._stored.read(columns, sound_table(rows))

    def count(self) -> int:
        return int(self._rows.num_rows)

    def _with_wider_decimals(self, rows: pa.Table) -> pa.Table:
        """The rows; a decimal column with values of more digits than its type has gets the largest precision."""
        import pyarrow as pa

        for i, (name, column) in enumerate(zip(rows.column_names, rows.columns, strict=True)):
            wide = {16: pa.decimal128, 32: pa.decimal256}.get(column.type.byte_width) if pa.types.is_decimal(column.type) else None  # fmt: skip
            if wide is None or _is_valid(column):
                continue
            target = wide(38 if wide is pa.decimal128 else 76, column.type.scale)
            chunks = [pa.Array.from_buffers(target, len(c), c.buffers(), c.null_count, c.offset) for c in column.chunks]
            if wide is pa.decimal128 and not _is_valid(pa.chunked_array(chunks, target)):
                target = pa.decimal256(76, column.type.scale)
                chunks = [_with_256_bits(c, target) for c in column.chunks]
            rows = rows.set_column(i, name, pa.chunked_array(chunks, target))
            self.notes.append(
                f"{name}: some values have more digits than DECIMAL({column.type.precision}, {column.type.scale})"
            )
        return rows


def _with_256_bits(array: pa.Array, target: pa.DataType) -> pa.Array:
    """Decimals of 128 bits, which may have 39 digits, in 256 bits."""
    import numpy as np
    import pyarrow as pa

    array = array.take(pa.array(range(len(array)), pa.int64()))  # without an offset
    validity, values = array.buffers()
    words = np.frombuffer(values, dtype="<i8").reshape(-1, 2)[: len(array)]
    wide = np.empty((len(array), 4), dtype="<i8")
    wide[:, :2] = words
    wide[:, 2:] = (words[:, 1] >> 63)[:, None]  # the sign
    return pa.Array.from_buffers(target, len(array), [validity, pa.py_buffer(wide.tobytes())], array.null_count)


def _is_valid(column: pa.ChunkedArray) -> bool:
    import pyarrow as pa

    try:
        column.validate(full=True)
    except pa.ArrowInvalid:
        return False
    return True


def _arrow_rows(file: Found) -> pa.Table:
    import pyarrow as pa
    from pyarrow import feather

    source = pa.OSFile(str(file.path)) if not formats.compression_of(file.name) else pa.BufferReader(_inflated(file))
    start = _start_of(source)
    if start.startswith(b"FEA1"):
        return feather.read_table(str(file.path))
    if start.startswith(b"ARROW1"):
        try:
            return pa.ipc.open_file(source).read_all()
        except pa.ArrowInvalid:  # without a footer it is a stream after the mark
            source.seek(8)
    return pa.ipc.open_stream(source).read_all()


def _inflated(file: Found) -> bytes:
    from paimon_nb.files.text_encoding import open_stream

    with open_stream(file.path, formats.compression_of(file.name)) as stream:
        data: bytes = stream.read()
        return data


def _start_of(source: Any) -> bytes:
    start: bytes = source.read(8)
    source.seek(0)
    return start


class FrameReader:
    """Reads the rows of a frame that the caller holds."""

    def __init__(self, rows: pa.Table) -> None:
        self.how = "frame"
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        self._rows = rows
        self.schema: pa.Schema = rows.schema

    def read(self, columns: Sequence[int]) -> pa.Table:
        return self._rows.select(list(columns))

    def count(self) -> int:
        return int(self._rows.num_rows)


class ManyReader:
    """Reads several files as one: columns are combined by name, and those of the path are added."""

    def __init__(self, readers: Sequence[Reader], files: Sequence[Found]) -> None:
        import pyarrow as pa

        self._readers, self._files = readers, files
        how = readers[0].how
        self.how = f"{len(files)} files, {how}" if len(files) > 1 else how
        self.notes = [n for r in readers for n in r.notes]
        self.guess = readers[0].guess
        own = [pa.schema([f.remove_metadata() for f in r.schema]) for r in readers]
        try:
            schema = pa.unify_schemas(own, promote_options="permissive") if len(own) > 1 else own[0]
        except pa.ArrowException:
            raise _different_types(own, files) from None
        known = {n.lower() for n in schema.names}
        self._constants = [(n, _ARROW_TYPES[t]) for n, t, _ in files[0].constants if n.lower() not in known]
        for name, type in self._constants:
            schema = schema.append(pa.field(name, pa.type_for_alias(type)))
        self.schema: pa.Schema = schema

    def read(self, columns: Sequence[int]) -> pa.Table:
        import pyarrow as pa

        if len(self._readers) == 1 and not self._constants:
            return self._readers[0].read(columns)
        fields = [self.schema.field(i) for i in columns]
        parts = [self._part(r, f, fields) for r, f in zip(self._readers, self._files, strict=True)]
        try:
            return pa.concat_tables(parts, promote_options="permissive")
        except pa.ArrowException:
            raise _different_types([p.schema for p in parts], self._files) from None

    def _part(self, reader: Reader, file: Found, fields: Sequence[pa.Field]) -> pa.Table:
        import pyarrow as pa

        names, values = reader.schema.names, {n: v for n, _, v in file.constants}
        own = [names.index(f.name) for f in fields if f.name in names]
        rows = reader.read(own) if own else None
        count = rows.num_rows if rows is not None else reader.count()
        columns = []
        for field in fields:
            if field.name in names:
                assert rows is not None
                columns.append(rows.column(own.index(names.index(field.name))))
            elif values.get(field.name) is not None:
                columns.append(pa.chunked_array([pa.repeat(pa.scalar(values[field.name]).cast(field.type), count)]))
            else:
                columns.append(pa.chunked_array([pa.nulls(count, field.type)]))
        return pa.table(columns, names=[f.name for f in fields])

    def count(self) -> int:
        return sum(r.count() for r in self._readers)


def _different_types(schemas: Sequence[pa.Schema], files: Sequence[Found]) -> SchemaMismatch:
    """The error for files whose columns have no type in common; it names the first such column."""
    first: dict[str, tuple[str, Found]] = {}
    for schema, file in zip(schemas, files, strict=True):
        for field in schema:
            type, other = first.setdefault(field.name, (str(field.type), file))
            if type != str(field.type):
                return SchemaMismatch(
                    f"column {field.name!r} is {type} in {other.name} and {field.type} in {file.name}",
                    hint=f"types = {{'{field.name}': 'STRING'}} reads it as one type", column=field.name,
                )  # fmt: skip
    return SchemaMismatch(f"{files[0].name} and others cannot be combined", hint="read them one by one")
