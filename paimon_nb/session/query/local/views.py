"""The queries of views: temporary ones of the session, and those that a catalog stores."""

from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.session.query.local.not_local import NotLocal
from paimon_nb.session.query.stored_views import find_view, inside_view

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from paimon_nb.session.core.session import Session
    from paimon_nb.statements import CreateView, Query, TableRef
    from paimon_nb.syntax.tree import QueryTree


@dataclass(frozen=True, slots=True)
class View:
    """A view's query."""

    query: Query
    tree: QueryTree
    text: str
    """What the query's spans point into."""
    columns: tuple[str, ...]
    """Its names of the columns; () if they are those of the query."""
    names: Callable[[], AbstractContextManager[None]]
    """Names are resolved in the view's database inside this block."""


def find_query_of_view(session: Session, ref: TableRef) -> View | None:
    """The view that a reference names; None: it is not a view. Raises NotLocal."""
    if ref.function is not None or ref.file or ref.lookup:
        return None
    if len(ref.parts) == 1 and ref.parts[0] in session.views:
        if ref.travel is not None or ref.options:
            raise NotLocal(f"{ref.parts[0]} is a view, and has no snapshots")
        return _view(*session.views[ref.parts[0]], nullcontext)
    if len(ref.parts) == 1 and ref.parts[0] in session.temporary:
        return None
    if session.temporary_name(ref.parts) is not None or session.exists(ref.parts):
        return None
    stored = find_view(session, ref)
    if stored is None:
        return None
    catalog, name, view, text = stored
    return _view(view, text, partial(inside_view, session, catalog, name))


def _view(view: CreateView, text: str, names: Callable[[], AbstractContextManager[None]]) -> View:
    if view.query is None or view.query.tree is None:
        raise NotLocal("the structure of a view is not known")
    return View(view.query, view.query.tree, text, tuple(view.columns), names)
