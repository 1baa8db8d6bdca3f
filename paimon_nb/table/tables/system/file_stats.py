"""The text columns of `t$files` about keys and statistics, in the current schema. Reads no files.

Source: Paimon 1.3.1 `FilesTable.StatsLazyGetter`, `SimpleStatsEvolution`.
"""

from __future__ import annotations

from codecs import utf_16_be_encode  # str.encode would import a module for it
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, islice, repeat
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import TRACKING_FIELDS
from paimon_nb.format.manifest import EMPTY_ROW
from paimon_nb.format.row import RowReader, arity_of, check_arity, from_scalar, java_text_maker, java_to_string
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import DataField, DataType, arrow_type
from paimon_nb.format.types.arrow_builders import arrow_column

if TYPE_CHECKING:
    from paimon_nb.format.manifest import FileFields
    from paimon_nb.table.read.store import TableStore

Text = Callable[[Any], str]
_CACHE_ROWS = 20_000
"""Number of texts that a layout caches."""
_PIECE = 1000
"""Files that are rendered together."""


@dataclass(frozen=True, slots=True)
class _StatsTextLayout:
    """Shared properties of files with the same schema and statistics columns. Renders rows column by column."""

    arity: int
    """Columns of the statistics rows."""
    reader: RowReader
    template: str
    """`{a=%s, b=%s}`, of the current columns in their order."""
    positions: tuple[int, ...]
    """Position of each in the statistics rows; past their end if they do not contain it."""
    counted: tuple[int, ...]
    """The same for null counts; two past the end where the file is older than the column: every value is NULL."""
    texts: tuple[Text, ...]
    key_reader: RowReader
    key_texts: tuple[Text, ...]
    known: dict[bytes, str]
    """Cache of formatted statistics rows: the next snapshot has mostly the same files."""
    known_nulls: dict[tuple[tuple[int | None, ...] | None, int], str]
    """The same by null counts and, if they matter, rows of a file."""

    def bounds(self, rows: Sequence[bytes]) -> list[str]:
        """`{a=1, b=null}` of each statistics row."""
        known = self.known
        if len(known) >= _CACHE_ROWS:
            known.clear()
        new = [row for row in dict.fromkeys(rows) if row not in known]
        whole = [row for row in new if self.arity and row != EMPTY_ROW and arity_of(row) == self.arity]
        columns = [*self.reader.columns([memoryview(row)[4:] for row in whole]), [None] * len(whole)]
        texts = [
            _column_texts(columns[min(at, self.arity)], text)
            for at, text in zip(self.positions, self.texts, strict=True)
        ]
        known.update(dict.fromkeys(new, self.template % (("null",) * len(self.texts))))
        known.update(zip(whole, map(self.template.__mod__, zip(*texts, strict=True)), strict=True))
        return [known[row] for row in rows]

    def keys(self, keys: Sequence[bytes]) -> list[str | None]:
        """`[v1, v2]`, Java's Arrays.toString of each key's values; None for the empty row."""
        whole = [key for key in dict.fromkeys(keys) if key != EMPTY_ROW and arity_of(key) > 0]
        for key in whole:
            check_arity(key, len(self.key_texts))
        columns = self.key_reader.columns([memoryview(key)[4:] for key in whole])
        texts = [_column_texts(column, text) for column, text in zip(columns, self.key_texts, strict=True)]
        found = dict(zip(whole, (f"[{', '.join(values)}]" for values in zip(*texts, strict=True)), strict=True))
        return [found.get(key) for key in keys]

    def nulls(self, counts: Sequence[tuple[int | None, ...] | None], rows: Sequence[int]) -> list[str]:
        """`{a=0, b=null}` of the null counts of each file, which has so many rows."""
        known = self.known_nulls
        if len(known) >= _CACHE_ROWS:
            known.clear()
        keys = list(zip(counts, rows if self.arity + 1 in self.counted else repeat(0), strict=False))
        for key in dict.fromkeys(keys):
            if key not in known:
                found = (key[0] or ())[: self.arity]
                values = (*found, *[None] * (self.arity + 1 - len(found)), key[1])
                known[key] = self.template % tuple(
                    ["null" if values[at] is None else values[at] for at in self.counted]
                )
        return [known[key] for key in keys]


def _column_texts(values: Sequence[Any], text: Text) -> Sequence[str]:
    if None in values:
        return ["null" if value is None else text(value) for value in values]
    return list(map(text, values))


class StatsTexts:
    """Renders the texts of files; what depends only on their schema is computed once."""

    def __init__(self, store: TableStore) -> None:
        self.store = store
        self._layouts: dict[tuple[int, tuple[str, ...] | None], _StatsTextLayout] = {}

    def keys(self, files: FileFields) -> Iterator[tuple[str | None, str | None]]:
        """(min_key, max_key) of each file as `[v1, v2]`; None for append tables."""
        low, high = files.values("min_key"), files.values("max_key")
        for layout, piece in self._by_layout(files):
            texts = layout.keys([*low[piece], *high[piece]])
            yield from zip(texts[: len(texts) // 2], texts[len(texts) // 2 :], strict=True)

    def values(self, files: FileFields) -> Iterator[tuple[str, str, str]]:
        """(null_value_counts, min_value_stats, max_value_stats) of each file as `{a=1, b=null}`, columns by name."""
        low, high = files.values("value_stats.min_values"), files.values("value_stats.max_values")
        counts, rows = files.values("value_stats.null_counts"), files.values("row_count")
        for layout, piece in self._by_layout(files):
            nulls = layout.nulls(counts[piece], rows[piece])
            texts = layout.bounds([*low[piece], *high[piece]])
            yield from zip(nulls, texts[: len(nulls)], texts[len(nulls) :], strict=True)

    def _by_layout(self, files: FileFields) -> Iterator[tuple[_StatsTextLayout, slice]]:
        """The files in order, in pieces of one layout."""
        columns = [
            w if v is None else v for v, w in zip(*map(files.values, ("value_stats_cols", "write_cols")), strict=True)
        ]
        begin = 0
        for key, same in groupby(zip(files.values("schema_id"), columns, strict=True)):
            if key not in self._layouts:
                self._layouts[key] = self._new_layout(*key)
            while size := len(list(islice(same, _PIECE))):
                yield self._layouts[key], slice(begin, begin + size)
                begin += size

    def _new_layout(self, schema_id: int, listed: tuple[str, ...] | None) -> _StatsTextLayout:
        schema = self.store.schema_by_id(schema_id)
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
    present = sorted(present_fields, key=lambda f: utf_16_be_encode(f.name))
    position = {f.id: i for i, f in reversed(list(enumerate(in_stats)))}
    stored, end = {f.id for f in stored_fields}, len(in_stats)
    return _StatsTextLayout(
        arity=end,
        reader=RowReader([f.type for f in in_stats]),
        template="{" + ", ".join(f.name.replace("%", "%%") + "=%s" for f in present) + "}",
        positions=tuple(position.get(f.id, end) for f in present),
        counted=tuple(position.get(f.id, end) if f.id in stored else end + 1 for f in present),
        texts=tuple(
            _text_maker(f.type, in_stats[position[f.id]].type if f.id in position else f.type) for f in present
        ),
        key_reader=RowReader([f.type for f in key_fields]),
        key_texts=tuple(_text_maker(f.type, f.type) for f in key_fields),
        known={},
        known_nulls={},
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
