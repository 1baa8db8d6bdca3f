"""Runs simple SELECTs (filter, projection, ORDER BY, LIMIT, count(*) of one table) in this process, without Spark.

A first SELECT then takes milliseconds instead of a JVM start. The result is what Spark would return. Everything where
Spark could differ goes to Spark, and so do errors in the query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import Atomic, DataField, DataType, LocalZonedTimestamp, from_arrow_schema
from paimon_nb.options.spelling import check_no_misspelled_options
from paimon_nb.session.query.char_columns import with_padded_chars
from paimon_nb.session.query.computed_columns import computed_columns, has_computed_columns
from paimon_nb.session.query.frames_and_files import data_of_reference, means_file, note_shadowed_frame
from paimon_nb.session.query.hints import check_consumer, note_partitions_without_rows
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.run_query import global_system_table, known_to_spark, time_travel_options
from paimon_nb.session.query.searches import is_search, search_rows
from paimon_nb.session.query.stored_views import find_view, is_inside_view
from paimon_nb.statements import Query, TableRef, VersionAsOf

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import pyarrow as pa

    from paimon_nb.files.data_file import DataFile
    from paimon_nb.session.core.session import Session
    from paimon_nb.sql.simple_select import Order, Selection
    from paimon_nb.table.read.plan.snapshot_scan import Split
    from paimon_nb.table.read.predicate.model import Predicate
    from paimon_nb.table.read.strategy.planned_scan import PlannedScan

_UNSORTABLE = (
    "FLOAT",
    "DOUBLE",
    "VARIANT",
    "BLOB",
    "GEOMETRY",
    "GEOGRAPHY",
    "ARRAY",
    "MAP",
    "MULTISET",
    "ROW",
    "VECTOR",
)
"""Types that Spark sorts differently from Arrow: NaN and nested values."""
_LIMIT_ROWS, _LIMIT_BYTES, _LIMIT_SPLITS = 20_000, 32 << 20, 8
"""For LIMIT over a large table: max rows, max bytes of a split, max splits."""
Rows = tuple["pa.Table", tuple[DataField, ...]]
"""Rows in the types of `format/types`, and their fields."""


@dataclass(frozen=True, slots=True)
class _Source:
    """A table to read; its fields are known before its rows."""

    fields: tuple[DataField, ...]
    read: Callable[[], pa.Table]
    """Rows that may match the condition, with at least the requested columns. Raises NotLocal: there are too many."""

    @classmethod
    def result_of(cls, rows: pa.Table) -> _Source:
        return cls(tuple(from_arrow_schema(rows.schema)), lambda: rows)


@dataclass(frozen=True, slots=True)
class _Answer:
    """Computes the query's result from the source rows."""

    selection: Selection
    fields: tuple[DataField, ...]
    columns: tuple[str, ...]
    result_fields: tuple[DataField, ...]
    """The columns' fields, with their names in the result."""
    order: tuple[tuple[str, Order], ...]

    def result_of(self, rows: pa.Table) -> Rows:
        """The result for source rows."""
        from paimon_nb.table.read.predicate.evaluate import filter_rows

        selection = self.selection
        rows = filter_rows(selection.condition, rows, self.fields)
        if selection.count is not None:
            return _count_row(rows.num_rows, selection.count)
        for column, order in reversed(self.order):
            rows = _stable_sort(rows, column, order)
        stop = rows.num_rows if selection.limit is None else selection.offset + selection.limit
        part = rows.slice(selection.offset, max(0, stop - selection.offset)).select(self.columns)
        return part.rename_columns([f.name for f in self.result_fields]), self.result_fields


def _count_row(count: int, name: str) -> Rows:
    import pyarrow as pa

    return pa.table({name: pa.array([count], pa.int64())}), (DataField(0, name, Atomic("BIGINT", False)),)


def try_local_select(session: Session, query: Query) -> Rows | None:
    """The query's result, or None if another engine must run it."""
    try:
        return plan_select(session, query)()
    except (NotLocal, PaimonError):
        return None  # Spark's path raises the error again, with its position


