"""Messages to rows and back: every type, as Flink's formats read and write them; what is broken, and what is left out."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paimon_nb.base.errors import BadMessage, BadOptionValue, UnknownName, UnknownOption, UnsupportedOperation
from paimon_nb.connectors.formats import open_decoder, open_encoder
from paimon_nb.connectors.formats.api import FormatOptions
from paimon_nb.format.types import DataField, arrow_type, parse_type


def fields(**columns: str) -> tuple[DataField, ...]:
    return tuple(DataField(i, n, parse_type(t)) for i, (n, t) in enumerate(columns.items()))


def read(format: str, columns: dict[str, str], messages: list, metadata: dict[str, str] | None = None, **options: str):
    given = {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
    told = open_decoder(fields(**columns), FormatOptions(format, given), metadata).decode(
        [m if isinstance(m, bytes | None) else (m if isinstance(m, str) else json.dumps(m)).encode() for m in messages]
    )
    return [(k, *row.values()) for k, row in zip(told.kinds, told.table.to_pylist(), strict=True)], told.messages


def written(format: str, columns: dict[str, str], rows: list[dict], kinds: list[str] | None = None, **options: str):
    schema = pa.schema([(n, arrow_type(parse_type(t))) for n, t in columns.items()])
    given = {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}
    encoder = open_encoder(fields(**columns), FormatOptions(format, given))
    return [m if m is None else m.decode() for m in encoder.encode(pa.Table.from_pylist(rows, schema), kinds or ["+I"] * len(rows))]  # fmt: skip


def test_json_converts_values_as_flink_does():
    cases = [
        ("INT", 1, 1), ("INT", "7 ", 7), ("INT", 1.9, 1), ("BIGINT", 1 << 40, 1 << 40), ("TINYINT", -128, -128),
        ("DOUBLE", "1e3", 1000.0), ("FLOAT", 1, 1.0), ("BOOLEAN", "TRUE", True), ("BOOLEAN", 1, False), ("STRING", 5, "5"),
        ("STRING", {"a": [1, None]}, '{"a":[1,null]}'), ("STRING", True, "true"), ("DECIMAL(5, 2)", 1.005, Decimal("1.01")),
        ("DECIMAL(5, 2)", "99999", None), ("DATE", "2026-02-28", dt.date(2026, 2, 28)), ("TIME(3)", "01:02:03.4567", dt.time(1, 2, 3, 456000)),
        ("TIMESTAMP(3)", "2026-01-02 03:04:05.6789", dt.datetime(2026, 1, 2, 3, 4, 5, 678000)),
        ("TIMESTAMP(6)", "2026-01-02 03:04", dt.datetime(2026, 1, 2, 3, 4)),
        ("TIMESTAMP_LTZ(3)", "2026-01-02 03:04:05Z", dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)),
        ("BYTES", "AAE=", b"\0\1"), ("ARRAY<INT>", [1, None, "2"], [1, None, 2]), ("MAP<STRING, INT>", {"a": 1}, [("a", 1)]),
        ("ROW<x INT, y ROW<z STRING>>", {"x": 1, "y": {"z": 2}}, {"x": 1, "y": {"z": "2"}}), ("INT", None, None),
    ]  # fmt: skip
    for t, value, expected in cases:
        assert read("json", {"a": t}, [{"a": value}]) == ([("+I", expected)], [0]), (t, value)
    wrong = [("INT", "x"), ("INT", 1 << 31), ("TINYINT", 1.5), ("INT", True), ("DATE", "1/2/26"), ("TIMESTAMP(3)", "2026-01-02T03:04:05"),
             ("TIMESTAMP(3)", "2026-02-30 00:00:00"), ("ARRAY<INT>", 5), ("BYTES", "%"), ("DOUBLE", "x"), ("DECIMAL(5, 2)", "x")]  # fmt: skip
    for t, value in wrong:
        with pytest.raises(BadMessage, match="column 'a'"):
            read("json", {"a": t}, [{"a": value}])
        assert read("json", {"a": t}, [{"a": value}, {"a": None}], ignore_parse_errors="true")[0] == [("+I", None)] * 2
    iso = {"timestamp_format__standard": "ISO-8601"}
    assert read("json", {"a": "TIMESTAMP(0)"}, [{"a": "2026-01-02T03:04:05"}], **iso)[0] == [("+I", dt.datetime(2026, 1, 2, 3, 4, 5))]  # fmt: skip


def test_json_leaves_out_what_is_no_object():
    messages = [{"a": 1}, "[1]", "{", None, b"\xff", {"b": 2}, b""]
    assert read("json", {"a": "INT"}, messages, ignore_parse_errors="true") == ([("+I", 1), ("+I", None)], [0, 5])
    for bad in ("[1]", "{", b"\xff", "5"):
        with pytest.raises(BadMessage, match="ignore-parse-errors"):
            read("json", {"a": "INT"}, [bad])
    with pytest.raises(BadMessage, match="field 'a' is missing"):
        read("json", {"a": "INT"}, [{"b": 2}], fail_on_missing_field="true")


@settings(max_examples=25)
@given(
    st.lists(
        st.fixed_dictionaries(
            {
                "i": st.none() | st.integers(-(2**63), 2**63 - 1),
                "s": st.none() | st.text(),
                "f": st.none() | st.floats(allow_nan=False, allow_infinity=False),
                "d": st.none() | st.decimals(-(10**8), 10**8, places=4),
                "t": st.none() | st.datetimes(dt.datetime(1, 1, 1)),
                "b": st.none() | st.binary(),
                "a": st.none() | st.lists(st.none() | st.text()),
                "x": st.none() | st.dates(),
                "o": st.none() | st.booleans(),
                "r": st.none() | st.fixed_dictionaries({"m": st.none() | st.datetimes(dt.datetime(1000, 1, 1))}),
            }
        ),
        max_size=3,
    )
)
def test_what_json_writes_it_reads(rows):
    columns = {"i": "BIGINT", "s": "STRING", "f": "DOUBLE", "d": "DECIMAL(20, 4)", "t": "TIMESTAMP(6)", "b": "BYTES",
               "a": "ARRAY<STRING>", "x": "DATE", "o": "BOOLEAN", "r": "ROW<m TIMESTAMP(6)>"}  # fmt: skip
    messages = written("json", columns, rows)
    assert read("json", columns, messages)[0] == [("+I", *(row[c] for c in columns)) for row in rows]


def test_csv_goes_by_position():
    columns = {"a": "INT", "b": "STRING", "c": "ARRAY<INT>"}
    assert read("csv", columns, ['1,"x,""y",1;2', "2,,"])[0] == [("+I", 1, 'x,"y', [1, 2]), ("+I", 2, "", [])]
    lines = written("csv", columns, [{"a": 1, "b": 'x,"y', "c": [1, 2]}, {"a": None, "b": "z", "c": None}], null_literal="N")  # fmt: skip
    assert lines == ['1,"x,""y",1;2', "N,z,N"]
    assert read("csv", columns, lines, null_literal="N")[0] == [("+I", 1, 'x,"y', [1, 2]), ("+I", None, "z", None)]
    assert read("csv", {"a": "INT", "b": "DATE"}, ["1|2026-01-02"], field_delimiter="|")[0] == [("+I", 1, dt.date(2026, 1, 2))]  # fmt: skip
    for bad in ("1", "x,y,", "1,2,3,4", ""):
        with pytest.raises(BadMessage):
            read("csv", columns, [bad])
    assert read("csv", {"a": "INT", "b": "INT"}, ["1", "1,x", "# 2,2", "3,3"], ignore_parse_errors="true", allow_comments="true") == (
        [("+I", 1, None), ("+I", 3, 3)], [1, 3],
    )  # fmt: skip


def test_raw_is_the_message_itself():
    assert read("raw", {"a": "STRING"}, ["ä", b""])[0] == [("+I", "ä"), ("+I", "")]
    assert read("raw", {"a": "INT"}, [b"\0\0\1\0"])[0] == [("+I", 256)]
    assert read("raw", {"a": "INT"}, [b"\0\1\0\0"], endianness="little-endian")[0] == [("+I", 256)]
    assert read("raw", {"a": "STRING"}, ["ä".encode("latin-1")], charset="latin-1")[0] == [("+I", "ä")]
    with pytest.raises(BadMessage):
        read("raw", {"a": "INT"}, [b"1"])
    with pytest.raises(UnsupportedOperation, match="one column"):
        read("raw", {"a": "INT", "b": "INT"}, [])


AVRO = {
    "i": "INT NOT NULL", "l": "BIGINT", "s": "STRING", "b": "BOOLEAN", "d": "DECIMAL(5, 2)", "x": "BYTES", "day": "DATE",
    "time": "TIME(3)", "at": "TIMESTAMP(3)", "a": "ARRAY<STRING>", "m": "MAP<STRING, ROW<z INT>>", "r": "ROW<y DOUBLE, t TINYINT>",
}  # fmt: skip


def test_avro_is_the_record_that_the_columns_give():
    """Bytes by the letter of Avro's specification: zigzag numbers, and a branch number before what may be NULL."""
    row = {"i": -3, "l": 150, "s": "ä", "b": True, "d": Decimal("1.28"), "x": b"\0", "day": dt.date(1970, 1, 3), "time": dt.time(0, 0, 0, 5000),
           "at": dt.datetime(1970, 1, 1, 0, 0, 1), "a": ["p", None], "m": [("k", {"z": 1})], "r": {"y": 1.0, "t": -1}}  # fmt: skip
    nothing = dict.fromkeys(AVRO) | {"i": 64}
    schema = pa.schema([(n, arrow_type(parse_type(t))) for n, t in AVRO.items()])
    made = list(open_encoder(fields(**AVRO), FormatOptions("avro", {})).encode(pa.Table.from_pylist([row, nothing], schema), ["+I"] * 2))  # fmt: skip
    assert made[0] == bytes.fromhex(
        "05" "02ac02" "0204c3a4" "0201" "02040080" "020200" "0204" "020a" "02d00f"
        "02" "04" "020270" "00" "00" "02" "02" "026b" "02" "0202" "00" "02" "02" "000000000000f03f" "0201"
    )  # fmt: skip
    assert made[1] == bytes.fromhex("8001" + "00" * 11)
    assert read("avro", AVRO, [made[0], None, made[1]]) == ([("+I", *row.values()), ("+I", *nothing.values())], [0, 2])
    micros = {"at": "TIMESTAMP(6)", "z": "TIMESTAMP_LTZ(3)"}
    moments = (dt.datetime(2026, 1, 2, 3, 4, 5, 678901), dt.datetime(2026, 1, 2, tzinfo=dt.UTC))
    newer = open_decoder(fields(**micros), FormatOptions("avro", {"timestamp_mapping.legacy": "false"}))
    told = newer.decode([b"\x02" + _zigzag(1767323045678901) + b"\x02" + _zigzag(1767312000000)])
    assert [tuple(r.values()) for r in told.table.to_pylist()] == [moments]
    for bad in (b"", b"\x04", made[0][:-1], b"\xff" * 20):
        with pytest.raises(BadMessage, match="as avro"):
            read("avro", AVRO, [made[1], bad])
    with pytest.raises(BadMessage, match="as avro"):
        read("avro", {"t": "TINYINT NOT NULL"}, [b"\x02", _zigzag(300)])
    for t in ("TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "TIME(6)", "MAP<INT, INT>"):
        with pytest.raises(UnsupportedOperation, match="no form for"):
            read("avro", {"a": t}, [])


def _zigzag(value: int) -> bytes:
    value, out = (value << 1) ^ (value >> 63), bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def test_debezium_tells_kinds_and_where_a_change_is_from():
    columns = {"id": "INT", "n": "DECIMAL(5, 2)", "tab": "STRING", "at": "TIMESTAMP_LTZ(3)"}
    told = {"tab": "source.table", "at": "ingestion-timestamp"}
    more = {"source": {"table": "orders", "db": "shop"}, "ts_ms": 1_700_000_000_123}
    at = dt.datetime(2023, 11, 14, 22, 13, 20, 123000, tzinfo=dt.UTC)
    one, two = {"id": 1, "n": 1.1}, {"id": 1, "n": "2.20"}
    messages = [{"op": "r", "after": one, **more}, {"op": "u", "before": one, "after": two, **more}, None, {"op": "d", "before": two, **more}]  # fmt: skip
    tail = ("orders", at)
    expected = [("+I", 1, Decimal("1.10"), *tail), ("-U", 1, Decimal("1.10"), *tail), ("+U", 1, Decimal("2.20"), *tail), ("-D", 1, Decimal("2.20"), *tail)]  # fmt: skip
    assert read("debezium-json", columns, messages, told) == (expected, [0, 1, 1, 3])
    wrapped = [m and {"schema": {}, "payload": m} for m in messages]
    assert read("debezium-json", columns, wrapped, told, schema_include="true") == (expected, [0, 1, 1, 3])
    for bad in ({"op": "x", "after": one}, {"op": "u", "after": two}, {"after": one}, [1]):
        with pytest.raises(BadMessage):
            read("debezium-json", {"id": "INT"}, [bad])
        assert read("debezium-json", {"id": "INT"}, [bad], ignore_parse_errors="true") == ([], [])
    with pytest.raises(UnsupportedOperation, match="no metadata 'colour'"):
        read("debezium-json", {"c": "STRING"}, [], {"c": "colour"})


def test_canal_and_maxwell_tell_only_what_changed():
    columns = {"id": "INT", "a": "STRING", "b": "STRING", "tab": "STRING"}
    canal = [
        {"type": "INSERT", "data": [{"id": "1", "a": "x", "b": "y"}, {"id": "2", "a": None, "b": "z"}], "database": "shop", "table": "t"},
        {"type": "UPDATE", "data": [{"id": "1", "a": None, "b": "Y"}], "old": [{"a": "x", "b": "y"}], "database": "shop", "table": "t"},
        {"type": "CREATE", "data": None, "isDdl": True, "database": "shop", "table": "t"},
        {"type": "DELETE", "data": [{"id": "2", "a": None, "b": "z"}], "database": "shop", "table": "t"},
        {"type": "INSERT", "data": [{"id": "3"}], "database": "other", "table": "t"},
    ]  # fmt: skip
    expected = [
        ("+I", 1, "x", "y", "t"), ("+I", 2, None, "z", "t"), ("-U", 1, "x", "y", "t"), ("+U", 1, None, "Y", "t"), ("-D", 2, None, "z", "t"),
    ]  # fmt: skip
    assert read("canal-json", columns, canal, {"tab": "table"}, database__include="sh.*") == (expected, [0, 0, 1, 1, 3])
    maxwell = [
        {"type": "insert", "data": {"id": 1, "a": "x", "b": "y"}, "table": "t"}, {"type": "insert", "data": {"id": 2, "b": "z"}, "table": "t"},
        {"type": "update", "data": {"id": 1, "a": None, "b": "Y"}, "old": {"a": "x", "b": "y"}, "table": "t"},
        {"type": "delete", "data": {"id": 2, "b": "z"}, "table": "t"},
    ]  # fmt: skip
    assert read("maxwell-json", columns, maxwell, {"tab": "table"}) == (expected, [0, 1, 2, 2, 3])


def test_changes_are_written_as_deletes_and_inserts():
    kinds = ["+I", "-U", "+U", "-D"]
    for format, expected in {
        "debezium-json": ['{"before":null,"after":{"a":1},"op":"c"}', '{"before":{"a":1},"after":null,"op":"d"}'],
        "canal-json": ['{"data":[{"a":1}],"type":"INSERT"}', '{"data":[{"a":1}],"type":"DELETE"}'],
        "maxwell-json": ['{"data":{"a":1},"type":"insert"}', '{"data":{"a":1},"type":"delete"}'],
    }.items():
        assert written(format, {"a": "INT"}, [{"a": 1}] * 4, kinds) == [*expected[:2], expected[0], expected[1]]
    for format in ("json", "csv", "raw", "avro"):
        with pytest.raises(UnsupportedOperation, match="no form for"):
            written(format, {"a": "INT"}, [{"a": 1}], ["-D"])


def test_wrong_options_are_named():
    with pytest.raises(UnknownOption, match="ignore-parse-eror"):
        read("json", {"a": "INT"}, [], ignore_parse_eror="true")
    with pytest.raises(BadOptionValue, match=r"json\.ignore-parse-errors"):
        read("json", {"a": "INT"}, [], ignore_parse_errors="maybe")
    with pytest.raises(BadOptionValue, match="one character"):
        read("csv", {"a": "INT"}, [], field_delimiter="||")
    with pytest.raises(UnknownName, match="protobuf"):
        read("protobuf", {"a": "INT"}, [])
