"""Changelog files that Flink's writers compacted before the commit: several buckets have a range each of one file.

The first bucket's entry names the whole file, `compacted-changelog-x$<bucket>-<length>.cc-parquet`. The entry of another bucket adds its
range to that name: `compacted-changelog-x$<bucket>-<length>-<offset>-<length>.cc-parquet`, and no file has this name.

Source: docs/spec/format.md section 8.3.
"""

from __future__ import annotations

import posixpath
import re
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from paimon_nb.fs import FileIO

_NAME = re.compile(
    r"(?P<file>compacted-changelog-[^$]+\$(?P<bucket>\d+)-(?P<size>\d+))(?:-(?P<begin>\d+)-(?P<length>\d+))?(?P<rest>\.cc-.+)"
)


@dataclass(frozen=True, slots=True)
class ChangelogRange:
    """The bytes of one bucket in a compacted changelog file."""

    path: str
    begin: int
    length: int

    @classmethod
    def of(cls, path: str) -> ChangelogRange | None:
        """The range that a changelog file's path means; None if it is an ordinary file."""
        directory, name = posixpath.split(path)
        found = _NAME.fullmatch(name)
        if found is None:
            return None
        if found["begin"] is None:
            return cls(path, 0, int(found["size"]))
        home = posixpath.join(posixpath.dirname(directory), f"bucket-{found['bucket']}")
        return cls(posixpath.join(home, found["file"] + found["rest"]), int(found["begin"]), int(found["length"]))


class ChangelogFileIO:
    """A file API whose `open` knows ranges of compacted changelog files; everything else is that of `fs`."""

    def __init__(self, fs: FileIO) -> None:
        self._fs = fs

    def __getattr__(self, name: str) -> Any:
        return getattr(self._fs, name)

    def local_path(self, path: str) -> str | None:
        """The path of a file; None for a range."""
        return self._fs.local_path(path) if ChangelogRange.of(path) is None else None

    def open(self, path: str) -> Any:
        """The bytes of the range, in memory, as a file. Raises MissingFile."""
        found = ChangelogRange.of(path)
        if found is None:
            return self._fs.open(path)
        with self._fs.open(found.path) as file:
            file.seek(found.begin)
            return pa.BufferReader(file.read(found.length))
