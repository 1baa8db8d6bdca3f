"""Paimon's table-valued functions in FROM: searches; incremental queries, in Spark's form and in the form of Paimon's documents."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BucketsChanged, SqlAnalysisError
from paimon_nb.base.identifier import split_name
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.schema import readable_fields
from paimon_nb.format.types import Atomic, DataField
from paimon_nb.session.query.char_columns import with_chars
from paimon_nb.sql.table_references import SEARCH_FUNCTIONS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableFunction, TableRef
    from paimon_nb.table.read import Predicate
    from paimon_nb.table.tables.table import Table

_SEARCH_ARGUMENTS = ("table", "column", "vector", "top_k", "options")
_TEXT_SEARCH_ARGUMENTS = ("table", "column", "query", "limit")
_OPTION = {
    "paimon_incremental_query": "incremental-between",
    "paimon_incremental_between_timestamp": "incremental-between-timestamp",
    "paimon_incremental_to_auto_tag": "incremental-to-auto-tag",
}


def table_function(session: Session, ref: TableRef) -> DataFrame:
    """The rows of `paimon_incremental_query('t', 1, 5)`, `db.incremental_t(start_snapshot => 1, end_snapshot => 5)`, ..."""
    assert ref.function is not None
    if is_search(ref.function):
        from paimon_nb.spark.runtime.arrow_interop import from_arrow

        return from_arrow(session.spark, search_rows(session, ref, ref.columns, ref.filter)[0])
    parts, option = _table_and_options(session, ref.function)
    found = session.find(parts)
    table = found.catalog.table(found.name, session.options_of(found))
    try:
        return _function_rows(session, table, found.name.system, {**ref.options, **option}, ref)
    except BucketsChanged as changed:
        if "incremental-between-timestamp" in option:
            raise
        between = option.get("incremental-between", "").split(",")
        start, end = between if len(between) == 2 else (changed.start, changed.end)
        # The files of the two states have nothing in common, so their rows are compared.
        before, after = (
            _function_rows(session, table, found.name.system, {**ref.options, "scan.version": str(version)}, None)
            for version in (start, end)
        )
        return after.subtract(before)


def is_search(function: TableFunction) -> bool:
    """Whether it is `vector_search('t', 'column', ARRAY(1.0, 2.0), 5)` or `full_text_search('t', 'column', 'words', 5)`."""
    return function.name[-1].lower() in SEARCH_FUNCTIONS


def search_rows(
    session: Session, ref: TableRef, columns: Sequence[str] | None, filter: Predicate | None
) -> tuple[pa.Table, tuple[DataField, ...]]:
    """The rows of a search, and their fields. `SELECT *` leaves out the score, as in Spark.

    Args:
        columns: names that the query uses; None: all columns of the table.
        filter: only rows that match are searched.

    Raises: SqlAnalysisError: wrong arguments. SchemaMismatch, ColumnNotFound, BadOptionValue: as in `Table.search`
        and `Table.full_text_search`.
    """
    from paimon_nb.table.read.vector_search import SCORE, SCORE_ID

    search = _search_of(session, ref)
    names = {c.lower() for c in columns or ()}
    fields = tuple(f for f in readable_fields(search.table.schema) if columns is None or f.name.lower() in names)
    read = [f.name for f in fields]
    if search.vector is None:
        rows = search.table.full_text_search(search.query, search.k, column=search.column, where=filter, columns=read)
    else:
        rows = search.table.search(
            search.vector, search.k, column=search.column, where=filter, columns=read,
            metric=search.options.get("metric"), options=search.options,
        )  # fmt: skip
    if columns is not None and SCORE in names:
        return rows, (*fields, DataField(SCORE_ID, SCORE, Atomic("FLOAT")))
    return rows.drop_columns([SCORE]), fields


def explain_search(session: Session, ref: TableRef) -> str:
    """The Paimon part of EXPLAIN for a search: which rows an index answers for. Reads metadata only."""
    from paimon_nb.table.read.index_search import with_numbered_rows

    search = _search_of(session, ref)
    plan = with_numbered_rows(search.table.scan(ref.filter).plan)
    if search.vector is None:
        from paimon_nb.format.index.global_index.text_file import FULL_TEXT_KIND
        from paimon_nb.table.read.index_search import rows_by_index
        from paimon_nb.table.read.text_search import text_column

        searched = rows_by_index(plan, text_column(plan.schema, search.column), (FULL_TEXT_KIND,))
    else:
        from paimon_nb.table.read.vector_search import metric_for_search, searched_rows, vector_column

        field = vector_column(plan.schema, search.column)
        metric = metric_for_search(plan, field, search.options.get("metric"))
        searched = searched_rows(plan, field, metric, len(search.vector))
    lines = [f"== Paimon: {ref.function.name[-1].lower() if ref.function else ''} in {search.table.name} =="]
    lines.append(f"filter before the search: {plan.predicate}" if plan.predicate is not None else "filter: none")
    return "\n".join([*lines, f"search: {searched.how}"])


@dataclass(frozen=True, slots=True)
class _Search:
    """The arguments of a search."""

    table: Table
    column: str | None
    vector: list[float] | None
    """None for a full-text search."""
    query: str
    k: int
    options: Mapping[str, str]


def _search_of(session: Session, ref: TableRef) -> _Search:
    assert ref.function is not None
    function, of_text = ref.function, ref.function.name[-1].lower() == "full_text_search"
    names = _TEXT_SEARCH_ARGUMENTS if of_text else _SEARCH_ARGUMENTS
    arguments = dict(zip(names, function.positional, strict=False))
    arguments |= {k.lower(): v for k, v in function.named.items()}
    unknown = len(function.positional) > len(names) or not arguments.keys() <= set(names)
    table, column, query, k = (arguments.get(name) for name in names[:4])
    options = arguments.get("options")
    if (
        unknown
        or not isinstance(table, str)
        or not isinstance(query, str if of_text else list)
        or (isinstance(query, list) and not all(map(_is_number, query)))
        or not isinstance(k, int)
        or isinstance(k, bool)
    ):
        raise SqlAnalysisError(
            f"{function.name[-1].lower()} needs a table, a column, {'a query' if of_text else 'a vector'} and a number of rows",
            hint="full_text_search('t', 'content', 'lake format', 5)" if of_text
            else "vector_search('t', 'embedding', ARRAY(0.1, 0.2, 0.3), 5)",
        )  # fmt: skip
    found = session.find(split_name(table))
    opened = found.catalog.table(found.name, session.options_of(found)).copy(dict(ref.options))
    return _Search(
        opened,
        None if column is None else opened.schema.column_name(str(column)),
        [float(v) for v in query] if isinstance(query, list) else None,
        str(query),
        k,
        {str(key): str(v) for key, v in options.items()} if isinstance(options, dict) else {},
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def _function_rows(
    session: Session, table: Table, system: str | None, options: Mapping[str, str], ref: TableRef | None
) -> DataFrame:
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.spark.scan.table_scan import read_table

    if system is not None:
        return from_arrow(session.spark, table.system(system, options=options))
    filter, columns = (None, None) if ref is None else (ref.filter, ref.columns)
    frame = read_table(session.spark, table, options=options, filter=filter, columns=columns)
    return with_chars(session, frame, table)


def _table_and_options(session: Session, function: TableFunction) -> tuple[tuple[str, ...], dict[str, str]]:
    name = function.name[-1].lower()
    if name in _OPTION:
        table, *rest = (*function.positional, *function.named.values())
        return split_name(str(table)), {_OPTION[name]: ",".join(map(str, rest))}
    named = {k.lower(): v for k, v in function.named.items()}
    positional = list(function.positional)
    prefix, last = function.name[:-1], function.name[-1]
    if "table" in named:
        target: tuple[str, ...] = tuple(str(named["table"]).split("."))
    else:
        target = (*prefix, last[len("incremental_") :])
        if not session.exists(target) and last.lower() == "incremental_table":
            # Paimon's documents write `incremental_table(...)` without a table: accept it if the database has only one.
            catalog, database = session.find_database(prefix)
            tables = catalog.tables(database)
            if len(tables) != 1:
                raise SqlAnalysisError(
                    f"{last}(...) does not name a table",
                    hint=f"write incremental_table(table => '{tables[0] if tables else 't'}', start_snapshot => ...)",
                )
            target = (*prefix, tables[0])
    start = named.get("start_snapshot", positional[0] if positional else None)
    end = named.get("end_snapshot", positional[1] if len(positional) > 1 else None)
    if start is None:
        raise SqlAnalysisError(f"{last}(...) needs start_snapshot", hint="start_snapshot => 5, end_snapshot => 10")
    if end is None:
        end = session.table(target).store.snapshots.latest_id()
    return target, {"incremental-between": f"{start},{end}"}
