"""LATEST and EARLIEST: files that may be stale, absent or junk. Source: format reference, section 2.1."""

from __future__ import annotations

import posixpath

from paimon_nb.base.errors import MissingFile
from paimon_nb.fs import FileIO

LATEST, EARLIEST = "LATEST", "EARLIEST"


def read_hint(fs: FileIO, directory: str, name: str) -> int | None:
    """The number in a hint file, or None for anything that is not one."""
    try:
        text = fs.read(posixpath.join(directory, name)).decode("ascii", "replace").strip()
    except MissingFile:
        return None
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else None


def write_hint(fs: FileIO, directory: str, name: str, value: int) -> None:
    """Replace a hint. Readers never depend on it."""
    fs.overwrite(posixpath.join(directory, name), str(value).encode())
