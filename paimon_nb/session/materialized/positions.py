"""Up to which snapshots of its inputs a materialized table has the result: in the properties of its own snapshots."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, SnapshotNotFound
from paimon_nb.base.identifier import Identifier, quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.options.materialized import PREFIX

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.session.core.session import Session
    from paimon_nb.session.materialized.definition_query import Input
    from paimon_nb.table.read.store import TableStore

INPUTS = f"{PREFIX}inputs"
"""Property of a snapshot: JSON, input -> [snapshot, its time, schema]."""
QUERY = f"{PREFIX}query"
"""Property of a snapshot: a hash of the definition whose result the snapshot has."""
_LOOKED_BACK = 200
"""Snapshots of a table that are searched for its positions."""
_WITHOUT_ROWS = frozenset({"COMPACT", "ANALYZE"})

Position = tuple[int, int, int]
"""Snapshot, its time in epoch milliseconds, the table's schema; snapshot 0: the table had none. The time differs in a new table of the
same name."""
Positions = dict[str, Position]
"""By input."""


def key_of(name: Identifier, catalog: str, own_catalog: str) -> str:
    """How an input is named in a position: without the catalog if it is that of the materialized table."""
    parts = (name.database, name.object)
    return ".".join(map(quote, parts if catalog == own_catalog else (catalog, *parts)))


def newest_positions(session: Session, inputs: Sequence[Input], own_catalog: str) -> Positions | None:
    """The newest snapshot with changed rows of each input; None: an input has no snapshots at all, as a format table."""
    out: Positions = {}
    for one in inputs:
        if one.pinned:
            continue
        store = session.catalog_named(one.catalog).table(one.name).store
        if store.is_format_table:
            return None
        newest = newest_change(store)
        out[key_of(one.name, one.catalog, own_catalog)] = (
            (newest.id, newest.time_ms, store.schema.id) if newest else (0, 0, store.schema.id)
        )
    return out


def newest_change(store: TableStore, after: int = 0) -> Snapshot | None:
    """The newest snapshot above `after` that changed rows; the newest one above it if all only compact."""
    newest = store.snapshots.latest()
    found = newest
    while found is not None and found.commit_kind in _WITHOUT_ROWS and found.id > after + 1:
        try:
            found = store.snapshots.get(found.id - 1)
        except PaimonError:  # expired: the oldest one that is left is used
            break
    return found if found is not None and found.id > after else None


@dataclass(frozen=True, slots=True)
class Content:
    """What the table holds, as its snapshots say."""

    positions: Positions
    query: str
    """Hash of its definition."""
    snapshot: Snapshot
    """The one with the positions."""
    is_newest: bool
    """Whether all later snapshots only compact."""


def content_of(store: TableStore) -> Content | None:
    """The newest snapshot of a refresh; None: there is none, or too many others followed it."""
    newest = store.snapshots.latest()
    is_newest, found = True, newest
    for _ in range(_LOOKED_BACK):
        if found is None:
            return None
        properties = found.properties or {}
        if INPUTS in properties:
            positions: Positions = {
                k: (int(v[0]), int(v[1]), int(v[2])) for k, v in json.loads(properties[INPUTS]).items()
            }
            return Content(positions, properties.get(QUERY, ""), found, is_newest)
        is_newest &= found.commit_kind in _WITHOUT_ROWS
        try:
            found = store.snapshots.get(found.id - 1) if found.id > 1 else None
        except (SnapshotNotFound, PaimonError):
            return None
    return None


def properties_of(positions: Mapping[str, Position] | None, query: str) -> dict[str, str]:
    """The properties of a refresh's snapshot."""
    return {INPUTS: json.dumps(positions or {}, sort_keys=True), QUERY: query}


def hash_of(query: str, dialect: str) -> str:
    """A name of the definition."""
    return hashlib.sha256(f"{dialect}\n{query}".encode()).hexdigest()[:16]
