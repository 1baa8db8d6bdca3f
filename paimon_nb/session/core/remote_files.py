"""Local copies of data files in an object store, read with the options of the session's catalog."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, SourceUnavailable
from paimon_nb.files.locations import bucket_and_key_of, folder_without_pattern
from paimon_nb.fs import open_fs
from paimon_nb.fs.api import FileStatus

if TYPE_CHECKING:
    from paimon_nb.catalog.api import Catalog
    from paimon_nb.fs.api import FileIO

MAX_BYTES = 2 << 30
"""Bytes of the files that are copied."""
_HINT = "download it, or read it with wb.spark.read"


def download(catalog: Catalog, url: str, owner: object) -> Path:
    """A copy of a file, or of the files of a folder or a pattern, which lives as long as its owner.

    Returns:
        the file, folder or pattern of the copies. It ends with the bucket and the key of the URL.

    Raises:
        SourceUnavailable: no such file, or a scheme that no file system has.
    """
    if url.startswith(("http://", "https://")):
        raise SourceUnavailable(f"{url!r} is not a local file", hint=_HINT, path=url)
    try:
        fs = open_fs(url, catalog.options)
        files = _files(fs, url)
        if sum(f.size for f in files) > MAX_BYTES:
            raise SourceUnavailable(f"{url!r} has more than {MAX_BYTES:,} bytes", hint=_HINT, path=url)
        folder = Path(tempfile.mkdtemp(prefix="paimon-nb-remote-"))
        weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
        for file in files:
            target = folder / bucket_and_key_of(file.path)
            if ".." in target.parts:
                raise SourceUnavailable(f"{file.path!r} has '..' in its key", hint=_HINT, path=url)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(fs.read(file.path))
    except SourceUnavailable:
        raise
    except (PaimonError, OSError) as error:
        raise SourceUnavailable(f"{url!r} is not a local file: {error}", hint=_HINT, path=url) from None
    return folder / bucket_and_key_of(url)


def _files(fs: FileIO, url: str) -> list[FileStatus]:
    """The file of a URL; if it is a folder or has a pattern, those below its part without patterns that may match."""
    try:
        return [FileStatus(url, fs.size(url), 0, False)]
    except (PaimonError, OSError):
        root, has_pattern = folder_without_pattern(url)
        depth = url[len(root) :].count("/") if has_pattern and "**" not in url else None
        found = [] if root.endswith(":/") else _below(fs, root, depth)
        if not found:
            raise
        return found


def _below(fs: FileIO, folder: str, depth: int | None) -> list[FileStatus]:
    """The files in a folder and its folders; `depth` levels, or all."""
    found: list[FileStatus] = []
    for status in fs.list(folder) if depth is None or depth > 0 else ():
        if not status.is_dir:
            found.append(status)
        else:
            found += _below(fs, status.path, depth and depth - 1)
    return found
