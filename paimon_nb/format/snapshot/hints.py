"""LATEST and EARLIEST: files that may be stale, absent or junk. Source: docs/spec/format.md section 2.1."""

from __future__ import annotations

import posixpath
import time

from paimon_nb.base.errors import MissingFile, StoreError
from paimon_nb.fs import FileIO

LATEST, EARLIEST = "LATEST", "EARLIEST"
_TRIES = 3
_PAUSE_S = 0.05


def read_hint(fs: FileIO, directory: str, name: str) -> int | None:
    """The number in a hint file, or None for anything that is not one: readers then list."""
    try:
        text = fs.read(posixpath.join(directory, name)).decode("ascii", "replace").strip()
    except (MissingFile, StoreError, OSError):
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def write_hint(fs: FileIO, directory: str, name: str, value: int) -> None:
    """Replace a hint, if the store lets us: what it hints at is decided already, and readers never depend on it."""
    for attempt in range(_TRIES):
        try:
            fs.overwrite(posixpath.join(directory, name), str(value).encode(), durable=False)
            return
        except (MissingFile, StoreError, OSError):
            time.sleep(_PAUSE_S * attempt)