def plan_select(session: Session, query: Query) -> Callable[[], Rows]:
    """How a simple SELECT is answered; reads metadata only.

    Returns:
        Reads the rows. Raises NotLocal: there are too many.

    Raises:
        NotLocal: another engine must run the query; the message says why.
        PaimonError: its table cannot be read.
    """
    from paimon_nb.sql.simple_select import selection_of

    selection = selection_of(query) if len(query.tables) == 1 else None
    if selection is None:
        raise NotLocal("more than columns, a filter, an order and a limit of one table")
    # In this order: asking Spark takes longer.
    if not _is_readable(session, query.tables[0]):
        raise NotLocal("its source is not a table, file or frame that this process can read")
    if session.spark_setting("spark.sql.caseSensitive") == "true":
        raise NotLocal("spark.sql.caseSensitive is true")
    source = _table_at_travel(session, query.tables[0], selection)
    answer = _local_computation(selection, source.fields)
    if answer is None:
        raise NotLocal("a condition, an order or a type has another meaning in Spark")

    def read() -> Rows:
        rows = source.read()
        note_shadowed_frame(session, query.tables[0])
        return answer.result_of(rows)

    return read


def columns_of(selection: Selection, fields: Sequence[DataField]) -> list[tuple[str, str]] | None:
    """(column, name in the result); None if a name does not match exactly one column: Spark reports that."""
    if selection.columns is None:
        return [(f.name, f.name) for f in fields]
    found = [(_column_named(written, fields), name) for written, name in selection.columns]
    resolved = [(column, name) for column, name in found if column is not None]
    return resolved if len(resolved) == len(found) else None


def means_the_same(condition: Predicate | None, fields: Sequence[DataField]) -> bool:
    """Whether the condition has the same meaning in Spark, in every time zone."""
    from paimon_nb.table.read.strategy.spark_meaning import conjuncts_with_spark_meaning

    return condition is None or conjuncts_with_spark_meaning(condition, fields, zone="?") == condition


def _is_readable(session: Session, ref: TableRef) -> bool:
    """Whether the name is a Paimon table, and its time travel can be resolved without Spark."""
    if ref.function is not None:
        return is_search(ref.function) and ref.function.outer is None
    if ref.file:
        return not is_inside_view()
    if ref.lookup or ref.metadata_columns or not isinstance(ref.travel, VersionAsOf | None):
        return False
    if session.temporary_name(ref.parts) is not None:
        return False
    if len(ref.parts) > 1:
        return True
    if ref.parts[0] in session.views or ref.parts[0] in session.temporary:
        return False
    if not session.spark_may_have_catalog_entries:
        return True
    return session.spark_started and not known_to_spark(session, ref.parts)


def _table_at_travel(session: Session, ref: TableRef, selection: Selection) -> _Source:
    """The table of a reference, at its time travel position, or the frame or file that it names. Raises NotLocal."""
    if ref.function is not None:
        rows, fields = search_rows(session, ref, _columns_to_read(selection), selection.condition)
        return _Source(fields, lambda: rows)
    if ref.file or means_frame(session, ref):
        data = data_of_reference(session, ref)
        if data is None:
            raise NotLocal("its source is a frame of Spark")
        return _Source(data.fields, lambda: _rows_of_data(data, selection))
    check_no_misspelled_options(ref.options)
    options = {**ref.options, **time_travel_options(session, ref.travel)}
    found = session.find(ref.parts)
    if found.name.database == "sys" and found.name.system is None:
        return _Source.result_of(global_system_table(found.catalog, found.name))
    table = found.catalog.table(found.name, session.options_of(found))
    if has_computed_columns(found.name.system) and computed_columns(table.schema.options):
        raise NotLocal("the table has computed columns")
    if found.name.system is not None:
        return _Source.result_of(table.system(found.name.system, options=options))

    from paimon_nb.table.read.strategy.planned_scan import plan_table_scan

    if session.flink_semantics:
        check_consumer(table.copy(options))
    if computed_columns(table.schema.options):
        raise NotLocal("the table has computed columns")
    note_partitions_without_rows(session, table, options)
    without_spark = not session.spark_started
    columns = _columns_to_read(selection)
    scan = plan_table_scan(
        table, options=options, filter=selection.condition, columns=columns, without_spark=without_spark
    )

    def read() -> pa.Table:
        rows = _rows_of_small_scan(scan, selection)
        if rows is None:
            raise NotLocal("the query reads many rows")
        return with_padded_chars(session, rows, table)

    return _Source(scan.fields, read)


def _rows_of_data(data: DataFile, selection: Selection) -> pa.Table:
    """The rows of a file or frame with the columns that the query needs; a count needs only their number."""
    import pyarrow as pa

    names = _columns_to_read(selection)
    if selection.count is not None and selection.condition is None:
        return pa.table({"row": pa.nulls(data.count())})
    return data.rows(names or (None if names is None else data.names[:1]))


