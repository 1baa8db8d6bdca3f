"""UPDATE, DELETE and TRUNCATE. Spark computes the changed rows; the table's type decides how they are written."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CommitConflict
from paimon_nb.base.identifier import quote
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.options import Option, TableOptions
from paimon_nb.options import table as opt
from paimon_nb.options.write import (
    WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_MAX_ATTEMPTS,
    WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_WAIT_MS,
)
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.session.execute.dml_target import Target, open_target, with_nested_value, with_positional_names
from paimon_nb.session.execute.matching_partitions import constant_condition, matching_partitions
from paimon_nb.session.execute.schema_merging import merging_of, write_setting
from paimon_nb.session.query.partition_predicates import partition_values
from paimon_nb.session.query.projection import default_value_text
from paimon_nb.table.write.dml_checks import check_delete, check_merge_engine_deletes, check_merge_update, check_update

if TYPE_CHECKING:
    from collections.abc import Iterable

    from pyspark.sql import Column, DataFrame

    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import Delete, Truncate, Update

KIND = "__paimon_kind"
UPDATE_AFTER, DELETED = 2, 3


def truncate(context: StatementContext, statement: Truncate) -> Result:
    table = context.session.table(statement.name)
    ids = table.truncate(partition_values(statement.partition, table.partition_keys) or None)
    return message_result(f"{table.name} truncated", snapshots=[(str(table.name), i) for i in ids])


def update(context: StatementContext, statement: Update) -> Result:
    """UPDATE: upserts rows of a primary-key table; in other tables deletes the old rows and adds new
    files; with data evolution writes the columns alone into files beside the rows.

    With data evolution it runs again after a conflict. Source: Paimon 2.1 `UpdatePaimonDataEvolutionTableCommand`.
    """
    attempts = 1
    while True:
        target = open_target(context, statement)
        try:
            return _update_once(target, statement)
        except CommitConflict:
            if not target.table.store.evolves_data or attempts >= _write_number(
                context, WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_MAX_ATTEMPTS
            ):
                raise
        attempts += 1
        time.sleep(max(0, _write_number(context, WRITE_DATA_EVOLUTION_UPDATE_CONFLICT_RETRY_WAIT_MS)) / 1000)


def _write_number(context: StatementContext, option: Option[int]) -> int:
    """An option of Spark's writes: the session's setting, else the default. Raises BadOptionValue."""
    text = write_setting(context.session, {}, option.key)
    return TableOptions({} if text is None else {option.key: text}).get(option)


def _update_once(target: Target, statement: Update) -> Result:
    context = target.context
    assigned = target.resolved_assignments(statement.assignments)
    columns = {column for column, _, _ in assigned}
    evolving = target.table.store.evolves_data
    (check_merge_update if evolving else check_update)(target.table.store, sorted(columns))
    rows, source = target.rows()

    def select(render, views) -> str:  # type: ignore[no-untyped-def]
        values = "".join(f"({render_or_default(render, value, target, column)}), " for column, _, value in assigned)
        return f"SELECT {values}{quote(target.alias)}.* FROM {views[0]} AS {quote(target.alias)}{_where_clause(render, statement)}"

    found = with_positional_names(target.run_sql([rows], select))
    values = assigned_values(target, found, [(c, p) for c, p, _ in assigned], first=len(assigned))
    new = target.columns(found, values, len(assigned))
    if source is None:
        return _upsert_rows(target, found.select(*new), UPDATE_AFTER, "updated")
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.write.column_update import change_columns
    from paimon_nb.spark.write.row_level_write import change_rows
    from paimon_nb.spark.write.staged_rows import staged_rows

    last = found.columns[-len(source.carried) :]
    positions = [found[c].alias(name) for c, name in zip(last, source.carried, strict=True)]
    changed = found.select(*new, *positions)
    # Computed once: the deleted and the added rows must be the same.
    with spark_errors(context.text, statement.span), staged_rows(changed, target.table.store) as once:
        if evolving:
            ids, count = change_columns(target.table, source, once, columns)
        else:
            pads = not context.session.flink_semantics  # else the assigned values are padded already
            ids, count, _ = change_rows(target.table, source, once, once, columns, pad_chars=pads)
    return dml_summary(target, count, "updated in", ids)


def delete(context: StatementContext, statement: Delete) -> Result:
    """DELETE: drops whole partitions if possible; else writes retractions (primary-key table) or deletes rows from files.

    As in Java, Flink's DELETE is refused for merge engines that take no delete markers, and Spark's rewrites their compacted files.
    """
    target = open_target(context, statement)
    table = target.table
    if context.session.flink_semantics:
        check_merge_engine_deletes(table.store)
    if not table.primary_keys or not table.options.get(opt.DELETE_FORCE_PRODUCE_CHANGELOG):
        where = statement.where
        constant = where is None or constant_condition(target, where)
        if where is None or constant:
            return dml_summary(target, None, "deleted from", table.truncate())
        specs = None if constant is False else matching_partitions(target, where)
        if specs is not None:
            return dml_summary(target, None, "deleted from", table.drop_partitions(specs) if specs else [])
    if not target.deletes_from_files:
        check_delete(table.store)
    rows, source = target.rows(located=target.deletes_from_files)
    found = target.run_sql(
        [rows],
        lambda render, views: (
            f"SELECT {quote(target.alias)}.* FROM {views[0]} AS {quote(target.alias)}{_where_clause(render, statement)}"
        ),
    )
    if source is None:
        found = found.select(*[quote(n) for n in table.schema.names])
        return _upsert_rows(target, found, DELETED, "deleted")
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.scan.located_rows import FILE, ROW
    from paimon_nb.spark.write.row_level_write import change_rows

    with spark_errors(context.text, statement.span):
        ids, count, _ = change_rows(table, source, found.select(FILE, ROW), None)
    return dml_summary(target, count, "deleted from", ids)


def render_or_default(render, value, target: Target, column: str) -> str:  # type: ignore[no-untyped-def]
    """The expression, or the column's default for the keyword DEFAULT."""
    text = render(value)
    if text.strip().upper() != "DEFAULT":
        return str(text)
    default = default_value_text(target.table.schema.field(column))
    return "NULL" if default is None else spark_literal(default)


