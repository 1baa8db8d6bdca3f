"""Copies the objects below a prefix so that a table there is complete at the target, or not there at all.

Writers may add objects while a prefix is copied. The order of the steps is explained in docs/decisions/0012.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from paimon_nb.base.errors import MissingFile
from paimon_nb.fs.s3_client import directory_prefix, split_uri

MARKERS = ("schema/schema-0", "_paimon/schema/schema-0")
"""What makes a directory that of a table. It goes first when a directory is moved or deleted, and comes last at the target."""
_LAST_COPIED = ("snapshot/", "changelog/", "tag/", "branch/", "consumer/")
"""They name other files, which must be at the target before."""
_COPIES_AT_ONCE = 16


def copy_directory(fs: Any, source: str, target: str) -> list[str]:
    """Copy all objects, those that name others last. Returns the keys of the sources.

    Args:
        fs: the `S3FileIO` of both, which imports this module.
    """
    start = directory_prefix(source)
    markers = {m: data for m in MARKERS if (data := fs._read_or_none(f"{source.rstrip('/')}/{m}")) is not None}
    fs._delete_keys(source, [start + marker for marker in markers])
    copied: list[str] = []

    def copy_one(file: tuple[str, int]) -> None:
        path = f"{target.rstrip('/')}/{file[0][len(start) :]}"
        with suppress(MissingFile):  # a writer took it back: its snapshot was deleted before, and is not copied
            fs._copy_object(split_uri(source)[0], *file, path)
            copied.append(split_uri(path)[1])

    try:
        files = list(fs._objects_below(source))
        with ThreadPoolExecutor(_COPIES_AT_ONCE) as pool:
            list(pool.map(copy_one, [f for f in files if not f[0][len(start) :].startswith(_LAST_COPIED)]))
            list(pool.map(copy_one, [f for f in files if f[0][len(start) :].startswith(_LAST_COPIED)]))
        for marker, data in markers.items():
            path = f"{target.rstrip('/')}/{marker}"
            if not fs.put_if_absent(path, data):
                raise FileExistsError(path)
            copied.append(split_uri(path)[1])
    except BaseException:
        fs._delete_keys(target, copied)
        for marker, data in markers.items():
            fs.put_if_absent(f"{source.rstrip('/')}/{marker}", data)
        raise
    return [key for key, _ in files]
