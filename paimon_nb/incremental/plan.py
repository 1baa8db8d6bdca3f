"""An analysed query: its operators, what a change costs at each, and the refresh of a target."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.incremental.analysed import AnalysedQuery
from paimon_nb.incremental.analysis import build, parsed_query, sources_of
from paimon_nb.incremental.explain import explain_recomputed, explain_text
from paimon_nb.session.query.local.not_local import NotLocal

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.incremental.refreshing import RefreshResult
    from paimon_nb.session.core.session import Session
    from paimon_nb.table.tables.table import Table


class IncrementalPlan(AnalysedQuery):
    """An analysed query that can be explained, and refresh a target."""

    def explain(self) -> str:
        """The operators as text, one a line, the last one first."""
        if self.built is None:
            return explain_recomputed(self.reason, [str(s.table.name) for s in self.sources])
        return explain_text(self.built.operator)

    def refresh(
        self, target: Table | str | Sequence[str], *, rebuild: bool = False, properties: Mapping[str, str] | None = None
    ) -> RefreshResult:
        """Move a target to the newest snapshots of the inputs, in one commit. The first call builds it.

        Args:
            target: a Paimon table with the columns of the query, or its name. With a primary key the rows of the result
                must be different in it; without one, equal rows may be there several times.
            rebuild: compute everything again, also the state; unchanged rows of the target are not written.
            properties: more properties for the snapshot.

        Returns:
            What was done. Without changes of the inputs nothing is committed.

        Raises:
            QueryChanged: the target was written by another query.
            TargetChanged: others have written rows to the target.
            SchemaMismatch: the target has other columns.
            CommitConflict: another process refreshed the target meanwhile; nothing was changed.
        """
        from paimon_nb.incremental.refreshing import refresh

        return refresh(self, target, rebuild=rebuild, properties=properties)

    def drop_state(self, target: Table | str | Sequence[str]) -> list[str]:
        """Drop the state tables of a target.

        Args:
            target: the target, or its name.

        Returns:
            The names of the dropped tables.
        """
        from paimon_nb.incremental.refreshing import drop_state

        return drop_state(self.session, target)


def analyse(session: Session, text: str, parameters: Mapping[str, Any] | None = None) -> IncrementalPlan:
    """How a query can be kept up to date. Reads metadata only.

    Args:
        session: where its names are resolved.
        text: one query.
        parameters: values of its `:name` markers.

    Returns:
        The plan.

    Raises:
        SqlSyntaxError: the text cannot be parsed.
        SqlAnalysisError: it is not one query.
        TableNotFound: a table does not exist.

    Examples:
        >>> plan = analyse(wb.session, "SELECT state, count(*) AS n FROM orders GROUP BY state")
        >>> plan.is_incremental
        True
    """
    query = parsed_query(text)
    try:
        built, shared = build(session, query, text, parameters or {})
    except NotLocal as reason:
        sources, why = sources_of(session, query)
        reasons = "; ".join(dict.fromkeys(r for r in (str(reason), why) if r))
        return IncrementalPlan(session, text, query, None, tuple(sources), reasons, parameters or {})
    return IncrementalPlan(
        session, text, query, built, tuple(shared.sources), "", parameters or {}, tuple(shared.checks.texts)
    )
