"""Views that a catalog stores: created, dropped, and found where no table has the name."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from paimon_nb.base.errors import NameError_, SqlAnalysisError, UnsupportedFormat
from paimon_nb.session.query.hints import check_reading_options
from paimon_nb.sql import parse
from paimon_nb.statements import CreateView, TableRef

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.session.core.session import Session

_HEAD = "CREATE TEMPORARY VIEW v AS "
_open: ContextVar[tuple[tuple[str, Identifier], ...]] = ContextVar("views that are being read", default=())


def find_view(session: Session, ref: TableRef) -> tuple[str, Identifier, CreateView, str] | None:
    """Catalog, name, definition and text of the stored view that a reference names; None if there is none.

    Raises:
        UnsupportedFormat: its query is not in a dialect of this product.
        UnsupportedOperation: a hint in it has an option that does more than choose what is read.
    """
    if ref.function is not None or ref.travel is not None:
        return None
    try:
        found = session.find(ref.parts)
        stored = None if found.name.system is not None else found.catalog.view(found.name)
    except NameError_:
        return None
    if stored is None:
        return None
    query = stored.query_in(session.dialect)
    text = _HEAD + query
    try:
        [definition] = parse(text)
    except (NameError_, ValueError):
        definition = None
    if not isinstance(definition, CreateView):
        raise UnsupportedFormat(
            f"view {found.name}: its query cannot be read: {query:.100}",
            hint="create the view again with a query in Spark's or Flink's dialect",
            feature="view",
        )
    if definition.query is not None:
        check_reading_options(definition.query.tables, f"view {found.name}")
    return found.catalog.name, found.name, definition, text


def is_inside_view() -> bool:
    """Whether names are those of a stored view, which sees neither variables nor files of the caller."""
    return bool(_open.get())


def name_of_open_view() -> str | None:
    """The stored view whose text is being read, for errors; None: the text is not a view's."""
    views = _open.get()
    return f"view {views[-1][1]}" if views else None


@contextmanager
def inside_view(session: Session, catalog: str, name: Identifier) -> Iterator[None]:
    """Names are resolved in the view's database. Raises SqlAnalysisError for a view that reads itself."""
    reading = _open.get()
    if (catalog, name) in reading:
        raise SqlAnalysisError(
            f"view {name} reads itself", hint="DROP VIEW, then create it with another query", name=str(name)
        )
    token = _open.set((*reading, (catalog, name)))
    before = session.current_catalog, session.current_database
    session.current_catalog, session.current_database = catalog, name.database
    try:
        yield
    finally:
        session.current_catalog, session.current_database = before
        _open.reset(token)
