"""Texts that the user of the session did not write: stored views, functions and computed columns, and the statements of assistants.

What they may do is decided before Spark analyses them, see `spark/plan_check.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.session.query.stored_views import is_inside_view, name_of_open_view

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from pyspark.sql import DataFrame

    from paimon_nb.session.core.session import Session


def must_be_checked(session: Session) -> bool:
    """Whether the text that is being read now is not the user's own."""
    return session.only_reads or is_inside_view()


def analyse(
    session: Session,
    text: str,
    args: Mapping[str, Any] | None = None,
    functions: Collection[str] = (),
    relation: Callable[[tuple[str, ...]], bool] = lambda _parts: False,
) -> DataFrame:
    """Spark's analysis of a query, whose tables are views. Checks a text that is not the user's own.

    Args:
        functions: names of functions that this package made for the query.
        relation: whether a stored view may read the table of Spark's own catalog with this name; an assistant may read none.

    Raises: UnsupportedOperation: the text may do more than read tables. Spark's errors.
    """
    if must_be_checked(session):
        from paimon_nb.spark.plan_check import check_query

        check_query(
            session.spark,
            text,
            name_of_open_view() or "the statement",
            functions=functions,
            relation=lambda parts: not session.only_reads and relation(parts),
        )
    return session.spark.sql(text, args=dict(args) if args else None)
