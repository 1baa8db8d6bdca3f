"""INSERT: aligns the source's columns with the table's and writes the rows. VALUES of plain literals needs no Spark."""

from __future__ import annotations

import datetime as dt
import re
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import InvalidName, PaimonError, UnsupportedOperation
from paimon_nb.format.types import Decimal as DecimalColumn
from paimon_nb.format.types import Timestamp
from paimon_nb.session.core.result import Result, message_result
from paimon_nb.session.execute.hive_style import hive_style_columns
from paimon_nb.session.execute.local_source import cast_without_loss, rows_of_query_over_data
from paimon_nb.session.execute.schema_merging import merging_of, with_merged_schema
from paimon_nb.session.execute.upsert import upsert, upsert_key
from paimon_nb.session.query.computed_columns import COMPUTED_COLUMN_PREFIX, check_metadata
from paimon_nb.session.query.projection import align_with_table, check_width, columns_named
from paimon_nb.session.query.run_query import run_query
from paimon_nb.sql import source_query
from paimon_nb.statements import Constant
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pyarrow as pa
    from pyspark.sql import DataFrame

    from paimon_nb.format.schema import TableSchema
    from paimon_nb.format.types import DataType
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.core.statement_context import StatementContext
    from paimon_nb.statements import Insert, StatementSet, TableRef
    from paimon_nb.table.tables.table import Table

INTEGER_BITS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
"""Type root -> bits of its largest value."""
EXACT_BITS = 53
"""Integers up to this size are exact doubles."""
_DATE = re.compile(r"(1[6-9]|[2-9]\d)\d\d-\d\d-\d\d")
_TIMESTAMP = re.compile(rf"({_DATE.pattern}) \d\d:\d\d:\d\d(\.\d{{1,6}})?")
SELF_OVERWRITE = "the table was overwritten from itself; CALL sys.compact(...) rewrites files at lower cost"
_replaces_all: ContextVar[bool] = ContextVar("replaces_all", default=False)


def insert(context: StatementContext, statement: Insert) -> Result:
    """INSERT INTO and INSERT OVERWRITE. Rows of plain literals need no Spark, everything else is a query."""
    if statement.overwrite and statement.rows is not None:
        _check_batch_mode(context.session)
    if statement.rows is not None and (done := _insert_literals(context, statement, statement.rows)) is not None:
        return done
    statement = replace(statement, query=source_query(context.text, statement))
    return _insert_frame_or_file(context, statement) or _insert_query(context, statement)


def _insert_frame_or_file(context: StatementContext, statement: Insert) -> Result | None:
    """The rows of a file or a frame, without Spark; None if Spark has to read or convert them."""
    session, target = context.session, statement.target
    assert target is not None
    if statement.overwrite or statement.partition or statement.by_name:
        return None
    found = rows_of_query_over_data(session, statement.query)
    table = target_table(session, target) if found is not None else None
    if found is None or table is None or _upserts(session, statement, table):
        return None
    schema, (rows, fields) = table.store.schema, found
    names = schema.names
    columns = names if statement.columns is None else columns_named(statement.columns, list(names), table)
    check_width(table, columns, len(fields))
    types = {f.name: f.type for f in schema.fields}
    arrow = cast_without_loss(rows, fields, columns, [types[c] for c in columns])
    return None if arrow is None else _write_summary(table, arrow.num_rows, table.append(arrow), overwrite=False)


def _check_batch_mode(session: Session) -> None:
    from paimon_nb.session.streaming.planner import is_streaming

    if is_streaming(session):
        raise UnsupportedOperation(
            "INSERT OVERWRITE needs batch mode", hint="SET 'execution.runtime-mode' = 'batch' before it"
        )


def _insert_literals(context: StatementContext, statement: Insert, rows: Sequence[Sequence[Constant]]) -> Result | None:
    """VALUES of plain literals, without Spark; None if Spark or a connector has to take them.

    Raises:
        SchemaMismatch: too many or too few columns.
        ColumnNotFound: the table has no such column.
    """
    session, target = context.session, statement.target
    assert target is not None
    if statement.partition or statement.by_name:
        return None
    table = target_table(session, target)
    if table is None or _upserts(session, statement, table):
        return None
    schema = table.store.schema
    names = schema.names
    columns = names if statement.columns is None else columns_named(statement.columns, list(names), table)
    if len(columns) != len(rows[0]):
        check_width(table, columns, len(rows[0]))
    arrow = literal_rows_as_arrow(schema, columns, rows, context.params)
    if arrow is None:
        return None
    if statement.overwrite:
        done = table.overwrite(arrow, dynamic=_is_dynamic_overwrite(session, table))
        return _write_summary(
            table, arrow.num_rows, done, overwrite=True, notes=_dynamic_overwrite_note(session, table)
        )
    return _write_summary(table, arrow.num_rows, table.append(arrow), overwrite=False)


