"""INSERT: aligns the source's columns with the table's and writes the rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from paimon_nb.base.errors import ColumnNotFound, InvalidName, SchemaMismatch
from paimon_nb.base.registry import did_you_mean
from paimon_nb.plan import Insert, StatementSet, TableRef
from paimon_nb.session.core.result import Result, summary
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.run_query import run_query
from paimon_nb.session.statements.schema_merging import merging_of, with_merged_schema
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import Column, DataFrame

    from paimon_nb.session.executor import StatementContext

SELF_OVERWRITE = "the table was overwritten from itself; CALL sys.compact(...) rewrites files at lower cost"


def insert(context: StatementContext, statement: Insert) -> Result:
    """INSERT INTO and INSERT OVERWRITE."""
    from paimon_nb.session.streaming.planner import wants_stream

    session, target = context.session, statement.target
    assert target is not None
    assert statement.query is not None
    streams = not statement.overwrite and wants_stream(session, statement.query, context.text)
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
    if streams:
        from paimon_nb.session.streaming.statements import insert_into_table

        return insert_into_table(context, statement, table)
    rows = _constants(context, statement, table)
    if rows is not None:
        return _store_constants(session, table, rows, overwrite=statement.overwrite)
    frame = run_query(session, statement.query, context.text, context.params)
    if statement.by_name and (rules := merging_of(session, target.options)) is not None:
        from paimon_nb.spark.types import fields_of_spark

        table = with_merged_schema(session, target.parts, table, fields_of_spark(frame.schema), rules)
    aligned = align(frame, table, statement.columns, statement.partition, by_name=statement.by_name)
    notes = [SELF_OVERWRITE] if statement.overwrite and _reads(session, statement, table) else []
    return store_rows(
        session, aligned, table, overwrite=statement.overwrite, partition=statement.partition, notes=notes
    )  # fmt: skip


def _constants(context: StatementContext, statement: Insert, table: Table) -> pa.Table | None:
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
    _check_width(table, targets, len(statement.rows[0]))
    return arrow_rows(table.schema, targets, statement.rows, context.params)


def _store_constants(session: Session, table: Table, rows: pa.Table, *, overwrite: bool) -> Result:
    if overwrite:
        done = table.overwrite(rows, dynamic=_dynamic(session, table))
        return _summary(table, rows.num_rows, done, overwrite=True, notes=_dynamic_overwrite_note(session, table))
    return _summary(table, rows.num_rows, table.append(rows), overwrite=False)


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
        is_dynamic = _dynamic(session, table) if dynamic is None else dynamic
        mode = "dynamic" if is_dynamic and len(static) < len(table.partition_keys) else "static"
        notes = [
            *(notes or ()),
            *(_dynamic_overwrite_note(session, table) if dynamic is None and not partition else ()),
        ]
    done = write(frame, table, overwrite=mode, static_partition=static)
    return _summary(table, done.rows, list(done.snapshots), overwrite=overwrite, notes=notes)


def overwrite_mode(session: Session, table: Table) -> str | None:
    """'dynamic' or 'static' by the table's option or Spark's setting; None if neither is set."""
    option = table.options.raw.get("dynamic-partition-overwrite")
    if option is not None:
        return "static" if option == "false" else "dynamic"
    setting = session.spark_setting("spark.sql.sources.partitionOverwriteMode")
    return setting.lower() if setting else None


def _dynamic(session: Session, table: Table) -> bool:
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


def _summary(table: Table, count: int, ids: list[int], *, overwrite: bool, notes: list[str] | None = None) -> Result:
    """The summary of a write."""
    rows = f"{count} row{'s' * (count != 1)}"
    where = f" in snapshot {', '.join(map(str, ids))}" if ids else " (no new snapshot)"
    did = f"{table.name} overwritten with {rows}" if overwrite else f"{rows} inserted into {table.name}"
    return summary(did + where, notes=notes, snapshots=[(str(table.name), i) for i in ids])


def align(
    frame: DataFrame,
    table: Table,
    columns: tuple[str, ...] | None,
    partition: Mapping[str, str | None],
    *,
    by_name: bool = False,
    extra: str | None = None,
) -> DataFrame:
    """The source with exactly the table's columns, cast to their types.

    Columns that the statement omits get their default, else NULL.

    Args:
        extra: the source's last column, appended to the table's columns.

    Raises:
        SchemaMismatch: too many or too few columns, or a type that cannot be cast.
        ColumnNotFound: the table has no such column.
    """
    from pyspark.errors import AnalysisException
    from pyspark.sql import functions as F

    from paimon_nb.spark.types import spark_type

    names = list(table.schema.names)
    for name in (*(columns or ()), *partition):
        column_named(name, names, table)
    static = {column_named(k, names, table): v for k, v in partition.items() if v is not None}
    values: dict[str, Column] = {k: F.expr(v) for k, v in static.items() if v is not None}
    source = list(frame.columns[:-1] if extra else frame.columns)
    if by_name:
        wanted = columns_named(source, names, table)
    elif columns is not None:
        wanted = columns_named(columns, names, table)
        columns_named((*wanted, *static), names, table)  # PARTITION gives these columns their values
    else:
        wanted = [n for n in names if n not in static]
        if len(source) == len(names) and static:
            # SELECT * with the static partition column is accepted; the static value wins.
            wanted = names
    _check_width(table, wanted, len(source))
    targets = [spark_type(f.type) for f in table.schema.fields]
    if wanted == names and [f.dataType for f in frame.schema.fields[: len(source)]] == targets:
        return frame.toDF(*names, *([extra] if extra else []))  # saves a dozen JVM calls per cast
    # Positions, not names: a source may have duplicate names.
    plain = frame.toDF(*[f"__c{i}" for i in range(len(source))], *([extra] if extra else []))
    for i, name in enumerate(wanted):
        values.setdefault(name, F.col(f"__c{i}"))
    out = []
    for field, target in zip(table.schema.fields, targets, strict=True):
        if field.name in values:
            value = values[field.name]
        elif field.default_value is not None:
            value = F.lit(field.default_value)
        else:
            value = F.lit(None)
        out.append(value.cast(target).alias(field.name))
    try:
        return plain.select(*out, *([extra] if extra else []))
    except AnalysisException:
        _check_casts(plain, out, table)
        raise


def _check_casts(plain: DataFrame, values: Sequence[Column], table: Table) -> None:
    """Raises SchemaMismatch for the first column that Spark cannot cast to the table's type."""
    from pyspark.errors import AnalysisException

    for field, value in zip(table.schema.fields, values, strict=True):
        try:
            plain.select(value)
        except AnalysisException as error:
            why = str(error).partition("data type mismatch: ")[2].partition("\n")[0] or "there is no cast for it"
            raise SchemaMismatch(
                f"column {field.name!r} of {table.name} is {field.type.bare()}: {why.rstrip('. ')}",
                hint="source columns are matched by position; name them (INSERT INTO t (a, b) ...) or add a CAST",
                column=field.name,
            ) from None


