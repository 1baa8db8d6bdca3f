"""The session's SQL for conditions of Python, procedures and panels (`where=`): what the table package does not compute itself."""

from __future__ import annotations

import threading
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError, SqlAnalysisError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.statements import Query

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.session.core.session import Session
    from paimon_nb.table.tables.table import Table

_ROWS, _NUMBER, _RESULT = "rows__of_condition", "row__of_condition", "result__of_condition"
_one_at_a_time = threading.RLock()
"""Files are read in threads, and a session runs one query at a time."""


def with_session_sql(session: Session, table: Table) -> Table:
    """The same handle, whose conditions are in the session's SQL."""
    own = SessionSql(session, session.flink_semantics)
    if table.store.sql != own:  # catalogs return the same handle each time
        table.store = replace(table.store, sql=own)
    return table


def _no_session() -> None:
    """What a pickled session is in another process."""


@dataclass(frozen=True, slots=True)
class SessionSql:
    """Computes conditions as the session's SELECT does: in the embedded engine where its answer is Spark's, else in Spark."""

    session: Session
    flink: bool
    """Whether the session had Flink's dialect when it opened the table."""

    @property
    def time_zone(self) -> str:
        """The session's time zone."""
        return self.session.time_zone

    def __reduce__(self) -> Any:
        return _no_session, ()

    def compute(self, condition: str, rows: pa.Table) -> pa.Array | pa.ChunkedArray:
        """True, false or NULL for each row.

        Raises: SqlError: not a condition, or an error of a value, such as a division by zero.
        """
        import pyarrow as pa

        if not rows.num_rows:
            return pa.array([], pa.bool_())
        numbered = rows.append_column(_NUMBER, pa.array(range(rows.num_rows), pa.int64()))
        text = f"SELECT {_NUMBER}, ({condition}) AS {_RESULT} FROM {_ROWS}"
        with _one_at_a_time:
            found = self._run(text, numbered, condition)
        kind = found.schema.field(_RESULT).type
        if pa.types.is_null(kind):
            return pa.nulls(rows.num_rows, pa.bool_())
        if not pa.types.is_boolean(kind):
            raise SqlAnalysisError(
                f"{condition} is not a condition: its values are {kind}", hint="compare it with a value"
            )
        return found.sort_by(_NUMBER).column(_RESULT)

    def _run(self, text: str, rows: pa.Table, condition: str) -> pa.Table:
        """The result of a SELECT from the rows. Raises SqlError."""
        from paimon_nb.sql import parse

        session, before = self.session, self.session.parameters
        session.parameters = {**before, _ROWS: rows}
        try:
            [query] = parse(text)
            assert isinstance(query, Query)
            return _local_rows(session, query, text) or _rows_of_spark(session, query, text)
        except PaimonError as error:
            start = text.index(f"({condition})") + 1
            for key in ("start", "stop"):  # positions in the condition, not in the SELECT around it
                if isinstance(error.facts.get(key), int):
                    error.facts[key] = min(max(error.facts[key] - start, 0), len(condition))
            error.facts["sql"] = condition
            raise
        finally:
            session.parameters = before


def _local_rows(session: Session, query: Query, text: str) -> pa.Table | None:
    """The rows, computed by the embedded engine; None: Spark must compute them."""
    from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine
    from paimon_nb.session.query.local.not_local import NotLocal

    with suppress(NotLocal, PaimonError):
        return run_in_embedded_engine(prepare_for_embedded_engine(session, query, text))[0]
    return None


def _rows_of_spark(session: Session, query: Query, text: str) -> Any:
    from paimon_nb.session.query.run_query import run_query
    from paimon_nb.spark.errors import spark_errors

    with spark_errors(text, query.span):
        return run_query(session, query, text, {}).toArrow()
