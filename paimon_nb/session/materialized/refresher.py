"""Keeps materialized tables fresh: a thread of a session that refreshes each of its tables when its freshness is over."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import DatabaseNotFound, PaimonError, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.options.materialized import PREFIX
from paimon_nb.session.core.session import ResolvedTable
from paimon_nb.session.materialized.definition import definition_of, is_materialized
from paimon_nb.session.materialized.prepared_query import prepare
from paimon_nb.session.materialized.refresh import Refreshed, materialized_definition, refresh

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from paimon_nb.session.core.session import Session

log = logging.getLogger(__name__)
AUTO_REFRESH = f"{PREFIX}auto-refresh"
"""Setting of a session; 'false': it refreshes tables only by statements."""
_LONGEST_PAUSE_S, _SHORTEST_PAUSE_S = 1.0, 0.05

Name = tuple[str, str, str]
"""Catalog, database and table."""


class Refresher:
    """Refreshes tables of one session in a thread, one after the other, those that others read first."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._due_ms: dict[Name, int] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread: threading.Thread | None = None

    @property
    def tables(self) -> list[Name]:
        """The tables that are kept fresh."""
        with self._lock:
            return list(self._due_ms)

    def keep(self, name: Name) -> None:
        """Refresh a table from now on; the first time when its freshness is over."""
        with self._lock:
            self._due_ms[name] = clock.now_ms() + self._freshness_ms(name)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="paimon-refresh", daemon=True)
                self._thread.start()

    def stop(self) -> None:
        """End the thread; returns when its refresh has ended."""
        self._stopped.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def refresh_due(self) -> dict[Name, Refreshed | PaimonError]:
        """Refresh the tables whose time has come. Errors are stored in the tables, and returned."""
        now = clock.now_ms()
        with self._lock:
            due = [name for name, at in self._due_ms.items() if at <= now]
        done: dict[Name, Refreshed | PaimonError] = {}
        for target in in_order(self._session, [resolve(self._session, name) for name in due]):
            if self._stopped.is_set():
                break
            name = name_of(target)
            try:
                if not materialized_definition(target.catalog.table(target.name)).is_suspended:
                    done[name] = refresh(self._session, target)
            except (TableNotFound, DatabaseNotFound) as error:
                if not _exists(target):
                    with self._lock:
                        self._due_ms.pop(name, None)
                    continue
                done[name] = error
            except PaimonError as error:
                done[name] = error
                log.info("%s: refresh failed: %s", target.name, error)
            with self._lock:
                if name in self._due_ms:
                    self._due_ms[name] = clock.now_ms() + self._freshness_ms(name)
        return done

    def _freshness_ms(self, name: Name) -> int:
        try:
            target = resolve(self._session, name)
            return materialized_definition(target.catalog.table(target.name)).freshness_ms
        except (OSError, PaimonError):  # the table is there: the next look may succeed
            return int(_LONGEST_PAUSE_S * 1000)

    def _run(self) -> None:
        while not self._stopped.wait(self._pause_s()):
            if self._session.setting(AUTO_REFRESH, "true").lower() == "false":
                continue
            try:
                self.refresh_due()
            except Exception:  # an error of one round must not end the thread
                log.exception("refresh of materialized tables failed")

    def _pause_s(self) -> float:
        with self._lock:
            first = min(self._due_ms.values(), default=None)
        if first is None:
            return _LONGEST_PAUSE_S
        return min(_LONGEST_PAUSE_S, max(_SHORTEST_PAUSE_S, (first - clock.now_ms()) / 1000))


def keep_fresh(session: Session, target: ResolvedTable) -> None:
    """Let the session refresh a table from now on."""
    if not isinstance(session.refresher, Refresher):
        session.refresher = Refresher(session)
    session.refresher.keep(name_of(target))


def name_of(target: ResolvedTable) -> Name:
    return (target.catalog.name, target.name.database, target.name.table)


def resolve(session: Session, name: Name) -> ResolvedTable:
    return ResolvedTable(session.catalog_named(name[0]), Identifier(name[1], name[2]))


def _exists(target: ResolvedTable) -> bool:
    try:
        target.catalog.table(target.name)
    except (TableNotFound, DatabaseNotFound):
        return False
    return True


def all_materialized(session: Session) -> list[ResolvedTable]:
    """The materialized tables of the current catalog, by name."""
    catalog = session.catalog
    names = [Identifier(d, t) for d in catalog.databases() for t in catalog.tables(d)]
    return [ResolvedTable(catalog, n) for n in names if _is_materialized(ResolvedTable(catalog, n))]


def _is_materialized(target: ResolvedTable) -> bool:
    try:
        return is_materialized(target.catalog.table(target.name).schema.options)
    except PaimonError:  # a broken table is none
        return False


def in_order(session: Session, targets: Iterable[ResolvedTable]) -> list[ResolvedTable]:
    """The tables, each after those of them that it reads."""
    waiting = {name_of(t): t for t in targets}
    out: dict[Name, ResolvedTable] = {}

    def visit(name: Name, open_names: tuple[Name, ...]) -> None:
        if name not in waiting or name in out or name in open_names:
            return
        for read in _tables_read(session, waiting[name]):
            visit(read, (*open_names, name))
        out[name] = waiting[name]

    for name in waiting:
        visit(name, ())
    return list(out.values())


def _tables_read(session: Session, target: ResolvedTable) -> Iterator[Name]:
    try:
        options = target.catalog.table(target.name).schema.options
        inputs = prepare(session, definition_of(options, target.name), target).inputs
    except PaimonError:  # its refresh says what is wrong
        return
    for one in inputs:
        yield (one.catalog, one.name.database, one.name.table)
