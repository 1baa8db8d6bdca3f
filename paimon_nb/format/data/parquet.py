"""Reading Parquet data files. Columns are found by name; physical types: docs/spec/format.md section 9."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from pyarrow import parquet as pq

from paimon_nb.base.errors import CorruptFile
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.data.int96 import metadata_with_int96_as_bytes
from paimon_nb.format.data.parquet_footer import overlaps, read_footer, searchable_bounds
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.data.schema_evolution import to_logical_types
from paimon_nb.format.file_errors import BROKEN, broken_file
from paimon_nb.format.types import (
    DataField,
    DataType,
    LocalZonedTimestamp,
    Timestamp,
    arrow_schema,
)
from paimon_nb.format.types.arrow_builders import empty_table, from_numpy, to_numpy

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.data.pushdown import RowFilter, Span
    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions


_LARGE_GROUP = 16 << 20
"""Bytes, uncompressed, from which on a row group is read page by page where rows are wanted in pieces."""
_READ_AHEAD = 1 << 20
"""Bytes of a column that are read at a time then."""


@dataclass(frozen=True, slots=True)
class MatchingRows:
    """The rows of a file that match a filter."""

    masks: Mapping[int, np.ndarray]
    """Row group -> bool per row; only row groups with matches."""
    seen: pa.Table
    """The filter's columns, in file order."""


