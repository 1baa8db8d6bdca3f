"""VARIANT columns whose fields are columns of the Parquet file: written as Java does, read from any writer."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from pyspark.sql.types import VariantVal

import paimon_nb
from paimon_nb.format.data.variant_encoding import (
    Keys,
    decode_scalar,
    encode_array,
    encode_date,
    encode_decimal,
    encode_object,
    encode_string,
    encode_timestamp,
)
from paimon_nb.format.data.variant_shredding import shred, shredded_type, unshred
from paimon_nb.format.types import parse_type
from paimon_nb.format.types.arrow_builders import VARIANT_ARROW

DOCUMENTS = [
    {"a": 1, "b": "x", "c": {"d": [1, 2.5, None], "e": True}},
    {"a": "no number", "z": {"y": 1, "x": [{"a": 5}]}},
    [1, "two", {"a": 3, "b": "b"}, []],
    5,
    "text",
    True,
    {"a": None, "b": None},
    {"c": {"d": [], "e": None, "q": 1}},
    {},
    {"a": 12345678901, "b": "long" * 40, "c": 7},
    {f"key{i}": i for i in range(300)},
    list(range(300)),
    {"é": 1, "😀": 2, "": 3},
    None,
]
"""None is a VARIANT, the null of JSON."""
TYPES = {
    "object": "ROW<a BIGINT, b STRING, c ROW<d ARRAY<DOUBLE>, e BOOLEAN>>",
    "narrow": "ROW<a TINYINT, b STRING>",
    "array": "ARRAY<INT>",
    "array of objects": "ARRAY<ROW<a INT>>",
    "scalar": "BIGINT",
    "text": "STRING",
    "variant": "ROW<a VARIANT, c VARIANT>",
    "other keys": "ROW<`😀` INT, unknown INT>",
}


def variants(values: list) -> pa.StructArray:
    """A column of JSON documents; `...` is NULL."""
    encoded = [None if v is ... else VariantVal.parseJson(json.dumps(v)) for v in values]
    rows = [None if v is None else {"value": v.value, "metadata": v.metadata} for v in encoded]
    return pa.array(rows, VARIANT_ARROW)


def documents(column: pa.Array) -> list:
    return [... if v is None else VariantVal(v["value"], v["metadata"]).toPython() for v in column.to_pylist()]


@pytest.mark.parametrize("name", TYPES)
def test_a_value_is_the_same_after_it_was_taken_apart(name):
    column = variants([..., *DOCUMENTS, ...])
    stored = shred(column, shredded_type(parse_type(TYPES[name])))
    assert documents(unshred(stored)) == [..., *DOCUMENTS, ...]
    assert documents(unshred(stored.slice(3, 5))) == DOCUMENTS[2:7]


def test_each_part_is_where_the_layout_says():
    t = shredded_type(parse_type("ROW<a BIGINT, b STRING>"))
    values = [{"a": 1, "b": "x"}, {"a": "no", "z": 1}, 5, {"a": 1.0}, {"a": 1.5}]
    found = shred(variants(values), t).to_pylist()
    assert [(v["value"] is None, v["typed_value"]) for v in found] == [
        (True, {"a": {"value": None, "typed_value": 1}, "b": {"value": None, "typed_value": "x"}}),
        (False, {"a": {"value": b"\x09no", "typed_value": None}, "b": {"value": None, "typed_value": None}}),
        (False, None),
        (True, {"a": {"value": None, "typed_value": 1}, "b": {"value": None, "typed_value": None}}),
        (True, {"a": {"value": encode_decimal(Decimal("1.5")), "typed_value": None}, "b": {"value": None, "typed_value": None}}),
    ]  # fmt: skip


TIMES = {
    "d": (encode_date(-1), date(1969, 12, 31)),
    "t": (encode_timestamp(-1, nanos=False, local=False), datetime(1969, 12, 31, 23, 59, 59, 999999)),
    "z": (
        encode_timestamp(1_700_000_000_123_456, nanos=False, local=True),
        datetime(2023, 11, 14, 22, 13, 20, 123456, UTC),
    ),
    "n": (encode_decimal(Decimal("-12345678901234567890.50")), Decimal("-12345678901234567890.50")),
    "s": (encode_string("x" * 64), "x" * 64),
    "b": (b"\x3c\x02\x00\x00\x00\x01\x02", b"\x01\x02"),
    "f": (b"\x38\x00\x00\xc0\x3f", 1.5),
    "g": (b"\x1c\x00\x00\x00\x00\x00\x00\xf8\x3f", 1.5),
}


@pytest.mark.parametrize(
    "types",
    [
        "d DATE, t TIMESTAMP(6), z TIMESTAMP_LTZ(6), n DECIMAL(38, 2), s STRING, b BYTES, f FLOAT, g DOUBLE",
        "d DATE, t TIMESTAMP(9), z TIMESTAMP_LTZ(9), n DECIMAL(38, 5), s CHAR(3), b BINARY(1), f FLOAT, g DOUBLE",
        "d INT, t TIMESTAMP(3), z TIMESTAMP_LTZ(3), n DECIMAL(9, 2), s BYTES, b STRING, f DOUBLE, g FLOAT",
        "d TIMESTAMP(6), t TIMESTAMP_LTZ(6), z TIMESTAMP(6), n BIGINT, s DATE, b INT, f INT, g BIGINT",
    ],
)
def test_no_value_changes_where_its_type_does_not_fit(types):
    keys = Keys(b"\x01\x00\x00")
    value = encode_object([(n, keys.id_of(n), v) for n, (v, _) in TIMES.items()])
    column = pa.array([{"value": value, "metadata": keys.to_bytes()}], VARIANT_ARROW)
    stored = shred(column, shredded_type(parse_type(f"ROW<{types}>")))
    assert documents(unshred(stored)) == [{n: v for n, (_, v) in TIMES.items()}]


def test_a_key_that_the_metadata_lacks_is_added():
    """Parquet wants all keys there; a writer that leaves out those of columns can still be read."""
    column = pa.array([{"metadata": b"\x01\x00\x00", "value": None, "typed_value": {"a": {"typed_value": 5}}}])
    assert documents(unshred(column)) == [{"a": 5}]


def test_other_types_of_parquet():
    """Times of day, UUIDs and nanoseconds are no types of Paimon, but other writers may shred them."""
    inner = {
        "time": pa.array([1], pa.time64("us")), "uuid": pa.array([bytes(range(16))], pa.binary(16)),
        "nanos": pa.array([1_000_000_001], pa.timestamp("ns")), "exact": pa.array([1_000_000_000], pa.timestamp("ns", "UTC")),
        "small": pa.array([3], pa.uint8()),
    }  # fmt: skip
    fields = {n: pa.StructArray.from_arrays([c], ["typed_value"]) for n, c in inner.items()}
    typed = pa.StructArray.from_arrays(list(fields.values()), list(fields))
    column = pa.StructArray.from_arrays([pa.array([b"\x01\x00\x00"]), typed], ["metadata", "typed_value"])
    found = unshred(column)[0].as_py()
    parts = {f: found["value"].hex().find(h) >= 0 for f, h in {
        "time": "44" + "0100000000000000", "uuid": "50" + bytes(range(16)).hex(), "nanos": "4c" + "01ca9a3b00000000",
        "exact": "30" + "40420f0000000000", "small": "0c03",
    }.items()}  # fmt: skip
    assert all(parts.values()), parts


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (b"", "malformed"),
        (encode_array([b"\x00"]), "no object"),
        (encode_object([("a", 0, b"\x00"), ("b", 1, b"\x05a")])[:-1], "ends too early"),
        (b"\x02\x01\x09\x00\x01\x00", "malformed"),
        (b"\x02\x01\x00\x00\x01\xe8", "not known"),
    ],
)
def test_malformed_bytes_are_an_error(value, why):
    metadata = VariantVal.parseJson('{"a": 0, "b": 1}').metadata
    column = pa.array([{"metadata": metadata, "value": value, "typed_value": {"c": {"typed_value": 5}}}])
    with pytest.raises(ValueError, match=why):
        unshred(column)


def test_scalars_of_unknown_types_stay_as_they_are():
    assert decode_scalar(bytes([21 << 2])).kind == "other"


SCHEMA = json.dumps(
    {
        "type": "ROW",
        "fields": [
            {"name": "v", "type": {"type": "ROW", "fields": [
                {"name": "a", "type": "BIGINT"},
                {"name": "c", "type": {"type": "ROW", "fields": [{"name": "d", "type": {"type": "ARRAY", "element": "DOUBLE"}}]}},
            ]}},
            {"name": "gone", "type": "INT"},
        ],
    }
)  # fmt: skip


def table(options: str = "", key: str = "variant.shreddingSchema") -> paimon_nb.Table:
    wb = paimon_nb.connect("memory:/shredded")
    wb.run("DROP TABLE IF EXISTS t")
    wb.run(f"CREATE TABLE t (id INT, v VARIANT, w VARIANT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', '{key}' = '{SCHEMA}'{options})")  # fmt: skip
    return wb.table("t")


def written(t: paimon_nb.Table, values: list, first: int = 0) -> None:
    ids = pa.array(range(first, first + len(values)), pa.int32())
    t.append(pa.table({"id": ids, "v": variants(values), "w": variants(values)}))


def parquet_schema(t: paimon_nb.Table) -> pa.Schema:
    path = t.system("files").column("file_path")[0].as_py()
    with t.store.fs.open(path) as source:
        return pq.ParquetFile(source).schema_arrow


@pytest.mark.parametrize("key", ["variant.shreddingSchema", "parquet.variant.shreddingSchema"])
def test_a_table_shreds_what_its_option_names(key):
    t = table(key=key)
    written(t, [*DOCUMENTS, ...])
    written(t, [{"a": 100}], first=1)
    for _ in range(2):
        found = t.to_arrow().sort_by("id")
        wanted = [DOCUMENTS[0], {"a": 100}, *DOCUMENTS[2:], ...]
        assert documents(found.column("v")) == documents(found.column("w")) == wanted
        assert documents(t.to_arrow(where="id = 2").column("v")) == [DOCUMENTS[2]]
        t.compact(full=True)
    schema = parquet_schema(t)
    assert [f.name for f in schema.field("v").type] == ["metadata", "value", "typed_value"]
    assert [f.name for f in schema.field("w").type] == ["value", "metadata"]


def test_ids_and_optional_parts_are_those_of_java():
    t = table()
    written(t, DOCUMENTS)
    v = parquet_schema(t).field("v").type

    def shown(t: pa.DataType) -> object:
        if pa.types.is_struct(t):
            return [(f.name, int(f.metadata[b"PARQUET:field_id"]), f.nullable, shown(f.type)) for f in t]
        return ["element", t.value_field.nullable, shown(t.value_type)] if pa.types.is_list(t) else str(t)

    double = [("value", 0, True, "binary"), ("typed_value", 1, True, "double")]
    inner = [("d", 3, False, [("value", 0, True, "binary"), ("typed_value", 1, True, ["element", True, double])])]
    assert shown(v) == [
        ("metadata", 0, False, "binary"),
        ("value", 1, True, "binary"),
        ("typed_value", 2, True, [
            ("a", 1, False, [("value", 0, True, "binary"), ("typed_value", 1, True, "int64")]),
            ("c", 2, False, [("value", 0, True, "binary"), ("typed_value", 1, True, inner)]),
        ]),
    ]  # fmt: skip


@pytest.mark.parametrize("value", ["no json", '{"type": "INT"}', '{"type": "ROW", "fields": [{"name": "v", "type": {"type": "MAP", "key": "STRING", "value": "INT"}}]}'])  # fmt: skip
def test_a_schema_that_cannot_be_is_named(value):
    t = table().copy({"variant.shreddingSchema": value})
    with pytest.raises(paimon_nb.PaimonError, match="shreddingSchema"):
        written(t, DOCUMENTS)
