"""File indexes that Java 1.3.1 wrote, one of every kind and type (tests/golden/row/java-1.3.1.sql made the tables)."""

from __future__ import annotations

from pathlib import Path

import pytest

from paimon_nb.format.data import read_data_file
from paimon_nb.format.index import OPERATORS, FileIndex, FileIndexWriter, index_specs
from paimon_nb.format.row import from_scalar
from paimon_nb.format.schema import TableSchema
from paimon_nb.fs import LocalFileIO
from paimon_nb.options import TableOptions

GOLDEN = Path(__file__).resolve().parents[2] / "golden/index"
KEYS_IN_HASH_ORDER = {"fi1"}
"""Version 1 of the bitmap index lists its values in the order of Java's HashMap; any order is right."""


def parts(index: FileIndex, data: bytes) -> dict[tuple[str, str], bytes]:
    return {
        (column, kind): data[start : start + length]
        for column, kinds in index._columns.items()
        for kind, (start, length) in kinds.items()
    }


@pytest.mark.parametrize("name", ["fi", "fi1"])
def test_same_bytes_and_same_answers(name):
    base = GOLDEN / f"java-1.3.1-{name}"
    schema = TableSchema.from_json(base.with_suffix(base.suffix + ".schema.json").read_bytes(), base.name)
    table = read_data_file(LocalFileIO(), f"{base}.parquet", schema.fields)
    data = Path(f"{base}.index").read_bytes()
    other_files = FileIndex.parse(data)
    writer = FileIndexWriter(index_specs(TableOptions(schema.options), schema.fields))
    writer.add(table.slice(0, 3))
    writer.add(table.slice(3))
    written = writer.finish()
    ours = FileIndex.parse(written)
    own, java = parts(ours, written), parts(other_files, data)
    assert own.keys() == java.keys()
    assert [k for k in java if sorted(own[k]) != sorted(java[k])] == []
    if name not in KEYS_IN_HASH_ORDER:
        assert [k for k in java if own[k] != java[k]] == []
    requested = 0
    for f in schema.fields:
        values = [from_scalar(f.type, scalar) for scalar in table.column(f.name)]
        for op in OPERATORS:
            for value in {v for v in values if v is not None}:
                literals = [] if op.startswith("is ") else [value]
                rows = [index.candidates(f.name, op, literals, f.type) for index in (ours, other_files)]
                assert rows[0] == rows[1]
                if op == "=" and rows[0] is not None:
                    assert set(rows[0]) == {i for i, v in enumerate(values) if v == value}
                requested += 1
    assert requested > 500
