"""Which engine answers a query that is displayed: the embedded one if its answer is Spark's, else Spark; with the reason."""

from __future__ import annotations

import re
from dataclasses import replace
from math import prod
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataField
from paimon_nb.session.query.engine_choice import ENGINE, MAX_BYTES, SPARK, max_bytes
from paimon_nb.session.query.local import engine
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.sources import Source, open_source, scan_text
from paimon_nb.session.query.local.translate import Translator
from paimon_nb.session.query.local.translation import NamedQuery, Parts, Translation
from paimon_nb.session.query.local.views import find_query_of_view
from paimon_nb.session.query.local.written import TRANSLATED, edits_to_cover, query_tree_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.session.core.session import Session
    from paimon_nb.session.query.local.translation import Scan
    from paimon_nb.session.query.local.views import View
    from paimon_nb.statements import Query, Span, TableRef
    from paimon_nb.syntax.tree import QueryTree

_UNBOUNDED_ROWS = 500_000
"""Rows of the tables up to which a result without groups and LIMIT is computed here."""
_MAX_LIMIT = 100_000
_MAX_PAIRS = 1_000_000_000
"""Pairs of rows that a join without an equality compares here, at most."""
_SPARK_DEFAULTS = {
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "false",
    "spark.sql.decimalOperations.allowPrecisionLoss": "true",
    "spark.sql.groupByOrdinal": "true",
    "spark.sql.orderByOrdinal": "true",
    "spark.sql.groupByAliases": "true",
    "spark.sql.ansi.doubleQuotedIdentifiers": "false",
}
"""Settings of Spark that change answers, with the values for which the answers are the same."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A query that the embedded engine can answer."""

    translation: Translation
    scans: tuple[tuple[Scan, Source], ...]
    queries: tuple[NamedQuery, ...] = ()
    """The queries that are named by WITH, in order."""
    variables: tuple[tuple[str, str], ...] = ()
    """Names and queries of scalar subqueries, whose values are computed first."""
    constants: tuple[str, ...] = ()
    """The engine's SQL of what is computed without a column."""
    has_unequal_join: bool = False
    may_raise: bool = True
    """Whether Spark may raise an error for some row."""
    zone: str = "UTC"
    """The session's time zone."""

    @property
    def size(self) -> int:
        """Bytes of the files that are read."""
        return sum(source.size for _, source in self.scans)

    def describe(self) -> str:
        """How the query is answered, in one line."""
        tables = ", ".join(f"{'.'.join(s.table.parts)} ({source.how})" for s, source in self.scans)
        return f"DuckDB reads {tables or 'no table'}, {self.size:,} bytes; the answer is Spark's, without a JVM"

    def scan_lines(self) -> list[str]:
        """The tables that are read, with the columns that the query uses."""
        return [
            f"scan {'.'.join(scan.table.parts)}: {', '.join(f.name for f in scan.fields if f.name in scan.used) or 'no column'} ({source.how}, {source.rows:,} rows, {source.size:,} bytes)"
            for scan, source in self.scans
        ]


def prepare_for_embedded_engine(
    session: Session, query: Query, text: str, parameters: Mapping[str, Any] | None = None
) -> Prepared:
    """The query for the embedded engine. Reads metadata only.

    Raises:
        NotLocal: Spark must run it; the message says why.
    """
    if session.setting(ENGINE) == SPARK:
        raise NotLocal(f"'{ENGINE}' is 'spark'")
    engine.check_installed()
    _check_spark_settings(session)
    opened: list[Source] = []

    def fields_of(ref: TableRef) -> Sequence[DataField]:
        opened.append(open_source(session, ref))
        return opened[-1].fields

    def view_of(ref: TableRef) -> View | None:
        return find_query_of_view(session, ref)

    parts = Parts(fields_of, view_of, session.flink_semantics, session.time_zone, parameters or {})
    translation = Translator(parts, query, text).whole(query_tree_of(query), top=True)
    if any(o.name is None for o in translation.outputs):
        raise NotLocal("a column has no alias, and Spark names it")
    prepared = Prepared(
        translation,
        tuple(zip(parts.scans, opened, strict=True)),
        tuple(parts.queries),
        tuple(parts.variables),
        tuple(parts.checks.texts),
        parts.has_unequal_join,
        parts.may_raise or bool(parts.checks.texts),
        parts.zone or "UTC",
    )
    _check_read_and_result_size(session, prepared)
    return prepared


def can_be_answered_without_spark(session: Session, query: Query, text: str, parameters: Mapping[str, Any]) -> bool:
    """Whether the embedded engine can answer a query, which is therefore valid. Reads metadata only."""
    try:
        prepare_for_embedded_engine(session, query, text, parameters)
    except (NotLocal, PaimonError):
        return False
    return True


