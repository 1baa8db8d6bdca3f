"""Which fields of VARIANT columns become columns of a file: the cases of Paimon 2.1's InferVariantShreddingSchemaTest."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet as pq
from pyspark.sql.types import VariantVal

import paimon_nb
from paimon_nb.base.errors import BadOptionValue
from paimon_nb.format.data.variant_inference import inferred_columns
from paimon_nb.format.data.variant_shredding import shredded_type
from paimon_nb.format.types import parse_type
from paimon_nb.format.types.arrow_builders import VARIANT_ARROW
from paimon_nb.options import TableOptions

MIXED = [
    {"str": "hello", "num": 42, "bool": True, "dec": 3.14},
    {"str": "world", "num": 100, "bool": False, "dec": 2.71},
]
DEEP = [{"level1": {"level2": {"level3": {"value": 42}}}}]
RARE = [{"common": 1, "rare": 99}, {"common": 2, "rare": 88}, *({"common": i} for i in range(8))]
WIDE = [{f"field{i}": i for i in range(1, 6)}]
CASES = {
    "fields in the order of their names": ([{"name": "A", "age": 1}, {"name": "B", "age": 2}], {}, "ROW<age BIGINT, name STRING>"),
    "array": ([{"numbers": [1, 2]}, {"numbers": [3]}], {}, "ROW<numbers ARRAY<BIGINT>>"),
    "mixed": (MIXED, {}, "ROW<bool BOOLEAN, dec DECIMAL(18, 2), num BIGINT, str STRING>"),
    "null beside numbers": ([{"a": 1, "b": None}, {"a": 2, "b": 3}], {}, "ROW<a BIGINT, b BIGINT>"),
    "no rows": ([], {}, "VARIANT"),
    "only NULL": ([..., ...], {}, "VARIANT"),
    "only null": ([None], {}, "VARIANT"),
    "empty objects": ([{}], {}, "VARIANT"),
    "empty arrays": ([[]], {}, "ARRAY<VARIANT>"),
    "deep": (DEEP, {}, "ROW<level1 ROW<level2 ROW<level3 ROW<value BIGINT>>>>"),
    "depth 1": (DEEP, {"maxSchemaDepth": "1"}, "ROW<level1 VARIANT>"),
    "not too rare": (RARE, {}, "ROW<common BIGINT, rare BIGINT>"),
    "rare": (RARE, {"minFieldCardinalityRatio": "0.25"}, "ROW<common BIGINT>"),
    "width 11": (WIDE, {"maxSchemaWidth": "11"}, "ROW<field1 BIGINT, field2 BIGINT, field3 BIGINT, field4 BIGINT, field5 BIGINT>"),
    "width 5": (WIDE, {"maxSchemaWidth": "5"}, "ROW<field1 BIGINT, field2 BIGINT>"),
    "no common type": ([{"a": 1}, {"a": "x"}], {}, "ROW<a VARIANT>"),
    "number and object": ([1, {"a": 1}], {}, "VARIANT"),
    "long and decimal": ([{"a": 1}, {"a": 2.5}, {"a": 12345678901234567890}], {}, "ROW<a DECIMAL(38, 1)>"),
    "19 digits": ([{"a": 1}, {"a": 1234567890123456789}], {}, "ROW<a BIGINT>"),
    "doubles": ([{"a": 1e300}], {}, "ROW<a DOUBLE>"),
    "first rows": ([{"a": 1}, {"a": 1}, {"b": 1}], {"maxInferBufferRow": "2"}, "ROW<a BIGINT>"),
    "UTF-16 order": ([{"\uffee": 1, "\U0001f600": 2}], {}, "ROW<`\U0001f600` BIGINT, `\uffee` BIGINT>"),
}  # fmt: skip


def variants(values: list) -> pa.StructArray:
    """A column of JSON documents; `...` is NULL."""
    encoded = [None if v is ... else VariantVal.parseJson(json.dumps(v)) for v in values]
    rows = [None if v is None else {"value": bytes(v.value), "metadata": bytes(v.metadata)} for v in encoded]
    return pa.array(rows, VARIANT_ARROW)


@pytest.mark.parametrize("case", CASES)
def test_the_type_that_is_inferred(case):
    values, changes, wanted = CASES[case]
    options = TableOptions({f"variant.shredding.{k}": v for k, v in changes.items()})
    found = inferred_columns(pa.table({"v": pa.chunked_array([variants(values)], VARIANT_ARROW)}), ["v"], options)
    assert {n: str(t) for n, t in found.items()} == (
        {} if wanted == "VARIANT" else {"v": str(shredded_type(parse_type(wanted)))}
    )


def test_the_limit_of_columns_is_for_all_columns_together():
    rows = pa.table({"a": variants([{"x": 1, "y": 2}]), "b": variants([{"z": 1}])})
    found = inferred_columns(rows, ["a", "b"], TableOptions({"variant.shredding.maxSchemaWidth": "6"}))
    assert found == {"a": shredded_type(parse_type("ROW<x BIGINT, y BIGINT>"))}


def test_files_have_the_inferred_columns_and_the_same_values(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(
        "CREATE TABLE t (id INT, v VARIANT, g GEOMETRY, n TIMESTAMP(9)) WITH ('bucket' = '-1', 'variant.inferShreddingSchema' = 'true')"
    )
    values = [{"a": i, "b": {"c": f"text {i}"}} for i in range(20)] + [..., None, {"z": [1]}]
    t = wb.table("t")
    shapes = [b"shape"] * len(values)
    t.append(
        pa.table(
            {
                "id": pa.array(range(len(values)), pa.int32()),
                "v": variants(values),
                "g": shapes,
                "n": pa.nulls(len(values), pa.timestamp("ns")),
            }
        )
    )
    (file,) = Path(t.path).glob("bucket-0/*.parquet")
    schema = pq.ParquetFile(file).schema
    paths = [schema.column(i).path for i in range(len(schema))]
    assert {"v.typed_value.a.typed_value", "v.typed_value.b.typed_value.c.typed_value"} <= set(paths)
    assert not any(".z" in path for path in paths)
    assert "g (Geometry(crs=OGC:CRS84))" in str(schema)
    found = t.to_arrow().sort_by("id").column("v").to_pylist()
    texts = [... if v is None else json.loads(VariantVal(v["value"], v["metadata"]).toJson()) for v in found]
    assert texts == values


def test_a_given_schema_comes_first(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    given = '{"type": "ROW", "fields": [{"name": "v", "type": {"type": "ROW", "fields": [{"name": "b", "type": "STRING"}]}}]}'
    wb.run(
        f"CREATE TABLE t (v VARIANT) WITH ('bucket' = '-1', 'variant.inferShreddingSchema' = 'true', 'variant.shreddingSchema' = '{given}')"
    )
    wb.table("t").append(pa.table({"v": variants([{"a": 1}])}))
    (file,) = Path(wb.table("t").path).glob("bucket-0/*.parquet")
    schema = pq.ParquetFile(file).schema
    assert [schema.column(i).path for i in range(len(schema))][2:] == [
        "v.typed_value.b.value",
        "v.typed_value.b.typed_value",
    ]


@pytest.mark.parametrize(("option", "value"), [("maxInferBufferRow", "0"), ("minFieldCardinalityRatio", "1.5")])
def test_options_out_of_range_are_refused(tmp_path, option, value):
    with pytest.raises(BadOptionValue, match=option):
        paimon_nb.connect(str(tmp_path)).run(
            f"CREATE TABLE t (v VARIANT) WITH ('variant.inferShreddingSchema' = 'true', 'variant.shredding.{option}' = '{value}')"
        )
