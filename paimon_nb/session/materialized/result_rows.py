"""The result of a definition's query at the newest snapshots of its inputs: by the embedded engine, else by Spark."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options import table as opt
from paimon_nb.session.materialized.definition_query import Input, inputs_of, parsed_definition, session_of_definition
from paimon_nb.session.materialized.positions import Positions, key_of, newest_positions

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from paimon_nb.format.types import DataField
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.statements import Query


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A definition's query, ready to run."""

    session: Session
    """A session of its own."""
    query: Query
    text: str
    inputs: tuple[Input, ...]
    own_catalog: str

    def newest_positions(self) -> Positions | None:
        """The newest snapshots of its inputs; None: one of them has no snapshots."""
        return newest_positions(self.session, self.inputs, self.own_catalog)


def prepare(session: Session, definition: Definition, table: ResolvedTable) -> PreparedQuery:
    """Parse the definition and find its inputs.

    Raises:
        UnsupportedFormat: the query cannot be read. TableNotFound: an input does not exist.
    """
    own = session_of_definition(session, definition, table)
    query, text = parsed_definition(own, definition, table.catalog.name)
    return PreparedQuery(own, query, text, tuple(inputs_of(own, query)), table.catalog.name)


def rows_at(
    session: Session, prepared: PreparedQuery, positions: Positions | None
) -> tuple[pa.Table, tuple[DataField, ...]]:
    """The result at these snapshots of the inputs, and its columns. Starts Spark if the embedded engine cannot answer.

    Args:
        session: the user's; its Spark is used.
        positions: see `PreparedQuery.newest_positions`; None: as the inputs are.

    Raises:
        SchemaMismatch: two columns have the same name.
        PaimonError: the query failed.
    """
    from paimon_nb.session.query.local.answer import local_answer
    from paimon_nb.table.read.plan.shared_plans import shared_plans

    query = _at(prepared, positions)
    with shared_plans():
        found = local_answer(prepared.session, query, prepared.text, {})
        if found is None:
            found = _by_spark(session, prepared, query)
    rows, fields = found
    names = [f.name for f in fields]
    twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
    if twice is not None:
        raise SchemaMismatch(f"the query has two columns {twice!r}", hint="give one of them another name: x AS y")
    return rows, fields


def _at(prepared: PreparedQuery, positions: Positions | None) -> Query:
    """The query with its tables at these snapshots, where they are written in its own text."""
    if not positions:
        return prepared.query
    at: dict[Any, int] = {}
    for one in prepared.inputs:
        if one.ref is not None and not one.pinned:
            at[(one.catalog, one.name)] = positions[key_of(one.name, one.catalog, prepared.own_catalog)][0]
    tables = []
    for ref in prepared.query.tables:
        found = prepared.session.find(ref.parts)
        snapshot = at.get((found.catalog.name, found.name), 0)
        pin = {opt.SCAN_SNAPSHOT_ID.key: str(snapshot)} if snapshot and ref.travel is None else {}
        tables.append(replace(ref, options={**ref.options, **pin}))
    return replace(prepared.query, tables=tuple(tables))


def _by_spark(session: Session, prepared: PreparedQuery, query: Query) -> tuple[pa.Table, tuple[DataField, ...]]:
    from paimon_nb.format.types import DataField
    from paimon_nb.session.execute.known_errors import raise_known_error
    from paimon_nb.session.query.result_columns import result_columns
    from paimon_nb.session.query.run_query import run_query
    from paimon_nb.spark.errors import spark_errors
    from paimon_nb.spark.runtime.arrow_interop import to_arrow

    raise_known_error(prepared.session, prepared.text, query)
    prepared.session._spark = session.spark
    frame = run_query(prepared.session, query, prepared.text, {})
    columns = result_columns(prepared.session, query, frame)
    fields = tuple(DataField(i, name, kind) for i, (name, kind, _, _) in enumerate(columns))
    with spark_errors(prepared.text, query.span):
        return to_arrow(frame, fields), fields


def as_columns(rows: pa.Table, fields: Sequence[DataField]) -> pa.Table:
    """The result with the columns of the table, by name.

    Raises:
        SchemaMismatch: a column is missing, or a value does not fit the type. NullNotAllowed: NULL in a key.
    """
    from paimon_nb.format.data.schema_cast import cast_to_schema

    return cast_to_schema(rows.select([f.name for f in fields if f.name in rows.column_names]), fields)
