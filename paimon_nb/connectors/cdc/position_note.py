"""The position of a sync in a file of its target, for the case that the snapshot with the position has expired.

The snapshot with the rows has the position, so both are stored in one step. While a sync is stopped, other writers can commit
so often that this snapshot expires. Then the file has the position.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile, MissingFile
from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from paimon_nb.table.read.store import TableStore

FOLDER = "cdc"
"""Folder of a table with one file for each sync, named after its commit user."""


@dataclass(frozen=True, slots=True)
class NotedPosition:
    snapshot: int
    """The snapshot that has the position."""
    identifier: int
    """Its commit identifier."""
    position: str


class PositionNote:
    """The file of one sync in one table."""

    def __init__(self, store: TableStore, user: str) -> None:
        self._store, self._path = store, f"{store.root}/{FOLDER}/{user}.json"

    def write(self, noted: NotedPosition) -> None:
        self._store.fs.overwrite(self._path, json.dumps(asdict(noted)).encode())

    def read(self) -> NotedPosition | None:
        """The position; None if there is none. Raises CorruptFile."""
        try:
            data = json.loads(self._store.fs.read(self._path))
            return NotedPosition(int(data["snapshot"]), int(data["identifier"]), str(data["position"]))
        except MissingFile:
            return None
        except (ValueError, TypeError, KeyError) as error:
            raise CorruptFile(self._path, f"not the position of a sync ({error})") from None

    def has_expired(self, noted: NotedPosition) -> bool:
        """Whether the snapshot with the position has expired; otherwise it is there, or was rolled back."""
        earliest = self._store.snapshots.earliest_id()
        return earliest is not None and noted.snapshot < earliest
