"""Dictionaries only where values come again: they make a file of unique values larger, and slow to write."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_nb.format.data import open_data_writer, read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import open_fs
from paimon_nb.options import TableOptions

FIELDS = (
    DataField(0, "unique", parse_type("BIGINT")),
    DataField(1, "few", parse_type("STRING")),
    DataField(2, "thousands", parse_type("INT")),
    DataField(3, "nothing", parse_type("STRING")),
    DataField(4, "list", parse_type("ARRAY<INT>")),
)
ROWS = 100_000


@pytest.mark.parametrize(
    ("options", "expected"),
    [({}, {"few", "thousands", "nothing", "list.list.element"}), ({"parquet.enable.dictionary": "false"}, set())],
)
def test_which_columns_get_one(tmp_path, options, expected):
    rng = np.random.default_rng(2)
    rows = pa.table(
        {
            "unique": pa.array(rng.permutation(ROWS)),
            "few": pa.array(["red", "green", None, "blue"] * (ROWS // 4)),
            "thousands": pa.array(rng.integers(0, 5000, ROWS).astype(np.int32)),
            "nothing": pa.nulls(ROWS, pa.string()),
            "list": pa.array([[1, 2], None, []] * (ROWS // 3) + [[3]], pa.list_(pa.int32())),
        }
    )
    path = str(tmp_path / "data-1-0.parquet")
    writer = open_data_writer(open_fs(path, {}), path, FIELDS, TableOptions(options), 0)
    writer.write(rows)
    writer.close()
    group = pq.ParquetFile(path).metadata.row_group(0)
    columns = [group.column(i) for i in range(group.num_columns)]
    assert {c.path_in_schema for c in columns if c.has_dictionary_page} == expected
    assert read_data_file(open_fs(path, {}), path, FIELDS).to_pydict() == rows.to_pydict()
