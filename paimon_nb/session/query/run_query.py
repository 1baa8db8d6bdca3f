"""Runs queries: table names in the user's text become Paimon DataFrames, Spark runs the rest."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import (
    CatalogNotFound,
    ConfigError,
    DatabaseNotFound,
    InvalidName,
    NameError_,
    PaimonError,
    SchemaMismatch,
    SourceUnavailable,
    TableNotFound,
    UnsupportedFormat,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier, quote, split_name
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.options.spelling import check_no_misspelled_options
from paimon_nb.session.query.char_columns import with_chars
from paimon_nb.session.query.computed_columns import computed_columns, has_computed_columns, with_computed
from paimon_nb.session.query.flink_numeric import with_flink_numerics, with_values_as_select
from paimon_nb.session.query.frames_and_files import (
    data_of_reference,
    frame_of_reference,
    missing_file,
    note_shadowed_frame,
)
from paimon_nb.session.query.hints import (
    check_consumer,
    greatest_partitions,
    lookup_options,
    lookup_table,
    note_partitions_without_rows,
    partition_predicate,
)
from paimon_nb.session.query.searches import lateral_reference
from paimon_nb.session.query.stored_views import find_view, inside_view, is_inside_view
from paimon_nb.session.query.unnest import analyse_with_unnest
from paimon_nb.session.query.untrusted_text import analyse, must_be_checked
from paimon_nb.sql.flink.inline_tables import values_as_select
from paimon_nb.sql.grammar.query import ROW_TRACKING_COLUMNS
from paimon_nb.statements import CreateView, Query, Span, TableRef, TimestampAsOf, VersionAsOf
from paimon_nb.syntax.lexer import tokens
from paimon_nb.table.read.predicate.model import conjunction_of

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from paimon_nb.catalog.api import Catalog
    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import Session
    from paimon_nb.table.tables.table import Table

_counter = itertools.count()


Substitutes = Mapping[tuple[str, ...], "DataFrame"]
"""DataFrames that replace tables, by name as written: micro-batches and streams."""


def run_query(
    session: Session,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    substitutes: Substitutes | None = None,
    hidden: Sequence[str] = (),
    *,
    rewrite: Callable[[str], str] | None = None,
) -> DataFrame:
    """The query as a DataFrame. `text` is the whole text that the query's spans point into.

    Args:
        substitutes: DataFrames in place of tables.
        hidden: their columns that are appended to the result, see `hidden_columns`.
        rewrite: applied to the rendered SQL before Spark analyses it.
    """
    from paimon_nb.session.query.blob_functions import blob_function_replacements
    from paimon_nb.session.query.hidden_columns import with_hidden_columns_selected
    from paimon_nb.session.query.hints import greatest_partition
    from paimon_nb.session.query.stored_functions import stored_functions
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.runtime.flink_json import register_flink_json
    from paimon_nb.spark.write.bucket_function import BUCKET_FUNCTIONS, register_bucket_functions, temporary_name
    from paimon_nb.sql import render
    from paimon_nb.sql.session_functions import current_function_replacements, max_pt_calls, system_function_names

    lookups = session.lookups
    tables = query.tables if lookups is None else tuple(t for t in query.tables if not t.lookup)
    with ExitStack() as views:
        names = views.enter_context(temporary_names_of_tables(session, tables, text, substitutes, hidden))
        views.enter_context(spark_errors(text, query.span, lambda: column_names(session, query.tables)))
        _check_lookups(session, query, text, names)
        if lookups is not None and len(tables) < len(query.tables):
            names |= views.enter_context(lookups.names(session, query, text, names, params))
        arguments = {k: params[k] for k in query.parameters}
        current = current_function_replacements(text, query.span, session.current_catalog, session.current_database)
        for max_pt_span, name in max_pt_calls(text, query.span):
            current[max_pt_span] = spark_literal(greatest_partition(session.table(split_name(name))))
        bucket_names = system_function_names(text, query.span, BUCKET_FUNCTIONS)
        if bucket_names:
            register_bucket_functions(session.spark, {name for _, name in bucket_names})
        current |= {name_span: temporary_name(name) for name_span, name in bucket_names}
        made = {temporary_name(name) for _, name in bucket_names}
        blob_calls = blob_function_replacements(session, text, query.span)
        current |= blob_calls
        functions: dict[Span, str] = {}
        if must_be_checked(session):  # an unknown function is refused before Spark says that it is unknown
            functions = views.enter_context(stored_functions(session, text, query.span))
            current |= functions
            made |= {split_name(name)[0] for name in functions.values()}

        def analyse_once(query: Query) -> tuple[str, DataFrame]:
            sql = render(query, text, {**names, **current}, flink=session.flink_semantics)
            sql = with_hidden_columns_selected(sql, hidden) if hidden else sql
            sql = sql if rewrite is None else rewrite(sql)
            if blob_calls:  # Spark evaluates no expression with a lambda, as theirs are, in VALUES
                sql = values_as_select(sql)
            elif session.flink_semantics:
                sql = with_values_as_select(sql)
            register_flink_json(session.spark, sql)
            return _analyse_with_distinct_maps(session, sql, arguments, made)

        from pyspark.errors import AnalysisException  # after the session, which says how to install it

        analyse_all = (
            partial(analyse_with_unnest, query, analyse_once) if query.unnested else partial(analyse_once, query)
        )
        try:
            sql, frame = analyse_all()
        except AnalysisException:
            if must_be_checked(session):
                raise
            functions = views.enter_context(stored_functions(session, text, query.span))
            if not functions:
                raise
            current |= functions
            sql, frame = analyse_all()
        if _reads_csv_by_spark(query.text):
            session.note(
                "csv.`path` takes line 1 for a row and all values for texts; FROM 'path' finds header and types"
            )
        return with_flink_numerics(session.spark, sql, frame, arguments) if session.flink_semantics else frame


def _analyse_with_distinct_maps(
    session: Session, sql: str, arguments: Mapping[str, Any], made: Collection[str]
) -> tuple[str, DataFrame]:
    """Spark's analysis of a query, and the text that it analysed: with groups for SELECT DISTINCT if that has maps, in Flink's semantics."""
    from pyspark.errors import AnalysisException

    from paimon_nb.sql.flink.distinct import distinct_as_groups

    try:
        return sql, analyse(session, sql, arguments, made, partial(known_to_spark, session))
    except AnalysisException as error:
        if not session.flink_semantics or "SET_OPERATION_ON_MAP_TYPE" not in str(error):
            raise
    sql = distinct_as_groups(sql)
    return sql, analyse(session, sql, arguments, made, partial(known_to_spark, session))


def _reads_csv_by_spark(text: str) -> bool:
    """Whether a query names Spark's own reader of CSV files: FROM csv.`path`."""
    words = tokens(text) if "csv" in text.lower() else []
    return any(
        a.upper in ("FROM", "JOIN") and b.upper == "CSV" and c.text == "." and d.kind == "quoted"
        for a, b, c, d in zip(words, words[1:], words[2:], words[3:], strict=False)
    )


