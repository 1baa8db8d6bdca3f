"""Writes and describes data files: rolls at the target size, collects keys, counts and statistics.

Handles one (partition, bucket), with rows in their final order.
Source: docs/spec/format.md sections 5.3, 7 and 8.
"""

from __future__ import annotations

import uuid
from dataclasses import field, replace
from typing import TYPE_CHECKING, Self

import pyarrow as pa
import pyarrow.compute as pc

from paimon_nb.base import clock
from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data import (
    KEY_PREFIX,
    SEQUENCE_FIELD,
    SEQUENCE_NUMBER,
    TRACKING_FIELDS,
    VALUE_KIND,
    DataWriter,
    file_extension,
    file_format,
    key_value_fields,
    open_data_writer,
)
from paimon_nb.format.data.avro_schema import avro_schema
from paimon_nb.format.index import INDEX_SUFFIX, FileIndexWriter, index_specs
from paimon_nb.format.manifest import EMPTY_STATS, DataFile
from paimon_nb.format.row import EMPTY_ROW, from_scalar, serialize
from paimon_nb.format.stats import KEY_MODE, StatsCollector, stats_modes
from paimon_nb.format.types.arrow_builders import to_numpy
from paimon_nb.options import table as opt
from paimon_nb.table.read.split.inline_blobs import check_references
from paimon_nb.table.read.store import POSTPONE_BUCKET, TableStore
from paimon_nb.table.write.managed_blobs import managed_files_of, write_references

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from paimon_nb.format.data.shared_shredding_writer import ColumnCounts
    from paimon_nb.format.types import DataField

APPEND_SOURCE, COMPACT_SOURCE = 0, 1
_SLICE_ROWS, _CHECK_ROWS = 66_000, 1000
"""Maximum rows between two checks of the file's size, and their minimum, which is that of Java."""


@dataclass(frozen=True, slots=True)
class FileTarget:
    """Location and kind of the files to write."""

    partition: bytes
    bucket: int
    level: int = 0
    source: int = APPEND_SOURCE
    changelog: bool = False


def write_key_values(store: TableStore, target: FileTarget, tables: Iterable[pa.Table]) -> list[DataFile]:
    """Write kv tables, sorted by key across all of them, to one or more files. [] for no rows."""
    with KeyValueFileWriter(store, target) as files:
        for table in tables:
            files.write(table)
        return files.finish()


@dataclass
class RollingFileWriter:
    """Opens, rolls and closes files. Deletes the written files if left by an exception."""

    store: TableStore
    target: FileTarget
    done: list[DataFile] = field(default_factory=list)
    _writer: DataWriter | None = None
    _name: str = ""
    _path: str = ""
    _external_path: str | None = None
    _index: FileIndexWriter | None = None
    _counts: ColumnCounts | None = None

    def __post_init__(self) -> None:
        if self.target.bucket == POSTPONE_BUCKET and not self.target.changelog:
            self.store = with_postponed_file_options(self.store)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.abort()

    def write(self, table: pa.Table) -> None:
        """Append rows; a new file begins when the current one has reached the target size."""
        target = self.store.options.target_file_size(self.store.has_keys)
        start, row_bytes = 0, max(1.0, table.nbytes / max(1, table.num_rows))
        while start < table.num_rows:
            if self._writer is None:
                self._open_file()
            assert self._writer is not None
            part = table.slice(start, _rows_before_check((target - self._writer.bytes_written) / row_bytes))
            if self.store.referring_blobs:
                check_references(self.store, part)
            self._writer.write(self._file_columns(part))
            if self._index is not None:
                self._index.add(part)
            self._collect_stats(part)
            if self._writer.bytes_written >= target:
                self._close_file()
            start += part.num_rows

    def finish(self) -> list[DataFile]:
        """Close the last file. Returns all files in order."""
        if self._writer is not None:
            self._close_file()
        return self.done

    def abort(self) -> None:
        """Delete everything written so far."""
        partition, bucket = self.target.partition, self.target.bucket
        if self._writer is not None:
            self._writer.abort()
            self._writer = None
            self.store.fs.delete(self._path)
        for file in self.done:
            for path in self.store.paths_of(partition, bucket, file):
                self.store.fs.delete(path)

    def _open_file(self) -> None:
        kind = "changelog" if self.target.changelog else "data"
        options = self.store.options
        self._name = self.store.new_file_name(kind, self._extension())
        self._path, self._external_path = self.store.new_path(self.target.partition, self.target.bucket, self._name)
        indexed = any(key.startswith("file-index.") for key in options.raw)
        self._index = FileIndexWriter(index_specs(options, self.store.schema.fields)) if indexed else None
        self._writer = open_data_writer(
            self.store.fs,
            self._path,
            self._stored_fields(),
            options if self._counts is None else self._counts.options(options),
            self.target.level,
            changelog=self.target.changelog,
        )
        self._reset_stats()

    def _close_file(self) -> None:
        assert self._writer is not None
        written = self._writer.close()
        if written.map_widths:
            from paimon_nb.format.data.shared_shredding_writer import ColumnCounts

            self._counts = self._counts or ColumnCounts()
            self._counts.add(written.map_widths)
        self._writer = None
        self.done.append(replace(self._describe_file(written.size), external_path=self._external_path))
        index = self._index.finish() if self._index is not None else None
        if index is not None:
            embedded, extra = store_file_index(self.store, self._path, index)
            self.done[-1] = replace(self.done[-1], embedded_index=embedded, extra_files=extra)

    def _extension(self) -> str:
        return file_extension(self.store.options, self.target.level, changelog=self.target.changelog)

    # differences between key-value and plain files

    def _stored_fields(self) -> Sequence[DataField]:
        raise NotImplementedError

    def _file_columns(self, part: pa.Table) -> pa.Table:
        raise NotImplementedError

    def _reset_stats(self) -> None:
        raise NotImplementedError

    def _collect_stats(self, part: pa.Table) -> None:
        raise NotImplementedError

    def _describe_file(self, size: int) -> DataFile:
        raise NotImplementedError


