"""Finds the row ids that may match a condition in the indexes of a table: global ones, and those of primary-key tables.

Rows that no index covers are always found: those appended after it was built, and those whose values were updated since.
Source: Paimon 2.1 `GlobalIndexEvaluator`, `DataEvolutionGlobalIndexScanner`, `SortedFileGlobalIndexReader`.
"""

from __future__ import annotations

import struct
from dataclasses import field
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from pyroaring import BitMap64

from paimon_nb.base.errors import CorruptFile
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import ROW_ID_FIELD
from paimon_nb.format.index.global_index import (
    BitmapFileReader,
    BTreeFileReader,
    IndexFileSource,
    IndexKey,
    KeyBounds,
    decode_index_key,
    has_index_keys,
    keys_equal_to,
    row_id_range,
    scan_snapshot_of,
)
from paimon_nb.format.manifest import as_entries
from paimon_nb.options import table as opt
from paimon_nb.table.read.key_index import first_number, sources_of, with_numbered_files
from paimon_nb.table.read.live_files import index_entries
from paimon_nb.table.read.predicate.evaluate import like_prefix
from paimon_nb.table.read.predicate.model import (
    And,
    Compare,
    Constant,
    In,
    IsNotNull,
    IsNull,
    Known,
    Leaf,
    Like,
    Not,
    Or,
    Predicate,
    StartsWith,
)
from paimon_nb.table.read.side_by_side import map_in_threads

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from paimon_nb.format.manifest import DataFile, Entries, IndexEntry
    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.format.types import DataField, DataType
    from paimon_nb.table.read.plan.prune import Pruner
    from paimon_nb.table.read.store import TableStore

_READERS: dict[str, type[BTreeFileReader] | type[BitmapFileReader]] = {
    "btree": BTreeFileReader,
    "bitmap": BitmapFileReader,
}
SORTED_INDEX_KINDS = tuple(_READERS)
INDEX_THREADS = 32
"""Index files of an object store that are read at the same time: they wait for replies most of the time."""
_MAX_SCAN_BYTES = {
    "btree": opt.BTREE_INDEX_FALLBACK_SCAN_MAX_SIZE,
    "bitmap": opt.BITMAP_INDEX_FALLBACK_SCAN_MAX_SIZE,
}


# -- what an index is asked


@dataclass(frozen=True, slots=True)
class KeyRange:
    """Keys between two bounds; None is unbounded."""

    low: IndexKey | None = None
    high: IndexKey | None = None
    low_open: bool = False
    high_open: bool = False

    def overlaps(self, first: Any, last: Any) -> bool:
        """Whether a key from `first` to `last` may be in it."""
        low, high = self.low, self.high
        above = high is not None and (first > high or (self.high_open and first == high))
        below = low is not None and (last < low or (self.low_open and last == low))
        return not (above or below)


@dataclass(frozen=True, slots=True)
class KeyQuery:
    """The rows whose key is in one of the ranges, and perhaps those of NULL."""

    ranges: tuple[KeyRange, ...] = ()
    nulls: bool = False
    points: bool = False
    """Whether few keys are looked up, so that little of an index is read."""


def key_query(leaf: Predicate, t: DataType) -> KeyQuery | None:
    """What to ask an index for a condition on its column; it finds at least the matching rows. None: an index is of no use.

    Args:
        leaf: bound to the column's type; a negated IN or prefix, too.
    """
    match leaf:
        case IsNull():
            return KeyQuery(nulls=True, points=True)
        case IsNotNull():
            return KeyQuery((KeyRange(),))
        case Known(_, value):
            return KeyQuery((KeyRange(),)) if value else KeyQuery(points=True)
        case StartsWith(_, prefix):
            return _prefix_query(prefix)
        case Like(_, pattern):
            prefix = like_prefix(pattern)[0]
            return _prefix_query(prefix) if prefix else KeyQuery((KeyRange(),))
    if t.root == "CHAR":  # stored with or without trailing spaces
        return _char_query(leaf)
    match leaf:
        case In(_, literals):
            return KeyQuery(tuple(KeyRange(*_keys(t, v)) for v in literals), points=True)
        case Not(In(_, literals)) if t.root != "FLOAT":
            return KeyQuery(_gaps([_keys(t, v) for v in literals]))
        case Compare(_, op, literal):
            return _comparison_query(t, op, *_keys(t, literal))
    return None


def _char_query(leaf: Predicate) -> KeyQuery | None:
    """The texts that begin with those of an equality or IN, whatever spaces follow."""
    match leaf:
        case In(_, literals):
            texts = literals
        case Compare(_, "=", literal):
            texts = (literal,)
        case _:
            return None
    parts = [_prefix_query(text.rstrip(" ")) for text in texts]
    return KeyQuery(tuple(r for p in parts for r in p.ranges), points=True)


