"""Level 1: files behind a narrow API. Knows nothing of Paimon."""

from typing import TYPE_CHECKING

from paimon_nb.base.lazy_imports import lazy_getattr
from paimon_nb.fs.api import (
    DirectoryPin,
    FileIO,
    FileSink,
    FileStatus,
    FoundMove,
    OutputFile,
    delete_tree_surely,
    make_dirs_surely,
    move_surely,
    overwrite_surely,
    put_surely,
    settle_move,
    surely,
)
from paimon_nb.fs.local import LocalFileIO, without_scheme
from paimon_nb.fs.open import open_fs
from paimon_nb.fs.rooted import RootedFileIO, external_roots

if TYPE_CHECKING:
    from paimon_nb.fs.access_control import AccessPolicy, GuardedFileIO
    from paimon_nb.fs.locking import Lock, LockedFileIO
    from paimon_nb.fs.memory import MemoryFileIO
    from paimon_nb.fs.undo_log import UndoLog
else:
    __getattr__ = lazy_getattr(
        __name__,
        {
            "access_control": "AccessPolicy GuardedFileIO",
            "locking": "Lock LockedFileIO",
            "memory": "MemoryFileIO",
            "undo_log": "UndoLog",
        },
    )

__all__ = [
    "DirectoryPin",
    "FileIO",
    "FileSink",
    "FileStatus",
    "FoundMove",
    "AccessPolicy",
    "GuardedFileIO",
    "LocalFileIO",
    "Lock",
    "LockedFileIO",
    "MemoryFileIO",
    "OutputFile",
    "RootedFileIO",
    "UndoLog",
    "delete_tree_surely",
    "external_roots",
    "make_dirs_surely",
    "move_surely",
    "settle_move",
    "open_fs",
    "overwrite_surely",
    "put_surely",
    "surely",
    "without_scheme",
]