@contextmanager
def temporary_names_of_tables(
    session: Session,
    tables: tuple[TableRef, ...],
    text: str,
    substitutes: Substitutes | None = None,
    hidden: Sequence[str] = (),
) -> Iterator[dict[Span, str]]:
    """SQL text for each reference to a Paimon table, valid inside the block: Spark resolves names when it parses."""
    views: list[str] = []
    names: dict[Span, str] = {}
    try:
        for ref in tables:
            frame = resolve_table_frame(session, ref, text, substitutes, hidden)
            if frame is None:
                continue
            view = new_view()
            frame.createOrReplaceTempView(view)
            views.append(view)
            if ref.function is not None and ref.function.outer is not None:
                names[ref.span] = lateral_reference(view, ref, frame.columns)
            else:
                names[ref.span] = view_reference(view, ref)
        yield names
    finally:
        session.drop_query_views(views)


def column_names(session: Session, tables: Sequence[TableRef]) -> list[str]:
    """The columns of all referenced Paimon tables, also those that the query does not use."""
    names: dict[str, None] = {}
    for ref in tables:
        with suppress(PaimonError):
            data = data_of_reference(session, ref) if ref.file or not session.exists(ref.parts) else None
            names |= dict.fromkeys(session.table(ref.parts).schema.names if data is None else data.names)
    return list(names)


