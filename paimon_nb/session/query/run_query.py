"""Queries: each table name in the user's text becomes a DataFrame of ours, and Spark runs the rest."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import (
    CatalogNotFound,
    ConfigError,
    DatabaseNotFound,
    InvalidName,
    NameError_,
    PaimonError,
    TableNotFound,
)
from paimon_nb.base.identifier import Identifier, quote, split_name
from paimon_nb.base.sql_quoting import spark_literal
from paimon_nb.options.spelling import check_names
from paimon_nb.plan import CreateView, Query, Span, TableRef, TimestampAsOf, VersionAsOf
from paimon_nb.session.core.session import Session
from paimon_nb.session.query.computed_columns import computed_columns, with_computed
from paimon_nb.session.query.flink_numeric import divided_as_flink
from paimon_nb.session.query.hints import scan_partitions, within
from paimon_nb.session.query.unnest import unnested
from paimon_nb.table.scan.predicate.model import all_of
from paimon_nb.table.table import Table

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_counter = itertools.count()


Instead = Mapping[tuple[str, ...], "DataFrame"]
"""Rows that stand for a table wherever its name is written so: micro-batches and streams."""


def run_query(
    session: Session,
    query: Query,
    text: str,
    params: Mapping[str, Any],
    instead: Instead | None = None,
    hidden: Sequence[str] = (),
    *,
    windows: bool = False,
) -> DataFrame:
    """The query as a DataFrame. `text` is the whole text that the query's spans point into.

    Args:
        instead: rows in place of tables. hidden: columns of theirs that ride along behind the result's, see `carry`.
        windows: the rows are a stream's, whose windows a watermark closes, see `stream_windows`.
    """
    from paimon_nb.session.query.hidden_columns import carrying
    from paimon_nb.session.query.hints import greatest_partition
    from paimon_nb.session.streaming.windows import grouped_by_window
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.sql import render
    from paimon_nb.sql.session_functions import current_names, greatest_partitions_asked

    kept = session.lookups
    now = query.tables if kept is None else tuple(t for t in query.tables if not t.lookup)
    with ExitStack() as views:
        names = views.enter_context(replaced_names(session, now, text, instead, hidden))
        views.enter_context(spark_errors(text, query.span))
        if kept is not None and len(now) < len(query.tables):
            names |= views.enter_context(kept.names(session, query, text, names, params))
        wanted = {k: params[k] for k in query.parameters}
        current = current_names(text, query.span, session.current_catalog, session.current_database)
        for place, name in greatest_partitions_asked(text, query.span):
            current[place] = spark_literal(greatest_partition(session.table(split_name(name))))

        def ask(query: Query) -> tuple[str, DataFrame]:
            said = render(query, text, {**names, **current}, flink=session.speaks_flink)
            said = carrying(said, hidden) if hidden else said
            said = grouped_by_window(said) if windows else said
            return said, session.spark.sql(said, args=wanted or None)

        said, frame = unnested(query, ask) if query.unnested else ask(query)
        return divided_as_flink(session.spark, said, frame, wanted) if session.speaks_flink else frame


@contextmanager
def replaced_names(
    session: Session,
    tables: tuple[TableRef, ...],
    text: str,
    instead: Instead | None = None,
    hidden: Sequence[str] = (),
) -> Iterator[dict[Span, str]]:
    """SQL text for each table reference that is ours, valid inside the block: Spark resolves names when it parses."""
    views: list[str] = []
    names: dict[Span, str] = {}
    try:
        for ref in tables:
            frame = resolve(session, ref, text, instead, hidden)
            if frame is None:
                continue
            view = new_view()
            frame.createOrReplaceTempView(view)
            views.append(view)
            names[ref.span] = named(view, ref)
        yield names
    finally:
        for view in views:
            session.spark.catalog.dropTempView(view)


def new_view() -> str:
    """A name for a temporary view that nobody has."""
    return f"__paimon_{next(_counter)}"


def named(view: str, ref: TableRef) -> str:
    """What stands in a text for a reference whose rows a view has."""
    return quote(view) if ref.alias else f"{quote(view)} AS {quote(_short(ref))}"


@contextmanager
def borrowed_views(session: Session, frames: Sequence[DataFrame]) -> Iterator[list[str]]:
    """A quoted view name for each DataFrame, valid inside the block."""
    views = [new_view() for _ in frames]
    try:
        for view, frame in zip(views, frames, strict=True):
            frame.createOrReplaceTempView(view)
        yield [quote(view) for view in views]
    finally:
        for view in views:
            session.spark.catalog.dropTempView(view)


_GLOBAL = "global_temp"
"""Where Spark keeps the views of CREATE GLOBAL TEMPORARY VIEW."""


def resolve(
    session: Session, ref: TableRef, text: str, instead: Instead | None = None, hidden: Sequence[str] = ()
) -> DataFrame | None:
    """The rows that a reference means, or None if the name is Spark's own."""
    from paimon_nb.session.query.table_functions import table_function

    if instead and not ref.lookup and ref.travel is None and ref.function is None and ref.parts in instead:
        return with_computed(instead[ref.parts], _options(session, ref))
    if len(ref.parts) == 2 and ref.parts[0].lower() == _GLOBAL:
        if ref.parts[1] not in session.views:
            return None
        ref = replace(ref, parts=ref.parts[1:])  # a view of this session, as all views made here are
    try:
        if ref.function is not None:
            return table_function(session, ref)
        if len(ref.parts) == 1 and ref.parts[0] in session.views:
            return _view(session, *session.views[ref.parts[0]], instead, hidden)
        if len(ref.parts) == 1 and ref.parts[0] in session.temporary:
            from paimon_nb.session.query.temporary_tables import read_temporary

            return read_temporary(session, session.temporary[ref.parts[0]], ref)
        if len(ref.parts) == 1 and known_to_spark(session, ref.parts):
            return None  # a temporary view that the user made in Spark goes first, as it does in Spark
        return _paimon(session, ref)
    except (TableNotFound, DatabaseNotFound, CatalogNotFound) as error:
        if known_to_spark(session, ref.parts):
            return None
        raise at(error, text, ref.span) from None
    except (NameError_, ConfigError) as error:
        raise at(error, text, ref.span) from None


