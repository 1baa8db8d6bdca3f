"""Text files: compressed as a whole, decoded as UTF-8 and split into lines.

Source: Paimon 2.1 `format/text/{AbstractTextFileReader,StandardLineReader,CustomLineReader}.java`, `HadoopCompressionType.java`.
"""

from __future__ import annotations

import bz2
import re
import zlib
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import UnsupportedFormat
from paimon_nb.format.file_errors import BROKEN, broken_file

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.fs import FileIO

TEXT_EXTENSIONS = {"none": "", "gzip": "gz", "zstd": "zst", "bzip2": "bz2", "deflate": "deflate"}
"""`file.compression` -> the last extension of a text file, which is compressed as a whole."""
_LINE_END = re.compile("\r\n|\n|\r")


def codec_of(compression: str, path: str = "") -> str:
    """The codec of a text file. Raises UnsupportedFormat: another codec, for which Hadoop has its own framing."""
    if compression in TEXT_EXTENSIONS:
        return compression
    raise UnsupportedFormat(
        f"text files with the codec {compression!r} are not supported",
        hint=f"'file.compression' can be {', '.join(TEXT_EXTENSIONS)}", path=path, feature=compression,
    )  # fmt: skip


def _decompress_zstd(data: bytes) -> bytes:
    with pa.CompressedInputStream(pa.BufferReader(data), "zstd") as stream:
        return bytes(stream.read())


def _decompress_gzip(data: bytes) -> bytes:
    return zlib.decompress(data, 31)


_DECODE: Mapping[str, Callable[[bytes], bytes]] = {
    "none": bytes, "gzip": _decompress_gzip, "zstd": _decompress_zstd, "bzip2": bz2.decompress, "deflate": zlib.decompress,
}  # fmt: skip


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

    Raises: MissingFile, CorruptFile. UnsupportedFormat: a codec with Hadoop's own framing.
    """
    extension = path.rsplit(".", 1)[-1]
    codec = next((c for c, e in TEXT_EXTENSIONS.items() if e == extension), "none")
    if extension in ("snappy", "lz4"):
        codec_of(extension, path)
    data = fs.read(path)
    try:
        return _DECODE[codec](data).decode("utf-8-sig")
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
