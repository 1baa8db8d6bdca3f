"""A large ORC file is decoded piece by piece: the same rows in the same order as at once."""

from __future__ import annotations

import datetime as dt
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from paimon_nb.format.data import iter_data_file, open_data_writer, read_data_file
from paimon_nb.format.types import DataField, arrow_schema, parse_type
from paimon_nb.fs import LocalFileIO
from paimon_nb.options import TableOptions

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {
    "k": "INT",
    "s": "CHAR(4)",
    "at": "TIMESTAMP(3) WITH LOCAL TIME ZONE",
    "m": "MAP<STRING, TIMESTAMP(6)>",
    "c": "TIME(3)",
}
FIELDS = tuple(DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(TYPES.items()))
ROWS = 4_000


@pytest.mark.parametrize("far", [None, 0, ROWS // 2])
def test_pieces_are_the_file(far: int | None, tmp_path: Path) -> None:
    """`far`: the row with a time that 64-bit nanoseconds cannot say, where Arrow gives up."""
    fs, options, path = LocalFileIO(), TableOptions({"file.format": "orc"}), f"{tmp_path}/f.orc"
    start = dt.datetime(2024, 1, 1)
    timestamps = [dt.datetime(9999, 12, 31) if k == far else start + dt.timedelta(minutes=k) for k in range(ROWS)]
    rows = pa.table(
        [list(range(ROWS)), ["é"] * ROWS, timestamps, [[("x", m)] for m in timestamps], [dt.time(1, 2, 3)] * ROWS],
        schema=arrow_schema(FIELDS, nullable=True),
    )
    out = open_data_writer(fs, path, FIELDS, options, 0)
    out.write(rows)
    out.close()
    pieces = list(iter_data_file(fs, path, FIELDS, None, rows=300, options=options))
    assert max(p.num_rows for p in pieces) == 300
    assert pa.Table.from_batches(pieces).equals(rows)
    assert read_data_file(fs, path, FIELDS, options=options).equals(rows)
