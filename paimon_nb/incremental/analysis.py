"""Which operators a query has, and for each of them what a change costs."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import SqlAnalysisError
from paimon_nb.incremental.build import Builder
from paimon_nb.incremental.inputs import open_input
from paimon_nb.incremental.operators import Source
from paimon_nb.incremental.shared import Built, Shared
from paimon_nb.incremental.written import written_tree
from paimon_nb.session.query.local import engine
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.local.views import find_query_of_view
from paimon_nb.sql import parse
from paimon_nb.statements import Query

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.session.core.session import Session


@lru_cache(maxsize=64)
def parsed_query(text: str) -> Query:
    """The query of a text. Raises SqlSyntaxError, SqlAnalysisError: it is another statement."""
    statements = parse(text)
    if len(statements) != 1 or not isinstance(statements[0], Query):
        raise SqlAnalysisError("an incremental table is defined by one query", hint="write one SELECT", sql=text)
    return statements[0]


def build(session: Session, query: Query, text: str, parameters: Mapping[str, Any]) -> tuple[Built, Shared]:
    """The operators of a query. Raises NotLocal: it is computed again at each refresh; the message says why."""
    engine.check_installed()
    shared = Shared(session, parameters)
    return Builder(shared, query, text).tree(written_tree(session, query, text)), shared


def sources_of(session: Session, query: Query) -> tuple[list[Source], str]:
    """The tables of a query that is computed again, by which a refresh sees whether something changed.

    Returns:
        The tables; none, and the reason, if an input cannot be followed: then each refresh computes.
    """
    shared = Shared(session, {})
    try:
        _add_sources(shared, query)
    except NotLocal as reason:
        return [], str(reason)
    return shared.sources, ""


def _add_sources(shared: Shared, query: Query) -> None:
    for ref in query.tables:
        view = find_query_of_view(shared.session, ref)
        if view is None:
            table = open_input(shared.session, ref)
            shared.sources.append(Source(ref, table, shared.new_name("t"), {}, len(shared.sources)))
            continue
        with view.names():
            _add_sources(shared, view.query)