def _is_equality(leaf: Predicate) -> bool:
    return isinstance(leaf, Compare) and leaf.op == "="


def _keys(t: DataType, literal: Any) -> tuple[IndexKey, IndexKey]:
    return keys_equal_to(t, float(np.float32(literal)) if t.root == "FLOAT" else literal)


def _comparison_query(t: DataType, op: str, low: IndexKey, high: IndexKey) -> KeyQuery | None:
    rounded = t.root == "FLOAT"  # the literal is a DOUBLE: rows of the nearest FLOAT may match
    match op:
        case "=":
            return KeyQuery((KeyRange(low, high),), points=True)
        case "<>":
            return KeyQuery((KeyRange(),) if rounded else _gaps([(low, high)]))
        case "<":
            return KeyQuery((KeyRange(None, high if rounded else low, high_open=not rounded),))
        case "<=":
            return KeyQuery((KeyRange(None, high),))
        case ">":
            return KeyQuery((KeyRange(low if rounded else high, None, low_open=not rounded),))
    return KeyQuery((KeyRange(low, None),))


def _gaps(keys: Sequence[tuple[IndexKey, IndexKey]]) -> tuple[KeyRange, ...]:
    """The ranges between keys."""
    order: list[Any] = sorted(keys)
    cuts = [(None, None), *order, (None, None)]
    return tuple(
        KeyRange(before[1], after[0], low_open=before[1] is not None, high_open=after[0] is not None)
        for before, after in pairwise(cuts)
    )


def _prefix_query(prefix: str) -> KeyQuery:
    """Texts with a prefix."""
    low = prefix.encode()
    high = low[:-1] + bytes((low[-1] + 1,)) if low else None  # UTF-8 has no byte 0xFF
    return KeyQuery((KeyRange(low, high, high_open=high is not None),), points=True)


# -- the indexes


@dataclass(frozen=True, slots=True)
class IndexRange:
    """The files of one index that together hold all rows of one range of row ids."""

    kind: str
    column: DataField
    first: int
    last: int
    scan_snapshot: int | None
    """The snapshot that it was built from; None if unknown."""
    files: tuple[IndexEntry, ...]
    of_files: bool = False
    """Built from whole data files, which never change: the index of a primary-key table."""


def key_index_ranges(
    entries: Iterable[IndexEntry], columns: Iterable[DataField], kinds: Collection[str], files: Iterable[DataFile]
) -> list[IndexRange]:
    """The indexes of a primary-key table that answer for some of these files, whose rows have numbers."""
    by_id, numbered = {f.id: f for f in columns}, {f.file_name: f for f in files}
    found: list[IndexRange] = []
    for entry in entries:
        column = by_id.get(dict(entry.global_index or ()).get("_INDEX_FIELD_ID", -1))
        sources = sources_of(entry) if column is not None and entry.index_type in kinds else None
        first = None if sources is None else first_number(sources, numbered)
        if column is not None and sources is not None and first is not None:
            last = first + sources.row_count - 1
            found.append(IndexRange(entry.index_type, column, first, last, None, (entry,), of_files=True))
    return found


def index_ranges(
    entries: Iterable[IndexEntry], columns: Iterable[DataField], kinds: Collection[str] = SORTED_INDEX_KINDS
) -> list[IndexRange]:
    """The indexes of these kinds on some columns."""
    by_id = {f.id: f for f in columns}
    found: dict[tuple[str, int, int, int, int | None], list[IndexEntry]] = {}
    for entry in entries:
        known = dict(entry.global_index or ())
        if entry.index_type in kinds and known.get("_INDEX_FIELD_ID") in by_id and not known.get("_EXTRA_FIELD_IDS"):
            key = (
                entry.index_type, known["_INDEX_FIELD_ID"], known["_ROW_RANGE_START"], known["_ROW_RANGE_END"],
                scan_snapshot_of(known.get("_SOURCE_META")),
            )  # fmt: skip
            found.setdefault(key, []).append(entry)
    return [
        IndexRange(kind, by_id[column], first, last, built, tuple(files))
        for (kind, column, first, last, built), files in found.items()
    ]


