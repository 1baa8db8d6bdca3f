"""The tables of a query for the local engine: Parquet files that it reads itself, or rows as Arrow, merged by our reader."""

from __future__ import annotations

from contextlib import closing
from dataclasses import replace
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
from paimon_nb.session.query.local.values import engine_type, is_floating, quote_name, quote_text
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
    from paimon_nb.statements import TableRef
    from paimon_nb.table.read.strategy.planned_scan import PlannedScan

_IN_MEMORY_BYTES = 256 << 20
"""Bytes of decoded columns, estimated, up to which a table is read at once, in parallel."""
_VIRTUAL_COLUMNS = frozenset({"filename", "file_row_number", "file_index"})
"""Names that the engine's Parquet reader gives to columns of its own."""
_PATTERN = frozenset("*?[]{}")
"""Characters of a path that the engine takes for a pattern."""
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

    def files(self, used: Mapping[str, DataType]) -> list[str] | None:
        """The paths of Parquet files that hold exactly the table's rows and these columns; None: they must be merged or converted."""
        if self.scan is None:
            return None
        return _files_readable_without_merge(self.scan, used)

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


def scan_sql(
    name: str, source: Source, used: Mapping[str, DataType]
) -> tuple[str, pa.Table | pa.RecordBatchReader | None]:
    """The SQL of a WITH item for a scan, and the Arrow rows that it reads under `name`_rows; None: it reads files itself."""
    columns = (
        ", ".join(f"CAST({quote_name(c)} AS {engine_type(t)}) AS {quote_name(c)}" for c, t in used.items())
        or "1 AS none"
    )
    files = source.files(used)
    if files:
        paths = ", ".join(quote_text(f) for f in files)
        return f"SELECT {columns} FROM read_parquet([{paths}], hive_partitioning = false)", None
    return f"SELECT {columns} FROM {name}_rows", source.arrow(used)


def _files_readable_without_merge(scan: PlannedScan, used: Mapping[str, DataType]) -> list[str] | None:
    from paimon_nb.table.read.strategy.planned_scan import facts_of
    from paimon_nb.table.read.strategy.routes import NativeReads, file_format

    if any(t.contains_type(is_floating) for t in used.values()) or _VIRTUAL_COLUMNS & {c.lower() for c in used}:
        return None  # statistics of Parquet leave out NaN, and the engine believes them
    store, splits = scan.store, scan.plan.splits
    if not splits or not all(s.raw and not s.deletion_vectors and s.branch is None for s in splits):
        return None
    if any(s.changes or s.diff or s.waiting for s in splits):
        return None
    fields = tuple(f for f in scan.fields if f.name in used)
    facts = facts_of(store, fields, scan.limits)
    native = NativeReads(facts)
    paths: list[str] = []
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
            paths.append(path)
    return paths if _have_expected_types(paths, used) else None


def _same_columns(stored: tuple[DataField, ...], fields: tuple[DataField, ...]) -> bool:
    """Whether a file of an older schema has these columns with the same names and types."""
    by_id = {f.id: f for f in stored}
    return all(
        f.id in by_id
        and by_id[f.id].name == f.name
        and by_id[f.id].type.with_nullable(True) == f.type.with_nullable(True)
        for f in fields
    )


def _have_expected_types(paths: list[str], used: Mapping[str, DataType]) -> bool:
    """Whether all files declare the columns' logical types: bytes without the mark of a text are not a text."""
    from pyarrow.parquet import read_schema

    from paimon_nb.session.query.local.values import displayed_type

    expected = None
    for path in paths:
        try:
            schema = read_schema(path)
        except FileNotFoundError:
            return False  # our reader says what is missing, or leaves it out if an option says so
        found = [schema.field(c).type for c in used if schema.get_field_index(c) >= 0]
        if len(found) < len(used) or (expected is not None and found != expected):
            return False
        expected = found
    if expected is None:
        return False
    fields = from_arrow_schema(_schema_of(dict(zip(used, expected, strict=True))))
    return all(displayed_type(f.type) == t for f, t in zip(fields, used.values(), strict=True))


def _schema_of(types: Mapping[str, pa.DataType]) -> pa.Schema:
    import pyarrow as pa

    return pa.schema(list(types.items()))


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
