"""Level 1: files behind a narrow API. Knows nothing of Paimon."""

from paimon_nb.fs.access_control import AccessPolicy, GuardedFileIO
from paimon_nb.fs.api import FileIO, FileSink, FileStatus, OutputFile
from paimon_nb.fs.local import LocalFileIO, without_scheme
from paimon_nb.fs.locking import Lock, LockedFileIO
from paimon_nb.fs.memory import MemoryFileIO
from paimon_nb.fs.open import open_fs
from paimon_nb.fs.rooted import RootedFileIO, external_roots

__all__ = [
    "FileIO",
    "FileSink",
    "FileStatus",
    "AccessPolicy",
    "GuardedFileIO",
    "LocalFileIO",
    "Lock",
    "LockedFileIO",
    "MemoryFileIO",
    "OutputFile",
    "RootedFileIO",
    "external_roots",
    "open_fs",
    "without_scheme",
]
