"""What manifests hold: data files added and deleted, manifests in a list, index files. docs/spec/format.md sections 5 and
12.1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

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
    """Columns that the file holds, in tables that track rows; None = all of the table's."""
    write_cols_sequences: tuple[int, ...] | None = None
    """Of newer writers (2.1); only carried along."""

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
        """What makes two entries speak of one file (docs/spec/format.md section 5.4)."""
        f = self.file
        return self.partition, self.bucket, f.level, f.file_name, f.extra_files, f.embedded_index, f.external_path


@dataclass(frozen=True, slots=True)
class ManifestFile:
    """A manifest, as its list describes it."""

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
    """An index file: hash index, deletion vectors, or one of a kind that is only carried along."""

    partition: bytes
    bucket: int
    index_type: str
    """'HASH', 'DELETION_VECTORS', or a newer kind."""
    file_name: str
    file_size: int
    row_count: int
    dv_ranges: tuple[DvRange, ...] | None = None
    external_path: str | None = None
    global_index: tuple[tuple[str, Any], ...] | None = None
    """(field, value) pairs of a global index (1.4 and newer); only carried along."""
    kind: int = ADD