def target_table(session: Session, target: TableRef) -> Table | None:
    """The Paimon table; None: a connector. Raises TableNotFound. InvalidName: a system table. UnsupportedOperation: METADATA columns."""
    if len(target.parts) == 1 and target.parts[0] in session.temporary:
        from paimon_nb.session.query.temporary_tables import is_connector, target_table

        declared = session.temporary[target.parts[0]]
        if is_connector(declared):
            return None
        table = target_table(session, declared)
    else:
        table = session.table(target.parts, target.options)
        if "$" in target.parts[-1] and session.find(target.parts).name.system is not None:
            raise InvalidName(f"{'.'.join(target.parts)} is a system table", hint="INSERT INTO the table itself")
    table.store.check_not_materialized("INSERT")
    if any(key.startswith(COMPUTED_COLUMN_PREFIX) for key in table.store.schema.options):
        check_metadata(table.schema.options, writing=True)
    return table


def _upserts(session: Session, statement: Insert, table: Table) -> bool:
    """Whether new rows replace those with the same `upsert-key`, which a table without a primary key may have."""
    return not statement.overwrite and _has_upsert_key(session, table)


def _has_upsert_key(session: Session, table: Table) -> bool:
    return not table.store.schema.primary_keys and bool(upsert_key(session, table))


def append_rows(session: Session, frame: DataFrame, table: Table, parts: Sequence[str]) -> Result:
    """Append rows that have the table's columns; those of a table with `upsert-key` replace rows.

    Args:
        parts: the table's name in the session.
    """
    if _has_upsert_key(session, table):
        return upsert(session, frame, table, parts)
    return store_rows(session, frame, table)


def _insert_query(context: StatementContext, statement: Insert) -> Result:
    from paimon_nb.session.streaming.planner import wants_stream, with_time_travel_as_start

    session, target = context.session, statement.target
    assert target is not None
    source = statement.query
    assert source is not None
    if not statement.overwrite:
        source = with_time_travel_as_start(session, source)
        statement = replace(statement, query=source)
    streams = not statement.overwrite and wants_stream(session, source, context.text)
    table = target_table(session, target)
    from_itself = table is not None and statement.overwrite and _reads_target(session, statement, table)
    if statement.overwrite and not from_itself:  # a table from itself is a compaction, which ends in every mode
        _check_batch_mode(session)
    if table is None:
        from paimon_nb.session.streaming.statements import insert_into_connector

        return insert_into_connector(context, statement, session.temporary[target.parts[0]], streams=streams)
    if streams:
        from paimon_nb.session.streaming.statements import insert_into_table

        return insert_into_table(context, statement, table)
    upserts = _upserts(session, statement, table)
    frame = run_query(session, source, context.text, context.params, rewrite=_with_null_defaults)
    columns = statement.columns
    by_column_name = statement.by_name or (columns is not None and not session.flink_semantics)
    rules = merging_of(session, target.options) if by_column_name else None
    if rules is not None and (columns is None or len(columns) == len(frame.columns)):
        from paimon_nb.spark.types import fields_of_spark

        columns_named(columns or (), list(table.schema.names), table)
        named_frame = frame if columns is None else frame.toDF(*columns)
        table = with_merged_schema(session, target.parts, table, fields_of_spark(named_frame.schema), rules)
    dynamic = overwrite_mode(session, table) == "dynamic"
    aligned = align_with_table(
        frame, table, columns or hive_style_columns(session, statement, table, frame.columns, dynamic=dynamic), statement.partition,
        by_name=statement.by_name,
        match_fields_by="name or position" if by_column_name and not statement.by_name else None,
        fill_missing=rules is not None, flink=session.flink_semantics,
    )  # fmt: skip
    if upserts and not statement.partition:
        return append_rows(session, aligned, table, target.parts)
    notes = [SELF_OVERWRITE] if from_itself else []
    return store_rows(
        session, aligned, table, overwrite=statement.overwrite, partition=statement.partition, notes=notes
    )  # fmt: skip


