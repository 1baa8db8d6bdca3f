"""The query of a materialized table: its tables with full names, and the session in which it runs."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, UnsupportedFormat, UnsupportedOperation
from paimon_nb.base.identifier import Identifier, quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files.open import OpenedFiles
from paimon_nb.session.query.stored_views import find_view, inside_view
from paimon_nb.sql import parse
from paimon_nb.sql.render import replace_spans
from paimon_nb.statements import Query, Span
from paimon_nb.syntax.lexer import tokens

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.statements import TableRef

_MODE = "execution.runtime-mode"


@dataclass(frozen=True, slots=True)
class Input:
    """A table that a query reads."""

    catalog: str
    name: Identifier
    """Without a system table."""
    pinned: bool
    """Whether the query names a version: changes of the table do not change the result."""
    ref: TableRef | None
    """The reference in the query's own text; None: inside a view, or to a system table."""


def full_names(session: Session, query: Query, text: str) -> str:
    """The query's text with catalog and database before each table, so that it means the same in every session.

    Args:
        text: the whole text that the query's spans point into.

    Raises:
        UnsupportedOperation: it reads what only this session has: a file, a frame, a temporary table or view, a parameter.
        TableNotFound: a table does not exist.
    """
    if query.parameters:
        raise _only_here(f"the parameter :{query.parameters[0]}", "write its value into the query")
    words = tokens(text)
    starts = {token.start: i for i, token in enumerate(words)}
    edits: list[tuple[Span, str]] = []
    for ref in query.tables:
        _check_stored(session, ref)
        found = session.find(ref.parts)
        whole = (found.catalog.name, found.name.database, found.name.object)
        last = words[starts[ref.span.start] + 2 * (len(ref.parts) - 1)]
        edits.append((Span(ref.span.start, last.stop), ".".join(map(quote, whole))))
    return replace_spans(text, query.span, edits).strip()


def _check_stored(session: Session, ref: TableRef) -> None:
    """Raises UnsupportedOperation, TableNotFound: the reference is not to a table or view of a catalog."""
    name = ".".join(ref.parts)
    if ref.file:
        raise _only_here(f"the file {name!r}", "load it into a table, and read that")
    if ref.function is not None:
        raise _only_here(f"the table function {'.'.join(ref.function.name)}", "read the table itself")
    if ref.lookup:
        raise _only_here(f"{name} FOR SYSTEM_TIME AS OF a column", "join the table itself")
    if session.temporary_name(ref.parts) or (
        len(ref.parts) == 1 and (name in session.views or name in session.temporary)
    ):
        raise _only_here(
            f"the temporary table or view {name}", "create a table, or write the view's query in its place"
        )
    found = session.find(ref.parts)
    if found.name.system is None and find_view(session, ref) is not None:
        return
    found.catalog.table(found.name.of_table() if found.name.system else found.name)  # raises with the nearest name


def _only_here(what: str, hint: str) -> UnsupportedOperation:
    return UnsupportedOperation(
        f"a materialized table cannot read {what}: another session refreshes it, too", hint=hint
    )


def parsed_definition(session: Session, definition: Definition, catalog: str) -> tuple[Query, str]:
    """The definition as a query, and its text. A catalog that the session does not have is the table's own.

    Raises:
        UnsupportedFormat: the text is not one query of ours.
    """
    text = definition.query
    query = _query(text)
    if query is None:
        raise UnsupportedFormat(
            f"the query of the materialized table cannot be read: {text:.200}",
            hint="ALTER MATERIALIZED TABLE ... AS SELECT ..., in Spark's or Flink's dialect",
            feature="materialized-table",
        )
    unknown = [r for r in query.tables if len(r.parts) == 3 and not session.has_catalog(r.parts[0])]
    if not unknown:
        return query, text
    first = {t.start: t for t in tokens(text)}
    edits = [(Span(r.span.start, first[r.span.start].stop), quote(catalog)) for r in unknown]
    text = replace_spans(text, query.span, edits)
    found = _query(text)
    assert found is not None
    return found, text


def _query(text: str) -> Query | None:
    try:
        [parsed] = parse(text)
    except (PaimonError, ValueError):
        return None
    return parsed if isinstance(parsed, Query) else None


def session_of_definition(session: Session, definition: Definition, table: ResolvedTable) -> Session:
    """A copy of the session in which the definition's query runs: nothing that only the user's session has can change it."""
    forked = copy.copy(session)
    forked.copied_from = session
    forked.settings = {
        k: v for k, v in dict(session.settings).items() if k != _MODE and not k.startswith(("paimon.", "spark.paimon."))
    }
    if definition.dialect == "flink":
        forked.settings[_MODE] = "batch"
    forked.views, forked.temporary, forked.temporary_databases = {}, {}, {}
    forked.catalogs = dict(session.catalogs)
    forked.variables, forked.parameters = (lambda _name: None), {}
    forked.notes, forked.random_sources, forked.data_files = [], {}, OpenedFiles()
    forked.answers_like_spark, forked.refresher = False, None
    forked.current_catalog, forked.current_database = table.catalog.name, table.name.database
    return forked


def inputs_of(session: Session, query: Query) -> list[Input]:
    """The tables that a query reads, also inside stored views, each once.

    `session`: see `session_of_definition`.
    """
    found: dict[tuple[str, Identifier, bool], Input] = {}
    for one in _inputs(session, query.tables, top=True):
        key = (one.catalog, one.name, one.pinned)
        if key not in found or one.ref is None:
            found[key] = one
    return list(found.values())


def _inputs(session: Session, refs: Sequence[TableRef], *, top: bool) -> Iterator[Input]:
    for ref in refs:
        resolved = session.find(ref.parts)
        view = None if resolved.name.system else find_view(session, ref)
        if view is not None and view[2].query is not None:
            catalog, name, definition, _ = view
            assert definition.query is not None
            with inside_view(session, catalog, name):
                yield from list(_inputs(session, definition.query.tables, top=False))
            continue
        pinned = ref.travel is not None or any(k.startswith("scan.") for k in ref.options)
        of_text = top and resolved.name.system is None and not pinned
        name = resolved.name.of_table() if resolved.name.system else resolved.name
        yield Input(resolved.catalog.name, name, pinned, ref if of_text else None)
