"""Reads the files of a format table: columns by name in ORC, Parquet and JSON, by position in CSV.

The files may be those of other engines: names are compared ignoring case, and what does not fit is an error that names file, column and value.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import CorruptFile, ForeignFile, ReadError
from paimon_nb.format.data.csv_files import CsvReader
from paimon_nb.format.data.foreign_columns import stored_fields
from paimon_nb.format.data.json_files import JsonReader
from paimon_nb.format.data.line_files import LineReader
from paimon_nb.format.data.orc import OrcReader
from paimon_nb.format.data.orc_process import OrcFile
from paimon_nb.format.data.parquet import ParquetReader
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.data.schema_evolution import rows_as_read_fields
from paimon_nb.format.types import arrow_schema
from paimon_nb.table.read.format_table import data_fields, file_format_of
from paimon_nb.table.read.plan.format_table_scan import one_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.data.read import Reader
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore

_MAGIC = {"parquet": b"PAR1", "orc": b"ORC"}
"""The first bytes of a file."""


def format_table_rows(store: TableStore, split: Split, fields: Sequence[DataField]) -> Iterator[pa.Table]:
    """The rows of a split with these columns, file by file and in pieces.

    Raises:
        MissingFile, ForeignFile: a file is of another format. CorruptFile: it cannot be decoded.
        ReadError: a column has another type, or a value that does not fit the table's.
    """
    keys = set(store.schema.partition_keys)
    stored = [f for f in fields if f.name not in keys]
    values = one_row(store.schema.partition_fields, store.partition_values(split.partition)) if keys else None
    for file in split.files:
        path = file.external_path or file.file_name
        try:
            for rows in _rows_of_file(store, path, stored):
                yield _with_partition(rows, fields, values)
        except CorruptFile as error:
            raise _named_error(store, path, stored, error) from None


def _rows_of_file(store: TableStore, path: str, fields: Sequence[DataField]) -> Iterator[pa.Table]:
    """The rows of one file; NULL in columns that it does not have."""
    reader, present = _open_format_reader(store, path, fields)
    try:
        for batch in reader.batches(BATCH_ROWS):
            rows = pa.Table.from_batches([batch])
            if not fields:
                yield without_columns(batch.num_rows)
            elif not present:
                yield pa.table(
                    [pa.nulls(batch.num_rows, f.type) for f in arrow_schema(fields)], names=[f.name for f in fields]
                )
            else:
                yield rows_as_read_fields(rows, present, fields)
    finally:
        reader.close()


def _open_format_reader(
    store: TableStore, path: str, fields: Sequence[DataField]
) -> tuple[Reader, Sequence[DataField]]:
    """A reader of a file, and those of the columns that it has, with the names and types of the file."""
    options = store.options
    kind = file_format_of(options)
    match kind:
        case "csv":
            columns = [f.name for f in fields]
            return CsvReader(store.fs, path, data_fields(store), options, columns), fields
        case "json":
            return JsonReader(store.fs, path, fields, options), fields
        case "text":
            return LineReader(store.fs, path, fields, options), fields
    present = [there for there, _ in stored_fields(_columns_of_file(store, path), fields, data_fields(store))]
    made = OrcReader if kind == "orc" else ParquetReader
    return made(store.fs, path, present, options), present


def _columns_of_file(store: TableStore, path: str) -> pa.Schema:
    is_orc = file_format_of(store.options) == "orc"
    reader = (OrcReader if is_orc else ParquetReader)(store.fs, path, (), store.options)
    try:
        return reader.schema if isinstance(reader, OrcReader) else reader.file.schema_arrow
    finally:
        reader.close()


def _with_partition(rows: pa.Table, fields: Sequence[DataField], values: pa.Table | None) -> pa.Table:
    """The rows with the partition's values."""
    if values is None:
        return rows
    columns = [
        rows.column(f.name) if f.name in rows.column_names else pa.repeat(values.column(f.name)[0], rows.num_rows)
        for f in fields
    ]
    return pa.table(columns, names=[f.name for f in fields]) if columns else rows


# -- what is wrong with a file


def _named_error(store: TableStore, path: str, fields: Sequence[DataField], error: CorruptFile) -> Exception:
    """The error of a file that cannot be read: it is of another format, a column does not fit, or it is broken."""
    kind = file_format_of(store.options)
    below = path.removeprefix(store.root).strip("/")
    if kind in _MAGIC and store.fs.read(path)[: len(_MAGIC[kind])] != _MAGIC[kind]:
        return ForeignFile(
            f"{store.name}: {below} is not a {kind} file",
            hint="move it elsewhere, or give it a name that starts with _ or ., which readers skip",
            path=path, feature=kind,
        )  # fmt: skip
    for field in fields if len(fields) > 1 else ():
        try:
            for _ in _rows_of_file(store, path, [field]):
                pass
        except CorruptFile as found:
            error = found
            fields = [field]
            break
    why = str(error.facts["why"])
    if len(fields) == 1 and _is_readable(store, path, fields[0]):
        field = fields[0]
        return ReadError(
            f"{store.name}: {below}: column {field.name} cannot be read as {field.type.bare()}: {_inner_reason(why)}",
            hint=f"change the type (ALTER TABLE {store.name} MODIFY {field.name} ...), or leave the column out of the query",
            path=path, column=field.name,
        )  # fmt: skip
    return CorruptFile(path, why, hint="write the file again, or move it elsewhere")


def _is_readable(store: TableStore, path: str, field: DataField) -> bool:
    """Whether a column can be decoded as what the file says that it is."""
    kind = file_format_of(store.options)
    if kind not in _MAGIC:
        return kind == "json" and "do not fit" in str(_error_of(store, path, field))
    from pyarrow import parquet as pq

    try:
        there = stored_fields(_columns_of_file(store, path), [field], data_fields(store))
        with store.fs.open(path) as source:
            if kind == "orc":
                deque(OrcFile(source, path, None).rows(None), maxlen=0)
            else:
                pq.ParquetFile(source, page_checksum_verification=True).read(columns=[f.name for f, _ in there])
        return bool(there)
    except (pa.ArrowException, OSError, ValueError, CorruptFile):
        return False


def _error_of(store: TableStore, path: str, field: DataField) -> Exception | None:
    try:
        for _ in _rows_of_file(store, path, [field]):
            pass
    except CorruptFile as error:
        return error
    return None


def _inner_reason(why: str) -> str:
    """The reason without the words about the whole file."""
    return why.partition("(")[2].rpartition(")")[0] or why
