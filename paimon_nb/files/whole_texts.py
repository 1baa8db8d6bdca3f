"""Whole files as texts, as DuckDB's read_text: one row for each file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from paimon_nb.files import formats
from paimon_nb.files.text_encoding import Utf8Copies

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from paimon_nb.files.locations import Found
    from paimon_nb.files.options import FileOptions


class TextReader:
    """Reads a file as one row: filename, content, size in bytes and last_modified."""

    def __init__(self, file: Found, options: FileOptions) -> None:
        import pyarrow as pa

        compression = options.get("compression") or formats.compression_of(file.name)
        text = Utf8Copies().utf8(file.path, None if compression == "none" else compression, options.get("encoding"))
        from pathlib import Path

        from paimon_nb.files.text_encoding import open_stream

        plain = None if text.path != str(file.path) else compression
        with open_stream(Path(text.path), plain) as stream:
            content = stream.read().decode("utf-8-sig")
        state = file.path.stat()
        self.how = f"text, {text.encoding}" if text.encoding else "text"
        self.notes: list[str] = []
        self.guess: Mapping[str, str] = {}
        self._rows = pa.table(
            {
                "filename": pa.array([file.name]),
                "content": pa.array([content]),
                "size": pa.array([state.st_size], pa.int64()),
                "last_modified": pa.array([state.st_mtime_ns // 1000], pa.timestamp("us", "UTC")),
            }
        )
        self.schema: pa.Schema = self._rows.schema

    def read(self, columns: Sequence[int]) -> pa.Table:
        return self._rows.select(list(columns))

    def count(self) -> int:
        return 1
