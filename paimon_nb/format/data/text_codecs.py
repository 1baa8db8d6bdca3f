"""Text files: compressed as a whole, decoded as UTF-8 and split into lines.

Source: Paimon 2.1 `format/text/{AbstractTextFileReader,StandardLineReader,CustomLineReader}.java`, `HadoopCompressionType.java`.
"""

from __future__ import annotations

import bz2
import re
import zlib
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.file_errors import BROKEN, broken_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.fs import FileIO

TEXT_EXTENSIONS = {"none": "", "gzip": "gz", "zstd": "zst", "bzip2": "bz2", "deflate": "deflate"}
"""`file.compression` -> the last extension of a text file, which is compressed as a whole."""
_OTHER_CODECS = ("snappy", "lz4", "lzo", "lzo_deflate", "xz", "br", "Z", "zip", "7z", "tar", "tgz")
"""Extensions of files that are compressed in other ways, and not lines of text."""
_LINE_END = re.compile("\r\n|\n|\r")


def codec_of(compression: str, path: str = "") -> str:
    """The codec of a text file. Raises UnsupportedFormat: another codec, for which Hadoop has its own framing."""
    if compression in TEXT_EXTENSIONS:
        return compression
    raise UnsupportedFormat(
        f"text files with the codec {compression!r} are not supported",
        hint=f"'file.compression' can be {', '.join(TEXT_EXTENSIONS)}", path=path, feature=compression,
    )  # fmt: skip


def _decompress_zstd(data: bytes, limit: int) -> bytes:
    parts, size = list[bytes](), 0
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        while size <= limit and (part := bytes(stream.read(1 << 20))):
            parts.append(part)
            size += len(part)
    return b"".join(parts)


def _decompress_members(make: Callable[[], Any], data: bytes, limit: int) -> bytes:
    """Files that are compressed one after the other, as Hadoop's writers may append."""
    parts, size = list[bytes](), 0
    while data and size <= limit:
        member = make()
        parts.append(member.decompress(data, limit + 1 - size))
        size += len(parts[-1])
        if not member.eof and size <= limit:
            raise EOFError("it is truncated")
        data = member.unused_data
    return b"".join(parts)


def _plain(data: bytes, limit: int) -> bytes:
    del limit
    return data


_DECODE: Mapping[str, Callable[[bytes, int], bytes]] = {
    "none": _plain, "zstd": _decompress_zstd,
    "gzip": partial(_decompress_members, lambda: zlib.decompressobj(31)),
    "bzip2": partial(_decompress_members, bz2.BZ2Decompressor),
    "deflate": partial(_decompress_members, zlib.decompressobj),
}  # fmt: skip
_MIN_LIMIT, _EXPANSION = 1 << 28, 1100
"""A text file decompresses to at most so many bytes, or so many times its size, whichever is more: gzip's limit is 1032 times."""


class _Deflate:
    """A stream compressor with the interface of `bz2.BZ2Compressor`."""

    def __init__(self, window: int) -> None:
        self._stream = zlib.compressobj(wbits=window)

    def compress(self, data: bytes) -> bytes:
        return self._stream.compress(data)

    def flush(self) -> bytes:
        return self._stream.flush()


class _Zstd:
    """Writes consecutive frames, which zstd readers accept as one stream."""

    def compress(self, data: bytes) -> bytes:
        return bytes(pa.compress(data, codec="zstd", asbytes=True)) if data else b""

    def flush(self) -> bytes:
        return b""


class _Plain:
    def compress(self, data: bytes) -> bytes:
        return data

    def flush(self) -> bytes:
        return b""


_ENCODERS: Mapping[str, Callable[[], Any]] = {
    "none": _Plain, "gzip": lambda: _Deflate(31), "zstd": _Zstd, "bzip2": bz2.BZ2Compressor, "deflate": lambda: _Deflate(15),
}  # fmt: skip


def new_encoder(compression: str) -> Any:
    """A stream compressor, with the methods `compress` and `flush`. Raises UnsupportedFormat."""
    return _ENCODERS[codec_of(compression)]()


def read_text(fs: FileIO, path: str) -> str:
    """The text of a file, decompressed by the codec of its last extension.

    Raises: MissingFile, CorruptFile. UnsupportedFormat: another codec, or one with Hadoop's own framing.
    """
    extension = path.rsplit(".", 1)[-1]
    codec = next((c for c, e in TEXT_EXTENSIONS.items() if e == extension), "none")
    if extension in _OTHER_CODECS:
        codec_of(extension, path)
    data = fs.read(path)
    try:
        limit = max(_MIN_LIMIT, _EXPANSION * len(data))
        text = _DECODE[codec](data, limit)
        if len(text) > limit:
            raise ValueError(f"it decompresses to more than {limit >> 20} MB")
        return text.decode("utf-8-sig")
    except BROKEN as error:
        raise broken_file(path, error, "text") from None


LINE_ENDS = ("\n", "\r\n", "\r")


def split_lines(text: str, delimiter: str) -> list[str]:
    """The lines of a text. Each of the usual line ends counts as the default delimiter; the last line may have none."""
    lines = _LINE_END.split(text) if delimiter in LINE_ENDS else text.split(delimiter)
    if not lines[-1]:
        lines.pop()
    return lines


def split_lines_with_ends(text: str, delimiter: str) -> list[tuple[str, str]]:
    """The same lines, each with its end; that of the last one may be empty."""
    ends = _LINE_END.findall(text) if delimiter in LINE_ENDS else [delimiter] * text.count(delimiter)
    lines = split_lines(text, delimiter)
    return list(zip(lines, [*ends, ""], strict=False))
