"""The texts of `t$files` about a file's keys and statistics, under the present schema. Reads no files.

Source: Paimon 1.3.1 `FilesTable.StatsLazyGetter`, `SimpleStatsEvolution`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from paimon_nb.base.errors import PaimonError, UnsupportedFormat
from paimon_nb.format.data import TRACKING_FIELDS, cast_column
from paimon_nb.format.manifest import EMPTY_ROW, DataFile
from paimon_nb.format.row import arity_of, deserialize, from_scalar, java_to_string
from paimon_nb.format.row.values import to_arrow_value
from paimon_nb.format.types import DataField, DataType, arrow_type
from paimon_nb.table.scan.prune import file_schema
from paimon_nb.table.store import TableStore


@dataclass(frozen=True, slots=True)
class _Column:
    """Where one column of the present schema lies in the statistics of files of one form."""

    name: str
    type: DataType
    index: int | None
    """Position in the file's statistics rows; None when they do not hold it."""
    old_type: DataType | None
    """The file's type where it differs."""
    absent: bool
    """The file is older than the column: every value is NULL."""


@dataclass(frozen=True, slots=True)
class _Form:
    types: tuple[DataType, ...]
    columns: tuple[_Column, ...]
    key_types: tuple[DataType, ...]


class StatsTexts:
    """Renders files one by one; what depends on their schema only is worked out once."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self._forms: dict[tuple[int, tuple[str, ...] | None], _Form] = {}

    def keys(self, file: DataFile) -> tuple[str | None, str | None]:
        """(min_key, max_key) as `[v1, v2]`; None for append tables."""
        types = self._form(file).key_types
        return key_text(types, file.min_key), key_text(types, file.max_key)

    def values(self, file: DataFile) -> tuple[str, str, str]:
        """(null_value_counts, min_value_stats, max_value_stats) as `{a=1, b=null}`, columns by name."""
        form, stats = self._form(file), file.value_stats
        low = _row(form.types, stats.min_values)
        high = _row(form.types, stats.max_values)
        nulls, lows, highs = [], [], []
        for column in form.columns:
            i = column.index
            counts = stats.null_counts
            count = (
                file.row_count if column.absent else counts[i] if i is not None and counts and i < len(counts) else None
            )
            nulls.append(f"{column.name}={'null' if count is None else count}")
            lows.append(f"{column.name}={_text(column, None if i is None or low is None else low[i])}")
            highs.append(f"{column.name}={_text(column, None if i is None or high is None else high[i])}")
        return _braces(nulls), _braces(lows), _braces(highs)

    def _form(self, file: DataFile) -> _Form:
        key = (file.schema_id, file.stats_cols)
        if key not in self._forms:
            self._forms[key] = self._make(*key)
        return self._forms[key]

    def _make(self, schema_id: int, listed: tuple[str, ...] | None) -> _Form:
        schema = file_schema(self.store, schema_id)
        by_name = {f.name: f for f in (*schema.fields, *TRACKING_FIELDS)}
        kept = list(schema.fields) if listed is None else [by_name[n] for n in listed if n in by_name]
        present = sorted(self.store.schema.fields, key=lambda f: f.name.encode("utf-16-be"))
        columns = tuple(_column(f, kept, schema.fields) for f in present)
        return _Form(tuple(f.type for f in kept), columns, tuple(f.type for f in schema.key_fields))


def _column(field: DataField, kept: list[DataField], stored: tuple[DataField, ...]) -> _Column:
    index = next((i for i, f in enumerate(kept) if f.id == field.id), None)
    old = None if index is None else kept[index].type
    retyped = old is not None and old.with_nullable(True) != field.type.with_nullable(True)
    return _Column(field.name, field.type, index, old if retyped else None, all(f.id != field.id for f in stored))


def key_text(types: tuple[DataType, ...], key: bytes) -> str | None:
    """`[v1, v2]`, Java's Arrays.toString of the key's values; None for the empty row."""
    if key == EMPTY_ROW or arity_of(key) <= 0:
        return None
    return "[" + ", ".join(java_text(t, v) for t, v in zip(types, deserialize(types, key), strict=True)) + "]"


def _row(types: tuple[DataType, ...], row: bytes) -> tuple[Any, ...] | None:
    if not types or row == EMPTY_ROW or arity_of(row) != len(types):
        return None
    return deserialize(types, row)


def _text(column: _Column, value: Any) -> str:
    if value is None or column.old_type is None:
        return java_text(column.type, value)
    old = pa.array([to_arrow_value(column.old_type, value)], arrow_type(column.old_type))
    try:
        new: Any = cast_column(old, column.old_type, column.type)
        return java_text(column.type, from_scalar(column.type, new[0]))
    except PaimonError:
        return "null"  # a text that is no number, where the column became one


def java_text(t: DataType, value: Any) -> str:
    """Java's text; bytes as hex, where Java would show an object's address."""
    try:
        return java_to_string(t, value)
    except UnsupportedFormat:
        return value.hex() if isinstance(value, bytes) else str(value)


def _braces(parts: list[str]) -> str:
    return "{" + ", ".join(parts) + "}"
