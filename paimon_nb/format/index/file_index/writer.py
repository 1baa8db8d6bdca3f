"""Builds the file indexes that the options configure for a new data file. Knows no paths.

Source: Paimon `FileIndexOptions`, `DataFileIndexWriter`; docs/spec/format.md section 13.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.registry import Registry, did_you_mean
from paimon_nb.format.index.file_index import bitmap, bloom, bsi, range_bitmap
from paimon_nb.format.index.file_index.bitmap_keys import has_keys
from paimon_nb.format.index.file_index.container import write_container
from paimon_nb.format.types import DataField, DataType, Map
from paimon_nb.options.option import without_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from paimon_nb.options import TableOptions

PREFIX = "file-index."
COLUMNS = ".columns"
INDEX_SUFFIX = ".index"
"""Suffix of an index file, after the name of its data file."""


@dataclass(frozen=True, slots=True)
class IndexKind:
    """How one kind of index is written."""

    supports: Callable[[DataType], bool]
    write: Callable[[DataType, Any, Mapping[str, str]], bytes | None]
    """Builds the index; None: this column's values cannot be indexed, and the index is omitted."""


INDEX_WRITERS: Registry[IndexKind] = Registry(
    "file index",
    {
        "bloom-filter": IndexKind(bloom.supports, bloom.write_bloom),
        "bitmap": IndexKind(lambda t: has_keys(t) and t.root != "DECIMAL", bitmap.write_bitmap),
        "bsi": IndexKind(bsi.supports, bsi.write_bsi),
        "range-bitmap": IndexKind(range_bitmap.supports, range_bitmap.write_range_bitmap),
    },
)


@dataclass(frozen=True, slots=True)
class IndexSpec:
    """One index of one column."""

    column: str
    key: str | None
    """The key of a MAP column whose values are indexed; None for the column itself."""
    kind: str
    type: DataType
    """Type of the indexed values."""
    options: Mapping[str, str]

    @property
    def name(self) -> str:
        """The column's name in the container."""
        return self.column if self.key is None else f"{self.column}[{self.key}]"


def index_specs(
    options: TableOptions, fields: Sequence[DataField], *, skip_unknown: bool = False
) -> tuple[IndexSpec, ...]:
    """The indexes that `file-index.<kind>.columns` configure.

    Args:
        skip_unknown: leave out names that no column has, as when the column was dropped.

    Raises: UnknownName: no such index type. ColumnNotFound. BadOptionValue: the index type does not support the
    column's type.
    """
    by_name = {f.name: f for f in fields}
    specs: list[IndexSpec] = []
    for key, value in options.raw.items():
        if not key.startswith(PREFIX) or not key.endswith(COLUMNS):
            continue
        kind = key[len(PREFIX) : -len(COLUMNS)]
        INDEX_WRITERS.find(kind)
        names = [text.strip() for text in value.split(",")]
        known = [n for n in names if not skip_unknown or n.partition("[")[0] in by_name]
        specs += [_index_spec(name, kind, by_name, options, key) for name in known]
    return tuple(specs)


def _index_spec(text: str, kind: str, fields: Mapping[str, DataField], options: TableOptions, option: str) -> IndexSpec:
    column, bracket, rest = text.partition("[")
    map_key = rest[:-1] if bracket and rest.endswith("]") else None
    column = text if map_key is None else column
    if column not in fields:
        raise ColumnNotFound(
            f"{option} names {column!r}, which is not a column",
            hint=did_you_mean(column, fields) or f"columns: {', '.join(fields)}",
            column=column,
        )
    t = fields[column].type
    if map_key is not None:
        if not isinstance(t, Map) or t.key.root not in ("CHAR", "VARCHAR"):
            raise BadOptionValue(
                f"{option} names a key of {column!r}, which is not a MAP with string keys", hint="name the column"
            )
        t = t.value
    if not INDEX_WRITERS[kind].supports(t):
        raise BadOptionValue(
            f"a {kind} index does not support {text!r} of type {t}",
            hint=f"take the column out of {option}",
            column=column,
        )
    own: dict[str, str] = {}
    for name in dict.fromkeys((column, text)):  # options of the column, overridden by those of its key
        own |= without_prefix(options.raw, f"{PREFIX}{kind}.{name}.")
    return IndexSpec(column, map_key, kind, t, own)


def fitting_specs(
    specs: Sequence[IndexSpec], fields: Sequence[DataField], stored: Sequence[DataField]
) -> tuple[IndexSpec, ...]:
    """The indexes for a file of an older schema, with its names and types; without columns that it lacks.

    Args:
        fields: those of the schema of `specs`. stored: those of the file's schema.
    """
    ids = {f.name: f.id for f in fields}
    by_id = {f.id: f for f in stored}
    out = []
    for spec in specs:
        then = by_id.get(ids[spec.column])
        if then is None or (spec.key is not None and not isinstance(then.type, Map)):
            continue
        t = then.type.value if spec.key is not None and isinstance(then.type, Map) else then.type
        if INDEX_WRITERS[spec.kind].supports(t):
            out.append(replace(spec, column=then.name, type=t))
    return tuple(out)


class FileIndexWriter:
    """Builds the file index of a new data file. Holds the indexed columns in memory until `finish`."""

    def __init__(self, specs: Sequence[IndexSpec]) -> None:
        """`specs`: from `index_specs`."""
        self._specs = tuple(specs)
        self._parts: dict[str, list[pa.Array]] = {spec.name: [] for spec in specs}

    def __bool__(self) -> bool:
        return bool(self._specs)

    def add(self, rows: pa.Table | pa.RecordBatch) -> None:
        """Add the next rows, in file order."""
        for name, spec in {spec.name: spec for spec in self._specs}.items():
            column = rows.column(spec.column)
            if spec.key is not None:
                column = _values_of_key(column, spec.key)
            self._parts[name] += column.chunks if isinstance(column, pa.ChunkedArray) else [column]

    def finish(self) -> bytes | None:
        """The container's bytes; None if no index is configured or none can be built."""
        out: dict[str, dict[str, bytes | None]] = {}
        for spec in self._specs:
            parts = self._parts[spec.name]
            if not parts:
                return None
            column = pa.chunked_array(parts)
            # Java omits the index if a key of a MAP has no value at all.
            if spec.key is not None and column.null_count == len(column):
                out.setdefault(spec.name, {})[spec.kind] = None
                continue
            index = INDEX_WRITERS[spec.kind].write(spec.type, column, spec.options)
            if index is not None:
                out.setdefault(spec.name, {})[spec.kind] = index
        return write_container(out) if out else None


def _values_of_key(column: pa.Array | pa.ChunkedArray, key: str) -> pa.ChunkedArray:
    import pyarrow.compute as pc

    return pa.chunked_array([pc.map_lookup(chunk, query_key=pa.scalar(key, chunk.type.key_type), occurrence="last")
                             for chunk in (column.chunks if isinstance(column, pa.ChunkedArray) else [column])],
                            type=column.type.item_type)  # fmt: skip
