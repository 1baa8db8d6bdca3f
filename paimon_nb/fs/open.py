"""Opens the file system of a path by its scheme."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from paimon_nb.base.plugins import PluginGroup
from paimon_nb.base.redact import remember_secrets
from paimon_nb.base.registry import Registry
from paimon_nb.fs.local import LocalFileIO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.fs.api import FileIO


@cache
def _memory() -> FileIO:
    """One per process, so that two catalogs of the same `memory:` path see the same files."""
    from paimon_nb.fs.memory import MemoryFileIO

    return MemoryFileIO()


def _open_s3(options: Mapping[str, str]) -> FileIO:
    from paimon_nb.fs.object_store import S3FileIO
    from paimon_nb.fs.s3_client import S3Settings

    return S3FileIO(S3Settings.of(options))


def _open_hdfs(options: Mapping[str, str]) -> FileIO:
    from paimon_nb.fs.hdfs import HdfsFileIO

    return HdfsFileIO.of(options)


FILE_SYSTEMS: Registry[Callable[[Mapping[str, str]], FileIO]] = Registry(
    "file system",
    {
        "file": lambda options: LocalFileIO(),
        "memory": lambda options: _memory(),
        "s3": _open_s3,
        "s3a": _open_s3,
        "hdfs": _open_hdfs,
    },
    plugins=PluginGroup("file_systems", "a function from options to a FileIO"),
)


def open_fs(path: str, options: Mapping[str, str]) -> FileIO:
    """The file system of a path: a plain path is local, else the scheme before ':' decides.

    Raises:
        UnknownName: no file system for the scheme.
    """
    scheme, colon, _ = path.partition(":")
    if not colon or len(scheme) < 2 or "/" in scheme:
        scheme = "file"
    else:
        remember_secrets(options)  # also credentials that a catalog server gave for a table
    return FILE_SYSTEMS.find(scheme.lower())(options)
