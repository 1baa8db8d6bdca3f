"""Buckets and partition directories as Java 1.3.1 chose them (tests/golden/row/java-1.3.1.sql made the tables)."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from paimon_nb.base.errors import BadOptionValue, UnknownName, UnsupportedFormat
from paimon_nb.format.row import (
    Instant,
    bucket_of,
    bucket_of_row,
    cast_to_string,
    deserialize,
    escape,
    java_to_string,
    partition_names,
    partition_path,
    partition_values_of_path,
    serialize,
    unescape,
)
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.row.java_to_string import local_date_time_text, time_text, timestamp_text
from paimon_nb.format.types import DataField, arrow_type, parse_type

GOLDEN = Path(__file__).resolve().parents[2] / "golden/row"
BUCKETS = json.loads((GOLDEN / "buckets.json").read_text())
PARTITIONS = json.loads((GOLDEN / "partition_names.json").read_text())


def column(t, values):
    return pa.array([to_arrow_value(t, v) for v in values], type=arrow_type(t))


@pytest.mark.parametrize("table", BUCKETS)
def test_buckets(table):
    golden = BUCKETS[table]
    types = [parse_type(t) for t in golden["types"]]
    rows = [deserialize(types, bytes.fromhex(data)) for data, _ in golden["rows"]]
    expected = [bucket for _, bucket in golden["rows"]]
    columns = [column(t, [row[i] for row in rows]) for i, t in enumerate(types)]
    assert bucket_of(types, columns, golden["buckets"], golden["function"]).tolist() == expected
    assert [bucket_of_row(types, row, golden["buckets"], golden["function"]) for row in rows] == expected
    assert [serialize(types, row).hex() for row in rows] == [data for data, _ in golden["rows"]]


@pytest.mark.parametrize("table", PARTITIONS)
def test_partition_names(table):
    golden = PARTITIONS[table]
    field = DataField(0, golden["column"], parse_type(golden["type"]))
    for data, name in golden["names"]:
        values = deserialize([field.type], bytes.fromhex(data))
        assert partition_path([field], values, golden["legacy"]) == name
        assert serialize([field.type], values).hex() == data
        assert partition_values_of_path(name) == partition_names([field], values, golden["legacy"])


def test_partition_paths_of_fixtures(shared):
    lines = [json.loads(line) for line in (shared / "oracle/fixtures/expected/part_comp.partitions.jsonl").open()]
    root = shared / "oracle/fixtures/warehouse/fx.db/part_comp"
    listed = {str(p.parent.relative_to(root)) for p in root.rglob("bucket-*")}
    assert {
        "/".join(f"{escape(k)}={escape(v)}" for k, v in partition_values_of_path(p).items()) for p in listed
    } == listed
    assert len(listed) >= len(lines)


@pytest.mark.parametrize("table", ["bk_dcl", "bk_i_s", "bk_s", "bk_ts6"])
def test_buckets_of_fixtures(shared, table):
    schema = json.loads((shared / f"oracle/fixtures/warehouse/fx.db/{table}/schema/schema-0").read_text())
    rows = [json.loads(line) for line in (shared / f"oracle/fixtures/expected/{table}.placement.jsonl").open()]
    fields = {f["name"]: parse_type(f["type"]) for f in schema["fields"]}
    keys = schema["options"]["bucket-key"].split(",")
    types = [fields[k] for k in keys]
    columns = [
        pa.array([r[k] for r in rows], pa.string()).cast(arrow_type(fields[k]))
        if fields[k].root in ("DECIMAL", "TIMESTAMP")
        else pa.array([r[k] for r in rows], arrow_type(fields[k]))
        for k in keys
    ]
    buckets = bucket_of(types, columns, int(schema["options"]["bucket"]))
    assert buckets.tolist() == [r["_bucket"] for r in rows]


def test_two_partition_columns_nulls_and_own_default():
    fields = [DataField(0, "a b", parse_type("STRING")), DataField(1, "h", parse_type("INT"))]
    assert partition_path(fields, ["x=y", 3]) == "a b=x%3Dy/h=3"
    assert partition_path(fields, [" \t", None], True, "none") == "a b=none/h=none"
    assert partition_path([], []) == ""


def test_binary_partitions_have_one_name_in_both_ways():
    field = DataField(0, "b", parse_type("BYTES"))
    assert partition_path([field], [b"abc"], legacy=False) == "b=abc"
    assert partition_path([field], [b"abc"], legacy=True) == "b=abc"
    with pytest.raises(UnsupportedFormat):
        java_to_string(field.type, b"abc")


def test_escapes_come_back():
    every = "".join(map(chr, range(1, 0x250)))
    assert unescape(escape(every)) == every
    assert escape("\x01\"#%'*/:=?\\\x7f{}[]^ é") == "%01%22%23%25%27%2A%2F%3A%3D%3F%5C%7F%7B%7D%5B%5D%5E é"
    assert unescape("100%") == "100%"


def test_java_texts():
    assert [local_date_time_text(Instant(ms, n)) for ms, n in [
        (0, 0), (1000, 0), (1, 0), (0, 1000), (0, 1), (253_402_300_800_000, 0), (-62_167_219_200_001, 0),
    ]] == [
        "1970-01-01T00:00", "1970-01-01T00:00:01", "1970-01-01T00:00:00.001", "1970-01-01T00:00:00.000001",
        "1970-01-01T00:00:00.000000001", "+10000-01-01T00:00", "-0001-12-31T23:59:59.999",
    ]  # fmt: skip
    assert timestamp_text(Instant(1, 500), 3) == "1970-01-01 00:00:00.0010005"
    assert [time_text(ms, p) for ms, p in [(1, 3), (120, 3), (45_296_000, 3), (45_296_789, 0), (789, 1)]] == [
        "00:00:00.001", "00:00:00.12", "12:34:56.0", "12:34:56", "00:00:00.7",
    ]  # fmt: skip


def test_cast_of_constructed_values():
    t = parse_type("ROW<a INT, m MAP<STRING, ARRAY<DOUBLE>>, d DATE, b BYTES>")
    assert cast_to_string(t, (1, (("k", (1.0, None)), ("z", None)), 0, b"x")) == (
        "{1, {k -> [1.0, null], z -> null}, 1970-01-01, x}"
    )
    assert cast_to_string(t, None) is None


def test_bucket_functions_refuse_other_keys():
    one = column(parse_type("STRING"), ["a"])
    with pytest.raises(BadOptionValue):
        bucket_of([parse_type("STRING")], [one], 2, "mod")
    with pytest.raises(BadOptionValue):
        bucket_of([parse_type("TIMESTAMP(3)")], [column(parse_type("TIMESTAMP(3)"), [Instant(0)])], 2, "hive")
    with pytest.raises(BadOptionValue):
        bucket_of([parse_type("STRING")], [one], 0)
    with pytest.raises(UnknownName):
        bucket_of([parse_type("STRING")], [one], 2, "modulo")


def test_hive_buckets():
    """Expected values computed by hand from Java's hashCode of each type (newer Paimon's HiveBucketFunction)."""

    def one(text, value, n=1 << 30):
        t = parse_type(text)
        return int(bucket_of([t], [column(t, [value])], n, "hive")[0])

    import decimal

    n = 1 << 30
    assert one("INT", -1) == 0x7FFFFFFF % n
    assert one("BIGINT", 1 << 32) == 1
    assert one("STRING", "ab") == 97 * 31 + 98
    assert one("STRING", "é") == ((-61 * 31 - 87) & 0x7FFFFFFF) % n  # bytes are signed
    assert one("DOUBLE", -0.0) == 0
    assert one("BOOLEAN", True) == 1
    assert one("DECIMAL(10,2)", decimal.Decimal("12.30")) == 31 * 123 + 1
    assert one("DECIMAL(10,2)", decimal.Decimal("0.00")) == 0
    assert one("INT", None) == 0
    types = [parse_type("INT"), parse_type("STRING")]
    columns = [column(types[0], [3, None]), column(types[1], ["a", "b"])]
    assert bucket_of(types, columns, 1000, "hive").tolist() == [(3 * 31 + 97) % 1000, 98]
