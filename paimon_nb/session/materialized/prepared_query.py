"""A definition's query, ready to run: its inputs, the columns of its result, and its rows at some snapshots."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.format.types import DataField
from paimon_nb.options import table as opt
from paimon_nb.session.materialized.definition_query import Input, inputs_of, parsed_definition, session_of_definition
from paimon_nb.session.query.engine_choice import SPARK, first_answer
from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.table.read.plan.shared_plans import shared_plans

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.statements import Query


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query, the session in which it runs, and the tables that it reads."""

    session: Session
    """A session of its own."""
    query: Query
    text: str
    inputs: tuple[Input, ...]

    def fields(self) -> tuple[DataField, ...]:
        """The columns of its result. Starts Spark if the embedded engine cannot answer.

        Raises:
            SchemaMismatch: two columns have the same name.
            PaimonError: the query is not possible.
        """
        try:
            outputs = prepare_for_embedded_engine(self.session, self.query, self.text).translation.outputs
            fields = tuple(DataField(i, o.name or "", o.type) for i, o in enumerate(outputs))
        except NotLocal:
            fields = self._fields_by_spark()
        names = [f.name for f in fields]
        twice = next((n for i, n in enumerate(names) if n in names[:i]), None)
        if twice is not None:
            raise SchemaMismatch(f"the query has two columns {twice!r}", hint="give one of them another name: x AS y")
        return fields

    def column_names(self) -> tuple[str, ...]:
        """The names of the columns of its result."""
        return tuple(f.name for f in self.fields())

    def _fields_by_spark(self) -> tuple[DataField, ...]:
        from paimon_nb.session.execute.known_errors import raise_known_error
        from paimon_nb.session.query.result_columns import result_columns
        from paimon_nb.session.query.run_query import run_query

        raise_known_error(self.session, self.text, self.query)
        frame = run_query(self.session, self.query, self.text, {})
        columns = result_columns(self.session, self.query, frame)
        return tuple(DataField(i, name, kind) for i, (name, kind, _, _) in enumerate(columns))

    def rows_at(self, snapshots: Mapping[str, int]) -> pa.Table:
        """The result with inputs at snapshots, by `database.table`; other inputs as they are.

        Raises:
            PaimonError: the query failed.
        """
        tables = []
        for ref in self.query.tables:
            snapshot = snapshots.get(self.session.find(ref.parts).name.text)
            pin = {opt.SCAN_SNAPSHOT_ID.key: str(snapshot)} if snapshot and ref.travel is None else {}
            tables.append(replace(ref, options={**ref.options, **pin}))
        query = replace(self.query, tables=tuple(tables))
        with shared_plans():
            engines = (("embedded", lambda: self._rows_embedded(query)), (SPARK, lambda: self._rows_by_spark(query)))
            return first_answer(self.session, engines)

    def _rows_embedded(self, query: Query) -> pa.Table:
        prepared = prepare_for_embedded_engine(self.session, query, self.text)
        return run_in_embedded_engine(prepared)[0]

    def _rows_by_spark(self, query: Query) -> pa.Table:
        from paimon_nb.session.query.run_query import run_query
        from paimon_nb.spark.errors import spark_errors
        from paimon_nb.spark.runtime.arrow_interop import to_arrow
        from paimon_nb.spark.types import fields_of_spark

        frame = run_query(self.session, query, self.text, {})
        with spark_errors(self.text, query.span):
            return to_arrow(frame, fields_of_spark(frame.schema))


def prepare(session: Session, definition: Definition, table: ResolvedTable) -> PreparedQuery:
    """Parse the definition and find its inputs.

    Raises:
        UnsupportedFormat: the query cannot be read. TableNotFound: an input does not exist.
    """
    own = session_of_definition(session, definition, table)
    query, text = parsed_definition(own, definition, table.catalog.name)
    return PreparedQuery(own, query, text, tuple(inputs_of(own, query)))