class ParquetReader:
    """One open file."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        self.path, self.fields = path, tuple(fields)
        self._source = fs.open(path)
        try:
            self.file = self._open_parquet()
        except BROKEN as error:
            self.close()
            raise broken_file(path, error, "Parquet") from None
        names = set(self.file.schema_arrow.names)
        for f in fields:
            if f.name not in names:
                self.close()
                raise CorruptFile(path, f"it has no column {f.name!r}")

    @property
    def num_rows(self) -> int:
        return int(self.file.metadata.num_rows)

    @property
    def row_groups(self) -> list[int]:
        """Rows of each row group."""
        return [self.file.metadata.row_group(i).num_rows for i in range(self.file.metadata.num_row_groups)]

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """Rows of all or the given row groups, in file order."""
        selected = list(range(self.file.metadata.num_row_groups)) if groups is None else list(groups)
        if not self.fields:
            return without_columns(sum(self.row_groups[g] for g in selected))
        try:
            table = self.file.read_row_groups(selected, [f.name for f in self.fields], use_threads=True)
            return self._in_memory(table)
        except BROKEN as error:
            raise broken_file(self.path, error, "Parquet") from None

    def read_where(self, keep: RowFilter) -> pa.Table:
        """The rows that match the filter. Of row groups without matches only the filter's columns are decoded.

        The filter's columns must be among `fields`.
        """
        return self.fetch_matching(self.find_matching(keep))

    def find_matching(self, keep: RowFilter, hidden: np.ndarray | None = None) -> MatchingRows:
        """Find the rows that match the filter; decodes only the filter's columns, row group by row group.

        Args:
            hidden: bool per row of the file, True = never a match.
        """
        first = [f for f in self.fields if f.name in keep.columns]
        ends = np.cumsum([0, *self.row_groups])
        masks: dict[int, np.ndarray] = {}
        seen = [empty_table(first)]
        for group in self.groups_overlapping(keep.spans):
            rows = self._read_row_group(group, first)
            selected = to_numpy(keep.matches(rows))
            if hidden is not None:
                selected = selected & ~hidden[ends[group] : ends[group + 1]]
            if selected.any():
                masks[group] = selected
                seen.append(rows.filter(from_numpy(selected)))
        return MatchingRows(masks, pa.concat_tables(seen))

    def fetch_matching(self, found: MatchingRows) -> pa.Table:
        """All columns of the rows that `find_matching` found."""
        known = found.seen
        rest = [f for f in self.fields if f.name not in known.column_names]
        if not rest:
            return known.select([f.name for f in self.fields])
        parts = [self._read_row_group(g, rest).filter(from_numpy(selected)) for g, selected in found.masks.items()]
        others = pa.concat_tables([empty_table(rest), *parts])
        by_name = {t.field(i).name: t.column(i) for t in (known, others) for i in range(t.num_columns)}
        return pa.table([by_name[f.name] for f in self.fields], schema=arrow_schema(self.fields, nullable=True))

    def _read_row_group(self, group: int, fields: Sequence[DataField]) -> pa.Table:
        # The columns of one row group are too small for several threads; files are read in parallel.
        try:
            table = self.file.read_row_group(group, [f.name for f in fields], use_threads=False)
            return self._in_memory(table, fields)
        except BROKEN as error:
            raise broken_file(self.path, error, "Parquet") from None

    def groups_overlapping(self, spans: Mapping[str, Span]) -> list[int]:
        """Row groups whose statistics do not exclude the spans."""
        every = range(self.file.metadata.num_row_groups)
        if not spans:
            return list(every)
        schema = self.file.schema
        leaves = {schema.column(i).path: i for i in range(len(schema)) if schema.column(i).path in spans}
        try:
            bounds = searchable_bounds(read_footer(self._source), schema, leaves)
        except BROKEN as error:
            raise broken_file(self.path, error, "Parquet") from None
        return [g for g in every if all(overlaps(spans[name], bounds[name][g]) for name in bounds)]

    def groups_with_matches(self, keep: RowFilter, rows: int) -> list[int]:
        """Row groups with rows that the filter wants. Of each its columns are decoded up to the first such row."""
        first = [f for f in self.fields if f.name in keep.columns]
        groups = self.groups_overlapping(keep.spans)
        if len(first) == len(self.fields):
            return groups
        return [
            g for g in groups if any(to_numpy(keep.matches(t)).any() for t in self._decoded_pieces(rows, [g], first))
        ]

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        """The same in batches of at most `rows` rows; about one row group is in memory."""
        if not self.fields:
            for group in range(self.file.metadata.num_row_groups) if groups is None else groups:
                yield from self.read([group]).to_batches(rows)
            return
        for table in self._decoded_pieces(rows, groups, self.fields):
            yield from table.to_batches()

    def _decoded_pieces(
        self, rows: int, groups: Sequence[int] | None, fields: Sequence[DataField]
    ) -> Iterator[pa.Table]:
        file = self.file
        selected = range(file.metadata.num_row_groups) if groups is None else groups
        if max((file.metadata.row_group(g).total_byte_size for g in selected), default=0) > _LARGE_GROUP:
            file = self._buffered()
        try:
            for batch in file.iter_batches(rows, row_groups=list(selected), columns=[f.name for f in fields]):
                yield self._in_memory(pa.Table.from_batches([batch]), fields)
        except BROKEN as error:
            raise broken_file(self.path, error, "Parquet") from None

    def _buffered(self) -> pq.ParquetFile:
        """The file, read page by page. Otherwise Arrow loads the compressed columns of a whole row group."""
        return pq.ParquetFile(
            self._source,
            metadata=self.file.metadata,
            buffer_size=_READ_AHEAD,
            page_checksum_verification=True,
            pre_buffer=False,
        )

    def close(self) -> None:
        self._source.close()

    def _open_parquet(self) -> pq.ParquetFile:
        file = pq.ParquetFile(self._source, page_checksum_verification=True, pre_buffer=False)
        schema = file.schema
        if all(schema.column(i).physical_type != "INT96" for i in range(len(schema))):
            return file
        metadata = metadata_with_int96_as_bytes(self._source)
        return pq.ParquetFile(self._source, metadata=metadata, page_checksum_verification=True, pre_buffer=False)

    def _in_memory(self, table: pa.Table, fields: Sequence[DataField] | None = None) -> pa.Table:
        return to_logical_types(table, self.fields if fields is None else fields, self.path)


def has_time(t: DataType) -> bool:
    """Whether a type is or holds a TIMESTAMP or TIMESTAMP_LTZ."""
    return t.contains_type(lambda inner: isinstance(inner, Timestamp | LocalZonedTimestamp))