def _rows_before_check(missing_rows: float) -> int:
    """Rows to write until the file's size is checked: many while it is far from its target, which takes about `missing_rows`.

    Half of these cannot exceed the target, so that a file ends at most `_CHECK_ROWS` rows behind it.
    """
    return int(min(_SLICE_ROWS, max(_CHECK_ROWS, missing_rows // 2 // _CHECK_ROWS * _CHECK_ROWS)))


class KeyValueFileWriter(RollingFileWriter):
    """Files of a primary-key table; takes kv tables in key order."""

    def _stored_fields(self) -> Sequence[DataField]:
        return key_value_fields(self.store.schema, self._is_thin)

    @property
    def _is_thin(self) -> bool:
        return bool(self.store.options.get(opt.DATA_FILE_THIN_MODE))

    def _file_columns(self, part: pa.Table) -> pa.Table:
        schema = self.store.schema
        keys = [] if self._is_thin else [(KEY_PREFIX + k, part.column(k)) for k in schema.trimmed_primary_keys]
        columns = [
            *keys,
            (SEQUENCE_NUMBER, part.column(SEQUENCE_NUMBER)),
            (VALUE_KIND, part.column(VALUE_KIND)),
            *((n, part.column(n)) for n in schema.names),
        ]
        return pa.table([c for _, c in columns], names=[n for n, _ in columns])

    def _close_file(self) -> None:
        super()._close_file()
        if self.store.managed_blobs:
            reference = write_references(self.store.fs, self._path, self._managed_files)
            self.done[-1] = replace(self.done[-1], extra_files=(*self.done[-1].extra_files, reference))

    def _reset_stats(self) -> None:
        self._managed_files: set[str] = set()
        self._values, self._keys = value_stats(self.store, self.target), key_stats(self.store, self.target)
        self._rows = self._deletes = 0
        self._low: int | None = None
        self._high: int | None = None
        self._first_key = self._last_key = EMPTY_ROW

    def _collect_stats(self, part: pa.Table) -> None:
        self._values.add(part)
        self._keys.add(part)
        if self.store.managed_blobs:
            self._managed_files |= managed_files_of(part, self.store.managed_blobs)
        if not self._rows:
            self._first_key = self._serialized_key(part, 0)
        self._last_key = self._serialized_key(part, part.num_rows - 1)
        self._rows += part.num_rows
        kinds = to_numpy(part.column(VALUE_KIND))
        self._deletes += int(((kinds == 1) | (kinds == 3)).sum())
        span = pc.min_max(part.column(SEQUENCE_NUMBER)).as_py()
        self._low = span["min"] if self._low is None else min(self._low, span["min"])
        self._high = span["max"] if self._high is None else max(self._high, span["max"])

    def _serialized_key(self, part: pa.Table, row: int) -> bytes:
        fields = self.store.schema.key_fields
        return serialize([f.type for f in fields], [from_scalar(f.type, part.column(f.name)[row]) for f in fields])

    def _describe_file(self, size: int) -> DataFile:
        stats, cols = self._values.result()
        return DataFile(
            file_name=self._name,
            file_size=size,
            row_count=self._rows,
            min_key=self._first_key,
            max_key=self._last_key,
            key_stats=self._keys.result()[0],
            value_stats=stats,
            min_sequence=self._low or 0,
            max_sequence=self._high or 0,
            schema_id=self.store.schema.id,
            level=self.target.level,
            extra_files=(),
            creation_time_ms=clock.local_now_ms(),
            delete_row_count=self._deletes,
            embedded_index=None,
            file_source=self.target.source,
            value_stats_cols=cols,
            first_row_id=None,
            write_cols=None,
        )


class AppendFileWriter(RollingFileWriter):
    """Files of a table without keys; takes plain tables in row order.

    `next_sequence` is the sequence number of the first row; each row gets its own (docs/spec/format.md section 8.2).
    `tracked`: the tables include `TRACKING_FIELDS`, and so do the files.
    """

    def __init__(self, store: TableStore, target: FileTarget, next_sequence: int = 0, *, tracked: bool = False) -> None:
        super().__init__(store, target)
        self.next_sequence, self.tracked = next_sequence, tracked

    def _stored_fields(self) -> Sequence[DataField]:
        return (*self.store.schema.fields, *TRACKING_FIELDS) if self.tracked else self.store.schema.fields

    def _file_columns(self, part: pa.Table) -> pa.Table:
        return part.select([f.name for f in self._stored_fields()])

    def _reset_stats(self) -> None:
        self._values = value_stats(self.store, self.target, self._stored_fields())
        self._rows = 0
        self._numbers: tuple[int, int] | None = None
        self._lacks_numbers = False

    def _collect_stats(self, part: pa.Table) -> None:
        self._values.add(part)
        self._rows += part.num_rows
        if not self.tracked:
            return
        numbers = part.column(SEQUENCE_FIELD.name)
        self._lacks_numbers |= numbers.null_count > 0
        span = pc.min_max(numbers).as_py()
        if span["min"] is not None:
            low, high = self._numbers or (span["min"], span["max"])
            self._numbers = min(low, span["min"]), max(high, span["max"])

    def _sequence_range(self) -> tuple[int, int]:
        """The smallest and greatest sequence number; 0 of a tracked file: the commit numbers its changed rows."""
        first = self.next_sequence
        self.next_sequence += self._rows
        if not self.tracked:
            return first, self.next_sequence - 1
        low, high = self._numbers or (0, 0)
        return low, 0 if self._lacks_numbers else high

    def _describe_file(self, size: int) -> DataFile:
        stats, cols = self._values.result()
        low, high = self._sequence_range()
        return DataFile(
            file_name=self._name,
            file_size=size,
            row_count=self._rows,
            min_key=EMPTY_ROW,
            max_key=EMPTY_ROW,
            key_stats=EMPTY_STATS,
            value_stats=stats,
            min_sequence=low,
            max_sequence=high,
            schema_id=self.store.schema.id,
            level=0,
            extra_files=(),
            creation_time_ms=clock.local_now_ms(),
            delete_row_count=0,
            embedded_index=None,
            file_source=self.target.source,
            value_stats_cols=cols,
            first_row_id=None,
            write_cols=tuple(f.name for f in self._stored_fields()) if self.tracked else None,
        )


def value_stats(store: TableStore, target: FileTarget, fields: Sequence[DataField] | None = None) -> StatsCollector:
    """A collector over all columns (of the table, or `fields`), in the configured modes."""
    fields, options = tuple(fields or store.schema.fields), store.options
    name = file_format(options, target.level, changelog=target.changelog)
    thin = bool(options.get(opt.DATA_FILE_THIN_MODE))
    keys = store.schema.trimmed_primary_keys if store.has_keys else ()
    modes = stats_modes(
        options,
        fields,
        level=target.level if store.has_keys else None,
        changelog=target.changelog,
        thin_keys=keys if thin else (),
        file_format=name,
        leading_columns=0 if not store.has_keys else 2 if thin else 2 + len(keys),
    )
    dense = bool(options.get(opt.METADATA_STATS_DENSE_STORE))
    return StatsCollector(fields, modes, file_format=name, dense=dense)


def key_stats(store: TableStore, target: FileTarget) -> StatsCollector:
    """A collector over the key columns: always complete."""
    fields = store.schema.key_fields
    name = file_format(store.options, target.level, changelog=target.changelog)
    return StatsCollector(fields, [KEY_MODE] * len(fields), file_format=name, dense=False)


def store_file_index(
    store: TableStore, data_path: str, index: bytes, suffix: str = INDEX_SUFFIX
) -> tuple[bytes | None, tuple[str, ...]]:
    """(embedded index, extra files) for an index container; writes the index file if it is not embedded.

    Args:
        data_path: of the indexed file; the index file has the same name plus `suffix`.
    """
    if len(index) <= store.options.get(opt.FILE_INDEX_IN_MANIFEST_THRESHOLD):
        return index, ()
    path = data_path + suffix
    store.fs.write(path, index)
    return None, (path.rsplit("/", 1)[-1],)


_WRITER_NUMBER = 0
"""Java assigns all files of one writer number to one reader, which keeps their order; we use one number to keep the order
of all files.
"""


def with_postponed_file_options(store: TableStore) -> TableStore:
    """The table with the options of its postponed files: Avro if it supports the columns, no statistics.

    The file name contains the writer's number between `-s-` and `-`; Java refuses a file without it.
    """
    prefix = f"{store.options.get(opt.DATA_FILE_PREFIX)}-u-{uuid.uuid4()}-s-{_WRITER_NUMBER}-w-"
    options = {opt.DATA_FILE_PREFIX.key: prefix}
    try:
        avro_schema(store.schema.fields)
    except UnsupportedFormat:
        pass
    else:
        options |= {opt.FILE_FORMAT.key: "avro", opt.METADATA_STATS_MODE.key: "none"}
    return store.copy(options)