def means_frame(session: Session, ref: TableRef) -> bool:
    """Whether a reference without a table or view of its name means a variable or a file of that name."""
    if means_file(session, ref):
        return not is_inside_view()
    if len(ref.parts) != 1 or is_inside_view() or session.frames(ref.parts[0]) is None:
        return False
    return not session.exists(ref.parts) and find_view(session, ref) is None


def _rows_of_small_scan(scan: PlannedScan, selection: Selection) -> pa.Table | None:
    """The rows of a small scan, or of a larger one those that its filter, LIMIT or count(*) needs; None: too many."""
    import pyarrow as pa

    from paimon_nb.table.read.strategy.planned_scan import read_by_late_materialization, read_inline
    from paimon_nb.table.read.strategy.routes import ScanStrategy

    splits = scan.plan.splits
    if all(r.strategy is ScanStrategy.INLINE for r in scan.routes):
        return read_inline(scan, splits)
    if all(r.strategy is ScanStrategy.LATE_MATERIALIZATION for r in scan.routes):
        return read_by_late_materialization(scan, splits)
    if selection.condition is not None or selection.order:
        return None
    if selection.count is not None:
        if scan.store.skips_unreadable_files or not all(map(_has_exact_row_count, splits)):
            return None
        return pa.table({"row": pa.nulls(sum(map(_exact_row_count, splits)))})  # only their number is used
    needed = None if selection.limit is None else selection.offset + selection.limit
    if needed is None or needed > _LIMIT_ROWS:
        return None
    parts: list[pa.Table] = []
    for split in sorted(splits, key=lambda s: s.size)[:_LIMIT_SPLITS]:
        if split.size > _LIMIT_BYTES:
            return None
        parts.append(read_inline(scan, [split]))
        if sum(p.num_rows for p in parts) >= needed:
            return pa.concat_tables(parts)
    return None


def _has_exact_row_count(split: Split) -> bool:
    """Whether metadata gives the split's exact row count."""
    vectors = (split.deletion_vectors or {}).values()
    return split.raw and not split.changes and not split.diff and all(v.cardinality is not None for v in vectors)


def _exact_row_count(split: Split) -> int:
    return split.row_count - sum(v.cardinality or 0 for v in (split.deletion_vectors or {}).values())


def _columns_to_read(selection: Selection) -> list[str] | None:
    """Columns to read; None: all."""
    if selection.columns is None:
        return None
    condition = () if selection.condition is None else sorted(selection.condition.columns())
    return [*(c for c, _ in selection.columns), *(o.column for o in selection.order), *condition]


def _local_computation(selection: Selection, fields: tuple[DataField, ...]) -> _Answer | None:
    """The computation over rows of these fields; None if Spark could give another result."""
    if not means_the_same(selection.condition, fields):
        return None
    columns = columns_of(selection, fields)
    if columns is None:
        return None
    by_name = {f.name: f for f in fields}
    result_fields = tuple(replace(by_name[column], name=name) for column, name in columns)
    if any(f.type.contains_type(_is_nano_instant) for f in result_fields):
        return None
    by = [(_order_column(order, fields, columns), order) for order in selection.order]
    known = tuple((column, order) for column, order in by if column is not None)
    return (
        _Answer(selection, fields, tuple(c for c, _ in columns), result_fields, known)
        if len(known) == len(by)
        else None
    )


def _order_column(order: Order, fields: Sequence[DataField], columns: Sequence[tuple[str, str]]) -> str | None:
    """The column of an ORDER BY item: names in the result precede names of the table."""
    named = [column for column, name in columns if name.lower() == order.column.lower()]
    column = named[0] if len(named) == 1 else None if named else _column_named(order.column, fields)
    if column is None or next(f for f in fields if f.name == column).type.root in _UNSORTABLE:
        return None
    return column


def _stable_sort(rows: pa.Table, column: str, order: Order) -> pa.Table:
    """A stable sort: apply it once for each ORDER BY item, last item first."""
    import pyarrow.compute as pc

    direction = "descending" if order.descending else "ascending"
    nulls = "at_start" if order.nulls_first else "at_end"
    return rows.take(pc.array_sort_indices(rows.column(column), direction, null_placement=nulls))


def _column_named(name: str, fields: Sequence[DataField]) -> str | None:
    """The column of a name, ignoring case; None if there is none or more than one."""
    meant = [f.name for f in fields if f.name.lower() == name.lower()]
    return meant[0] if len(meant) == 1 else None


def _is_nano_instant(t: DataType) -> bool:
    """Whether Spark cuts its values to microseconds. Other instants are in UTC in every result, whatever the session's zone."""
    return isinstance(t, LocalZonedTimestamp) and t.precision > 6
