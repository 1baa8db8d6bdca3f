"""INSERT: aligns the source's columns with the table's and writes the rows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import InvalidName
from paimon_nb.session.core.result import Result, summary
from paimon_nb.session.query.computed_columns import check_metadata
from paimon_nb.session.query.projection import align, check_width, columns_named
from paimon_nb.session.query.run_query import run_query
from paimon_nb.session.statements.schema_merging import merging_of, with_merged_schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.plan import Insert, StatementSet, TableRef
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.table.table import Table

SELF_OVERWRITE = "the table was overwritten from itself; CALL sys.compact(...) rewrites files at lower cost"


def insert(context: StatementContext, statement: Insert) -> Result:
    """INSERT INTO and INSERT OVERWRITE."""
    from paimon_nb.session.streaming.planner import wants_stream, with_time_travel_as_start

    session, target = context.session, statement.target
    assert target is not None
    source = statement.query
    assert source is not None
    if not statement.overwrite:
        source = with_time_travel_as_start(session, source)
        statement = replace(statement, query=source)
    streams = not statement.overwrite and wants_stream(session, source, context.text)
    if len(target.parts) == 1 and target.parts[0] in session.temporary:
        from paimon_nb.session.query.temporary_tables import is_connector, target_table

        if is_connector(session.temporary[target.parts[0]]):
            from paimon_nb.session.streaming.statements import insert_into_connector

            return insert_into_connector(context, statement, session.temporary[target.parts[0]], streams=streams)

        table = target_table(session, session.temporary[target.parts[0]])
    else:
        table = session.table(target.parts, target.options)
        if session.find(target.parts).name.system is not None:
            raise InvalidName(f"{'.'.join(target.parts)} is a system table", hint="INSERT INTO the table itself")
    check_metadata(table.schema.options, writing=True)
    if streams:
        from paimon_nb.session.streaming.statements import insert_into_table

        return insert_into_table(context, statement, table)
    rows = _literal_rows(context, statement, table)
    if rows is not None:
        return _store_constants(session, table, rows, overwrite=statement.overwrite)
    frame = run_query(session, source, context.text, context.params)
    columns = statement.columns
    by_column_name = statement.by_name or (columns is not None and not session.flink_semantics)
    rules = merging_of(session, target.options) if by_column_name else None
    if rules is not None and (columns is None or len(columns) == len(frame.columns)):
        from paimon_nb.spark.types import fields_of_spark

        columns_named(columns or (), list(table.schema.names), table)
        named_frame = frame if columns is None else frame.toDF(*columns)
        table = with_merged_schema(session, target.parts, table, fields_of_spark(named_frame.schema), rules)
    aligned = align(
        frame, table, columns, statement.partition,
        by_name=statement.by_name,
        match_fields_by="name or position" if by_column_name and not statement.by_name else None,
        fill_missing=rules is not None, flink=session.flink_semantics,
    )  # fmt: skip
    notes = [SELF_OVERWRITE] if statement.overwrite and _reads_target(session, statement, table) else []
    return store_rows(
        session, aligned, table, overwrite=statement.overwrite, partition=statement.partition, notes=notes
    )  # fmt: skip


def _literal_rows(context: StatementContext, statement: Insert, table: Table) -> pa.Table | None:
    """The source as an Arrow table if it is VALUES of literals, which needs no Spark; else None.

    Raises:
        SchemaMismatch: too many or too few columns.
        ColumnNotFound: the table has no such column.
    """
    from paimon_nb.session.statements.insert_values import arrow_rows

    if statement.rows is None or statement.partition or statement.by_name:
        return None
    names = list(table.schema.names)
    targets = names if statement.columns is None else columns_named(statement.columns, names, table)
    check_width(table, targets, len(statement.rows[0]))
    return arrow_rows(table.schema, targets, statement.rows, context.params)


def _store_constants(session: Session, table: Table, rows: pa.Table, *, overwrite: bool) -> Result:
    if overwrite:
        done = table.overwrite(rows, dynamic=_is_dynamic_overwrite(session, table))
        return _write_summary(table, rows.num_rows, done, overwrite=True, notes=_dynamic_overwrite_note(session, table))
    return _write_summary(table, rows.num_rows, table.append(rows), overwrite=False)


def statement_set(context: StatementContext, statement: StatementSet) -> Result:
    results = [insert(context, part) for part in statement.inserts]
    jobs = [r.job.id for r in results if r.job is not None]
    return summary(
        f"jobs started: {', '.join(jobs)}" if jobs else f"{len(results)} INSERTs done",
        notes=[n for r in results for n in r.notes],
        snapshots=[s for r in results for s in r.snapshots],
    )


def store_rows(
    session: Session,
    frame: DataFrame,
    table: Table,
    *,
    overwrite: bool = False,
    partition: Mapping[str, str | None] | None = None,
    notes: list[str] | None = None,
    dynamic: bool | None = None,
) -> Result:
    """Write rows that already have the table's columns.

    Args:
        dynamic: whether an overwrite replaces only partitions with new rows; None: as the table or session configures.
    """
    from paimon_nb.spark.write.table_write import write

    static = _static_values(session, table, partition or {})
    mode = None
    if overwrite:
        is_dynamic = _is_dynamic_overwrite(session, table) if dynamic is None else dynamic
        mode = "dynamic" if is_dynamic and len(static) < len(table.partition_keys) else "static"
        notes = [
            *(notes or ()),
            *(_dynamic_overwrite_note(session, table) if dynamic is None and not partition else ()),
        ]
    done = write(frame, table, overwrite=mode, static_partition=static)
    return _write_summary(table, done.rows, list(done.snapshots), overwrite=overwrite, notes=notes)


def overwrite_mode(session: Session, table: Table) -> str | None:
    """'dynamic' or 'static' by the table's option or Spark's setting; None if neither is set."""
    option = table.options.raw.get("dynamic-partition-overwrite")
    if option is not None:
        return "static" if option == "false" else "dynamic"
    setting = session.spark_setting("spark.sql.sources.partitionOverwriteMode")
    return setting.lower() if setting else None


def _is_dynamic_overwrite(session: Session, table: Table) -> bool:
    """Whether an overwrite replaces only partitions with new rows.

    Flink defaults to dynamic, Spark to static. Without a setting we choose dynamic, which deletes less.
    """
    return bool(table.partition_keys) and overwrite_mode(session, table) != "static"


def _dynamic_overwrite_note(session: Session, table: Table) -> list[str]:
    """A note on dynamic overwrite if neither dialect nor mode is configured."""
    if not table.partition_keys or session.flink_semantics or overwrite_mode(session, table) is not None:
        return []
    return [
        "partitions without new rows are kept; SET spark.sql.sources.partitionOverwriteMode = static to replace them"
    ]


def _write_summary(
    table: Table, count: int, ids: list[int], *, overwrite: bool, notes: list[str] | None = None
) -> Result:
    """The summary of a write."""
    rows = f"{count} row{'s' * (count != 1)}"
    where = f" in snapshot {', '.join(map(str, ids))}" if ids else " (no new snapshot)"
    did = f"{table.name} overwritten with {rows}" if overwrite else f"{rows} inserted into {table.name}"
    return summary(did + where, notes=notes, snapshots=[(str(table.name), i) for i in ids])


def _static_values(session: Session, table: Table, partition: Mapping[str, str | None]) -> dict[str, object]:
    """The values of PARTITION (k = literal), evaluated by Spark in the column's type."""
    static = {k: v for k, v in partition.items() if v is not None}
    if not static:
        return {}
    from pyspark.sql import functions as F

    from paimon_nb.spark.types import spark_type

    types = {f.name: spark_type(f.type) for f in table.schema.fields}
    row = session.spark.range(1).select(*[F.expr(v).cast(types[k]).alias(k) for k, v in static.items()]).first()
    return dict(row.asDict()) if row is not None else {}


def _reads_target(session: Session, statement: Insert, table: Table) -> bool:
    refs: tuple[TableRef, ...] = statement.query.tables if statement.query else ()
    return any(r.function is None and str(session.find(r.parts).name) == str(table.name) for r in refs)