def new_view() -> str:
    """A new, unique name for a temporary view."""
    return f"__paimon_{next(_counter)}"


def view_reference(view: str, ref: TableRef) -> str:
    """The SQL text that replaces a reference by a view."""
    return quote(view) if ref.alias else f"{quote(view)} AS {quote(_short_name(ref))}"


@contextmanager
def borrowed_views(session: Session, frames: Sequence[DataFrame]) -> Iterator[list[str]]:
    """A quoted temporary view name for each DataFrame, valid inside the block."""
    views = [new_view() for _ in frames]
    try:
        for view, frame in zip(views, frames, strict=True):
            frame.createOrReplaceTempView(view)
        yield [quote(view) for view in views]
    finally:
        session.drop_query_views(views)


_GLOBAL = "global_temp"
"""Spark's database for CREATE GLOBAL TEMPORARY VIEW."""


def resolve_table_frame(
    session: Session, ref: TableRef, text: str, substitutes: Substitutes | None = None, hidden: Sequence[str] = ()
) -> DataFrame | None:
    """The DataFrame of a table reference, or None if the name belongs to Spark."""
    from paimon_nb.session.query.table_functions import table_function

    if substitutes and not ref.lookup and ref.travel is None and ref.function is None and ref.parts in substitutes:
        return with_computed(substitutes[ref.parts], _table_options_of(session, ref))
    if len(ref.parts) == 2 and ref.parts[0].lower() == _GLOBAL:
        if ref.parts[1] not in session.views:
            return None
        ref = replace(ref, parts=ref.parts[1:])  # views of this session are all temporary
    elif (own := session.temporary_name(ref.parts)) is not None:
        ref = replace(ref, parts=(own,))
    try:
        if ref.file:
            if is_inside_view():
                raise UnsupportedOperation(
                    "a stored view cannot read a file", hint="CREATE TEMPORARY VIEW, or load the file into a table"
                )
            return frame_of_reference(session, ref)
        if ref.function is not None:
            if ref.function.outer is not None:
                return _searches_of_rows(session, ref, text)
            return table_function(session, ref)
        if len(ref.parts) == 1 and ref.parts[0] in session.views:
            return _view_frame(session, *session.views[ref.parts[0]], substitutes, hidden)
        if len(ref.parts) == 1 and ref.parts[0] in session.temporary:
            from paimon_nb.session.query.temporary_tables import read_temporary

            return read_temporary(session, session.temporary[ref.parts[0]], ref)
        if len(ref.parts) == 1 and known_to_spark(session, ref.parts):
            return None  # temporary views in Spark take precedence, as in Spark itself
        frame = _paimon_frame(session, ref)
        note_shadowed_frame(session, ref)
        return frame
    except (TableNotFound, DatabaseNotFound, CatalogNotFound) as error:
        if known_to_spark(session, ref.parts):
            return None
        if (stored := find_view(session, ref)) is not None:
            catalog, name, view, inside = stored
            with inside_view(session, catalog, name):
                return _view_frame(session, view, inside, None, hidden)
        try:
            at_hand = None if is_inside_view() else frame_of_reference(session, ref)
            if at_hand is None and (missing := missing_file(ref)) is not None:
                raise missing
        except PaimonError as of_frame:
            raise with_position(of_frame, text, ref.span) from None
        if at_hand is not None:
            return at_hand
        raise with_position(error, text, ref.span) from None
    except (NameError_, ConfigError, UnsupportedFormat, SourceUnavailable, SchemaMismatch) as error:
        raise with_position(error, text, ref.span) from None


def _searches_of_rows(session: Session, ref: TableRef, text: str) -> DataFrame:
    """The rows of a search for each vector of the tables to the left."""
    from paimon_nb.session.query.searches import lateral_rows, vectors_of_left
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.sql import parse

    assert ref.function is not None
    assert ref.function.outer is not None
    of_left = vectors_of_left(ref.function.outer)
    [query] = parse(of_left)
    assert isinstance(query, Query)
    vectors = run_query(session, query, of_left, {}).toArrow().column(0).combine_chunks().drop_null()
    return from_arrow(session.spark, lateral_rows(session, ref, text, vectors))


