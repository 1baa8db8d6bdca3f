"""MAP columns of the shared-shredding layout: keys share a fixed number of columns, others are in an overflow MAP."""

from __future__ import annotations

import base64
import json
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from golden_tables import golden_table, unpacked
from pyarrow import parquet as pq

import paimon_nb
from paimon_nb import CorruptFile, UnsupportedFormat
from paimon_nb.format.data import read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import LocalFileIO

MAPS = {i: [("a", i), (f"k{i}", i), ("z", None)] for i in range(4)}


def test_each_map_has_its_keys(tmp_path):
    t = golden_table(tmp_path, "pypaimon-2.1", "shredded_map")
    assert {r["id"]: sorted(r["m"]) for r in t.to_arrow().to_pylist()} == MAPS
    assert sorted(t.to_arrow(columns=["m"], where="id = 2")["m"][0].as_py()) == MAPS[2]
    assert t.to_arrow(columns=["id"], where="id >= 1").column("id").to_pylist() == [1, 2, 3]


@pytest.mark.spark
def test_sql_reads_them(tmp_path, spark):
    wb = paimon_nb.connect(str(unpacked(tmp_path, "pypaimon-2.1", "shredded_map")), spark=spark)
    found = wb.sql(
        "SELECT id, m['a'], m[concat('k', id)], map_contains_key(m, 'z'), size(m) FROM shredded_map"
    ).collect()
    assert sorted(tuple(r) for r in found) == [(i, i, i, True, 3) for i in range(4)]


def test_new_and_compacted_files_have_this_layout(tmp_path):
    t = golden_table(tmp_path, "pypaimon-2.1", "shredded_map")
    t.append(pa.table({"id": pa.array([9], pa.int32()), "m": pa.array([[("a", 9)]], pa.map_(pa.string(), pa.int64()))}))
    t.compact(full=True)
    assert {r["id"]: sorted(r["m"]) for r in t.to_arrow().to_pylist()} == MAPS | {9: [("a", 9)]}


PREFIX = "paimon.map.shared-shredding."
VALUES = [
    {"__field_mapping": [0, -1], "__col_0": "one", "__col_1": "not there", "__overflow": None},
    None,
    {"__field_mapping": [2, 0], "__col_0": None, "__col_1": "é", "__overflow": [(1, "over"), (9, "unknown key")]},
    {"__field_mapping": [-1, -1], "__col_0": None, "__col_1": None, "__overflow": []},
    {"__field_mapping": [9, 1], "__col_0": "unknown key", "__col_1": "x", "__overflow": None},
]
WANTED = [[("a", "one")], None, [("ü", None), ("a", "é"), ("b", "over")], [], [("b", "x")]]
NAMES = {"a": 0, "b": 1, "ü": 2}
FIELDS = (DataField(0, "id", parse_type("INT")), DataField(1, "m", parse_type("MAP<STRING NOT NULL, STRING>")))


def metadata(codec: str = "none", **changes: str | None) -> dict[str, str]:
    """What a writer tells of the column."""
    keys = json.dumps(NAMES, ensure_ascii=False).encode()
    stored = keys
    if codec == "zstd":
        stored = pa.Codec("zstd").compress(keys).to_pybytes()
    elif codec == "lz4":
        packed = pa.Codec("lz4_raw").compress(keys).to_pybytes()
        stored = len(packed).to_bytes(4, "little") + len(keys).to_bytes(4, "little") + packed
    told = {
        "version": "1", "field-dict": stored.decode("latin-1"), "field-dict-compression": codec,
        "field-dict-original-size": str(len(keys)), "num-columns": "2",
    }  # fmt: skip
    told |= {k.replace("_", "-"): v for k, v in changes.items()}
    return {PREFIX + k: v for k, v in told.items() if v is not None}


STRING = pa.string()


def column_type(value: pa.DataType = STRING) -> pa.DataType:
    parts = [("__field_mapping", pa.list_(pa.int32())), ("__col_0", value), ("__col_1", value)]
    return pa.struct([*parts, ("__overflow", pa.map_(pa.int32(), value))])


def parquet_file(tmp_path, told: dict[str, str], values=VALUES):
    schema = pa.schema([("id", pa.int32()), pa.field("m", column_type(), metadata=told)])
    rows = [{"id": i, "m": v} for i, v in enumerate(values)]
    pq.write_table(pa.Table.from_pylist(rows, schema), tmp_path / "f.parquet", row_group_size=2)
    return str(tmp_path / "f.parquet")


@pytest.mark.parametrize("codec", ["none", "zstd", "lz4"])
def test_keys_in_columns_and_in_the_overflow(tmp_path, codec):
    found = read_data_file(LocalFileIO(), parquet_file(tmp_path, metadata(codec)), FIELDS)
    assert found.column("m").to_pylist() == WANTED


REFUSED = {
    "version 2": metadata(version="2"),
    "field-dict": metadata(field_dict=None),
    "brotli": metadata("brotli"),
    "schema has no": {},
}


@pytest.mark.parametrize("why", REFUSED)
def test_what_cannot_be_decoded_is_refused_by_name(tmp_path, why):
    with pytest.raises(UnsupportedFormat, match=f"'m'.*{why}") as caught:
        read_data_file(LocalFileIO(), parquet_file(tmp_path, REFUSED[why]), FIELDS)
    assert not isinstance(caught.value, CorruptFile)
    assert caught.value.column == "m"


@pytest.mark.parametrize("mapping", [[0], None, [0, None]])
def test_a_malformed_column_is_corrupt(tmp_path, mapping):
    path = parquet_file(tmp_path, metadata(), [{**VALUES[0], "__field_mapping": mapping}])
    with pytest.raises(CorruptFile):
        read_data_file(LocalFileIO(), path, FIELDS)


@pytest.mark.parametrize("rows", [1, 400_000])
def test_orc_files_have_the_keys_in_their_schema(tmp_path, rows):
    """Times in them are converted as in other columns."""
    import pyorc

    from paimon_nb.format.data.read import open_data_file

    at = datetime(2024, 1, 2, 3, 4, 5, tzinfo=UTC)
    m = "struct<__field_mapping:array<int>,__col_0:timestamp,__col_1:timestamp,__overflow:map<int,timestamp>>"
    with (tmp_path / "f.orc").open("wb") as file, pyorc.Writer(file, f"struct<id:int,m:{m}>") as writer:
        for i in range(rows):
            writer.write((i, ([0, -1], at, None, {1: at})))
        schema = pa.schema([pa.field("m", column_type(pa.timestamp("us")), metadata=metadata("zstd"))])
        writer.set_user_metadata(**{"ARROW:schema": base64.b64encode(schema.serialize().to_pybytes())})
    fields = (DataField(1, "m", parse_type("MAP<STRING NOT NULL, TIMESTAMP(6)>")),)
    wanted = [("a", at.replace(tzinfo=None)), ("b", at.replace(tzinfo=None))]
    found = read_data_file(LocalFileIO(), str(tmp_path / "f.orc"), fields)
    assert found.column("m")[0].as_py() == found.column("m")[rows - 1].as_py() == wanted
    reader = open_data_file(LocalFileIO(), str(tmp_path / "f.orc"), fields)
    assert next(iter(reader.batches(1000))).column("m")[0].as_py() == wanted
    reader.close()