def _with_null_defaults(text: str) -> str:
    """VALUES with NULL for each DEFAULT, which a write replaces by the column's default. Other queries stay as they are."""
    read = tokens(text)
    if not read or read[0].upper != "VALUES":
        return text
    depth, spans = 0, []
    for token in read:
        depth += {"(": 1, ")": -1}.get(token.text, 0)
        if depth == 1 and token.upper == "DEFAULT":
            spans.append((token.start, token.stop))
    for start, stop in reversed(spans):
        text = f"{text[:start]}NULL{text[stop:]}"
    return text


def statement_set(context: StatementContext, statement: StatementSet) -> Result:
    """The INSERTs one after the other: each is atomic, the set is not. An error says what the INSERTs before it did."""
    results: list[Result] = []
    for part in statement.inserts:
        try:
            results.append(insert(context, part))
        except BaseException as error:
            _add_completed_inserts(error, [_outcome(p, r) for p, r in zip(statement.inserts, results, strict=False)])
            raise
    jobs = [r.job.id for r in results if r.job is not None]
    return message_result(
        f"jobs started: {', '.join(jobs)}" if jobs else f"{len(results)} INSERTs done",
        notes=[n for r in results for n in r.notes],
        snapshots=[s for r in results for s in r.snapshots],
    )


def _outcome(part: Insert, result: Result) -> str:
    if result.job is not None:
        return f"job {result.job.id} runs"
    if result.snapshots:
        return ", ".join(f"{table} in snapshot {i}" for table, i in result.snapshots)
    return ".".join(part.target.parts) if part.target is not None else part.text


def _add_completed_inserts(error: BaseException, outcomes: Sequence[str]) -> None:
    """Tell in the error which INSERTs of a set are done: they stay."""
    if not outcomes:
        return
    done = f"the INSERTs before it are committed: {', '.join(outcomes)}"
    if isinstance(error, PaimonError):
        error.hint = f"{error.hint}; {done}" if error.hint else done
    else:
        error.add_note(done)


def store_rows(
    session: Session,
    frame: DataFrame,
    table: Table,
    *,
    overwrite: bool = False,
    partition: Mapping[str, str | None] | None = None,
    notes: list[str] | None = None,
    dynamic: bool | None = None,
    before_commit: Callable[[], None] | None = None,
) -> Result:
    """Write rows that already have the table's columns.

    Args:
        dynamic: whether an overwrite replaces only partitions with new rows; None: as the table or session configures.
        before_commit: as for `write`.
    """
    from paimon_nb.spark.write.table_write import write

    static = _static_values(session, table, partition or {})
    mode = None
    if overwrite:
        is_dynamic = _is_dynamic_overwrite(session, table, static) if dynamic is None else dynamic
        mode = "dynamic" if is_dynamic and len(static) < len(table.partition_keys) else "static"
        notes = [
            *(notes or ()),
            *(_dynamic_overwrite_note(session, table) if dynamic is None and not partition else ()),
        ]
    done = write(frame, table, overwrite=mode, static_partition=static, before_commit=before_commit)
    return _write_summary(table, done.rows, list(done.snapshots), overwrite=overwrite, notes=notes)


def overwrite_mode(session: Session, table: Table) -> str | None:
    """'dynamic' or 'static' by the table's option or Spark's setting; None if neither is set."""
    option = table.options.raw.get("dynamic-partition-overwrite")
    if option is not None:
        return "static" if option == "false" else "dynamic"
    setting = session.spark_setting("spark.sql.sources.partitionOverwriteMode")
    if setting:
        return setting.lower()
    return "static" if _replaces_all.get() and not session.flink_semantics else None


@contextmanager
def replacing_all_partitions() -> Iterator[None]:
    """Inside the block INSERT OVERWRITE is static unless the table or the session configures it, as a SparkSession does it."""
    token = _replaces_all.set(True)
    try:
        yield
    finally:
        _replaces_all.reset(token)


