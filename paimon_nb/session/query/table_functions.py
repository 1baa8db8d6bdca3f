"""Paimon's table-valued functions in FROM: searches (`searches.py`); incremental queries, in Spark's form and in that of Paimon's documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BucketsChanged, SqlAnalysisError
from paimon_nb.base.identifier import split_name
from paimon_nb.session.query.char_columns import with_chars
from paimon_nb.session.query.searches import is_search, search_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import TableFunction, TableRef
    from paimon_nb.table.tables.table import Table

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

        rows, _ = search_rows(session, ref, ref.columns, ref.filter)  # a wrong search needs no Spark
        return from_arrow(session.spark, rows)
    parts, option = table_and_options(session, ref.function)
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


def table_and_options(session: Session, function: TableFunction) -> tuple[tuple[str, ...], dict[str, str]]:
    """The table of an incremental query, and the options that say between which states."""
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