def stale_row_ids(store: TableStore, index: IndexRange, files: Sequence[DataFile]) -> BitMap64:
    """Rows of the index's range whose values of the column are newer than the index; all if they had another type then."""
    stale, current = BitMap64(), index.column.type.with_nullable(True)
    oldest: dict[int, int] = {}
    for file in files:
        begin = file.first_row_id
        if begin is not None:
            oldest[begin] = min(file.max_sequence, oldest.get(begin, file.max_sequence))
    for file in files:
        begin = file.first_row_id
        if begin is None or begin > index.last or begin + file.row_count <= index.first:
            continue
        schema = store.schema_by_id(file.schema_id)
        names = file.write_cols if file.write_cols is not None else schema.names
        stored = next((f for f in schema.fields if f.id == index.column.id and f.name in names), None)
        if stored is None:
            continue
        newest = file.max_sequence
        sequences = file.write_cols_sequences
        if sequences is not None and len(sequences) == len(names):
            newest = sequences[list(names).index(stored.name)]
        if stored.type.with_nullable(True) != current:
            return row_id_range(index.first, index.last)
        if not index.of_files and _is_newer_than_index(index, newest, file, oldest[begin]):
            stale |= row_id_range(begin, begin + file.row_count - 1)
    return stale


def _is_newer_than_index(index: IndexRange, newest: int, file: DataFile, oldest: int) -> bool:
    """Whether values of a file may be newer than the index.

    Args:
        newest: the largest sequence number of the values. oldest: that of the first file of the same rows.
    """
    if index.scan_snapshot is not None:
        return newest > index.scan_snapshot
    # When it was built is unknown: any value that is not the row's first one may be newer.
    return newest > oldest or (file.file_source == 1 and file.min_sequence != newest)


@dataclass
class GlobalIndexSearch:
    """Answers conditions with the row ids that may match, for the rows of some data files."""

    store: TableStore
    indexes: Sequence[IndexRange]
    files: Sequence[DataFile]
    used: set[str] = field(default_factory=set)
    """Columns whose index answered."""

    def __post_init__(self) -> None:
        self.rows = BitMap64()
        self._current: dict[int, BitMap64] = {}
        for file in self.files:
            if file.first_row_id is not None:
                self.rows.add_range(file.first_row_id, file.first_row_id + file.row_count)

    def row_ids(self, node: Predicate) -> BitMap64 | None:
        """Row ids outside of which no row matches; None: unknown.

        Raises: MissingFile, CorruptFile, UnsupportedFormat: of an index file.
        """
        match node:
            case And(parts):
                return self._row_ids_of_all(parts)
            case Or(parts):
                answers = [self.row_ids(p) for p in parts]
                known = [a for a in answers if a is not None]
                return reduce(BitMap64.union, known, BitMap64()) if len(known) == len(answers) else None
            case Constant(value):
                return None if value else BitMap64()
            case Not(Leaf() as leaf):
                return self._row_ids_of_leaf(node, leaf.column)
            case Leaf(column):
                return self._row_ids_of_leaf(node, column)
        return None

    def _row_ids_of_all(self, parts: Sequence[Predicate]) -> BitMap64 | None:
        found: BitMap64 | None = None
        # Conditions on few keys first: if no row remains, the others need no reading.
        for part in sorted(parts, key=lambda p: not (isinstance(p, In) or _is_equality(p))):
            answer = self.row_ids(part)
            if answer is not None:
                found = answer if found is None else found & answer
            if found is not None and not found:
                return found
        return found

    def _row_ids_of_leaf(self, condition: Predicate, column: str) -> BitMap64 | None:
        indexes = [(at, i) for at, i in enumerate(self.indexes) if i.column.name == column]
        query = key_query(condition, indexes[0][1].column.type) if indexes else None
        if query is None:
            return None
        unknown, answered = self.rows.copy(), False
        reads: list[tuple[IndexRange, IndexEntry, BitMap64]] = []
        for at, index in indexes:
            covered = self._current_rows(at)
            if not covered.intersect(unknown):
                continue
            files = self._files_to_read(index, query)
            if files is None:
                continue
            answered = True
            reads += [(index, entry, covered) for entry in files]
            unknown -= covered
        if not answered:
            return None
        size = sum(entry.file_size for _, entry, _ in reads)
        threads = INDEX_THREADS if self.store.fs.is_object_store else 1
        matches = map_in_threads(
            self.store.fs, lambda r: self._matches_of_file(r[0], r[1], query) & r[2], reads, size, threads
        )
        found = reduce(BitMap64.union, matches, BitMap64())
        self.used.add(column)
        return found & self.rows | unknown

    def _current_rows(self, at: int) -> BitMap64:
        """Rows for which the index at this place is up to date."""
        if at not in self._current:
            index = self.indexes[at]
            stale = stale_row_ids(self.store, index, self.files)
            self._current[at] = row_id_range(index.first, index.last) - stale
        return self._current[at]

    def _files_to_read(self, index: IndexRange, query: KeyQuery) -> list[IndexEntry] | None:
        """Files whose keys may match; None: reading them would cost more than the option allows."""
        files = [e for e in index.files if _may_hold(index, e, query)]
        limit = self.store.options.get(_MAX_SCAN_BYTES[index.kind])
        return files if query.points or sum(e.file_size for e in files) <= limit else None

    def _matches_of_file(self, index: IndexRange, entry: IndexEntry, query: KeyQuery) -> BitMap64:
        source = IndexFileSource(self.store.fs, self.store.index_path(entry), entry.file_size)
        reader = _READERS[index.kind](source, index.column.type)
        found = reader.rows_of_nulls() if query.nulls else BitMap64()
        for keys in query.ranges:
            found |= reader.rows_between(keys.low, keys.high, low_open=keys.low_open, high_open=keys.high_open)
        return found.shift(index.first) if index.first else found


