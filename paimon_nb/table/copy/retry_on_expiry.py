"""Retries reads of a concurrently written table: files of a snapshot may be deleted when it expires during the read."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from paimon_nb.base.errors import MissingFile, SnapshotExpired, SnapshotNotFound
from paimon_nb.table.store import TableStore

T = TypeVar("T")
_TIMES = 4


def steadily(source: TableStore, work: Callable[[], T]) -> T:
    """Run `work`, which starts at the source's newest snapshot; run it again if that snapshot expired in the meantime.

    Raises: MissingFile: the file is missing although its snapshot exists.
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
