"""A few rows of a Parquet file, by position: the same as those of the whole file, for lists, too."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet as pq

from paimon_nb.format.data.parquet_page_index import read_rows_by_page_index
from paimon_nb.format.types import DataField
from paimon_nb.format.types.parse import parse_type
from paimon_nb.fs.open import open_fs

ROWS = 3000
TYPES = {
    "i": "INT", "v": "VECTOR<FLOAT, 8>", "l": "ARRAY<INT>", "s": "ARRAY<STRING>", "m": "MAP<STRING, INT>",
    "r": "ROW<a ARRAY<INT>, b INT>", "n": "ARRAY<ARRAY<INT>>",
}  # fmt: skip
FIELDS = [DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(TYPES.items())]


def table() -> pa.Table:
    dice = np.random.default_rng(4)
    lists = [None if i % 7 == 3 else [None if j == 2 else i + j for j in range(i % 5)] for i in range(ROWS)]
    return pa.table({
        "i": pa.array(range(ROWS), pa.int32()),
        "v": pa.array([None if i % 11 == 2 else dice.integers(0, 99, 8).tolist() for i in range(ROWS)], pa.list_(pa.float32())),
        "l": pa.array(lists, pa.list_(pa.int32())),
        "s": pa.array([None if x is None else [f"w{i % 9}" for i in x if i is not None] for x in lists]),
        "m": pa.array([[("a", i)] * (i % 3) for i in range(ROWS)], pa.map_(pa.string(), pa.int32())),
        "r": pa.array([{"a": x, "b": 1} for x in lists], pa.struct({"a": pa.list_(pa.int32()), "b": pa.int32()})),
        "n": pa.array([[x, None, []] for x in lists], pa.list_(pa.list_(pa.int32()))),
    })  # fmt: skip


@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_rows_at_positions(tmp_path, version, dictionary):
    path = str(tmp_path / "f.parquet")
    pq.write_table(
        table(), path, row_group_size=1100, write_page_index=True, data_page_size=400, write_batch_size=50,
        data_page_version=version, use_dictionary=dictionary, compression="zstd", max_rows_per_page=100,
    )  # fmt: skip
    fs, whole = open_fs(path, {}), table().to_pylist()
    for positions in ([0], [2999], [17, 18, 1099, 1100, 2500], list(range(1040, 1130)), [3, 10, 2198, 2199, 2200]):
        found = read_rows_by_page_index(fs, path, FIELDS, np.array(positions, np.int64))
        assert found is not None
        assert found.to_pylist() == [whole[p] for p in positions]
        for field in FIELDS:
            alone = read_rows_by_page_index(fs, path, [field], np.array(positions, np.int64))
            assert alone is not None
            assert alone.column(0).to_pylist() == [whole[p][field.name] for p in positions]
