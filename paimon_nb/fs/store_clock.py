"""The clock of a store: that of this machine may be days ahead, or behind."""

from __future__ import annotations

import uuid
from typing import TYPE_CHECKING

from paimon_nb.base import clock
from paimon_nb.base.errors import AccessDenied, NotWritable, StoreError

if TYPE_CHECKING:
    from paimon_nb.fs.api import FileIO


def store_time_ms(fs: FileIO, folder: str) -> int:
    """Now by the clock that sets the modification times of files; milliseconds since 1970.

    A probe file shows it. A reader that may not write takes the newest file of the folder instead, whose time has certainly
    come. By this machine's clock on a store without modification times.
    """
    probe = f"{folder}/clock-{uuid.uuid4()}"
    try:
        fs.write(probe, b"")
        try:
            found = [s.modified_ms for s in fs.list(folder) if s.path.endswith(probe.rpartition("/")[2])]
        finally:
            fs.delete(probe)
    except (AccessDenied, NotWritable, StoreError, OSError):
        found = [max((s.modified_ms for s in fs.list(folder)), default=0)]
    return max(found, default=0) or clock.now_ms()
