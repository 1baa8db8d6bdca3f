"""The entries of manifests, manifest lists and index manifests: as single objects, or many as columns.

Operations on all entries of an `Entries` use `column`; objects are created only for accessed entries, so that a scan can
choose from 100,000 entries without creating as many objects. Source: docs/spec/format.md sections 5 and 12.1.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, pairwise
from operator import attrgetter
from typing import Any, overload

import numpy as np
import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.override import override
from paimon_nb.format.types.arrow_builders import arrow_column, from_numpy, sorted_unique, to_numpy

ADD, DELETE = 0, 1
EMPTY_ROW = bytes(12)
"""Arity 0, then eight zero bytes: the serialized row without columns."""


@dataclass(frozen=True, slots=True)
class SimpleStats:
    """Minimum, maximum and null count of some columns; rows are serialized with their arity."""

    min_values: bytes
    max_values: bytes
    null_counts: tuple[int | None, ...] | None


EMPTY_STATS = SimpleStats(EMPTY_ROW, EMPTY_ROW, ())


@dataclass(frozen=True, slots=True)
class DataFile:
    """Paimon's DataFileMeta."""

    file_name: str
    file_size: int
    row_count: int
    """Adds and deletes."""
    min_key: bytes
    """Serialized trimmed primary key of the first row; the empty row for append tables."""
    max_key: bytes
    key_stats: SimpleStats
    value_stats: SimpleStats
    min_sequence: int
    max_sequence: int
    schema_id: int
    """The schema that the file was written with."""
    level: int
    extra_files: tuple[str, ...] = ()
    """Sidecars in the same directory, such as the file index."""
    creation_time_ms: int | None = None
    """The writer's local wall clock, encoded as if it were UTC."""
    delete_row_count: int | None = None
    """Rows of kind -U and -D; None = unknown."""
    embedded_index: bytes | None = None
    file_source: int | None = None
    """0 APPEND, 1 COMPACT."""
    value_stats_cols: tuple[str, ...] | None = None
    """Columns of `value_stats`; None = all in schema order, () = none."""
    external_path: str | None = None
    first_row_id: int | None = None
    write_cols: tuple[str, ...] | None = None
    """Columns that the file contains, in tables with row tracking; None = all of the table's columns."""
    write_cols_sequences: tuple[int, ...] | None = None
    """Written by newer releases (2.1); preserved unchanged."""

    @property
    def stats_cols(self) -> tuple[str, ...] | None:
        """Columns of `value_stats` in their order; None = all in schema order."""
        return self.write_cols if self.value_stats_cols is None else self.value_stats_cols


@dataclass(frozen=True, slots=True)
class ManifestEntry:
    """One file added to or deleted from a bucket."""

    kind: int
    """0 ADD, 1 DELETE."""
    partition: bytes
    """Serialized row of the partition columns."""
    bucket: int
    total_buckets: int
    file: DataFile

    @property
    def identity(self) -> tuple[Any, ...]:
        """The key by which a DELETE entry cancels an ADD entry (docs/spec/format.md section 5.4)."""
        f = self.file
        return self.partition, self.bucket, f.level, f.file_name, f.extra_files, f.embedded_index, f.external_path


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A manifest, as described in a manifest list."""

    file_name: str
    file_size: int
    num_added: int
    num_deleted: int
    partition_stats: SimpleStats
    schema_id: int
    min_bucket: int | None = None
    max_bucket: int | None = None
    min_level: int | None = None
    max_level: int | None = None
    min_row_id: int | None = None
    max_row_id: int | None = None


@dataclass(frozen=True, slots=True)
class DvRange:
    """Location of a data file's deletion vector in its index file."""

    data_file: str
    offset: int
    length: int
    cardinality: int | None = None


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """An index file: hash index, deletion vectors, or another type, which is preserved unchanged."""

    partition: bytes
    bucket: int
    index_type: str
    """'HASH', 'DELETION_VECTORS', or a newer type."""
    file_name: str
    file_size: int
    row_count: int
    dv_ranges: tuple[DvRange, ...] | None = None
    external_path: str | None = None
    global_index: tuple[tuple[str, Any], ...] | None = None
    """(field, value) pairs of a global index (1.4 and newer); preserved unchanged."""
    kind: int = ADD


FILE_NUMBERS: dict[str, Callable[[DataFile], int]] = {
    "level": attrgetter("level"),
    "schema_id": attrgetter("schema_id"),
    "file_size": attrgetter("file_size"),
    "row_count": attrgetter("row_count"),
    "created": lambda f: f.creation_time_ms or 0,
    "deletes": lambda f: -1 if f.delete_row_count is None else f.delete_row_count,
    "beside": lambda f: f.embedded_index is not None or bool(f.extra_files),
}
"""`deletes`: -1 = unknown; `beside`: 1 if the file may have a file index."""


