"""Which engine answers a query that is displayed: the embedded one if its answer is Spark's, else Spark; with the reason."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataField
from paimon_nb.session.query.engine_choice import ENGINE, LOCAL, MAX_BYTES, SPARK, max_bytes
from paimon_nb.session.query.local import engine
from paimon_nb.session.query.local.constants import constant_expressions_that_may_fail, reordered_constants
from paimon_nb.session.query.local.expressions import Expressions
from paimon_nb.session.query.local.sources import Source, open_source, scan_sql
from paimon_nb.session.query.local.translate import Translation, Translator
from paimon_nb.session.query.local.values import is_integer
from paimon_nb.session.query.local_select import try_local_select
from paimon_nb.sql.select_tree import NotLocal, select_tree

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.session.core.session import Session
    from paimon_nb.session.query.local.translate import Scan
    from paimon_nb.session.query.local.values import Value
    from paimon_nb.statements import Query, TableRef
    from paimon_nb.statements.select import Column

_UNBOUNDED_ROWS = 500_000
"""Rows of the tables up to which a result without groups and LIMIT is computed here."""
_MAX_LIMIT = 100_000
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
    constants: tuple[str, ...] = ()
    """The engine's SQL of what is computed without a column."""

    @property
    def size(self) -> int:
        """Bytes of the files that are read."""
        return sum(source.size for _, source in self.scans)

    def describe(self) -> str:
        """How the query is answered, in one line."""
        tables = ", ".join(f"{'.'.join(s.table.parts)} ({source.how})" for s, source in self.scans)
        return f"local: DuckDB reads {tables}, {self.size:,} bytes; the answer is Spark's, without a JVM"


def local_answer(session: Session, query: Query, text: str) -> tuple[pa.Table, tuple[DataField, ...]] | None:
    """The query's result and its fields, or None if Spark must run it.

    Raises:
        BadOptionValue: 'paimon-nb.engine' is 'local', and the query is left to Spark; the message says why.
    """
    try:
        prepared = prepare_for_embedded_engine(session, query, text)
        return run_in_embedded_engine(prepared)
    except NotLocal as reason:
        _refuse_if_forced(session, str(reason))
        return None
    except PaimonError:
        return None  # Spark's path raises it again, with its position


def _refuse_if_forced(session: Session, reason: str) -> None:
    if session.setting(ENGINE) == LOCAL:
        raise BadOptionValue(
            f"this query cannot be answered without Spark: {reason}",
            hint=f"RESET '{ENGINE}'", option=ENGINE, value=LOCAL,
        )  # fmt: skip


def engine_line(session: Session, query: Query, text: str) -> str:
    """Which engine answers the query when it is displayed, and why. Reads little more than metadata."""
    try:
        return prepare_for_embedded_engine(session, query, text).describe()
    except NotLocal as reason:
        why = str(reason)
    except PaimonError as error:
        why = str(error)
    if session.setting(ENGINE) != SPARK and try_local_select(session, query) is not None:
        return "local: rows and columns of one small table, read by this process"
    return f"Spark: {why}"


def prepare_for_embedded_engine(session: Session, query: Query, text: str) -> Prepared:
    """The query for the embedded engine. Reads metadata only.

    Raises:
        NotLocal: Spark must run it; the message says why.
    """
    if session.setting(ENGINE) == SPARK:
        raise NotLocal(f"'{ENGINE}' is 'spark'")
    engine.check_installed()
    tree = select_tree(query, text)
    _check_spark_settings(session)
    opened: list[Source] = []

    def fields_of(ref: TableRef) -> Sequence[DataField]:
        opened.append(open_source(session, ref))
        return opened[-1].fields

    translator = Translator(fields_of, flink=session.flink_semantics)
    translation = translator.tree(tree, top=True)
    if any(o.name is None for o in translation.outputs):
        raise NotLocal("a column has no alias, and Spark names it")
    constant = Expressions(_no_column, flink=session.flink_semantics)
    values = [constant.value(e) for e in constant_expressions_that_may_fail(tree)]
    values += [v for v in map(constant.value, reordered_constants(tree)) if is_integer(v.type)]
    computed = tuple(dict.fromkeys(v.sql for v in values if v.literal is None))
    prepared = Prepared(translation, tuple(zip(translator.scans, opened, strict=True)), computed)
    _check_read_and_result_size(session, prepared)
    return prepared


def _no_column(column: Column) -> Value:
    raise NotLocal(f"{column.name} is not known")


def run_in_embedded_engine(prepared: Prepared) -> tuple[pa.Table, tuple[DataField, ...]]:
    """The result and its fields. Raises NotLocal: the engine found that Spark may answer otherwise."""
    if prepared.constants:  # an error of theirs is Spark's, also if the query has no rows
        engine.run_in_memory(f"SELECT {', '.join(prepared.constants)}", {})
    engine.import_in_background()
    parts: list[str] = []
    rows = {}
    for scan, source in prepared.scans:
        sql, arrow = scan_sql(scan.name, source, scan.used)
        parts.append(f"{scan.name} AS NOT MATERIALIZED ({sql})")
        if arrow is not None:
            rows[f"{scan.name}_rows"] = arrow
    found = engine.run_in_memory(f"WITH {', '.join(parts)} {prepared.translation.sql}", rows)
    return _in_paimon_types(found, prepared.translation)


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
    if not translation.is_small_result and sum(s.rows for _, s in prepared.scans) > _UNBOUNDED_ROWS:
        raise NotLocal("the result may be large; Spark shows its first rows")
