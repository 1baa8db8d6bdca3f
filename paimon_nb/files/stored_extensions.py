"""Columns whose stored values Arrow returns without a word: those of extension types that this process does not know, and Parquet's ENUM."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa
    import pyarrow.parquet as parquet

_NAME, _PARAMETERS = b"ARROW:extension:name", b"ARROW:extension:metadata"
_PERIOD = b"pandas.period"


class StoredExtensions:
    """Says what the stored values of extension types are, and makes texts of pandas' periods.

    Attributes:
        schema: the columns with STRING in place of the numbers of periods.
        notes: what is said about these columns.
    """

    def __init__(self, schema: pa.Schema) -> None:
        import pyarrow as pa

        self.schema, self.notes = schema, list[str]()
        self._frequencies: dict[int, str] = {}
        for i, field in enumerate(schema):
            name = (field.metadata or {}).get(_NAME)
            if name is None or isinstance(field.type, pa.BaseExtensionType):
                continue
            frequency = _frequency(field) if name == _PERIOD else None
            if frequency is None:
                self.notes.append(f"{field.name} has the stored values of {name.decode(errors='replace')}")
                continue
            self._frequencies[i] = frequency
            self.schema = self.schema.set(i, pa.field(field.name, pa.string()))
            self.notes.append(f"{field.name} is STRING of a period")

    def read(self, columns: Sequence[int], rows: pa.Table) -> pa.Table:
        """The rows of these columns, by position, with texts of periods and of ENUM."""
        import pyarrow as pa

        for i, column in enumerate(columns):
            stored = self.schema.field(column).type
            if column not in self._frequencies and stored != rows.schema.field(i).type:
                rows = rows.set_column(i, rows.column_names[i], rows.column(i).cast(stored))
            if column in self._frequencies:
                texts = period_texts(rows.column(i).to_pylist(), self._frequencies[column])
                rows = rows.set_column(i, rows.column_names[i], pa.array(texts, pa.string()))
        return rows


def _frequency(field: pa.Field) -> str | None:
    """The frequency of pandas' periods; None: pandas does not know it."""
    import pandas as pd

    try:
        frequency = str(json.loads(field.metadata[_PARAMETERS])["freq"])
        pd.Period(ordinal=0, freq=frequency)
    except (ValueError, KeyError, TypeError):
        return None
    return frequency


def period_texts(ordinals: Sequence[int | None], frequency: str) -> list[str | None]:
    """Periods by their numbers as pandas writes them: 648 of 'M' is 2024-01."""
    import pandas as pd

    return [None if n is None else str(pd.Period(ordinal=n, freq=frequency)) for n in ordinals]


def with_texts_of_enums(file: parquet.ParquetFile) -> pa.Schema:
    """The schema of a Parquet file with STRING in place of the bytes of its ENUM columns, which are texts in UTF-8."""
    import pyarrow as pa

    leaves = [file.schema.column(i).logical_type.type == "ENUM" for i in range(len(file.schema))]
    schema: pa.Schema = file.schema_arrow
    if not any(leaves):
        return schema
    rest = iter(leaves)
    return pa.schema([f.with_type(_with_texts(f.type, rest)) for f in schema], schema.metadata)


def _with_texts(t: pa.DataType, enums: Iterator[bool]) -> pa.DataType:
    """A type with STRING at the leaves that `enums` names; it has one element a leaf."""
    import pyarrow as pa

    if isinstance(t, pa.BaseExtensionType):
        _with_texts(t.storage_type, enums)
        return t
    if pa.types.is_map(t):
        return pa.map_(_with_texts(t.key_type, enums), t.item_field.with_type(_with_texts(t.item_type, enums)))
    if pa.types.is_struct(t):
        return pa.struct([f.with_type(_with_texts(f.type, enums)) for f in t])
    if pa.types.is_large_list(t):
        return pa.large_list(t.value_field.with_type(_with_texts(t.value_type, enums)))
    if pa.types.is_fixed_size_list(t):
        return pa.list_(t.value_field.with_type(_with_texts(t.value_type, enums)), t.list_size)
    if pa.types.is_list(t):
        return pa.list_(t.value_field.with_type(_with_texts(t.value_type, enums)))
    return pa.string() if next(enums) else t
