"""Reads and writes text files of format tables: one STRING column, one value a line.

Source: Paimon 2.1 `format/text/Text{Options,FileReader,FormatWriter}.java`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.base.errors import SchemaMismatch
from paimon_nb.format.data.schema_cast import without_columns
from paimon_nb.format.data.text_codecs import LINE_ENDS, new_encoder, read_text, split_lines
from paimon_nb.format.types import arrow_schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions


def line_delimiter(raw: Mapping[str, str]) -> str:
    """The end of a line: the option `text.line-delimiter`, or Spark's `lineSep`."""
    return raw.get("text.line-delimiter") or raw.get("lineSep") or "\n"


class LineReader:
    """The lines of one file, as one row group."""

    def __init__(self, fs: FileIO, path: str, fields: Sequence[DataField], options: TableOptions | None = None) -> None:
        self._fields = tuple(fields)
        self._lines = split_lines(read_text(fs, path), line_delimiter(options.raw if options is not None else {}))

    @property
    def num_rows(self) -> int:
        return len(self._lines)

    @property
    def row_groups(self) -> list[int]:
        return [len(self._lines)] if self._lines else []

    def read(self, groups: Sequence[int] | None = None) -> pa.Table:
        """All rows, in file order."""
        lines = [] if groups == [] else self._lines
        if not self._fields:
            return without_columns(len(lines))
        column = pa.array(lines, pa.string())
        return pa.Table.from_arrays([column], schema=arrow_schema(self._fields, nullable=True))

    def batches(self, rows: int, groups: Sequence[int] | None = None) -> Iterator[pa.RecordBatch]:
        yield from self.read(groups).to_batches(rows)

    def close(self) -> None:
        self._lines = []


class LineWriter:
    """Writes one file. NULL becomes an empty line, as in Spark."""

    def __init__(self, out: Any, fields: Sequence[DataField], options: TableOptions, compression: str) -> None:
        del fields
        self._end = line_delimiter(options.raw)
        self._out, self._encoder = out, new_encoder(compression)

    @property
    def pending_bytes(self) -> int:
        return 0

    def write(self, table: pa.Table) -> None:
        ends = LINE_ENDS if self._end in LINE_ENDS else (self._end,)
        values = table.column(0).to_pylist()
        for value in values:
            if value and any(end in value for end in ends):
                raise SchemaMismatch(
                    f"{value[:60]!r} has a line break: a text file stores one value a line", value=value,
                    hint="use 'file.format' = 'csv' or 'json', or another 'text.line-delimiter'",
                )  # fmt: skip
        lines = [f"{value or ''}{self._end}" for value in values]
        self._out.write(self._encoder.compress("".join(lines).encode()))

    def close(self) -> None:
        self._out.write(self._encoder.flush())

    def abort(self) -> None:
        self._encoder = None
