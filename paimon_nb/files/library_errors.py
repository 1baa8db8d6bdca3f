"""Errors of the libraries that decode files, as errors of ours under the file's name."""

from __future__ import annotations

import re
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
    """An error without the library's words, which are in `facts`."""
    text = (str(error).split("\n", 1)[0] or type(error).__name__)[:200]
    what, hint = next((known for words, *known in _KINDS if words.search(text)), _DAMAGED)
    return UnsupportedFormat(f"{name} cannot be read as {kind}: {what}", hint=hint, feature="file", cause=text)


_DAMAGED = (
    "its bytes are not valid",
    "the file is damaged or incomplete, or has another format: format = '...' names it",
)
_KINDS = (
    (re.compile("crypt", re.IGNORECASE), "it is encrypted", "write it without encryption; keys cannot be given"),
    (
        re.compile("MetadataVersion|future|newer version", re.IGNORECASE),
        "it has a newer version of the format", "write it with an older version of the format, or update pyarrow",
    ),
    (
        re.compile("top-level struct"), "its rows are values without columns", "write it with at least one column",
    ),
    (
        re.compile("[Ee]nd of (stream|file)|Expected to be able to read|smaller .* than expected|EOF|truncated|too small|too short"),
        "it ends too early", "copy or download it again; its writer may not have finished",
    ),
    (
        re.compile("not implemented|NotImplemented|Unsupported|unsupported|out of range|can only annotate|UNKNOWN|must be annotated"),
        "it has types or features of the format that are not supported", "leave out the column, or write the file again with another type",
    ),
)  # fmt: skip
"""What the library says, what is wrong in our words, and what helps."""
