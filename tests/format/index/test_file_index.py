"""File indexes: every kind, type and operator against plain evaluation; golden bytes; broken bytes."""

from __future__ import annotations

import contextlib
import math
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_nb.base.errors import BadOptionValue, ColumnNotFound, CorruptFile, NewerFormat, UnknownName
from paimon_nb.format.index import FileIndex, FileIndexWriter, index_specs
from paimon_nb.format.index.file_index import INDEX_WRITERS, OPERATORS, write_container
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.types import DataField, arrow_schema, arrow_type, parse_type
from paimon_nb.options import TableOptions
from tests.format.row.strategies import values

TYPES = [
    "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "TIME(3)", "CHAR(3)", "STRING",
    "BYTES", "DECIMAL(9,2)", "DECIMAL(18,4)", "TIMESTAMP(0)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIMESTAMP(9)",
    "TIMESTAMP_LTZ(6)",
]  # fmt: skip


def field(text: str, name: str = "c") -> DataField:
    return DataField(0, name, parse_type(text))


def index_of(f: DataField, column: list, kind: str, parts: int = 1, **options: str) -> FileIndex | None:
    raw = {f"file-index.{kind}.columns": f.name} | {f"file-index.{kind}.{f.name}.{k}": v for k, v in options.items()}
    writer = FileIndexWriter(index_specs(TableOptions(raw), [f]))
    array = pa.array([to_arrow_value(f.type, v) for v in column], type=arrow_type(f.type))
    size = max(1, len(column) // parts)
    for start in range(0, max(1, len(column)), size):
        writer.add(pa.table([array.slice(start, size)], schema=arrow_schema([f])))
    data = writer.finish()
    return None if data is None else FileIndex.parse(data)


def holds(value, op: str, literals: list) -> bool:
    """SQL's answer, NaN being equal to itself and greater than everything."""
    if op in ("is null", "is not null"):
        return (value is None) == (op == "is null")
    if value is None:
        return False

    def order(v):
        return (math.isnan(v), 0.0 if math.isnan(v) else v) if isinstance(v, float) else v

    mine, others = order(value.encode() if isinstance(value, str) else value), [
        order(v.encode() if isinstance(v, str) else v) for v in literals
    ]  # fmt: skip
    match op:
        case "in":
            return mine in others
        case "not in":
            return mine not in others
    other = others[0]
    return {
        "=": mine == other, "<>": mine != other, "<": mine < other, "<=": mine <= other, ">": mine > other,
        ">=": mine >= other,
    }[op]  # fmt: skip


@st.composite
def cases(draw: st.DrawFn):
    kind = draw(st.sampled_from(sorted(INDEX_WRITERS)))
    text = draw(st.sampled_from([t for t in TYPES if INDEX_WRITERS[kind].supports(parse_type(t))]))
    f = field(text)
    value = values(f.type)
    if text in ("FLOAT", "DOUBLE"):
        value = value | st.sampled_from([0.0, -0.0, math.nan, math.inf])
    pool = draw(st.lists(value, min_size=1, max_size=8))
    column = draw(st.lists(st.none() | st.sampled_from(pool), max_size=40))
    op = draw(st.sampled_from(OPERATORS))
    count = 0 if op.startswith("is ") else draw(st.integers(1, 4)) if "in" in op else 1
    literals = [draw(st.sampled_from(pool) | value) for _ in range(count)]
    options = {"bitmap": {"version": draw(st.sampled_from("12")), "index-block-size": "100 b"},
               "range-bitmap": {"chunk-size": draw(st.sampled_from(["0 b", "10 b", "16 kb"]))},
               "bloom-filter": {"items": "100", "fpp": "0.01"}, "bsi": {}}[kind]  # fmt: skip
    return f, kind, options, column, op, literals


@given(cases(), st.integers(1, 3))
def test_no_row_is_lost_and_exact_indexes_are_exact(case, parts):
    f, kind, options, column, op, literals = case
    index = index_of(f, column, kind, parts, **options)
    if index is None:  # bsi of -2^63
        assert kind == "bsi"
        return
    expected = {i for i, v in enumerate(column) if holds(v, op, literals)}
    rows = index.candidates("c", op, literals, f.type)
    assert index.may_match("c", op, literals, f.type) or not expected
    if rows is not None:
        assert expected <= set(rows)
        if f.type.root not in ("TIMESTAMP",) or f.type.precision <= 6:
            assert expected == set(rows)
    assert kind == "bloom-filter" or rows is not None or op in ("<", "<=", ">", ">=") or f.type.precision > 6


@pytest.mark.parametrize("version", ["1", "2"])
def test_golden_bitmap(version):
    data = INDEX_WRITERS["bitmap"].write(parse_type("STRING"), pa.array(["a", "b"]), {"version": version})
    assert data.hex() == {
        "1": "01000000020000000200" "0000000161ffffffff" "0000000162fffffffe",
        "2": "0200000002000000020000000001000000016100000000" "0000001e00000002"
        "0000000161ffffffffffffffff" "0000000162fffffffeffffffff",
    }[version]  # fmt: skip


def test_golden_bloom_of_the_reference():
    t = parse_type("INT")
    data = INDEX_WRITERS["bloom-filter"].write(t, pa.array([1, 2], pa.int32()), {})
    assert (data[:4].hex(), (len(data) - 4) * 8) == ("00000003", 4792536)
    index = FileIndex.parse(write_container({"id": {"bloom-filter": data}}))
    assert [index.may_match("id", "=", [n], t) for n in range(8)] == [False, True, True] + [False] * 5


def test_container_layout():
    data = write_container({"v": {"bitmap": b"xx"}, "id": {"bloom-filter": None, "other": b"y"}})
    assert struct.unpack_from(">qii", data) == (1493475289347502, 1, len(data) - 3)
    index = FileIndex.parse(data)
    assert index.columns == {"v": ("bitmap",), "id": ("bloom-filter", "other")}


def test_unknown_kinds_columns_and_versions_prune_nothing():
    t = parse_type("INT")
    newer = b"\x09" + bytes(40)
    index = FileIndex.parse(write_container({"c": {"other": b"y", "bitmap": newer, "bsi": newer}}))
    assert index.may_match("c", "=", [1], t)
    assert index.candidates("c", "=", [1], t) is None
    assert index.may_match("nothing", "=", [1], t)
    assert index.may_match("c", "like", ["x"], t)


def test_null_literals():
    f = field("INT")
    index = index_of(f, [1, None, 3], "bitmap")
    assert not index.may_match("c", "=", [None], f.type)
    assert not index.may_match("c", "not in", [1, None], f.type)
    assert not index.may_match("c", "in", [], f.type)
    assert index.may_match("c", "not in", [], f.type)
    assert set(index.candidates("c", "in", [1, None], f.type)) == {0}


def test_map_keys():
    f = DataField(0, "m", parse_type("MAP<STRING, INT>"))
    options = TableOptions({"file-index.bitmap.columns": "m[a],m[z]", "file-index.bitmap.m.version": "1"})
    specs = index_specs(options, [f])
    assert [(s.name, dict(s.options)) for s in specs] == [("m[a]", {"version": "1"}), ("m[z]", {"version": "1"})]
    writer = FileIndexWriter(specs)
    writer.add(pa.table([[[("a", 1)], None, [("b", 2)], [("a", 5), ("b", 1)]]], schema=arrow_schema([f])))
    index = FileIndex.parse(writer.finish())
    t = parse_type("INT")
    assert set(index.candidates("m[a]", "=", [5], t)) == {3}
    assert set(index.candidates("m[a]", "is null", [], t)) == {1, 2}
    assert not index.may_match("m[z]", "=", [1], t)
    assert index.may_match("m[z]", "is null", [], t)


def test_options_that_cannot_be():
    fields = [field("INT", "i"), field("BOOLEAN", "b"), field("DECIMAL(30,2)", "d")]
    for options, error in [
        ({"file-index.bitmop.columns": "i"}, UnknownName),
        ({"file-index.bitmap.columns": "j"}, ColumnNotFound),
        ({"file-index.bitmap.columns": "i[k]"}, BadOptionValue),
        ({"file-index.bloom-filter.columns": "i, b"}, BadOptionValue),
        ({"file-index.range-bitmap.columns": "d"}, BadOptionValue),
    ]:
        with pytest.raises(error):
            index_specs(TableOptions(options), fields)
    assert not FileIndexWriter(index_specs(TableOptions({"file-index.read.enabled": "true"}), fields))


def test_broken_containers():
    good = write_container({"c": {"bitmap": b"\x02"}})
    for data in (b"", good[:30], b"x" + good[1:]):
        with pytest.raises(CorruptFile) as caught:
            FileIndex.parse(data, "dir/data.index")
        assert caught.value.path == "dir/data.index"
    with pytest.raises(NewerFormat):
        FileIndex.parse(good[:8] + struct.pack(">i", 2) + good[12:])
    with pytest.raises(CorruptFile):
        FileIndex.parse(good).may_match("c", "=", [1], parse_type("INT"))


@given(cases(), st.data())
def test_mutated_bytes_are_refused_or_read(case, data):
    f, kind, options, column, op, literals = case
    specs = index_specs(TableOptions({f"file-index.{kind}.columns": "c"}), [f])
    array = pa.array([to_arrow_value(f.type, v) for v in column], type=arrow_type(f.type))
    written = INDEX_WRITERS[kind].write(f.type, array, {**options, "items": "10"})
    raw = bytearray(write_container({"c": {specs[0].kind: written or b""}}))
    for _ in range(data.draw(st.integers(1, 3))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(CorruptFile, NewerFormat):
        FileIndex.parse(bytes(raw)).candidates("c", op, literals, f.type)