def _of_file(number: Callable[[DataFile], int]) -> Callable[[ManifestEntry], int]:
    return lambda entry: number(entry.file)


NUMBERS: dict[str, Callable[[ManifestEntry], int]] = {
    "kind": attrgetter("kind"),
    "bucket": attrgetter("bucket"),
    "total_buckets": attrgetter("total_buckets"),
    **{name: _of_file(of) for name, of in FILE_NUMBERS.items()},
}
"""int64 columns."""
BYTES: dict[str, Callable[[ManifestEntry], bytes]] = {
    "partition": attrgetter("partition"),
    "file_name": lambda e: e.file.file_name.encode(),
    "min_key": attrgetter("file.min_key"),
    "max_key": attrgetter("file.max_key"),
    "key_low": attrgetter("file.key_stats.min_values"),
    "key_high": attrgetter("file.key_stats.max_values"),
    "value_low": attrgetter("file.value_stats.min_values"),
    "value_high": attrgetter("file.value_stats.max_values"),
}
"""large_binary columns."""
STATS_COLS = "stats_cols"
"""An object array of `DataFile.stats_cols`."""


Name = str | tuple[str, int]


def null_counts(keys: bool, index: int) -> tuple[str, int]:
    """The name of the int64 Arrow column with the null counts of one statistics column; null if a file has none."""
    return ("key_nulls" if keys else "value_nulls", index)