def _is_dynamic_overwrite(session: Session, table: Table, static: Mapping[str, object] | None = None) -> bool:
    """Whether an overwrite replaces only partitions with new rows.

    Flink defaults to dynamic, Spark to static. Without a setting `wb.spark` is Spark; elsewhere we choose dynamic, which deletes less.
    A format table whose partition columns get `static` values is overwritten below them, whatever its options say, as in Java.
    """
    if static and table.store.is_format_table:
        setting = session.spark_setting("spark.sql.sources.partitionOverwriteMode") or ""
        return setting.lower() == "dynamic" and not session.flink_semantics
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
    rows = f"{count:,} row{'s' * (count != 1)}"
    where = f" in snapshot {', '.join(map(str, ids))}" if ids else " (no new snapshot)"
    where = "" if table.store.is_format_table else where
    name = table.name.text
    did = f"{name} overwritten with {rows}" if overwrite else f"{rows} inserted into {name}"
    return message_result(did + where, notes=notes, snapshots=[(name, i) for i in ids])


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


# -- plain literals as Arrow values: only those with the same meaning in both dialects


class _NeedsSpark(Exception):
    """Spark must evaluate this constant."""


def literal_rows_as_arrow(
    schema: TableSchema, columns: Sequence[str], rows: Sequence[Sequence[Constant]], params: Mapping[str, Any]
) -> pa.Table | None:
    """The rows with the named columns in the table's types; None if Spark must evaluate them.

    Args:
        columns: the table's column of each position in a row.
        params: values of `:name` markers.
    """
    import pyarrow as pa

    from paimon_nb.format.types import arrow_type
    from paimon_nb.format.types.arrow_builders import arrow_column

    if len(set(columns)) != len(columns) or any(len(row) != len(columns) for row in rows):
        return None
    arrays = []
    try:
        for i, name in enumerate(columns):
            t = schema.field(name).type
            values = [_store_assigned_value(_bind_parameter(row[i], params), t) for row in rows]
            arrays.append(arrow_column(values, arrow_type(t)))
    except (_NeedsSpark, pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, OverflowError):
        return None
    return pa.table(arrays, names=list(columns))


def _bind_parameter(constant: Constant, params: Mapping[str, Any]) -> Constant:
    if constant.kind == "default":
        return Constant("null")  # a write replaces it by the column's default
    if constant.kind != "parameter":
        return constant
    match params.get(constant.text):
        case None:
            return Constant("null")
        case bool() as value:
            return Constant("boolean", str(value).lower())
        case int() as value:
            return Constant("number", str(value))
        case str() as value:
            return Constant("text", value)
    raise _NeedsSpark


def _store_assigned_value(constant: Constant, t: DataType) -> Any:
    """The Python value that Arrow stores in a column of this type."""
    match constant.kind, t.root:
        case "null", _:
            return None
        case "boolean", "BOOLEAN":
            return constant.text == "true"
        case "text", "VARCHAR" if t.bare() == "STRING":
            return constant.text
        case (("text" | "date"), "DATE"):
            return _store_assigned_date(constant.text)
        case (("text" | "timestamp"), "TIMESTAMP"):
            assert isinstance(t, Timestamp)
            return _store_assigned_timestamp(constant.text, t.precision)
        case "number", root:
            return _store_assigned_number(constant.text, root, t)
    raise _NeedsSpark


def _store_assigned_number(literal: str, root: str, t: DataType) -> Any:
    try:
        number = Decimal(literal)
    except InvalidOperation:
        raise _NeedsSpark from None
    if len(number.as_tuple().digits) > 18:
        raise _NeedsSpark
    whole = "." not in literal
    if root in INTEGER_BITS and whole:
        if not -(1 << INTEGER_BITS[root]) <= number < 1 << INTEGER_BITS[root]:
            raise _NeedsSpark
        return int(number)
    if root == "DOUBLE" and (not whole or abs(number) < 1 << EXACT_BITS):
        return float(literal)
    if root == "FLOAT":
        import numpy as np

        rounded = np.float32(literal)
        if Decimal(float(rounded)) == number:
            return float(rounded)
    if isinstance(t, DecimalColumn):
        scaled = number.quantize(Decimal(1).scaleb(-t.scale), ROUND_HALF_UP)
        if len(scaled.as_tuple().digits) <= t.precision:
            return scaled
    raise _NeedsSpark


def _store_assigned_date(text: str) -> dt.date:
    if _DATE.fullmatch(text):
        try:
            return dt.date.fromisoformat(text)
        except ValueError:
            pass
    raise _NeedsSpark


def _store_assigned_timestamp(text: str, precision: int) -> dt.datetime:
    if _TIMESTAMP.fullmatch(text) and len(text.partition(".")[2]) <= precision:
        try:
            return dt.datetime.fromisoformat(text)
        except ValueError:
            pass
    raise _NeedsSpark
