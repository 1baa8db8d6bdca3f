"""Reading a table that others write: what a snapshot names may be deleted, when it expires, while it is read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from paimon_nb.base.errors import MissingFile, SnapshotExpired, SnapshotNotFound
from paimon_nb.table.store import TableStore

T = TypeVar("T")
_TIMES = 4


def steadily(source: TableStore, work: Callable[[], T]) -> T:
    """`work`, which begins at the source's newest snapshot; done anew when that one expired meanwhile.

    Raises: MissingFile: the file is gone although its snapshot is there.
    """
    for _ in range(_TIMES - 1):
        before = source.latest()
        try:
            return work()
        except (MissingFile, SnapshotExpired, SnapshotNotFound):
            source.snapshots.forget()
            if before is None or source.fs.exists(source.snapshots.path(before.id)):
                raise
    return work()
