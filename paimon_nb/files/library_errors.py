"""Errors of the libraries that decode files, as errors of ours under the file's name."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from paimon_nb.base.errors import CorruptFile, OutOfMemory, PaimonError, SourceUnavailable, UnsupportedFormat

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def library_errors(name: str, how: str) -> Iterator[None]:
    """Raises UnsupportedFormat or SourceUnavailable for what a library raises inside the block.

    Args:
        name: the file, perhaps with a column. how: its format.
    """
    import struct
    import zlib

    import pyarrow as pa

    kind = how.split(",", 1)[0]
    try:
        yield
    except CorruptFile as error:  # its hint speaks of snapshots, which a file has not
        raise _broken(name, kind, ValueError(error.why)) from None
    except PaimonError:
        raise
    except MemoryError as error:
        raise OutOfMemory(f"{name}: not enough memory to decode it: {error}") from None
    except OSError as error:
        if isinstance(error, pa.ArrowException) or not error.strerror:
            raise _broken(name, kind, error) from None
        raise SourceUnavailable(f"{name}: {error.strerror}", path=name) from None
    except (
        pa.ArrowException, ValueError, TypeError, KeyError, IndexError, EOFError, NotImplementedError, AttributeError, AssertionError,
        OverflowError, struct.error, zlib.error, RecursionError,
    ) as error:  # fmt: skip
        raise _broken(name, kind, error) from None
    except Exception as error:
        if type(error).__module__.split(".")[0] not in (
            "duckdb",
            "_duckdb",
            "fastavro",
            "openpyxl",
            "zipfile",
            "zstandard",
            "lzma",
        ):
            raise
        raise _broken(name, kind, error) from None


def _broken(name: str, kind: str, error: BaseException) -> UnsupportedFormat:
    text = (str(error).split("\n", 1)[0] or type(error).__name__)[:200]
    return UnsupportedFormat(
        f"{name} cannot be read as {kind}: {text}", hint="the file is damaged, or has another format: format = '...' names it", feature="file"
    )  # fmt: skip