def _may_hold(index: IndexRange, entry: IndexEntry, query: KeyQuery) -> bool:
    """False if the file's smallest and largest key exclude every key of the query."""
    data = dict(entry.global_index or ()).get("_INDEX_META")
    if data is None:
        return True
    try:
        bounds = KeyBounds.parse(data)
        first = None if bounds.first is None else decode_index_key(index.column.type, bounds.first)
        last = None if bounds.last is None else decode_index_key(index.column.type, bounds.last)
    except (ValueError, LookupError, struct.error) as error:
        raise CorruptFile(entry.file_name, f"its smallest and largest key are broken ({error!s:.80})") from None
    if query.nulls and bounds.has_nulls:
        return True
    return first is not None and last is not None and any(r.overlaps(first, last) for r in query.ranges)


# -- use in a scan


def prune_by_global_index(
    store: TableStore, snapshot: Snapshot, pruner: Pruner, entries: Entries
) -> tuple[Entries, BitMap64 | None]:
    """The entries of files that may hold matching rows, and the row ids of these; None: no index helps."""
    predicate = pruner.predicate
    if predicate is None or not entries or not store.options.get(opt.GLOBAL_INDEX_ENABLED):
        return entries, None
    names_used, partitions = predicate.columns(), {e.partition for e in entries}
    columns = [f for f in store.schema.fields if f.name in names_used and has_index_keys(f.type)]
    indexed = [i for i in index_entries(store, snapshot) if i.partition in partitions]
    if store.has_keys:
        if not any(i.index_type in SORTED_INDEX_KINDS for i in indexed):
            return entries, None
        entries = as_entries(with_numbered_files(entries, indexed))
        indexes = key_index_ranges(indexed, columns, SORTED_INDEX_KINDS, (e.file for e in entries))
    else:
        indexes = index_ranges(indexed, columns)
    if not indexes:
        return entries, None
    files = [e.file for e in entries]
    search = GlobalIndexSearch(store, indexes, files)
    candidates = search.row_ids(predicate)
    if candidates is None:
        return entries, None
    names = ", ".join(sorted(search.used))
    pruner.stage(f"rows by index of {names}", len(search.rows), len(candidates))
    keep = _files_with_row_ids(files, candidates)
    return pruner.keep_files(entries, keep, f"the global index of {names} has no matching row in it"), candidates


def _files_with_row_ids(files: Sequence[DataFile], candidates: BitMap64) -> np.ndarray:
    """Whether each file, or another one of the same rows, has a candidate row: a boolean per file.

    Files whose row ids are not counted from a first one are taken as having one.
    """
    keep = np.ones(len(files), bool)
    tracked = [i for i, f in enumerate(files) if has_row_id_range(f)]
    overlapping: list[int] = []
    begin = end = -1
    for i in sorted(tracked, key=lambda i: files[i].first_row_id or 0):
        first = files[i].first_row_id or 0
        if first >= end:
            if overlapping:
                keep[overlapping] = candidates.range_cardinality(begin, end) > 0
            overlapping, begin = [], first
        overlapping.append(i)
        end = max(end, first + files[i].row_count)
    if overlapping:
        keep[overlapping] = candidates.range_cardinality(begin, end) > 0
    return keep


def row_ids_of_files(files: Iterable[DataFile]) -> BitMap64 | None:
    """All row ids of some files; None if a file has row ids of its own in each row."""
    rows = BitMap64()
    for file in files:
        if not has_row_id_range(file):
            return None
        first = file.first_row_id or 0
        rows.add_range(first, first + file.row_count)
    return rows


def has_row_id_range(file: DataFile) -> bool:
    """Whether the row ids of a file are counted from its first one."""
    return file.first_row_id is not None and ROW_ID_FIELD.name not in (file.write_cols or ())
