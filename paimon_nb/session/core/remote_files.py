"""Local copies of data files in an object store, read with the options of the session's catalog."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError, SourceUnavailable
from paimon_nb.fs import open_fs

if TYPE_CHECKING:
    from paimon_nb.catalog.api import Catalog

MAX_BYTES = 2 << 30
"""Bytes of a file that is copied."""


def download(catalog: Catalog, url: str, owner: object) -> Path:
    """A copy of a file, which lives as long as its owner.

    Raises:
        SourceUnavailable: no such file, or a scheme that no file system has.
    """
    hint = "download it, or read it with wb.spark.read"
    if url.startswith(("http://", "https://")):
        raise SourceUnavailable(f"{url!r} is not a local file", hint=hint, path=url)
    try:
        fs = open_fs(url, catalog.options)
        if fs.size(url) > MAX_BYTES:
            raise SourceUnavailable(f"{url!r} has more than {MAX_BYTES:,} bytes", hint=hint, path=url)
        data = fs.read(url)
    except SourceUnavailable:
        raise
    except (PaimonError, OSError) as error:
        raise SourceUnavailable(f"{url!r} is not a local file: {error}", hint=hint, path=url) from None
    folder = Path(tempfile.mkdtemp(prefix="paimon-nb-remote-"))
    weakref.finalize(owner, shutil.rmtree, folder, ignore_errors=True)
    target = folder / PurePosixPath(url).name
    target.write_bytes(data)
    return target