def _check_width(table: Table, columns: Sequence[str], count: int) -> None:
    if len(columns) != count:
        raise SchemaMismatch(
            f"INSERT has {count} values but {table.name} needs {len(columns)} columns ({', '.join(columns)})",
            hint="name the columns: INSERT INTO t (a, b) ...",
            expected=len(columns),
            found=count,
        )


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


def columns_named(written: Sequence[str], names: list[str], table: Table) -> list[str]:
    """The names in the table's spelling. Raises ColumnNotFound; SchemaMismatch: a duplicate name."""
    found = [column_named(name, names, table) for name in written]
    twice = next((name for i, name in enumerate(found) if name in found[:i]), None)
    if twice is not None:
        raise SchemaMismatch(f"duplicate column {twice!r} of {table.name}", hint="name each column once", column=twice)
    return found


def column_named(name: str, names: list[str], table: Table) -> str:
    """A column name in the table's spelling. Raises ColumnNotFound with the nearest name."""
    if name in names:
        return name
    folded = {n.lower(): n for n in names}
    if name.lower() in folded:
        return folded[name.lower()]
    raise ColumnNotFound(
        f"{table.name} has no column {name!r}",
        hint=did_you_mean(name, names) or f"columns: {', '.join(names)}",
        column=name,
    )


def _reads(session: Session, statement: Insert, table: Table) -> bool:
    refs: tuple[TableRef, ...] = statement.query.tables if statement.query else ()
    return any(r.function is None and str(session.find(r.parts).name) == str(table.name) for r in refs)
