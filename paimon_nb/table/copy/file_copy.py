"""One file's bytes from one store to another."""

from __future__ import annotations

from paimon_nb.fs import FileIO

_CHUNK = 8 << 20


def copy_file(source_fs: FileIO, source: str, target_fs: FileIO, target: str) -> None:
    """Copy a file in chunks; the target must not exist.

    Raises: MissingFile. FileExistsError: the target exists.
    """
    with source_fs.open(source) as reading, target_fs.create(target) as writing:
        while piece := reading.read(_CHUNK):
            writing.write(piece)
