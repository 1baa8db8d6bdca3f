"""The tables of a query for the local engine: Parquet files that it reads itself, or rows as Arrow, merged by our reader."""

from __future__ import annotations

from contextlib import closing
from dataclasses import field, replace
from typing import TYPE_CHECKING

from paimon_nb.base.batches import BATCH_ROWS
from paimon_nb.base.errors import BucketsChanged
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Char, DataField, from_arrow_schema
from paimon_nb.options.spelling import check_no_misspelled_options
from paimon_nb.session.query.char_columns import READ_PADDING, fields_of_dialect
from paimon_nb.session.query.computed_columns import computed_columns, has_computed_columns
from paimon_nb.session.query.frames_and_files import data_of_reference
from paimon_nb.session.query.hints import check_consumer, note_partitions_without_rows
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.readable_files import readable_files
from paimon_nb.session.query.local.values import engine_type, quote_name, quote_text
from paimon_nb.session.query.local_select import means_frame
from paimon_nb.session.query.run_query import global_system_table, known_to_spark, time_travel_options
from paimon_nb.session.query.searches import is_search
from paimon_nb.session.query.table_functions import table_and_options
from paimon_nb.session.query.untrusted_text import must_be_checked
from paimon_nb.statements import VersionAsOf
from paimon_nb.table.read.split.decoded_size import bytes_per_row

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator, Mapping

    import pyarrow as pa

    from paimon_nb.files.data_file import DataFile
    from paimon_nb.format.types import DataType
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.query.local.readable_files import ReadableFile
    from paimon_nb.statements import TableRef
    from paimon_nb.table.read.strategy.planned_scan import PlannedScan

_IN_MEMORY_BYTES = 256 << 20
"""Bytes of decoded columns, estimated, up to which a table is read at once, in parallel."""
_PIECE_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class Source:
    """A table at its time travel position."""

    fields: tuple[DataField, ...]
    size: int
    """Bytes of its files."""
    rows: int
    """Rows in its files, before merging."""
    how: str
    """How it is read, in a few words."""
    scan: PlannedScan | None
    table: pa.Table | None = None
    """The rows of a system table."""
    data: DataFile | None = None
    """A file or a frame."""

    def files(self, used: Mapping[str, DataType]) -> list[ReadableFile] | None:
        """Parquet files that hold the table's rows with these columns, less those at known positions; None: they must be merged or converted."""
        return None if self.scan is None else readable_files(self.scan, used)

    def arrow(self, used: Mapping[str, DataType]) -> pa.Table | pa.RecordBatchReader:
        """The rows with these columns; at least one column."""
        if self.table is not None:
            return self.table.select(list(used) or self.table.column_names[:1])
        if self.data is not None:
            return self.data.rows(list(used) or self.data.names[:1])
        assert self.scan is not None
        fields = tuple(f for f in self.scan.fields if f.name in used) or self.scan.fields[:1]
        return _scan_rows(replace(self.scan, fields=fields))


def open_source(session: Session, ref: TableRef) -> Source:
    """The table of a reference. Raises NotLocal, and the errors of planning a scan."""
    data = _data_at_hand(session, ref)
    if data is not None:
        return Source(data.fields, data.size, data.count(), "as a file" if ref.file else "at hand", None, data=data)
    check_readable(session, ref if ref.function is None or is_search(ref.function) else replace(ref, function=None))
    check_no_misspelled_options(ref.options)
    parts, of_function = (ref.parts, {}) if ref.function is None else table_and_options(session, ref.function)
    options = {**ref.options, **of_function, **time_travel_options(session, ref.travel)}
    found = session.find(parts)
    if found.name.database == "sys" and found.name.system is None:
        return _source_of_rows(global_system_table(found.catalog, found.name))
    table = found.catalog.table(found.name, session.options_of(found))
    if has_computed_columns(found.name.system) and computed_columns(table.schema.options):
        raise NotLocal("computed columns are left to Spark")
    if found.name.system is not None:
        return _source_of_rows(table.system(found.name.system, options=options))

    from paimon_nb.table.read.strategy.planned_scan import plan_table_scan

    if session.flink_semantics:
        check_consumer(table.copy(options))
    if computed_columns(table.schema.options):
        raise NotLocal("the table has computed columns")
    note_partitions_without_rows(session, table, options)
    try:
        scan = plan_table_scan(
            table, options=options, filter=ref.filter, columns=ref.columns, zone="?", without_spark=True
        )
    except BucketsChanged:
        raise NotLocal("the number of buckets changed between the snapshots") from None
    splits = scan.plan.splits
    fields = fields_of_dialect(session, scan.fields, table)
    if session.spark_setting(READ_PADDING) == "false" and any(isinstance(f.type, Char) for f in fields):
        raise NotLocal(f"{READ_PADDING} is false")
    return Source(
        fields,
        sum(s.size for s in splits),
        sum(s.row_count for s in splits),
        "merged" if any(not s.raw for s in splits) else "as stored",
        scan,
    )


def _data_at_hand(session: Session, ref: TableRef) -> DataFile | None:
    """The file or frame that a reference means; None: a table, or a frame of Spark."""
    if ref.function is not None or ref.travel is not None or ref.lookup:
        return None
    if ref.file and must_be_checked(session):
        raise NotLocal(f"this text may not read the file {ref.parts[0]}")
    return data_of_reference(session, ref) if ref.file or means_frame(session, ref) else None


