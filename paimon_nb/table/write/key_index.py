"""Builds the indexes of a primary-key table after a compaction: one file per column and level of a bucket. Publishes nothing.

Source: Paimon 2.1 `BucketedPrimaryKeyIndexMaintainer`, `PrimaryKeyIndexLevels`, `PkSortedIndexBuilder`, `PkVectorAnnSegmentFile`,
`PkFullTextIndexFile`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from paimon_nb.format.index.global_index import SourceFiles, sorted_keys
from paimon_nb.format.manifest import IndexEntry
from paimon_nb.format.types.arrow_builders import from_numpy
from paimon_nb.table.read.key_index import FULL_TEXT, MULTIVALUE, VECTOR, key_indexes, source_files, sources_of
from paimon_nb.table.read.plan.snapshot_scan import Split
from paimon_nb.table.read.split.split_reader import read_split
from paimon_nb.table.write.index_files import IndexContent, element_index, sorted_index, text_index, vector_index

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from paimon_nb.format.manifest import DataFile
    from paimon_nb.format.types import DataField
    from paimon_nb.table.read.key_index import KeyIndex
    from paimon_nb.table.read.store import TableStore


class BucketIndexes:
    """The index files of one bucket of a primary-key table."""

    def __init__(self, store: TableStore, partition: bytes, bucket: int, entries: Iterable[IndexEntry]) -> None:
        """`entries`: live index files of the table; only this bucket's are used."""
        self.store, self.partition, self.bucket = store, partition, bucket
        self._definitions = key_indexes(store.schema)
        self._entries = [
            e for e in entries if e.partition == partition and e.bucket == bucket and sources_of(e) is not None
        ]

    def is_current(self, files: Iterable[DataFile]) -> bool:
        """Whether each level of these files, all of the bucket, has its indexes, and no other index is left."""
        missing, stale = self._missing_and_stale(files)
        return not missing and not stale

    def refresh(
        self, files: Iterable[DataFile], deleted: Callable[[str], np.ndarray | None]
    ) -> tuple[list[IndexEntry], list[IndexEntry]]:
        """(new index files, those that they replace), so that each level has its indexes.

        Args:
            files: all of the bucket. deleted: positions of the deleted rows of a file.

        Raises: EnvironmentError_: the package of an index is missing. BadOptionValue: an option of an index is wrong.
            SchemaMismatch: a vector that an index cannot hold.
        """
        missing, stale = self._missing_and_stale(files)
        new: list[IndexEntry] = []
        try:
            for index, level, sources in missing:
                new.append(self._build(index, level, sources, deleted))
        except BaseException:
            for made in new:
                self.store.fs.delete(self.store.index_path(made))
            raise
        return new, stale

    # -- inside

    def _missing_and_stale(
        self, files: Iterable[DataFile]
    ) -> tuple[list[tuple[KeyIndex, int, list[DataFile]]], list[IndexEntry]]:
        """The indexes that must be built, with their level and files, and the index files that answer for nothing."""
        ids = {f.name: f.id for f in self.store.schema.fields}
        missing = {
            (ids[index.column], index.kind, _sources(level, some)): (index, level, some)
            for level, some in source_files(files).items()
            for index in self._definitions
        }
        stale: list[IndexEntry] = []
        for entry in self._entries:
            column, sources = dict(entry.global_index or ()).get("_INDEX_FIELD_ID"), sources_of(entry)
            if sources is None or missing.pop((column or 0, entry.index_type, sources), None) is None:
                stale.append(entry)
        return [*missing.values()], stale

    def _build(
        self, index: KeyIndex, level: int, files: Sequence[DataFile], deleted: Callable[[str], np.ndarray | None]
    ) -> IndexEntry:
        field, sources = self.store.schema.field(index.column), _sources(level, files)
        parts = [self._values(file, field.name) for file in files]
        column = pa.chunked_array([c for part in parts for c in part.chunks], parts[0].type)
        positions = np.arange(sources.row_count, dtype=np.int64)
        if index.family == VECTOR:
            dead = _numbers_of_deleted(sources, deleted)
            column = column.filter(from_numpy(~np.isin(positions, dead)))
            positions = np.delete(positions, dead)
        content = self._content(index, field, column, positions)
        name = self.store.new_file_name("index")
        path, external = self.store.new_index_path(self.partition, self.bucket, name)
        self.store.fs.write(path, content.data)
        described = (
            ("_ROW_RANGE_START", 0),
            ("_ROW_RANGE_END", sources.row_count - 1),
            ("_INDEX_FIELD_ID", field.id),
            ("_EXTRA_FIELD_IDS", None),
            ("_INDEX_META", content.meta),
            ("_SOURCE_META", sources.to_bytes()),
        )
        return IndexEntry(
            self.partition,
            self.bucket,
            index.kind,
            name,
            len(content.data),
            content.row_count,
            None,
            external,
            described,
        )

    def _content(
        self, index: KeyIndex, field: DataField, column: pa.ChunkedArray, positions: np.ndarray
    ) -> IndexContent:
        options = self.store.options.with_(index.options)
        if index.family == VECTOR:
            found = vector_index(options, index.kind, self.store.name, field, column, positions)
            return found or IndexContent(b"", 0, b"")  # no row has a vector
        if index.family == FULL_TEXT:
            return text_index(options, column, positions)
        if index.family == MULTIVALUE:
            return element_index(options, field, column, positions)
        return sorted_index(options, index.kind, sorted_keys(field.type, column, positions))

    def _values(self, file: DataFile, column: str) -> pa.ChunkedArray:
        """A column of all rows of a file, those too that a deletion vector hides."""
        split = Split(0, self.partition, self.bucket, 1, (file,), None, raw=True)
        return read_split(self.store, split, [column]).column(0)


def _sources(level: int, files: Sequence[DataFile]) -> SourceFiles:
    return SourceFiles(level, tuple((f.file_name, f.row_count) for f in files))


def _numbers_of_deleted(sources: SourceFiles, deleted: Callable[[str], np.ndarray | None]) -> np.ndarray:
    """The positions in an index of the deleted rows of its files."""
    found, begin = [np.empty(0, np.int64)], 0
    for name, rows in sources.files:
        positions = deleted(name)
        if positions is not None:
            found.append(np.asarray(positions, np.int64) + begin)
        begin += rows
    return np.concatenate(found)
