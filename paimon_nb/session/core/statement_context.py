"""The context in which a statement runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.session.core.session import Session


@dataclass(frozen=True, slots=True)
class StatementContext:
    """The context of a statement: the session, the whole text that spans point into, and the values of `:name` markers."""

    session: Session
    text: str
    params: Mapping[str, Any]
    displayed: bool = False
    """Whether the rows of a query are only shown, so that they need not be a DataFrame of Spark."""
