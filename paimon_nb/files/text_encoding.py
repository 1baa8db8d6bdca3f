"""Text files as UTF-8 for the embedded engine: which encoding a file has, and a copy in UTF-8 if it has another."""

from __future__ import annotations

import codecs
import re
import shutil
import tempfile
import weakref
from pathlib import Path
from typing import BinaryIO

from paimon_nb.base.errors import BadOptionValue, UnsupportedFormat
from paimon_nb.base.lazy_dataclass import dataclass

_CHUNK = 1 << 20
_SAMPLE = 1 << 12
_PATTERN = re.compile(r"[*?\[\]]")
_ENGINE_CODECS = ("gzip", "zstd")
"""Codecs that the engine reads itself, if a file's name ends with theirs."""
_MAGIC = {b"\x1f\x8b\x08": "gzip", b"\x28\xb5\x2f\xfd": "zstd", b"\xfd7zXZ\0": "lzma"}
"""First bytes of a compressed file -> its codec. Text may begin as bzip2 does."""


@dataclass(frozen=True, slots=True)
class Utf8File:
    """A text file that the engine can read.

    Args:
        path: of the file, or of a copy. encoding: of the file; '': UTF-8.
    """

    path: str
    encoding: str = ""
    guessed: bool = False
    """Whether the encoding is a guess that may be wrong."""


def open_stream(path: Path, compression: str | None) -> BinaryIO:
    """The bytes of a file, decompressed."""
    import bz2
    import gzip
    import lzma

    if compression == "gzip":
        return gzip.open(path, "rb")  # type: ignore[return-value]
    if compression == "bz2":
        return bz2.open(path, "rb")  # type: ignore[return-value]
    if compression == "lzma":
        return lzma.open(path, "rb")  # type: ignore[return-value]
    if compression == "zstd":
        import io

        import zstandard

        return io.BufferedReader(zstandard.ZstdDecompressor().stream_reader(path.open("rb"), read_across_frames=True))
    return path.open("rb")


class Utf8Copies:
    """Makes copies in UTF-8. They live as long as this object."""

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._count = 0

    def _new_copy(self, path: Path, compression: str | None) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="paimon-nb-text-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self._count += 1
        suffix = path.suffix if compression is None else ""
        return self._folder / f"{self._count}{suffix}"

    def _without_patterns(self, path: Path) -> Path:
        """The file, under another name if its own has characters that the engine reads as a pattern."""
        if not _PATTERN.search(str(path)):
            return path
        link = self._new_copy(path, None)
        try:
            link.symlink_to(path.absolute())
        except OSError:  # pragma: no cover  no rights to make links on Windows
            shutil.copyfile(path, link)
        return link

    def utf8(
        self, path: Path, compression: str | None, encoding: str | None = None, *, may_have_mark: bool = True
    ) -> Utf8File:
        """The file itself if the engine can read it, else a copy in UTF-8.

        Args:
            compression: by the file's name or the user; None: none, if the bytes do not say otherwise.
            encoding: as the user wrote it; None: guessed from all bytes.
            may_have_mark: whether the engine reads a file that begins with a byte order mark.

        Raises:
            BadOptionValue: an encoding that Python does not know.
            UnsupportedFormat: the bytes are not text in this encoding.
        """
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError:
                raise BadOptionValue(
                    f"no encoding {encoding!r}", hint="for example 'utf-8', 'latin-1', 'cp1252', 'utf-16', 'shift_jis', 'gb18030'",
                    option="encoding", value=encoding,
                ) from None  # fmt: skip
        by_bytes = _codec_of_bytes(path) if compression is None else None
        compression = compression or by_bytes
        found = encoding or _guess(path, compression)
        if not may_have_mark and codecs.lookup(found).name == "utf-8" and _has_mark(path, compression):
            found = "utf-8-sig"
        engine_reads = compression is None or (compression in _ENGINE_CODECS and by_bytes is None)
        if codecs.lookup(found).name == "utf-8" and engine_reads:
            return Utf8File(str(self._without_patterns(path)))
        target = self._new_copy(path, compression)
        try:
            _transcode(path, compression, found, target)
        except UnicodeDecodeError as error:
            raise UnsupportedFormat(
                f"{path.name!r} is not text in the encoding {found!r}: byte {error.object[error.start]:#04x}",
                hint="name another one: encoding = 'latin-1'", feature="encoding",
            ) from None  # fmt: skip
        described = "" if codecs.lookup(found).name in ("utf-8", "utf-8-sig") else found
        return Utf8File(
            str(target), described, guessed=encoding is None and bool(described) and not found.startswith("utf")
        )


def _codec_of_bytes(path: Path) -> str | None:
    """The codec of a compressed file whose name does not say so."""
    with path.open("rb") as stream:
        start = stream.read(8)
    return next((codec for magic, codec in _MAGIC.items() if start.startswith(magic)), None)


def _has_mark(path: Path, compression: str | None) -> bool:
    with open_stream(path, compression) as stream:
        return stream.read(3) == codecs.BOM_UTF8


def _guess(path: Path, compression: str | None) -> str:
    """The encoding of a file: by its mark, else UTF-8 if all bytes are, else UTF-16 by its zeros, else Windows-1252."""
    with open_stream(path, compression) as stream:
        sample = stream.read(_SAMPLE)
        for mark, name in ((codecs.BOM_UTF32_LE, "utf-32"), (codecs.BOM_UTF32_BE, "utf-32"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16")):  # fmt: skip
            if sample.startswith(mark):
                return name
        first, second = sample[0::2].count(0), sample[1::2].count(0)
        if (
            len(sample) > 3
            and max(first, second) > len(sample) // 5
            and min(first, second) < max(first, second) // 8 + 1
        ):
            return "utf-16-be" if first > second else "utf-16-le"
        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            chunk = sample
            while chunk:
                decoder.decode(chunk)
                chunk = stream.read(_CHUNK)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def _transcode(path: Path, compression: str | None, encoding: str, target: Path) -> None:
    errors = "paimon-nb-latin-1" if encoding == "cp1252" else "strict"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    with open_stream(path, compression) as source, target.open("wb") as out:
        while chunk := source.read(_CHUNK):
            out.write(decoder.decode(chunk).encode())
        out.write(decoder.decode(b"", final=True).encode())


def _as_latin_1(error: UnicodeError) -> tuple[str, int]:
    """The five bytes that Windows-1252 leaves out, as the control characters of Latin-1."""
    assert isinstance(error, UnicodeDecodeError)
    return error.object[error.start : error.end].decode("latin-1"), error.end


codecs.register_error("paimon-nb-latin-1", _as_latin_1)
