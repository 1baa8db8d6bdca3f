"""The text columns of `t$files` about keys and statistics, in the current schema. Reads no files.

Source: Paimon 1.3.1 `FilesTable.StatsLazyGetter`, `SimpleStatsEvolution`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from operator import add, itemgetter
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.manifest import EMPTY_ROW, DataFile
from paimon_nb.format.row import RowReader, arity_of, check_arity, from_scalar, java_text_maker, java_to_string
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import DataField, DataType, arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column
from paimon_nb.table.scan.plan.prune import file_schema

if TYPE_CHECKING:
    from paimon_nb.table.store import TableStore

Text = Callable[[Any], str]
_CACHE_ROWS = 20_000
"""Number of texts that a form caches."""


@dataclass(frozen=True, slots=True)
class _StatsTextLayout:
    """Shared properties of files with the same schema and statistics columns."""

    arity: int
    """Columns of the statistics rows."""
    read: Callable[[memoryview], tuple[Any, ...]]
    names: tuple[str, ...]
    """`a=`, for the current columns in their order."""
    positions: tuple[int, ...]
    """Position of each in the statistics rows; past their end if they do not contain it."""
    counted: tuple[int, ...]
    """The same for null counts; two past the end where the file is older than the column: every value is NULL."""
    texts: tuple[Text, ...]
    read_key: Callable[[memoryview], tuple[Any, ...]]
    key_texts: tuple[Text, ...]
    known: dict[bytes, str]
    """Cache of formatted statistics rows: the next snapshot has mostly the same files."""

    def bounds_text(self, row: bytes) -> str:
        """`{a=1, b=null}` of a statistics row."""
        text = self.known.get(row)
        if text is None:
            if len(self.known) >= _CACHE_ROWS:
                self.known.clear()
            text = self.known[row] = self._text_of(row)
        return text

    def _text_of(self, row: bytes) -> str:
        if not self.arity or row == EMPTY_ROW or arity_of(row) != self.arity:
            values: tuple[Any, ...] = (None,) * (self.arity + 1)
        else:
            values = (*self.read(memoryview(row)[4:]), None)
        parts = [
            "null" if value is None else text(value)
            for value, text in zip(_pick_positions(values, self.positions), self.texts, strict=True)
        ]
        return _braced_text(self.names, parts)

    def key_text(self, key: bytes) -> str | None:
        """`[v1, v2]`, Java's Arrays.toString of the key's values; None for the empty row."""
        if key == EMPTY_ROW or arity_of(key) <= 0:
            return None
        check_arity(key, len(self.key_texts))
        values = self.read_key(memoryview(key)[4:])
        return (
            f"[{', '.join(['null' if v is None else text(v) for text, v in zip(self.key_texts, values, strict=True)])}]"
        )

    def nulls(self, counts: Sequence[int | None], rows: int) -> str:
        """`{a=0, b=null}` of a file's null counts."""
        known = [*counts[: self.arity], *[None] * (self.arity + 1 - len(counts[: self.arity])), rows]
        return _braced_text(self.names, ["null" if n is None else str(n) for n in _pick_positions(known, self.counted)])


class StatsTexts:
    """Renders files one by one; values that depend only on their schema are computed once."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self._layouts: dict[tuple[int, tuple[str, ...] | None], _StatsTextLayout] = {}

    def keys(self, file: DataFile) -> tuple[str | None, str | None]:
        """(min_key, max_key) as `[v1, v2]`; None for append tables."""
        form = self._text_layout_of_file(file)
        return form.key_text(file.min_key), form.key_text(file.max_key)

    def values(self, file: DataFile) -> tuple[str, str, str]:
        """(null_value_counts, min_value_stats, max_value_stats) as `{a=1, b=null}`, columns by name."""
        form, stats = self._text_layout_of_file(file), file.value_stats
        nulls = form.nulls(stats.null_counts or (), file.row_count)
        return nulls, form.bounds_text(stats.min_values), form.bounds_text(stats.max_values)

    def _text_layout_of_file(self, file: DataFile) -> _StatsTextLayout:
        key = (file.schema_id, file.stats_cols)
        if key not in self._layouts:
            self._layouts[key] = self._new_layout(*key)
        return self._layouts[key]

    def _new_layout(self, schema_id: int, listed: tuple[str, ...] | None) -> _StatsTextLayout:
        schema = file_schema(self.store, schema_id)
        return _make_layout(schema.fields, schema.key_fields, listed, self.store.schema.fields)


@lru_cache(maxsize=32)
def _make_layout(
    stored_fields: tuple[DataField, ...],
    key_fields: tuple[DataField, ...],
    listed: tuple[str, ...] | None,
    present_fields: tuple[DataField, ...],
) -> _StatsTextLayout:
    """
    Args:
        stored_fields, key_fields: of the schema that the files were written with. listed: columns of the statistics;
            None = all.
        present_fields: of the schema of the output.
    """
    by_name = {f.name: f for f in (*stored_fields, *TRACKING_FIELDS)}
    in_stats = list(stored_fields) if listed is None else [by_name[n] for n in listed if n in by_name]
    present = sorted(present_fields, key=lambda f: f.name.encode("utf-16-be"))
    position = {f.id: i for i, f in reversed(list(enumerate(in_stats)))}
    stored, end = {f.id for f in stored_fields}, len(in_stats)
    return _StatsTextLayout(
        arity=end,
        read=RowReader([f.type for f in in_stats]).read,
        names=tuple(f"{f.name}=" for f in present),
        positions=tuple(position.get(f.id, end) for f in present),
        counted=tuple(position.get(f.id, end) if f.id in stored else end + 1 for f in present),
        texts=tuple(
            _text_maker(f.type, in_stats[position[f.id]].type if f.id in position else f.type) for f in present
        ),
        read_key=RowReader([f.type for f in key_fields]).read,
        key_texts=tuple(_text_maker(f.type, f.type) for f in key_fields),
        known={},
    )


def _text_maker(new: DataType, old: DataType) -> Text:
    """Text of a value stored as `old`, converted to `new`."""
    if old.with_nullable(True) != new.with_nullable(True):
        return lambda value: _cast_text(old, new, value)
    try:
        return java_text_maker(new)
    except UnsupportedFormat:
        return lambda value: java_text(new, value)


def _cast_text(old_type: DataType, new_type: DataType, value: Any) -> str:
    from paimon_nb.format.data import cast_column

    old = arrow_column([to_arrow_value(old_type, value)], arrow_type(old_type))
    try:
        new: Any = cast_column(old, old_type, new_type)
        return java_text(new_type, from_scalar(new_type, new[0]))
    except PaimonError:
        return "null"  # a string that is not a number, in a column that became one


def java_text(t: DataType, value: Any) -> str:
    """Java's text; bytes as hex, where Java would print an object's address."""
    try:
        return java_to_string(t, value)
    except UnsupportedFormat:
        return value.hex() if isinstance(value, bytes) else str(value)


def _pick_positions(values: Sequence[Any], positions: tuple[int, ...]) -> Sequence[Any]:
    return itemgetter(*positions)(values) if len(positions) > 1 else [values[i] for i in positions]


def _braced_text(names: Iterable[str], texts: Iterable[str]) -> str:
    return "{" + ", ".join(map(add, names, texts)) + "}"