def at(error: PaimonError, text: str, span: Span) -> PaimonError:
    """The error with the place in the user's text that it is about."""
    error.facts.setdefault("sql", text)
    error.facts.setdefault("start", span.start)
    error.facts.setdefault("stop", span.stop)
    return error


def _paimon(session: Session, ref: TableRef) -> DataFrame:
    from paimon_nb.spark.runtime.arrow_interop import from_arrow
    from paimon_nb.spark.scan.table_scan import relation

    check_names(ref.options)
    options = {**ref.options, **travelled(session, ref.travel)}
    found = session.find(ref.parts)
    if found.name.database == "sys" and found.name.system is None:
        rows = global_table(session, found.name)  # an unknown name is refused before Spark is started
        return from_arrow(session.spark, rows)
    table = found.catalog.table(found.name, session.options_of(found))
    if found.name.system is not None:
        rows = table.system(found.name.system, options=options)
        return from_arrow(session.spark, rows)
    chosen = scan_partitions(table, options, lookup=ref.lookup)
    if computed_columns(table.schema.options):
        ref = replace(ref, columns=None)  # what their expressions name is needed, too
    if chosen is not None:
        frame = _of_partitions(session, ref, table, options, chosen)
    elif ref.places and not table.primary_keys:
        from paimon_nb.spark.scan.metadata_columns import with_places

        frame = with_places(session.spark, table.copy(options), ref.filter, ref.places)
    else:
        frame = relation(session.spark, table, options=options, filter=ref.filter, columns=ref.columns)
    return with_computed(frame, table.schema.options)


