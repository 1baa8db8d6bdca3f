"""Errors of decoders as ours: broken bytes are a `CorruptFile`, missing memory is an `OutOfMemory`.

Decoders written in C++ and Python raise anything for broken bytes, and some report a failed allocation as a broken file.
"""

from __future__ import annotations

import errno
import re
import struct
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

import pyarrow as pa

from paimon_nb.base.errors import CorruptFile, OutOfMemory, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

BROKEN = (
    pa.ArrowException, OSError, EOFError, ValueError, LookupError, TypeError, AttributeError, ArithmeticError,
    RecursionError, SystemError, MemoryError, struct.error, zlib.error,
)  # fmt: skip
"""What decoders raise for broken bytes, or without enough memory."""

_NO_MEMORY = re.compile(
    r"bad_alloc|bad allocation|alloc\w* of size|out of memory|cannot allocate|failed to allocate"
    r"|memory allocation|ZSTD_\w+ create failed|ZSTD_create|not enough (memory|space)",
    re.IGNORECASE,
)
_NO_RESOURCES = (errno.EMFILE, errno.ENFILE)


def broken_file(path: str, error: BaseException, kind: str = "") -> CorruptFile | OutOfMemory | StoreError:
    """The error to raise for what a decoder raised.

    Args:
        path: the file.
        error: one of `BROKEN`.
        kind: the format's name.

    Returns:
        OutOfMemory: memory was missing. StoreError: too many files are open. Otherwise CorruptFile.
    """
    if is_out_of_memory(error):
        return OutOfMemory(f"not enough memory to read {path} ({error!s:.100})", path=path)
    if isinstance(error, OSError) and error.errno in _NO_RESOURCES:
        return StoreError(
            f"{path} cannot be opened: {error}", hint="raise the limit of open files: ulimit -n", path=path
        )
    name = "" if isinstance(error, pa.ArrowException | OSError) else f"{type(error).__name__}: "
    return CorruptFile(path, f"not readable{f' as {kind}' if kind else ''} ({name}{error!s:.100})")


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error says that memory was missing, in any library's words."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return True
    return isinstance(error, pa.ArrowException | OSError | RuntimeError) and _NO_MEMORY.search(str(error)) is not None


@contextmanager
def file_errors(path: str, kind: str = "") -> Iterator[None]:
    """Decode a file in this block: errors of decoders become ours, ours pass.

    Raises:
        CorruptFile, OutOfMemory, StoreError: as `broken_file`.

    Examples:
        >>> with file_errors("index-1"):
        ...     raise IndexError("byte 7")
        Traceback (most recent call last):
        paimon_nb.base.errors.CorruptFile: index-1 is broken: not readable (IndexError: byte 7)
          hint: read an earlier snapshot or tag, or restore the file from a backup
    """
    try:
        yield
    except BROKEN as error:
        raise broken_file(path, error, kind) from None