def with_position(error: PaimonError, text: str, span: Span) -> PaimonError:
    """The error with its position in the user's text, unless it has one."""
    error.facts.setdefault("sql", text)
    error.facts.setdefault("start", span.start)
    error.facts.setdefault("stop", span.stop)
    return error


def _check_lookups(session: Session, query: Query, text: str, names: Mapping[Span, str]) -> None:
    """Raises UnsupportedOperation: a lookup join compares partition columns of a chain table."""
    from paimon_nb.session.query.hints import check_lookup_keys
    from paimon_nb.session.query.lookup_joins import find_join
    from paimon_nb.sql import render

    for ref in query.tables:
        if not ref.lookup or {*session.views, *session.temporary} & {ref.parts[0]} or not session.exists(ref.parts):
            continue
        table = session.table(ref.parts)
        if table.store.chain_branches is not None:
            view = new_view()
            sql = render(query, text, {**names, ref.span: view_reference(view, ref)}, flink=session.flink_semantics)
            join = find_join(sql, view)
            check_lookup_keys(table, [column for column, _ in (*join.keys, *join.fixed)] if join is not None else [])


def _paimon_frame(session: Session, ref: TableRef) -> DataFrame:
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.spark.scan.table_scan import read_table

    check_no_misspelled_options(ref.options)
    options = {**ref.options, **time_travel_options(session, ref.travel)}
    found = session.find(ref.parts)
    if found.name.database == "sys" and found.name.system is None:
        rows = global_system_table(found.catalog, found.name)  # an unknown name is rejected before Spark starts
        return from_arrow(session.spark, rows)
    table = found.catalog.table(found.name, session.options_of(found))
    if found.name.system is not None:
        rows = table.system(found.name.system, options=options)  # an unknown name is rejected before Spark starts
        frame = from_arrow(session.spark, rows)
        table_options = table.schema.options if has_computed_columns(found.name.system) else {}
        return with_computed(frame, table_options, last=True)
    if ref.lookup:
        table, options = lookup_table(table.copy(options)), lookup_options(options)
    elif session.flink_semantics:
        check_consumer(table.copy(options))
    partitions = greatest_partitions(table, options) if ref.lookup else None
    note_partitions_without_rows(session, table, options)
    if computed_columns(table.schema.options):
        ref = replace(ref, columns=None)  # their expressions may need any column
    if partitions is not None:
        frame = _partition_frame(session, ref, table, options, partitions)
    elif ref.metadata_columns and not (table.primary_keys and ROW_TRACKING_COLUMNS.issuperset(ref.metadata_columns)):
        from paimon_nb.spark.scan.metadata_columns import with_metadata_columns

        with suppress(UnsupportedOperation):  # the columns may be those of another table in the query
            frame = with_metadata_columns(session.spark, table.copy(options), ref.filter, ref.metadata_columns)
            return with_computed(with_chars(session, frame, table), table.schema.options)
        frame = read_table(session.spark, table, options=options, filter=ref.filter)
    else:
        frame = read_table(session.spark, table, options=options, filter=ref.filter, columns=ref.columns)
    return with_computed(with_chars(session, frame, table), table.schema.options)


def _table_options_of(session: Session, ref: TableRef) -> Mapping[str, str]:
    """The options of the referenced table; {} if it is not a Paimon table."""
    if len(ref.parts) == 1 and (ref.parts[0] in session.temporary or ref.parts[0] in session.views):
        return {}
    try:
        return session.table(ref.parts).schema.options
    except (TableNotFound, DatabaseNotFound, CatalogNotFound, InvalidName):
        return {}


def schema_fields(session: Session, ref: TableRef) -> Sequence[DataField]:
    """The columns of the table that a reference names; empty for temporary and system tables, and tables of Spark."""
    if len(ref.parts) == 1 and (ref.parts[0] in session.temporary or ref.parts[0] in session.views):
        return ()
    try:
        found = session.find(ref.parts)
        return () if found.name.system is not None else session.table(ref.parts).schema.fields
    except (TableNotFound, DatabaseNotFound, CatalogNotFound, InvalidName):
        return ()