def check_readable(session: Session, ref: TableRef) -> None:
    """Raises NotLocal: the name is not a Paimon table, or its time travel needs Spark."""
    if ref.function is not None:
        raise NotLocal("table functions are left to Spark")
    if ref.lookup or ref.metadata_columns or not isinstance(ref.travel, VersionAsOf | None):
        raise NotLocal("metadata columns and times as expressions are left to Spark")
    if session.temporary_name(ref.parts) is not None:
        raise NotLocal(f"{ref.parts[-1]} is a view or a temporary table")
    if len(ref.parts) > 1 or ref.file:
        return
    if ref.parts[0] in session.views or ref.parts[0] in session.temporary:
        raise NotLocal(f"{ref.parts[0]} is a view or a temporary table")
    if session.spark_may_have_catalog_entries and (not session.spark_started or known_to_spark(session, ref.parts)):
        raise NotLocal(f"{ref.parts[0]} may be a view of Spark")


def _source_of_rows(rows: pa.Table, how: str = "metadata") -> Source:
    return Source(tuple(from_arrow_schema(rows.schema)), rows.nbytes, rows.num_rows, how, None, rows)


@dataclass(frozen=True, slots=True)
class ScanText:
    """How the engine reads a table."""

    sql: str
    """The SQL of a WITH item."""
    rows: pa.Table | pa.RecordBatchReader | None = None
    """Arrow rows that it reads; None: it reads files itself."""
    masks: Mapping[str, bytes] = field(default_factory=dict)
    """Variables with a bit for each row of a file, 1 for a hidden row."""


def scan_text(name: str, source: Source, used: Mapping[str, DataType]) -> ScanText:
    """How the engine reads a table: files, or the Arrow rows `name`_rows."""
    columns = (
        ", ".join(f"CAST({quote_name(c)} AS {engine_type(t)}) AS {quote_name(c)}" for c, t in used.items())
        or "1 AS none"
    )
    files = source.files(used)
    if not files:
        return ScanText(f"SELECT {columns} FROM {name}_rows", source.arrow(used))
    whole = [f.path for f in files if f.hidden is None]
    parts = [f"SELECT {columns} FROM read_parquet([{', '.join(map(quote_text, whole))}], hive_partitioning = false)"]
    masks: dict[str, bytes] = {}
    for file in files:
        if file.hidden is not None:
            mask = f"{name}_mask{len(masks)}"
            masks[mask] = file.hidden
            read = f"read_parquet({quote_text(file.path)}, hive_partitioning = false, file_row_number = true)"
            is_visible = f"get_bit(getvariable('{mask}'), CAST(file_row_number AS INTEGER)) = 0"
            parts.append(f"SELECT {columns} FROM {read} WHERE {is_visible}")
    return ScanText(" UNION ALL ".join(parts if whole else parts[1:]), None, masks)


def _scan_rows(scan: PlannedScan) -> pa.Table | pa.RecordBatchReader:
    import pyarrow as pa

    from paimon_nb.format.types.arrow_builders import arrow_schema, empty_table
    from paimon_nb.table.read.strategy.planned_scan import read_by_late_materialization, read_inline
    from paimon_nb.table.read.strategy.routes import ScanStrategy
    from paimon_nb.table.read.strategy.visible_rows import hides_by_position

    splits = scan.plan.splits
    if splits and all(r.strategy is ScanStrategy.LATE_MATERIALIZATION for r in scan.routes):
        rows = read_by_late_materialization(scan, splits)
        if rows is not None:
            return rows
    in_memory = sum(s.row_count for s in splits) * bytes_per_row(scan.fields) <= _IN_MEMORY_BYTES
    by_position = hides_by_position(scan.store, splits, scan.routes)
    if by_position and in_memory:
        return pa.concat_tables([empty_table(scan.fields), *_visible_rows(scan)])
    if in_memory:
        return read_inline(scan, splits)
    # Without hidden rows the files are read page by page: a row group of repeated values can take a gigabyte in memory.
    hidden = any(not s.raw or s.deletion_vectors for s in splits)
    batches = _visible_batches(scan) if by_position and hidden else _merged_batches(scan)
    return pa.RecordBatchReader.from_batches(arrow_schema(scan.fields, nullable=True), batches)


def _visible_rows(scan: PlannedScan) -> Generator[pa.Table, None, None]:
    from paimon_nb.table.read.strategy.visible_rows import visible_rows

    ahead = _IN_MEMORY_BYTES // max(bytes_per_row(scan.fields), 1)
    return visible_rows(scan.store, scan.plan.splits, scan.fields, scan.plan.predicate, rows_ahead=ahead)


def _visible_batches(scan: PlannedScan) -> Iterator[pa.RecordBatch]:
    with closing(_visible_rows(scan)) as pieces:
        for rows in pieces:
            yield from rows.to_batches(max_chunksize=BATCH_ROWS)


def _merged_batches(scan: PlannedScan) -> Iterator[pa.RecordBatch]:
    from paimon_nb.table.read import iter_split

    names = [f.name for f in scan.fields]
    for split in scan.plan.splits:
        with closing(iter_split(scan.store, split, names, scan.plan.predicate, piece_bytes=_PIECE_BYTES)) as pieces:
            for rows in pieces:
                yield from rows.select(names).to_batches(max_chunksize=BATCH_ROWS)
