"""Jobs of other processes on the tables of a database: known by their consumers and by the commits of streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, SnapshotNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.connectors.cdc.target import POSITION
from paimon_nb.table.read.stream.consumer import is_own_consumer
from paimon_nb.table.write.publish.changes import BATCH_IDENTIFIER
from paimon_nb.table.write.stream_committer import is_own_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.session.core.session import Session
    from paimon_nb.table.tables.table import Table

MAX_TABLES = 200
"""Tables that are looked at."""
_MAX_SNAPSHOTS = 20
"""Newest snapshots of a table that are looked at for commits of streams."""


@dataclass(frozen=True, slots=True)
class OtherJob:
    """A reader or writer that this process did not start."""

    id: str
    """The `consumer-id`, or the commit user."""
    table: str
    reads: bool
    """Whether it reads the table; otherwise it writes it."""
    position: str
    """The last snapshot that it has read; the position in its source, or the number of its last commit."""
    behind: int | None
    """Snapshots that a reader has not read."""
    last_ms: int | None
    """When it last stored its progress, or committed; epoch milliseconds."""


def other_jobs(session: Session) -> list[OtherJob]:
    """The jobs of other processes on the tables of the current database. Tables that cannot be read are left out."""
    found: list[OtherJob] = []
    try:
        catalog, database = session.catalog, session.current_database
        names = sorted(catalog.tables(database))[:MAX_TABLES]
    except PaimonError:
        return []
    for name in names:
        try:
            table = catalog.table(Identifier(database, name))
            if not table.store.is_format_table:
                found += [*_readers(table), *_writers(table)]
        except PaimonError:
            continue  # dropped meanwhile, or not ours
    return found


def _readers(table: Table) -> Iterator[OtherJob]:
    store = table.store
    times = store.consumers.modified_ms()
    latest = (store.snapshots.latest_id() or 0) if times else 0
    for consumer, modified_ms in sorted(times.items()):
        if is_own_consumer(store, consumer):
            continue
        read = store.consumers.next_snapshot(consumer) - 1
        yield OtherJob(
            consumer, str(table.name), True, f"{table.name}: snapshot {read}", max(0, latest - read), modified_ms
        )


def _writers(table: Table) -> Iterator[OtherJob]:
    """The last commit of each stream. A batch statement has another kind of commit identifier."""
    snapshots = table.store.snapshots
    latest, seen = snapshots.latest_id() or 0, set[str]()
    for number in range(latest, max(0, latest - _MAX_SNAPSHOTS), -1):
        try:
            snapshot = snapshots.get(number)
        except SnapshotNotFound:
            return
        user = snapshot.commit_user
        if user in seen or snapshot.commit_identifier == BATCH_IDENTIFIER or is_own_stream(user):
            continue
        seen.add(user)
        position = (snapshot.properties or {}).get(POSITION) or f"commit {snapshot.commit_identifier}"
        yield OtherJob(user, str(table.name), False, position, None, snapshot.time_ms)
