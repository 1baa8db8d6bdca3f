"""Small queries that only choose rows and columns of one table are answered in this process: they need no Spark.

The first look at a table costs milliseconds then, not the start of a JVM. What is answered here is what Spark would answer;
whatever could be otherwise is left to it, mistakes in the query too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.format.types import Atomic, DataField, DataType, LocalZonedTimestamp, from_arrow_schema
from paimon_nb.options.spelling import check_names
from paimon_nb.plan import Query, TableRef, VersionAsOf
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.computed_columns import computed_columns
from paimon_nb.session.query.hints import scan_partitions
from paimon_nb.session.query.run_query import global_table, known_to_spark, travelled
from paimon_nb.table.scan.predicate.model import Predicate

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.spark.scan.table_scan import Relation
    from paimon_nb.sql.simple_select import Order, Selection
    from paimon_nb.table.scan.plan.splits import Split

_UNSORTABLE = ("FLOAT", "DOUBLE", "VARIANT", "BLOB", "ARRAY", "MAP", "MULTISET", "ROW")
"""NaN has a place of its own in Spark's order, and nested values theirs."""
_LIMIT_ROWS, _LIMIT_BYTES, _LIMIT_SPLITS = 20_000, 32 << 20, 8
"""Rows that a LIMIT may take from a large table here, the largest split that is read for them, and how many."""
Rows = tuple["pa.Table", tuple[DataField, ...]]
"""Rows in the types of `format/types`, and the fields that say them."""


@dataclass(frozen=True, slots=True)
class _Source:
    """What can be read: the fields are known before the rows are."""

    fields: tuple[DataField, ...]
    read: Callable[[], pa.Table | None]
    """Rows for which the condition may hold, with the columns that are asked for at least; None: too many."""

    @classmethod
    def of(cls, rows: pa.Table) -> _Source:
        return cls(tuple(from_arrow_schema(rows.schema)), lambda: rows)


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a query makes of rows."""

    selection: Selection
    fields: tuple[DataField, ...]
    columns: tuple[str, ...]
    told: tuple[DataField, ...]
    """The columns' fields under their names in the result."""
    order: tuple[tuple[str, Order], ...]

    def of(self, rows: pa.Table) -> Rows:
        """The result of rows with `fields`."""
        from paimon_nb.table.scan.predicate.evaluate import keep

        asked = self.selection
        rows = keep(asked.condition, rows, self.fields)
        if asked.count is not None:
            return _counted(rows.num_rows, asked.count)
        for column, order in reversed(self.order):
            rows = _sorted(rows, column, order)
        stop = rows.num_rows if asked.limit is None else asked.offset + asked.limit
        part = rows.slice(asked.offset, max(0, stop - asked.offset)).select(self.columns)
        return part.rename_columns([f.name for f in self.told]), self.told


def _counted(count: int, name: str) -> Rows:
    import pyarrow as pa

    return pa.table({name: pa.array([count], pa.int64())}), (DataField(0, name, Atomic("BIGINT", False)),)


def chosen_rows(session: Session, query: Query, text: str) -> Rows | None:
    """The answer, its columns named as the text says; None: ask Spark."""
    from paimon_nb.sql.simple_select import selection_of

    selection = selection_of(query, text) if len(query.tables) == 1 else None
    if selection is None or not _ours(
        session, query.tables[0]
    ):  # in this order: Spark takes longer to say what it knows
        return None
    try:
        source = _source(session, query.tables[0], selection)
        answer = source and _answer(selection, source.fields)
        rows = source.read() if source and answer else None
    except PaimonError:
        return None  # said again, with its place in the text, on the other way
    return answer.of(rows) if answer and rows is not None else None


def columns_of(selection: Selection, fields: Sequence[DataField]) -> list[tuple[str, str]] | None:
    """(column, name in the result); None for a name that is not surely one column, which Spark explains."""
    if selection.columns is None:
        return [(f.name, f.name) for f in fields]
    found = [(_one(said, fields), name) for said, name in selection.columns]
    chosen = [(column, name) for column, name in found if column is not None]
    return chosen if len(chosen) == len(found) else None


def means_the_same(condition: Predicate | None, fields: Sequence[DataField]) -> bool:
    """Whether the condition means here what it means in Spark, whatever its time zone."""
    from paimon_nb.spark.scan.pushdown import usable

    return condition is None or usable(condition, fields, zone="?") == condition


def _ours(session: Session, ref: TableRef) -> bool:
    """Whether the name means a table of ours, and a moment of it that is said without Spark."""
    if ref.lookup or ref.places or not isinstance(ref.travel, VersionAsOf | None):
        return False
    if len(ref.parts) > 1:
        return True
    if ref.parts[0] in session.views or ref.parts[0] in session.temporary:
        return False
    if not session.spark_may_know:
        return True
    return session.spark_started and not known_to_spark(session, ref.parts)


