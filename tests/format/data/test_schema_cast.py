"""What users hand in, as the table's own types: nothing lost, the offending row named."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from paimon_nb.base.errors import ColumnNotFound, NullNotAllowed, SchemaMismatch
from paimon_nb.format.data.schema_cast import cast_to_schema
from paimon_nb.format.types import DataField, parse_type


def fields(**types: str) -> list[DataField]:
    return [DataField(i, name, parse_type(text)) for i, (name, text) in enumerate(types.items())]


def one(column: pa.Array, type_text: str) -> pa.Array:
    return cast_to_schema(pa.table({"c": column}), fields(c=type_text)).column("c").combine_chunks()


@pytest.mark.parametrize(
    ("given", "type_text", "stored"),
    [
        (pa.array([1, None], pa.int64()), "TINYINT", [1, None]),
        (pa.array([255], pa.uint8()), "INT", [255]),
        (pa.array([2**64 - 1], pa.uint64()), "DECIMAL(20, 0)", [Decimal(2**64 - 1)]),
        (pa.array([7], pa.int64()), "DECIMAL(10, 2)", [Decimal("7.00")]),
        (pa.array([1.0, None], pa.float64()), "BIGINT", [1, None]),
        (pa.array([0.1], pa.float64()), "DECIMAL(10, 2)", [Decimal("0.10")]),
        (pa.array([0.1], pa.float64()), "FLOAT", [np.float32(0.1)]),
        (pa.array([Decimal("1.50")]), "DECIMAL(5, 1)", [Decimal("1.5")]),
        (pa.array([None]), "STRING", [None]),
        (pa.array(["a", "b", "a"]).dictionary_encode(), "STRING", ["a", "b", "a"]),
        (pa.array(["a"], pa.large_string()), "STRING", ["a"]),
        (pa.array(["a"], pa.string_view()), "STRING", ["a"]),
        (pa.array([b"a"], pa.large_binary()), "BYTES", [b"a"]),
        (pa.array(["ab", ""]), "CHAR(4)", ["ab  ", "    "]),
        (pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("ns")), "TIMESTAMP(3)", [dt.datetime(2024, 1, 1)]),
        (pa.array([dt.datetime(2024, 1, 1)], pa.timestamp("s")), "TIMESTAMP(6)", [dt.datetime(2024, 1, 1)]),
        (pa.array([0], pa.timestamp("us", "Asia/Tokyo")), "TIMESTAMP_LTZ(6)", [dt.datetime(1970, 1, 1, tzinfo=dt.UTC)]),
        (pa.array([dt.time(1, 2, 3, 4000)], pa.time64("us")), "TIME(3)", [dt.time(1, 2, 3, 4000)]),
        (pa.array([dt.date(2024, 1, 1)], pa.date64()), "DATE", [dt.date(2024, 1, 1)]),
        (pa.array([[1], None, []], pa.large_list(pa.int64())), "ARRAY<INT>", [[1], None, []]),
        (pa.array([[1, 2], None], pa.list_(pa.int64(), 2)), "ARRAY<INT>", [[1, 2], None]),
        (pa.array([[("k", 1)], None], pa.map_(pa.large_string(), pa.int64())), "MAP<STRING, INT>", [[("k", 1)], None]),
        (pa.array([[{"key": "k", "value": 1}]]), "MAP<STRING, INT>", [[("k", 1)]]),
        (pa.array([{"b": 1, "a": "x"}, None]), "ROW<a STRING, b INT>", [{"a": "x", "b": 1}, None]),
        (pa.array([[{"x": 1}], None]), "ARRAY<ROW<x BIGINT>>", [[{"x": 1}], None]),
    ],
    ids=str,
)  # fmt: skip
def test_same_value_in_the_tables_type(given, type_text, stored):
    assert one(given, type_text).to_pylist() == stored
    assert one(pa.concat_arrays([given, given]).slice(len(given)), type_text).to_pylist() == stored


@pytest.mark.parametrize(
    ("given", "type_text", "row"),
    [
        (pa.array([1, 128, 300]), "TINYINT", 1),
        (pa.array([1.0, 2.0, 1.5]), "INT", 2),
        (pa.array([float("nan")]), "INT", 0),
        (pa.array([1.0, float("nan")]), "DECIMAL(5, 2)", 1),
        (pa.array([0.125]), "DECIMAL(5, 2)", 0),
        (pa.array([1, 1000]), "DECIMAL(5, 2)", 1),
        (pa.array([Decimal("1.00"), Decimal("1.25")]), "DECIMAL(5, 1)", 1),
        (pa.array([1.0, 1e300]), "FLOAT", 1),
        (pa.array(["1"]), "INT", 0),
        (pa.array(["2024-01-01"]), "DATE", 0),
        (pa.array([1]), "STRING", 0),
        (pa.array([True]), "INT", 0),
        (pa.array([0, 1]), "BOOLEAN", 0),
        (pa.array(["abc", "é😀x", "abcd"]), "VARCHAR(3)", 2),
        (pa.array(["abcd"]), "CHAR(3)", 0),
        (pa.array([b"abc", b"abcd"]), "BINARY(3)", 1),
        (pa.array([0, 1], pa.timestamp("us")), "TIMESTAMP(3)", 1),
        (pa.array([0, 1000, 1], pa.timestamp("ms")), "TIMESTAMP(0)", 2),
        (pa.array([0], pa.timestamp("us")), "TIMESTAMP_LTZ(6)", 0),
        (pa.array([0], pa.timestamp("us", "UTC")), "TIMESTAMP(6)", 0),
        (pa.array([2**62], pa.timestamp("us")), "TIMESTAMP(9)", 0),
        (pa.array([[1], [300]]), "ARRAY<TINYINT>", 1),
        (pa.array([{"a": 1}, {"a": 300}]), "ROW<a TINYINT>", 1),
        (pa.array([{"a": 1}]), "ROW<a INT, b INT>", 0),
        (pa.array([[0], [1]], pa.list_(pa.timestamp("us"))), "ARRAY<TIMESTAMP(3)>", 1),
    ],
    ids=str,
)  # fmt: skip
def test_a_value_that_does_not_fit_is_named(given, type_text, row):
    for rows in (pa.table({"c": given}), pa.table({"c": pa.chunked_array([given.slice(0, 1), given.slice(1)])})):
        with pytest.raises(SchemaMismatch) as error:
            cast_to_schema(rows, fields(c=type_text))
        assert (error.value.column, error.value.row) == ("c", row)
        assert f"row {row}" in str(error.value)


def test_the_offender_is_found_among_many():
    values = list(range(100)) * 3000
    values[222_222] = 1000
    with pytest.raises(SchemaMismatch) as error:
        one(pa.array(values), "TINYINT")
    assert (error.value.row, error.value.value) == (222_222, 1000)


@pytest.mark.parametrize(
    ("given", "type_text", "row"),
    [
        (pa.array([1, None]), "INT NOT NULL", 1),
        (pa.array([[1], None, [2, None]]), "ARRAY<INT NOT NULL>", 2),
        (pa.array([None, {"a": 1}, {"a": None}]), "ROW<a INT NOT NULL>", 2),
        (pa.array([[{"a": [1]}], [], [{"a": [None]}]]), "ARRAY<ROW<a ARRAY<INT NOT NULL>>>", 2),
        (pa.array([[("k", 1)], [("k", None)]], pa.map_(pa.string(), pa.int32())), "MAP<STRING, INT NOT NULL>", 1),
    ],
    ids=str,
)
def test_null_where_none_may_be(given, type_text, row):
    with pytest.raises(NullNotAllowed) as error:
        cast_to_schema(pa.table({"c": pa.chunked_array([given.slice(0, 1), given.slice(1)])}), fields(c=type_text))
    assert (error.value.column, error.value.row) == ("c", row)


def test_columns_are_brought_into_order_and_none_may_be_extra_or_missing():
    rows, expected = pa.table({"b": [1], "a": ["x"]}), fields(a="STRING", b="INT")
    assert cast_to_schema(rows, expected).to_pylist() == [{"a": "x", "b": 1}]
    with pytest.raises(ColumnNotFound, match="no column 'aa'"):
        cast_to_schema(rows.append_column("aa", [["y"]]), expected)
    with pytest.raises(SchemaMismatch, match="'b' is missing"):
        cast_to_schema(rows.select(["a"]), expected)
    with pytest.raises(SchemaMismatch, match="the same name"):
        cast_to_schema(rows.append_column("a", [["y"]]), expected)


def test_a_pandas_frame():
    frame = pd.DataFrame({"i": [1, None], "s": ["x", None], "t": pd.to_datetime(["2024-01-01", None]), "c": pd.Categorical(["a", "b"])})  # fmt: skip
    out = cast_to_schema(pa.Table.from_pandas(frame), fields(i="INT", s="STRING", t="TIMESTAMP(3)", c="STRING"))
    assert out.to_pylist() == [
        {"i": 1, "s": "x", "t": dt.datetime(2024, 1, 1), "c": "a"},
        {"i": None, "s": None, "t": None, "c": "b"},
    ]
