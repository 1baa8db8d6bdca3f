"""Row bytes: golden vectors, round trips, the vectorised encoder against the plain one, broken bytes."""

from __future__ import annotations

import contextlib
import decimal
import struct

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paimon_nb.base.errors import FormatError
from paimon_nb.format.row import (
    EMPTY_ROW,
    Instant,
    VariantValue,
    deserialize,
    encode_rows,
    from_scalar,
    key_hash_of,
    row_bytes,
    serialize,
    to_scalar,
)
from paimon_nb.format.row.binary_row import to_arrow_value
from paimon_nb.format.row.bucket import key_hash
from paimon_nb.format.types import arrow_type, parse_type
from tests.format.row.strategies import rows, types, values

VECTORS = [  # docs/spec/format.md section 19
    ("INT", 1, "00000000000000000100000000000000", 1465514398),
    ("BIGINT", 1, "00000000000000000100000000000000", 1465514398),
    ("STRING", "a", "00000000000000006100000000000081", 943281246),
    ("STRING", "2025-10-19", "00000000000000000a00000010000000323032352d31302d3139000000000000", 153031611),
    ("STRING", "abcdefg", "00000000000000006162636465666787", -1431907323),
    (
        "DECIMAL(20,2)", decimal.Decimal("1.50"),
        "0000000000000000020000001000000000960000000000000000000000000000", 1232543739,
    ),
    ("BIGINT", 1234567890123, "0000000000000000cb04fb711f010000", -1873221036),
    ("STRING", "Alice", "0000000000000000416c696365000085", 1285337400),
    ("STRING", "abcdefgh", "000000000000000008000000100000006162636465666768", -843760178),
    ("INT", None, "00010000000000000000000000000000", -1748325344),
    (
        "TIMESTAMP(9)", Instant(1704067200000, 123456),
        "000000000000000040e201001000000000f451c28c010000", -836770531,
    ),
    ("DECIMAL(20,2)", None, "0001000000000000000000001000000000000000000000000000000000000000", -1380280760),
    ("TIMESTAMP(6)", None, "000100000000000000000000100000000000000000000000", -340882661),
]  # fmt: skip


@pytest.mark.parametrize(("text", "value", "expected", "murmur"), VECTORS)
def test_golden_rows(text, value, expected, murmur):
    t = parse_type(text)
    column = pa.array([to_arrow_value(t, value)], type=arrow_type(t))
    assert row_bytes([t], [value]).hex() == expected
    assert encode_rows([t], [column]).row(0).hex() == expected
    assert serialize([t], [value]).hex() == "00000001" + expected
    assert (key_hash_of([t], [value]), key_hash([t], [column]).tolist()) == (murmur, [murmur])
    assert deserialize([t], bytes.fromhex("00000001" + expected)) == (value,)


def test_golden_row_of_two_columns():
    ts = [parse_type("BIGINT"), parse_type("STRING")]
    row = row_bytes(ts, [1, "2025-10-19"])
    assert row.hex() == "000000000000000001000000000000000a00000018000000323032352d31302d3139000000000000"
    assert key_hash_of(ts, [1, "2025-10-19"]) == -1883498929


def test_empty_row():
    assert serialize([], []) == EMPTY_ROW == bytes(12)
    assert deserialize([], EMPTY_ROW) == ()


def test_null_bits_pass_the_first_word():
    ts = [parse_type("INT")] * 60
    row = [None if i in (0, 55, 56, 59) else i for i in range(60)]
    assert len(row_bytes(ts, row)) == 16 + 60 * 8
    assert deserialize(ts, serialize(ts, row)) == tuple(row)
    columns = [pa.array([v], pa.int32()) for v in row]
    assert encode_rows(ts, columns).row(0) == row_bytes(ts, row)


def test_variant_round_trip():
    t = parse_type("VARIANT")
    value = VariantValue(b"\x0c\x01", b"\x01\x00\x00")
    assert deserialize([t], serialize([t], [value])) == (value,)
    assert from_scalar(t, to_scalar(t, value)) == value


@given(rows())
def test_round_trip_and_the_encoders_agree(case):
    ts, data = case
    for row in data:
        assert deserialize(ts, serialize(ts, row)) == row
    columns = [
        pa.array([to_arrow_value(t, row[i]) for row in data], type=arrow_type(t)) for i, t in enumerate(ts)
    ]  # fmt: skip
    encoded = encode_rows(ts, columns)
    assert encoded.to_list() == [row_bytes(ts, row) for row in data]
    assert key_hash(ts, columns).tolist() == [key_hash_of(ts, row) for row in data]


@given(rows(), st.integers(0, 3))
def test_sliced_and_chunked_columns(case, start):
    ts, data = case
    columns = [pa.array([to_arrow_value(t, row[i]) for row in data], type=arrow_type(t)) for i, t in enumerate(ts)]
    sliced = [pa.chunked_array([c.slice(start, 2), c.slice(start + 2)]) for c in columns]
    assert encode_rows(ts, sliced).to_list() == [row_bytes(ts, row) for row in data[start:]]


@given(types().flatmap(lambda t: st.tuples(st.just(t), values(t))))
def test_scalars_round_trip(case):
    t, value = case
    assert from_scalar(t, to_scalar(t, value)) == value


def test_widths_that_differ_keep_offsets():
    ts = [parse_type("STRING"), parse_type("BIGINT")]
    encoded = encode_rows(ts, [pa.array(["a", "a longer one", None]), pa.array([1, None, 3], pa.int64())])
    assert [encoded.serialized(i) for i in range(3)] == [
        serialize(ts, row) for row in [("a", 1), ("a longer one", None), (None, 3)]
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        bytes(11),
        struct.pack(">i", 2) + bytes(24),  # two columns, one expected
        struct.pack(">i", 1) + bytes(8),  # no slot
        struct.pack(">i", 1) + bytes(8) + struct.pack("<ii", 100, 16) + b"too short",
        struct.pack(">i", 1) + bytes(8) + struct.pack("<ii", 4, -8),
        struct.pack(">i", 1) + bytes(8) + b"\xff\xfe" + bytes(5) + b"\x82",  # not UTF-8
    ],
)
def test_broken_rows(data):
    with pytest.raises(FormatError):
        deserialize([parse_type("STRING")], data)


@given(st.binary(max_size=80), types())
def test_random_bytes_never_crash(data, t):
    with contextlib.suppress(FormatError):
        deserialize([t], struct.pack(">i", 1) + data)


def test_values_that_do_not_fit():
    for text, value in [("INT", 2**31), ("STRING", 5), ("TIMESTAMP(6)", Instant(0, 1_000_000)), ("INT", "x")]:
        with pytest.raises(FormatError):
            serialize([parse_type(text)], [value])
    with pytest.raises(FormatError):
        serialize([parse_type("INT")], [])