def assigned_values(
    target: Target, frame: DataFrame, assigned: Iterable[tuple[str, tuple[str, ...]]], first: int
) -> dict[str, Column]:
    """New value by column. `frame` has the assigned expressions, then from position `first` the current columns."""
    from pyspark.sql import functions as F

    names = list(target.table.schema.names)
    values: dict[str, Column] = {}
    session = target.context.session
    fill = merging_of(session, {}) is not None
    for i, (column, path) in enumerate(assigned):
        current = values.get(column, F.col(frame.columns[first + names.index(column)]))
        value = F.col(frame.columns[i])
        if not session.flink_semantics:
            value = target.with_nested_fields_matched(
                value, frame.schema.fields[i].dataType, (column, *path), fill=fill
            )
        values[column] = with_nested_value(current, path, value)
    return values


def dml_summary(target: Target, count: int | None, verb: str, ids: list[int]) -> Result:
    """The statement's summary. `count`: None if whole files were dropped without counting rows."""
    name = target.table.name
    rows = "rows" if count is None else f"{count:,} row{'s' * (count != 1)}"
    where = f" in snapshot {', '.join(map(str, ids))}" if ids else " (no new snapshot)"
    return message_result(f"{rows} {verb} {name}{where}", snapshots=[(str(name), i) for i in ids])


def _where_clause(render, statement: Update | Delete) -> str:  # type: ignore[no-untyped-def]
    return f" WHERE ({render(statement.where)})" if statement.where is not None else ""


def _upsert_rows(target: Target, frame: DataFrame, kind: int, verb: str) -> Result:
    from pyspark.sql import functions as F

    from paimon_nb.spark.write.table_write import write

    pads = not target.context.session.flink_semantics  # else the assigned values are padded already
    done = write(frame.withColumn(KIND, F.lit(kind).cast("tinyint")), target.table, kinds=KIND, pad_chars=pads)
    result = dml_summary(target, done.rows, f"{verb} {'from' if kind == DELETED else 'in'}", list(done.snapshots))
    if kind == DELETED and target.table.options.get(opt.IGNORE_DELETE):
        result.notes.append("the table ignores deletes ('ignore-delete'), so the rows are still there")
    return result