def check_written(
    session: Session, query: Query, text: str, is_known: Callable[[Span], bool] = lambda _: False
) -> QueryTree:
    """The tree of a query that is written as Spark reads it, too. Raises NotLocal.

    Args:
        is_known: whether the caller understands a part of the text that is translated for Spark.
    """
    if any(not is_known(span) for span in edits_to_cover(query, text, flink=session.flink_semantics)):
        raise NotLocal(TRANSLATED)
    return query_tree_of(query)


def run_in_embedded_engine(prepared: Prepared) -> tuple[pa.Table, tuple[DataField, ...]]:
    """The result and its fields. Raises NotLocal: the engine found that Spark may answer otherwise."""
    before = []
    if prepared.constants:  # an error of theirs is Spark's, also if the query has no rows
        before.append(f"SELECT {', '.join(prepared.constants)}")
    engine.import_in_background()
    items: dict[str, str] = {}
    rows, masks = {}, dict[str, bytes]()
    for scan, source in prepared.scans:
        read = scan_text(scan.name, source, scan.used)
        items[scan.name] = f"{scan.name} AS NOT MATERIALIZED ({read.sql})"
        masks |= read.masks
        if read.rows is not None:
            rows[f"{scan.name}_rows"] = read.rows
    for query in prepared.queries:
        items[query.name] = f"{query.name} AS {'MATERIALIZED ' if query.is_materialized else ''}({query.sql})"
    text = prepared.translation.sql
    for number, (name, sql) in enumerate(prepared.variables):
        if prepared.may_raise:  # the engine leaves out what is compared with a constant that is NULL
            before.append(f"CREATE TEMP TABLE {name} AS SELECT ({_with_items(sql, items)}) AS o0")
            variable, reference = f"getvariable('{name}')", f"(SELECT o0 FROM {name})"
            later = [(n, s.replace(variable, reference)) for n, s in prepared.variables[number + 1 :]]
            prepared = replace(prepared, variables=(*prepared.variables[: number + 1], *later))
            items = {key: item.replace(variable, reference) for key, item in items.items()}
            text = text.replace(variable, reference)
        else:
            before.append(f"SET VARIABLE {name} = ({_with_items(sql, items)})")
    found = engine.run_in_memory(
        _with_items(text, items), rows, before, keep_errors=prepared.may_raise, zone=prepared.zone, masks=masks
    )
    return _in_paimon_types(found, prepared.translation)


_NAMES = re.compile(r"\b[tcm]\d+\b")
"""Names of scans and of queries that WITH names."""


def _with_items(sql: str, items: Mapping[str, str]) -> str:
    """The query with those of the items that it uses, in order."""
    used: set[str] = set()
    waiting = [sql]
    while waiting:
        for name in _NAMES.findall(waiting.pop()):
            if name in items and name not in used:
                used.add(name)
                waiting.append(items[name])
    texts = [text for name, text in items.items() if name in used]
    return f"WITH {', '.join(texts)} {sql}" if texts else sql


def _in_paimon_types(found: pa.Table, translation: Translation) -> tuple[pa.Table, tuple[DataField, ...]]:
    """The engine's rows in the types of `format/types`."""
    import pyarrow as pa

    from paimon_nb.format.types import arrow_type

    fields = tuple(DataField(i, o.name or "", o.type) for i, o in enumerate(translation.outputs))
    columns = [
        column if column.type == arrow_type(f.type) else column.cast(arrow_type(f.type))
        for column, f in zip(found.columns, fields, strict=True)
    ]
    schema = pa.schema([pa.field(f.name, arrow_type(f.type)) for f in fields])
    return pa.Table.from_arrays(columns, schema=schema), fields


def _check_spark_settings(session: Session) -> None:
    legacy = next((k for k in session.settings if k.startswith("spark.sql.legacy.")), None)
    if legacy is not None:
        raise NotLocal(f"{legacy} is set")
    for key, default in _SPARK_DEFAULTS.items():
        value = session.spark_setting(key)
        if value is not None and value.lower() != default:
            raise NotLocal(f"{key} is {value}")


def _check_read_and_result_size(session: Session, prepared: Prepared) -> None:
    limit = max_bytes(session)
    if prepared.size > limit:
        raise NotLocal(f"{prepared.size:,} bytes are more than '{MAX_BYTES}' ({limit:,})")
    translation = prepared.translation
    if translation.limit == 0:
        raise NotLocal("LIMIT 0 is left to Spark")  # it may evaluate, and raise errors
    if translation.limit is not None and translation.limit > _MAX_LIMIT:
        raise NotLocal(f"a result of more than {_MAX_LIMIT:,} rows is shown by Spark")
    rows = sorted(source.rows for _, source in prepared.scans)
    if not translation.is_small_result and not translation.is_filtered and sum(rows) > _UNBOUNDED_ROWS:
        raise NotLocal("the result may be large; Spark shows its first rows")
    if prepared.has_unequal_join and prod(rows[-2:]) > _MAX_PAIRS:
        raise NotLocal("a join without an equality of many rows is left to Spark")