class Entries(Sequence[ManifestEntry]):
    """An immutable sequence of entries, with access by column. Equal to any sequence of equal entries."""

    vectorized: bool = True
    """Whether there are enough entries to compute with `pyarrow.compute`, whose import takes as long as thousands of them."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._columns: dict[Any, Any] = {}

    def __len__(self) -> int:
        return self._size

    def column(self, name: Name) -> Any:
        """One of `NUMBERS`, `BYTES`, `STATS_COLS` or `null_counts`."""
        if name not in self._columns:
            self._columns[name] = self._make_column(name)
        return self._columns[name]

    @abstractmethod
    def _make_column(self, name: Name) -> Any: ...

    @classmethod
    def join(cls, parts: Sequence[Entries]) -> Entries | None:
        """The entries of all parts, of which the first is of this class; None if some are vectorized."""
        return None if any(p.vectorized for p in parts) else EntryList(e for p in parts for e in p)

    @abstractmethod
    def file_values(self, name: str, rows: np.ndarray) -> list[Any]:
        """A field of the data files at some positions, such as `value_stats.min_values`. Creates no objects, and caches nothing."""

    @abstractmethod
    def objects(self, rows: np.ndarray | None = None, *, cached: bool = True) -> list[ManifestEntry]:
        """All entries, or those at some positions, as objects. `cached`: whether they may be kept for later calls."""

    def filter(self, keep: np.ndarray) -> Entries:
        """The entries for which `keep` is true."""
        return self if keep.all() else SelectedEntries(self, np.flatnonzero(keep))

    def take(self, rows: np.ndarray) -> Entries:
        """The entries at these positions."""
        return SelectedEntries(self, rows)

    def numbers(self, name: str) -> list[int]:
        """A column of `NUMBERS` as a list."""
        if (name, list) not in self._columns:
            self._columns[name, list] = self.column(name).tolist()
        values: list[int] = self._columns[name, list]
        return values

    @property
    def partitions(self) -> tuple[np.ndarray, list[bytes]]:
        """(index of each entry's partition, partitions in order of first occurrence)."""
        if "partitions" not in self._columns:
            found = self.column("partition").dictionary_encode()
            self._columns["partitions"] = to_numpy(found.indices), found.dictionary.to_pylist()
        values: tuple[np.ndarray, list[bytes]] = self._columns["partitions"]
        return values

    def __iter__(self) -> Iterator[ManifestEntry]:
        return iter(self.objects())

    @overload
    def __getitem__(self, at: int) -> ManifestEntry: ...
    @overload
    def __getitem__(self, at: slice) -> list[ManifestEntry]: ...
    def __getitem__(self, at: int | slice) -> ManifestEntry | list[ManifestEntry]:
        if isinstance(at, slice):
            return self.objects(np.arange(self._size)[at])
        return self.objects(np.arange(self._size)[[at]])[0]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and len(self) == len(other) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"{type(self).__name__}({list(self)!r})"


class EntryList(Entries):
    """Entries from objects."""

    vectorized = False

    def __init__(self, entries: Iterable[ManifestEntry]) -> None:
        self._entries = list(entries)
        super().__init__(len(self._entries))

    def _make_column(self, name: Name) -> Any:
        if isinstance(name, tuple):
            kind, index = name
            stats = [e.file.key_stats if kind == "key_nulls" else e.file.value_stats for e in self._entries]
            counts = [s.null_counts for s in stats]
            return arrow_column([c[index] if c is not None and index < len(c) else None for c in counts], pa.int64())
        if name == STATS_COLS:
            return object_array([e.file.stats_cols for e in self._entries])
        if name in NUMBERS:
            return np.fromiter(map(NUMBERS[name], self._entries), np.int64, self._size)
        return arrow_column([*map(BYTES[name], self._entries)], pa.large_binary())

    @property
    def partitions(self) -> tuple[np.ndarray, list[bytes]]:
        seen: dict[bytes, int] = {}
        positions = [seen.setdefault(e.partition, len(seen)) for e in self._entries]
        return np.array(positions, np.int64), list(seen)

    @override
    def objects(self, rows: np.ndarray | None = None, *, cached: bool = True) -> list[ManifestEntry]:
        return list(self._entries) if rows is None else [self._entries[i] for i in rows.tolist()]

    def file_values(self, name: str, rows: np.ndarray) -> list[Any]:
        field = attrgetter(name)
        return [field(self._entries[i].file) for i in rows.tolist()]

    def filter(self, keep: np.ndarray) -> Entries:
        return self if keep.all() else EntryList(e for e, k in zip(self._entries, keep.tolist(), strict=True) if k)


class SelectedEntries(Entries):
    """A selection of other entries."""

    def __init__(self, whole: Entries, rows: np.ndarray) -> None:
        super().__init__(len(rows))
        self.whole, self.rows = whole, rows
        self.vectorized = whole.vectorized

    def _make_column(self, name: Name) -> Any:
        found = self.whole.column(name)
        if isinstance(found, np.ndarray):
            return found[self.rows]
        if self.vectorized:
            return found.take(from_numpy(self.rows))
        return arrow_column([found[i].as_py() for i in self.rows.tolist()], found.type)

    @property
    def partitions(self) -> tuple[np.ndarray, list[bytes]]:
        if self.vectorized:
            return super().partitions
        found, partitions = self.whole.partitions
        seen: dict[int, int] = {}
        positions = [seen.setdefault(p, len(seen)) for p in found[self.rows].tolist()]
        return np.array(positions, np.int64), [partitions[p] for p in seen]

    def objects(self, rows: np.ndarray | None = None, *, cached: bool = True) -> list[ManifestEntry]:
        return self.whole.objects(self.rows if rows is None else self.rows[rows], cached=cached)

    def file_values(self, name: str, rows: np.ndarray) -> list[Any]:
        return self.whole.file_values(name, self.rows[rows])

    def filter(self, keep: np.ndarray) -> Entries:
        return self if keep.all() else SelectedEntries(self.whole, self.rows[keep])

    def take(self, rows: np.ndarray) -> Entries:
        return SelectedEntries(self.whole, self.rows[rows])


class ConcatenatedEntries(Entries):
    """The concatenation of several sequences of entries."""

    def __init__(self, parts: Sequence[Entries]) -> None:
        self.parts = parts
        self._begins = np.cumsum([0, *map(len, parts)])
        super().__init__(int(self._begins[-1]))

    def _make_column(self, name: Name) -> Any:
        found = [p.column(name) for p in self.parts]
        return np.concatenate(found) if isinstance(found[0], np.ndarray) else pa.concat_arrays(found)

    def objects(self, rows: np.ndarray | None = None, *, cached: bool = True) -> list[ManifestEntry]:
        if rows is None:
            return [e for p in self.parts for e in p.objects(cached=cached)]
        return self._of_parts(rows, lambda part, some: part.objects(some, cached=cached))

    def file_values(self, name: str, rows: np.ndarray) -> list[Any]:
        return self._of_parts(rows, lambda part, some: part.file_values(name, some))

    def _of_parts(self, rows: np.ndarray, read: Callable[[Entries, np.ndarray], list[Any]]) -> list[Any]:
        """What `read` returns for the positions in each part, in the order of `rows`."""
        owners = np.searchsorted(self._begins, rows, "right") - 1
        concerned = sorted_unique(owners).tolist()
        if (owners[1:] >= owners[:-1]).all():
            cuts = [*np.searchsorted(owners, concerned).tolist(), len(rows)]
            return [
                value
                for owner, (begin, end) in zip(concerned, pairwise(cuts), strict=True)
                for value in read(self.parts[owner], rows[begin:end] - self._begins[owner])
            ]
        out = object_array([None] * len(rows))
        for owner in concerned:
            owned = owners == owner
            out[owned] = object_array(read(self.parts[owner], rows[owned] - self._begins[owner]))
        found: list[Any] = out.tolist()
        return found


def concat_entries(parts: Iterable[Entries]) -> Entries:
    """Concatenate sequences of entries."""
    some = [p for p in parts if len(p)]
    if len(some) < 2:
        return some[0] if some else EntryList(())
    joined = some[0].join(some)
    if joined is not None:
        return joined
    flat: list[Entries] = []
    for vectorized, group in groupby(some, lambda p: p.vectorized):
        if vectorized:
            flat.extend(group)
        else:
            flat.append(EntryList(chain.from_iterable(group)))
    return ConcatenatedEntries(flat)


def as_entries(entries: Iterable[ManifestEntry]) -> Entries:
    """The entries as `Entries`."""
    return entries if isinstance(entries, Entries) else EntryList(entries)


class LazyFiles(Sequence[DataFile]):
    """The data files of consecutive entries, created on access. Equal to the tuple of them, and pickled as that tuple."""

    __slots__ = ("_begin", "_end", "_entries", "_made")

    def __init__(self, entries: Entries, begin: int, end: int) -> None:
        self._entries, self._begin, self._end = entries, begin, end
        self._made: tuple[DataFile, ...] | None = None

    @property
    def origin(self) -> tuple[Entries, np.ndarray]:
        """(entries, positions of the files in them)."""
        rows = np.arange(self._begin, self._end)
        if isinstance(self._entries, SelectedEntries):
            return self._entries.whole, self._entries.rows[rows]
        return self._entries, rows

    def numbers(self, name: str) -> list[int]:
        """A column of `NUMBERS`, without creating the files."""
        return self._entries.numbers(name)[self._begin : self._end]

    def column(self, name: Name) -> Any:
        """As `Entries.column`."""
        return self._entries.column(name)[self._begin : self._end]

    def take(self, positions: Sequence[int]) -> LazyFiles:
        """The same files in another order."""
        rows = np.array(positions, np.int64) + self._begin
        return LazyFiles(self._entries.take(rows), 0, len(rows))

    def _all_files(self) -> tuple[DataFile, ...]:
        if self._made is None:
            self._made = tuple(e.file for e in self._entries.objects(np.arange(self._begin, self._end)))
        return self._made

    def __len__(self) -> int:
        return self._end - self._begin

    def __iter__(self) -> Iterator[DataFile]:
        return iter(self._all_files())

    @overload
    def __getitem__(self, at: int) -> DataFile: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[DataFile]: ...
    def __getitem__(self, at: int | slice) -> DataFile | Sequence[DataFile]:
        if isinstance(at, slice) and self._made is None:
            begin, end, step = at.indices(len(self))
            if step == 1:
                return LazyFiles(self._entries, self._begin + begin, self._begin + max(begin, end))
        return self._all_files()[at]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, tuple | LazyFiles) and self._all_files() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all_files())

    def __repr__(self) -> str:
        return repr(self._all_files())

    def __reduce__(self) -> tuple[Any, ...]:
        return tuple, (self._all_files(),)


