"""VARIANT values as JSON, for display."""

import datetime as dt
from decimal import Decimal

import pyarrow as pa

from paimon_nb.format.data.variant_encoding import (
    Keys,
    encode_array,
    encode_boolean,
    encode_date,
    encode_decimal,
    encode_double,
    encode_long,
    encode_object,
    encode_string,
    encode_timestamp,
)
from paimon_nb.format.data.variant_json import variant_json, with_variants_as_json

EMPTY = b"\x01\x00\x00"
VARIANT = pa.struct([pa.field("value", pa.binary()), pa.field("metadata", pa.binary(), metadata={b"variant": b"true"})])


def test_values_of_all_kinds():
    day = (dt.date(1969, 12, 31) - dt.date(1970, 1, 1)).days
    values = [
        encode_long(-7), encode_double(1e3), encode_double(float("nan")), encode_decimal(Decimal("-1.50")), encode_string('a"ä'), encode_boolean(True),
        b"\x00", encode_date(day), encode_timestamp(-1, nanos=False, local=True),
    ]  # fmt: skip
    shown = '[-7,1000.0,"NaN",-1.50,"a\\"ä",true,null,"1969-12-31","1969-12-31 23:59:59.999999+00:00"]'
    assert variant_json(encode_array(values), EMPTY).replace('+00:00"', '"') == shown.replace('+00:00"', '"')


def test_columns_are_shown_and_null_stays_null():
    keys = Keys(EMPTY)
    value = encode_object([("k", keys.id_of("k"), encode_long(1))])
    cells = [{"value": value, "metadata": keys.to_bytes()}, None, {"value": b"\x02", "metadata": EMPTY}]
    good = pa.array(cells[:2], VARIANT)
    table = pa.table({"v": good, "s": pa.StructArray.from_arrays([good], names=["in"]), "n": [1, 2]})
    assert with_variants_as_json(table).to_pylist() == [
        {"v": '{"k":1}', "s": {"in": '{"k":1}'}, "n": 1}, {"v": None, "s": {"in": None}, "n": 2},
    ]  # fmt: skip
    malformed = pa.table({"v": pa.array(cells, VARIANT)})
    assert with_variants_as_json(malformed).schema == malformed.schema
    other = pa.table({"v": pa.array([{"value": b"x", "metadata": b"y"}])})
    assert with_variants_as_json(other) is other
