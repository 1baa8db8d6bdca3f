"""Values of a BLOB column whose newer files hold only some rows, and refer to older files for the others.

Source: Paimon 2.1 `BlobFallbackRecordReader`.
"""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from paimon_nb.format.data.blob import BATCH_BYTES, BlobReader, bytes_of_value
from paimon_nb.format.types import arrow_type

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np

    from paimon_nb.format.types import DataField
    from paimon_nb.fs import FileIO
    from paimon_nb.options import TableOptions


def newest_blobs(
    fs: FileIO,
    files: Sequence[tuple[str, int]],
    rows: np.ndarray,
    field: DataField,
    options: TableOptions,
    piece_rows: int,
) -> Iterator[pa.Array]:
    """The newest value of each row, NULL where no file has one, in pieces of about 64 MB.

    Args:
        files: path and first row of each file, newest first; an older file is opened when a newer one refers to it.
        rows: rows to read, counted from these first rows.
        field: the column.
        piece_rows: most rows of a piece.
    """
    with ExitStack() as opened:
        readers: list[BlobReader] = []

        def newest(row: int) -> Any:
            for version, (path, first) in enumerate(files):
                if version == len(readers):
                    readers.append(opened.enter_context(closing(BlobReader(fs, path, [field], options))))
                if not readers[version].is_placeholder(first + row):
                    return readers[version].value(first + row)
            return None

        values: list[Any] = []
        size = 0
        for row in rows.tolist():
            values.append(newest(row))
            size += bytes_of_value(values[-1])
            if len(values) == piece_rows or size > BATCH_BYTES:
                yield pa.array(values, arrow_type(field.type))
                values, size = [], 0
        if values:
            yield pa.array(values, arrow_type(field.type))