def _partition_frame(
    session: Session, ref: TableRef, table: Table, options: Mapping[str, str], partitions: list[dict[str, Any]]
) -> DataFrame:
    """The rows of the selected partitions."""
    from paimon_nb.spark.scan.table_scan import read_table

    conditions = [p for p in (ref.filter, partition_predicate(partitions) if partitions else None) if p is not None]
    filter = conjunction_of(conditions) if conditions else None
    columns = None if ref.columns is None else (*ref.columns, *table.partition_keys)
    frame = read_table(session.spark, table, options=options, filter=filter, columns=columns)
    return rows_of_partitions(frame, partitions)


def rows_of_partitions(frame: DataFrame, partitions: list[dict[str, Any]]) -> DataFrame:
    """The rows of these partitions (column -> value) only."""
    from functools import reduce

    from pyspark.sql import functions as F

    matches = [reduce(lambda a, b: a & b, (F.col(quote(c)).eqNullSafe(v) for c, v in p.items())) for p in partitions]
    return frame.where(reduce(lambda a, b: a | b, matches, F.lit(False)))


def global_system_table(catalog: Catalog, name: Identifier) -> Any:
    """The rows of a table of the database `sys`. Raises TableNotFound."""
    from paimon_nb.table.tables.system.global_tables import GLOBAL_TABLES

    build = GLOBAL_TABLES.get(name.table)
    if build is None:
        raise TableNotFound(
            f"no table {name}", hint=f"known: {', '.join('sys.' + k for k in GLOBAL_TABLES)}", name=name
        )
    return build(catalog)


def time_travel_options(session: Session, travel: VersionAsOf | TimestampAsOf | None) -> dict[str, str]:
    """The scan options of a time travel clause. `scan.version` reads with the snapshot's own schema."""
    match travel:
        case VersionAsOf(version):
            return {"scan.version": version}
        case TimestampAsOf(expression):
            return {
                "scan.timestamp-millis": str(_epoch_ms(session, expression)),
                "scan.mode": "default",
                "paimon-nb.own-schema": "true",
            }
    return {}


def _epoch_ms(session: Session, expression: str) -> int:
    """An instant in epoch milliseconds: numbers are epoch seconds, everything else is SQL in the session's time zone."""
    from paimon_nb.base.errors import SqlAnalysisError
    from paimon_nb.spark.errors import spark_errors

    stripped = expression.strip()
    if stripped.replace(".", "", 1).isdigit():
        return int(float(stripped) * 1000)
    with spark_errors(expression, Span(0, len(expression))):
        row = analyse(session, f"SELECT unix_millis(CAST(({expression}) AS TIMESTAMP))").first()
    if row is None or row[0] is None:
        raise SqlAnalysisError(f"{expression} is not a timestamp", hint="write TIMESTAMP '2024-01-31 12:00:00'")
    return int(row[0])


def view_rows(session: Session, name: str) -> DataFrame:
    """The rows of a temporary view. Raises TableNotFound."""
    return _view_frame(session, *session.view(name), None)


def _view_frame(
    session: Session, view: CreateView, text: str, substitutes: Substitutes | None, hidden: Sequence[str] = ()
) -> DataFrame:
    assert view.query is not None
    frame = run_query(session, view.query, text, {}, substitutes, hidden)
    if not view.columns:
        return frame
    visible = frame.select(*[quote(c) for c in frame.columns if c not in hidden], *hidden) if hidden else frame
    return visible.toDF(*view.columns, *hidden)


def known_to_spark(session: Session, parts: Sequence[str]) -> bool:
    """Whether Spark has a table or view of this name."""
    if not session.spark_may_have_catalog_entries:
        return False
    from py4j.protocol import Py4JError
    from pyspark.errors import PySparkException

    try:
        return bool(session.spark.catalog.tableExists(".".join(map(quote, parts))))
    except (
        PySparkException,
        Py4JError,
    ):  # for example a Paimon catalog by its Java class, which is not on the class path
        return False


def _short_name(ref: TableRef) -> str:
    """The name that other clauses use for the table: its last part."""
    return ref.function.name[-1] if ref.function else ref.parts[-1]
