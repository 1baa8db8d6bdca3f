"""What every sync is: a job in a thread, which source table goes where, and targets that are committed together. Knows no source."""

from __future__ import annotations

import hashlib
import re
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from paimon_nb.base.errors import PaimonError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import Catalog
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target

AWAY_S = 600.0
"""How long a sync waits for a server that went away."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Which target a source table has."""

    database: str
    table: str | None = None
    """All sources into this one; None: each into one of its name."""
    prefix: str = ""
    suffix: str = ""
    including: str = ".*"
    excluding: str | None = None
    merge_shards: bool = True
    """Tables of one name in several databases share a target."""

    def of(self, schema: str, table: str) -> str | None:
        """The target table's name, None when the source is left out."""
        if self.table is not None:
            return self.table
        if not re.fullmatch(self.including, table):
            return None
        if self.excluding is not None and re.fullmatch(self.excluding, table):
            return None
        plain = table if self.merge_shards else f"{schema}_{table}"
        return f"{self.prefix}{plain}{self.suffix}"


@dataclass(frozen=True, slots=True)
class SyncOptions:
    naming: Naming
    target: TargetOptions = field(default_factory=TargetOptions)
    modes: frozenset[str] = frozenset()
    """Of the type mapping."""
    ignore_incompatible: bool = False
    """Leave source tables out that do not fit their target, instead of failing."""
    interval_s: float = 1.0
    """Between commits."""


class SyncJob(ABC):
    """A running sync. Answers as the session's jobs ask: `isActive`, `stop`, `awaitTermination`, `exception`."""

    def __init__(self, catalog: Catalog, options: SyncOptions, source: str) -> None:
        """`source`: what is synced, in words that stay the same over restarts; it tells this sync's commits from others'."""
        self.catalog, self.options = catalog, options
        self.user = "cdc-" + hashlib.sha256(source.encode()).hexdigest()[:16]
        self.targets: dict[str, Target] = {}
        self.notes: list[str] = []
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None

    @abstractmethod
    def prepare(self) -> None:
        """Ask the source, make and grow the targets. Raises what is wrong."""

    @abstractmethod
    def work(self) -> None:
        """Follow the source until it ends or `_stop` is set. Raises its error."""

    @abstractmethod
    def position_of(self, target: Target) -> str:
        """The place in the source's log that a target has everything before."""

    @property
    def rows(self) -> int:
        """Changes stored since the start."""
        return sum(t.rows for t in self.targets.values())

    def start(self) -> None:
        """Prepare now, so that what is wrong is said here; the rest in a thread. Raises what `prepare` raises."""
        self.prepare()
        self._thread = threading.Thread(target=self._guarded, name="paimon-sync", daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802  Spark's name
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None and threading.current_thread() is not self._thread:
            self._thread.join(60)

    def awaitTermination(self, timeout: float | None = None) -> bool:  # noqa: N802
        if self._thread is not None:
            self._thread.join(timeout)
        return not self.isActive

    def exception(self) -> BaseException | None:
        return self._error

    # -- for those who know a source

    def open(self, name: str, source_schema: SourceSchema) -> Target:
        """The target of this name, made or grown. Raises SchemaChangeError, UnsupportedOperation."""
        target = self.targets.get(name)
        if target is None:
            full = Identifier(self.options.naming.database, name)
            target = self.targets[name] = open_target(self.catalog, full, self.user, source_schema, self.options.target)
        else:
            target.grow(source_schema)
        return target

    def commit(self) -> None:
        """Make visible what every target was given, with the place behind it."""
        for target in self.targets.values():
            if target.pending:
                target.commit(self.position_of(target))
            else:
                target.on_empty_checkpoint(self.options.interval_s)

    def leave_out(self, sources: str, error: PaimonError) -> None:
        """Go on without some source tables, where the options allow it or they are without keys in a database. Raises `error`."""
        keyless = self.options.naming.table is None and isinstance(error, UnsupportedOperation)
        if not (self.options.ignore_incompatible or keyless):
            raise error
        self.notes.append(f"left out: {sources}: {error.message}")

    def _guarded(self) -> None:
        try:
            self.work()
        except BaseException as error:
            self._error = error
            for target in self.targets.values():
                target.abort()
