"""A streaming statement with its plan and its output."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.run_query import run_query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session
    from paimon_nb.session.streaming.planner import StreamPlan
    from paimon_nb.session.streaming.sinks import Output
    from paimon_nb.statements import Query


@dataclass(frozen=True, slots=True)
class StreamStatement:
    """What a `StreamRun` runs."""

    session: Session
    """The user's session."""
    plan: StreamPlan
    query: Query
    text: str
    params: Mapping[str, Any]
    output: Output
    folder: str | None = None
    """The checkpoint's folder in the session's checkpoint directory; None: it does not resume, as a SELECT in Flink."""

    def rows(
        self,
        session: Session,
        frames: Mapping[tuple[str, ...], DataFrame],
        hidden: tuple[str, ...] = (),
        rewrite: Callable[[str], str] | None = None,
    ) -> DataFrame:
        """The query over `frames`, which replace the tables of these names.

        Args:
            session: a copy of the user's session, see `session_copy_for_stream`.
            hidden: columns of the frames that the result keeps.
            rewrite: changes the text for Spark.
        """
        return run_query(session, self.query, self.text, self.params, frames, hidden, rewrite=rewrite)
