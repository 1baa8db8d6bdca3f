"""Parquet files that the embedded engine reads itself: all their rows, or all but those at known positions."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataField, from_arrow_schema
from paimon_nb.session.query.local.values import is_floating

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from paimon_nb.format.types import DataType
    from paimon_nb.table.read.strategy.planned_scan import PlannedScan

_VIRTUAL_COLUMNS = frozenset({"filename", "file_row_number", "file_index"})
"""Names that the engine's Parquet reader gives to columns of its own."""
_CACHED_SCHEMAS = 2_000
"""Schemas of files that are kept: each takes about a millisecond to read."""
_PATTERN = frozenset("*?[]{}")
"""Characters of a path that the engine takes for a pattern."""


@dataclass(frozen=True, slots=True)
class ReadableFile:
    """A file."""

    path: str
    hidden: bytes | None
    """A bit for each of its rows, 1 for a hidden one, the first row highest; None: no row is hidden."""


def readable_files(scan: PlannedScan, used: Mapping[str, DataType]) -> list[ReadableFile] | None:
    """The files of a scan, if the engine can read these columns of them; None: their rows must be merged or converted."""
    import numpy as np

    from paimon_nb.table.read.strategy.planned_scan import facts_of
    from paimon_nb.table.read.strategy.routes import NativeReads, file_format
    from paimon_nb.table.read.strategy.superseded_rows import hidden_rows_of
    from paimon_nb.table.read.strategy.visible_rows import hides_by_position

    if any(t.contains_type(is_floating) for t in used.values()) or _VIRTUAL_COLUMNS & {c.lower() for c in used}:
        return None  # statistics of Parquet leave out NaN, and the engine believes them
    store, splits = scan.store, scan.plan.splits
    if not splits or any(s.branch is not None or s.changes or s.diff or s.waiting for s in splits):
        return None
    merging = [s for s in splits if not s.raw or s.deletion_vectors]
    if merging and not hides_by_position(store, splits, scan.routes):
        return None
    fields = tuple(f for f in scan.fields if f.name in used)
    facts = facts_of(store, fields, scan.limits)
    native = NativeReads(facts)
    found: list[tuple[str, str]] = []
    row_counts: list[int] = []
    for split in splits:
        for file in split.files:
            path = store.fs.local_path(store.data_path(split.partition, split.bucket, file))
            if (
                path is None
                or _PATTERN & set(path)
                or file_format(file.file_name) != "parquet"
                or native.obstacle(file) is not None
            ):
                return None
            if file.schema_id != store.schema.id and not _same_columns(facts.file_fields(file.schema_id), fields):
                return None
            found.append((file.file_name, path))
            row_counts.append(file.row_count)
    if not _have_expected_footers([path for _, path in found], row_counts, used):
        return None
    hidden = hidden_rows_of(store, merging) if merging else None
    if hidden is not None and hidden.merged:
        return None
    rows = {} if hidden is None else hidden.rows
    return [ReadableFile(path, np.packbits(rows[name]).tobytes() if name in rows else None) for name, path in found]


def _same_columns(stored: tuple[DataField, ...], fields: tuple[DataField, ...]) -> bool:
    """Whether a file of an older schema has these columns with the same names and types."""
    by_id = {f.id: f for f in stored}
    return all(
        f.id in by_id
        and by_id[f.id].name == f.name
        and by_id[f.id].type.with_nullable(True) == f.type.with_nullable(True)
        for f in fields
    )


def _have_expected_footers(paths: list[str], row_counts: list[int], used: Mapping[str, DataType]) -> bool:
    """Whether all files declare the rows of their manifests and the columns' logical types: bytes without the mark of a text
    are not a text.
    """
    import pyarrow as pa

    from paimon_nb.session.query.local.values import displayed_type

    expected = None
    for path, row_count in zip(paths, row_counts, strict=True):
        try:
            stat = Path(path).stat()
            schema, rows = _footer_of_file(path, stat.st_size, stat.st_mtime_ns)
        except (OSError, pa.ArrowException):
            return False  # our reader says what is missing or broken, or leaves it out if an option says so
        if rows != row_count:
            return False  # the same
        found = [schema.field(c).type for c in used if schema.get_field_index(c) >= 0]
        if len(found) < len(used) or (expected is not None and found != expected):
            return False
        expected = found
    if expected is None:
        return False
    fields = from_arrow_schema(_schema_of(dict(zip(used, expected, strict=True))))
    return all(displayed_type(f.type) == t for f, t in zip(fields, used.values(), strict=True))


@lru_cache(maxsize=_CACHED_SCHEMAS)
def _footer_of_file(path: str, _size: int, _changed_ns: int) -> tuple[pa.Schema, int]:
    """The columns of a file, and the number of its rows."""
    from pyarrow.parquet import read_metadata

    found = read_metadata(path)
    rows = sum(found.row_group(i).num_rows for i in range(found.num_row_groups))
    return found.schema.to_arrow_schema(), max(found.num_rows, rows)


def _schema_of(types: Mapping[str, pa.DataType]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(list(types.items()))