def _options(session: Session, ref: TableRef) -> Mapping[str, str]:
    """The options of the table that a reference names; none of what is no table of ours."""
    if len(ref.parts) == 1 and (ref.parts[0] in session.temporary or ref.parts[0] in session.views):
        return {}
    try:
        return session.table(ref.parts).schema.options
    except (TableNotFound, DatabaseNotFound, CatalogNotFound, InvalidName):
        return {}


def _of_partitions(
    session: Session, ref: TableRef, table: Table, options: Mapping[str, str], chosen: list[dict[str, Any]]
) -> DataFrame:
    """The rows of some partitions only."""
    from paimon_nb.spark.scan.table_scan import relation

    known = [p for p in (ref.filter, within(chosen) if chosen else None) if p is not None]
    filter = all_of(known) if known else None
    columns = None if ref.columns is None else (*ref.columns, *table.partition_keys)
    frame = relation(session.spark, table, options=options, filter=filter, columns=columns)
    return rows_within(frame, chosen)


def rows_within(frame: DataFrame, partitions: list[dict[str, Any]]) -> DataFrame:
    """The rows of these partitions alone, column -> value each."""
    from functools import reduce

    from pyspark.sql import functions as F

    each = [reduce(lambda a, b: a & b, (F.col(quote(c)).eqNullSafe(v) for c, v in p.items())) for p in partitions]
    return frame.where(reduce(lambda a, b: a | b, each, F.lit(False)))


def global_table(session: Session, name: Identifier) -> Any:
    from paimon_nb.table.system.global_tables import GLOBAL_TABLES

    build = GLOBAL_TABLES.get(name.table)
    if build is None:
        raise TableNotFound(
            f"no table {name}", hint=f"known: {', '.join('sys.' + k for k in GLOBAL_TABLES)}", name=name
        )
    return build(session.catalog)


def travelled(session: Session, travel: VersionAsOf | TimestampAsOf | None) -> dict[str, str]:
    """The options that a time travel clause stands for. `scan.version` means the snapshot's own schema (design 6)."""
    match travel:
        case VersionAsOf(version):
            return {"scan.version": version}
        case TimestampAsOf(expression):
            return {"scan.timestamp-millis": str(_millis(session, expression)), "paimon-nb.own-schema": "true"}
    return {}


def _millis(session: Session, expression: str) -> int:
    """An instant as the session sees it: numbers are seconds since the epoch, the rest is SQL in the session's zone."""
    from paimon_nb.base.errors import SqlAnalysisError
    from paimon_nb.spark.errors import spark_errors

    stripped = expression.strip()
    if stripped.replace(".", "", 1).isdigit():
        return int(float(stripped) * 1000)
    with spark_errors(expression, Span(0, len(expression))):
        row = session.spark.sql(f"SELECT unix_millis(CAST(({expression}) AS TIMESTAMP))").first()
    if row is None or row[0] is None:
        raise SqlAnalysisError(f"{expression} is no time", hint="write TIMESTAMP '2024-01-31 12:00:00'")
    return int(row[0])


def view_rows(session: Session, name: str) -> DataFrame:
    """The rows of a temporary view. Raises TableNotFound."""
    return _view(session, *session.view(name), None)


def _view(
    session: Session, view: CreateView, text: str, instead: Instead | None, hidden: Sequence[str] = ()
) -> DataFrame:
    assert view.query is not None
    frame = run_query(session, view.query, text, {}, instead, hidden)
    if not view.columns:
        return frame
    shown = frame.select(*[quote(c) for c in frame.columns if c not in hidden], *hidden) if hidden else frame
    return shown.toDF(*view.columns, *hidden)


def known_to_spark(session: Session, parts: Sequence[str]) -> bool:
    """Whether Spark holds a table or view of this name."""
    if not session.spark_may_know:
        return False
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        return bool(session.spark.catalog.tableExists(".".join(map(quote, parts))))
    except (PySparkException, Py4JError):  # such as a catalog of ours by a class of Java's, which nobody loads
        return False


def _short(ref: TableRef) -> str:
    """The name by which the query's other clauses call the table: its last part."""
    return ref.function.name[-1] if ref.function else ref.parts[-1]
