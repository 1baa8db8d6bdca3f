"""The whole result of a query, as it is displayed: by the embedded engine if it answers as Spark would, else by Spark."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine
from paimon_nb.session.query.local.not_local import NotLocal

if TYPE_CHECKING:
    import pyarrow as pa

    from paimon_nb.incremental.analysed import AnalysedQuery


def batch_rows(plan: AnalysedQuery) -> pa.Table:
    """All rows of the result. Raises SqlError, EngineError: the query's own errors."""
    session, query, text = plan.session, plan.query, plan.text
    try:
        return run_in_embedded_engine(prepare_for_embedded_engine(session, query, text, plan.parameters))[0]
    except NotLocal:
        pass
    from paimon_nb.session.query.run_query import run_query
    from paimon_nb.spark.errors import spark_errors

    with spark_errors(text, query.span):
        rows: Any = run_query(session, query, text, plan.parameters).toArrow()
    return rows
