"""Base class of CDC syncs: a job in a thread, the mapping of source tables to targets, and commits to all targets."""

from __future__ import annotations

import hashlib
import re
import threading
import time
from abc import ABC, abstractmethod
from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc.metadata import MetadataColumns
from paimon_nb.connectors.cdc.target import SourceSchema, Target, TargetOptions, open_target

if TYPE_CHECKING:
    from collections.abc import Mapping

    from paimon_nb.catalog.api import Catalog

RECONNECT_TIMEOUT_S = 600.0
"""How long a sync waits for an unreachable server."""


@dataclass(frozen=True, slots=True)
class Naming:
    """Mapping of source tables to target tables."""

    database: str
    table: str | None = None
    """Target of all source tables; None: each source table has a target of its name."""
    prefix: str = ""
    suffix: str = ""
    including: str = ".*"
    excluding: str | None = None
    merge_shards: bool = True
    """Whether tables of the same name in several databases share a target."""

    def of(self, schema: str, table: str) -> str | None:
        """Name of the target table; None if the source table is excluded."""
        if self.table is not None:
            return self.table
        if not re.fullmatch(self.including, table):
            return None
        if self.excluding is not None and re.fullmatch(self.excluding, table):
            return None
        plain = table if self.merge_shards else f"{schema}_{table}"
        return f"{self.prefix}{plain}{self.suffix}"


@dataclass(frozen=True, slots=True)
class ValueCounts:
    """Values and records of a source that were not stored as they are."""

    changed: int
    """Values that became NULL or another value."""
    dead_lettered: int
    """Records in tables of dead letters."""
    skipped: int
    """Records that were left out because `skip_record` names them."""


@dataclass(frozen=True, slots=True)
class SyncOptions:
    naming: Naming
    target: TargetOptions = field(default_factory=TargetOptions)
    modes: frozenset[str] = frozenset()
    """Modes of the type mapping."""
    ignore_incompatible: bool = False
    """Skip source tables that do not fit their target instead of failing."""
    interval_s: float = 1.0
    """Time between commits."""
    metadata: tuple[str, ...] = ()
    """Keys of metadata columns."""
    metadata_prefix: str = ""


class SyncJob(ABC):
    """A running sync. Has the job interface of a Spark StreamingQuery: `isActive`, `stop`, `awaitTermination`, `exception`."""

    known_metadata: Mapping[str, str] = {}
    """Types of the metadata that the source has, by key."""
    save_position_s = 3600.0
    """Seconds after which targets without changes store their position."""

    def __init__(self, catalog: Catalog, options: SyncOptions, source: str) -> None:
        """`source`: text that identifies the source and is stable over restarts. The commit user is derived from it.

        Raises BadOptionValue: the source has no such metadata.
        """
        self.metadata = MetadataColumns.of(options.metadata, options.metadata_prefix, self.known_metadata)
        self.catalog, self.options = catalog, options
        self.user = "cdc-" + hashlib.sha256(source.encode()).hexdigest()[:16]
        self.targets: dict[str, Target] = {}
        self.notes: list[str] = []
        self.skipped_messages = 0
        """Messages that could not be parsed and that `skip_record` names."""
        self._stop = threading.Event()
        self._error: BaseException | None = None
        self._thread: threading.Thread | None = None
        self._last_save = time.monotonic()

    @abstractmethod
    def prepare_targets(self) -> None:
        """Read the source schemas, create targets or evolve their schemas. Raises their errors."""

    @abstractmethod
    def run_sync(self) -> None:
        """Read the source until it ends or `_stop` is set. Raises its error."""

    @abstractmethod
    def position_of(self, target: Target) -> str:
        """Position in the log of the source up to which a target is complete."""

    @property
    def rows(self) -> int:
        """Number of changes committed since the start."""
        return sum(t.rows for t in self.targets.values())

    def last_commit_ms(self) -> int | None:
        """The time of the last commit since the start, epoch milliseconds; None: there is none."""
        times = [t.last_commit_ms for t in self.targets.values() if t.last_commit_ms is not None]
        return max(times, default=None)

    @property
    def position_text(self) -> str:
        """The position in the source of each target, for people."""
        positions = {t.position for t in self.targets.values() if t.position is not None}
        return ", ".join(sorted(positions)[:3])

    @property
    def value_counts(self) -> ValueCounts:
        """What became of values that do not fit their columns, since the start."""
        checked = [t.checked for t in self.targets.values()]
        return ValueCounts(
            sum(sum(c.changed.values()) for c in checked),
            sum(c.dead for c in checked),
            sum(c.skipped for c in checked) + self.skipped_messages,
        )

    @property
    def value_notes(self) -> list[str]:
        """One line for each column and reason: how many values were changed, and why."""
        rule = self.options.target.on_value_error
        return [
            f"{target.name}.{column}: {count:,} value{'s' * (count != 1)} did not fit: {reason} (on_value_error = '{rule.value}')"
            for target in self.targets.values()
            for (column, reason), count in sorted(target.checked.changed.items())
        ]

    def start(self) -> None:
        """Prepare, then run in a thread. Raises as `prepare_targets`."""
        self.prepare_targets()
        self._thread = threading.Thread(target=self._run_until_stopped, name="paimon-sync", daemon=True)
        self._thread.start()

    @property
    def isActive(self) -> bool:  # noqa: N802  defined by Spark
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

    # -- for subclasses

    def open(self, name: str, source_schema: SourceSchema) -> Target:
        """The target table; created, or its schema evolved. Raises SchemaChangeError, UnsupportedOperation."""
        target = self.targets.get(name)
        if target is None:
            full = Identifier(self.options.naming.database, name)
            target = self.targets[name] = open_target(self.catalog, full, self.user, source_schema, self.options.target)
        else:
            target.evolve_schema(source_schema)
        return target

    def commit(self) -> None:
        """Commit the changes of every target together with its position."""
        for target in self.targets.values():
            if target.pending:
                target.commit(self.position_of(target))
            else:
                target.on_idle_checkpoint(self.options.interval_s)

    def save_positions(self) -> None:
        """Now and then, let targets without changes store their position, too: the source deletes old parts of its log."""
        if time.monotonic() - self._last_save > self.save_position_s:
            self._last_save = time.monotonic()
            for target in self.targets.values():
                position = self.position_of(target)
                if target.stored_position != position:
                    target.store_start_position(position)

    def skip_tables(self, sources: str, error: PaimonError) -> None:
        """Continue without some source tables if `ignore_incompatible` is set or, in a database sync, if they have no primary
        key. Raises `error` otherwise."""
        keyless = self.options.naming.table is None and isinstance(error, UnsupportedOperation)
        if not (self.options.ignore_incompatible or keyless):
            raise error
        self.notes.append(f"left out: {sources}: {error.message}")

    def _run_until_stopped(self) -> None:
        try:
            self.run_sync()
        except BaseException as error:
            self._error = error
            for target in self.targets.values():
                target.abort()