def _source(session: Session, ref: TableRef, selection: Selection) -> _Source | None:
    """The rows of a name, at the moment that it says."""
    check_names(ref.options)
    options = {**ref.options, **travelled(session, ref.travel)}
    found = session.find(ref.parts)
    if found.name.database == "sys" and found.name.system is None:
        return _Source.of(global_table(session, found.name))
    table = found.catalog.table(found.name, session.options_of(found))
    if found.name.system is not None:
        return _Source.of(table.system(found.name.system, options=options))

    from paimon_nb.spark.scan.table_scan import decide

    if scan_partitions(table, options, lookup=False) is not None or computed_columns(table.schema.options):
        return None
    spare = not session.spark_started
    columns = _needed(selection)
    chosen = decide(table, options=options, filter=selection.condition, columns=columns, without_spark=spare)
    return _Source(chosen.fields, lambda: _rows_of(chosen, selection))


def _rows_of(chosen: Relation, selection: Selection) -> pa.Table | None:
    """All rows of a small scan; of a larger one the few of a condition, as many as LIMIT takes, or as count(*) counts."""
    import pyarrow as pa

    from paimon_nb.spark.scan.scan_strategy import ScanStrategy
    from paimon_nb.spark.scan.table_scan import read_inline, read_searched

    splits = chosen.plan.splits
    if all(r.way is ScanStrategy.INLINE for r in chosen.routes):
        return read_inline(chosen, splits)
    if all(r.way is ScanStrategy.SEARCHED for r in chosen.routes):
        return read_searched(chosen, splits)
    if selection.condition is not None or selection.order:
        return None
    if selection.count is not None:
        if not all(map(_is_counted, splits)):
            return None
        return pa.table({"row": pa.nulls(sum(map(_certain_rows, splits)))})  # nobody looks at them
    wanted = None if selection.limit is None else selection.offset + selection.limit
    if wanted is None or wanted > _LIMIT_ROWS:
        return None
    parts: list[pa.Table] = []
    for split in sorted(splits, key=lambda s: s.size)[:_LIMIT_SPLITS]:
        if split.size > _LIMIT_BYTES:
            return None
        parts.append(read_inline(chosen, [split]))
        if sum(p.num_rows for p in parts) >= wanted:
            return pa.concat_tables(parts)
    return None


def _is_counted(split: Split) -> bool:
    """Whether metadata tells how many rows it gives."""
    vectors = (split.deletion_vectors or {}).values()
    return split.raw and not split.changes and not split.diff and all(v.cardinality is not None for v in vectors)


def _certain_rows(split: Split) -> int:
    return split.row_count - sum(v.cardinality or 0 for v in (split.deletion_vectors or {}).values())


def _needed(selection: Selection) -> list[str] | None:
    """Columns to read; None = all."""
    if selection.columns is None:
        return None
    condition = () if selection.condition is None else sorted(selection.condition.columns())
    return [*(c for c, _ in selection.columns), *(o.column for o in selection.order), *condition]


def _answer(selection: Selection, fields: tuple[DataField, ...]) -> _Answer | None:
    """What to do with rows of these fields; None for what would not surely be as in Spark."""
    if not means_the_same(selection.condition, fields):
        return None
    columns = columns_of(selection, fields)
    if columns is None:
        return None
    by_name = {f.name: f for f in fields}
    told = tuple(replace(by_name[column], name=name) for column, name in columns)
    if any(f.type.holds(_has_zone) for f in told):
        return None
    by = [(_ordering(order, fields, columns), order) for order in selection.order]
    known = tuple((column, order) for column, order in by if column is not None)
    return _Answer(selection, fields, tuple(c for c, _ in columns), told, known) if len(known) == len(by) else None


def _ordering(order: Order, fields: Sequence[DataField], columns: Sequence[tuple[str, str]]) -> str | None:
    """The column that a part of ORDER BY means: a name in the result goes before one of the table."""
    named = [column for column, name in columns if name.lower() == order.column.lower()]
    column = named[0] if len(named) == 1 else None if named else _one(order.column, fields)
    if column is None or next(f for f in fields if f.name == column).type.root in _UNSORTABLE:
        return None
    return column


def _sorted(rows: pa.Table, column: str, order: Order) -> pa.Table:
    """Stable, so that several parts are carried out one after the other, the last one first."""
    import pyarrow.compute as pc

    direction = "descending" if order.descending else "ascending"
    nulls = "at_start" if order.nulls_first else "at_end"
    return rows.take(pc.array_sort_indices(rows.column(column), direction, null_placement=nulls))


def _one(said: str, fields: Sequence[DataField]) -> str | None:
    """The column of a written name; None when there is none, or several that differ by case."""
    meant = [f.name for f in fields if f.name.lower() == said.lower()]
    return meant[0] if len(meant) == 1 else None


def _has_zone(t: DataType) -> bool:
    """Whether its values are shown in the session's time zone, which is Spark's to know."""
    return isinstance(t, LocalZonedTimestamp)