class FileFields:
    """The fields of many data files, as lists. A million files as objects take 2 GB.

    Args:
        entries: of the files. rows: their positions.
    """

    def __init__(self, entries: Entries, rows: np.ndarray) -> None:
        self._entries, self._rows = entries, rows

    @classmethod
    def of(cls, groups: Sequence[Sequence[DataFile]]) -> FileFields:
        """Of the files of all groups, in order. Lazy groups over the same entries stay lazy."""
        lazy = [group.origin for group in groups if isinstance(group, LazyFiles)]
        if lazy and len(lazy) == len(groups) and all(entries is lazy[0][0] for entries, _ in lazy):
            return cls(lazy[0][0], np.concatenate([rows for _, rows in lazy]))
        entries = EntryList(ManifestEntry(ADD, EMPTY_ROW, 0, 0, file) for group in groups for file in group[:])
        return cls(entries, np.arange(len(entries)))

    def __len__(self) -> int:
        return len(self._rows)

    def values(self, name: str) -> list[Any]:
        """A field of `DataFile`, such as `value_stats.min_values`."""
        return self._entries.file_values(name, self._rows)

    def take(self, positions: Sequence[int]) -> FileFields:
        """The files at these positions."""
        return FileFields(self._entries, self._rows[np.array(positions, np.int64)])


def object_array(items: Sequence[Any]) -> np.ndarray:
    """An object array, also of sequences."""
    out = np.empty(len(items), object)
    out[:] = [None] * len(items)
    for i, item in enumerate(items):
        out[i] = item
    return out
