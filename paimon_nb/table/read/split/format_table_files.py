"""Reads the files of a format table: columns by name in ORC, Parquet and JSON, by position in CSV."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.format.data.csv_files import CsvReader
from paimon_nb.format.data.json_files import JsonReader
from paimon_nb.format.data.line_files import LineReader
from paimon_nb.format.data.orc import OrcReader
from paimon_nb.format.data.parquet import ParquetReader
from paimon_nb.format.types import arrow_type
from paimon_nb.table.read.format_table import data_fields, file_format_of
from paimon_nb.table.read.plan.format_table_scan import one_row

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.format.data.read import Reader
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.store import TableStore

_BATCH_ROWS = 1 << 16


def format_table_rows(store: TableStore, split: Split, fields: Sequence[DataField]) -> Iterator[pa.Table]:
    """The rows of a split with these columns, file by file and in pieces.

    Raises:
        MissingFile, CorruptFile, UnsupportedFormat.
    """
    keys = set(store.schema.partition_keys)
    stored = [f for f in fields if f.name not in keys]
    values = one_row(store.schema.partition_fields, store.partition_values(split.partition)) if keys else None
    for file in split.files:
        path = file.external_path or file.file_name
        reader, present = _open_format_reader(store, path, stored)
        try:
            for batch in reader.batches(_BATCH_ROWS):
                yield _with_all_columns(pa.Table.from_batches([batch]), batch.num_rows, fields, present, values)
        finally:
            reader.close()


def _open_format_reader(
    store: TableStore, path: str, fields: Sequence[DataField]
) -> tuple[Reader, Sequence[DataField]]:
    """A reader of a file, and those of the columns that it has."""
    options = store.options
    match file_format_of(options):
        case "csv":
            columns = [f.name for f in fields]
            return CsvReader(store.fs, path, data_fields(store), options, columns), fields
        case "json":
            return JsonReader(store.fs, path, fields, options), fields
        case "text":
            return LineReader(store.fs, path, fields, options), fields
        case "orc":
            names = _stored_columns(OrcReader(store.fs, path, (), options))
            present = [f for f in fields if f.name in names]
            return OrcReader(store.fs, path, present, options), present
    names = _stored_columns(ParquetReader(store.fs, path, (), options))
    present = [f for f in fields if f.name in names]
    return ParquetReader(store.fs, path, present, options), present


def _stored_columns(reader: OrcReader | ParquetReader) -> set[str]:
    try:
        schema = reader.file.schema if isinstance(reader, OrcReader) else reader.file.schema_arrow
        return set(schema.names)
    finally:
        reader.close()


def _with_all_columns(
    rows: pa.Table, count: int, fields: Sequence[DataField], present: Sequence[DataField], values: pa.Table | None
) -> pa.Table:
    """The rows with the partition's values, and NULL in columns that the file does not have."""
    names = {f.name for f in present}
    columns = []
    for field in fields:
        if field.name in names:
            columns.append(rows.column(field.name))
        elif values is not None and field.name in values.column_names:
            columns.append(pa.repeat(values.column(field.name)[0], count))
        else:
            columns.append(pa.nulls(count, arrow_type(field.type)))
    return pa.table(columns, names=[f.name for f in fields])
