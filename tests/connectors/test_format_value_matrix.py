"""Every type with its edge values in every message format: what a sink writes, a source reads."""

from __future__ import annotations

import datetime as dt
import json
import math
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from registry_server import Registry
from test_formats import fields

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.connectors.cdc.events import parse_event
from paimon_nb.connectors.cdc.mysql_types import to_column
from paimon_nb.connectors.formats import open_decoder, open_encoder
from paimon_nb.connectors.formats.api import FormatOptions
from paimon_nb.connectors.formats.schema_registry import RegistryConf, SchemaRegistry
from paimon_nb.format.types import arrow_type, parse_type

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.format.types import DataType

_STAMPS = (dt.datetime(1, 1, 1), dt.datetime(1582, 10, 10), dt.datetime(1969, 12, 31, 23, 59, 59), dt.datetime(1970, 1, 1), dt.datetime(9999, 12, 31, 23, 59, 59))  # fmt: skip
_TEXTS = ("", " ", "a", "ü€", "😀", "\t\n\r", 'q"\\/', "NULL", "null", "a,b;c", "'", "#x", "x" * 300)
_INTS = {"TINYINT": 7, "SMALLINT": 15, "INT": 31, "BIGINT": 63}
VALUES: dict[str, tuple[Any, ...]] = {
    "BOOLEAN": (True, False),
    **{t: (0, 1, -1, (1 << bits) - 1, -(1 << bits)) for t, bits in _INTS.items()},
    "FLOAT": (0.0, -0.0, 1.5, 3.4028234663852886e38, -3.4028234663852886e38, 1.401298464324817e-45, math.nan, math.inf, -math.inf),
    "DOUBLE": (0.0, -0.0, 0.1, 1.7976931348623157e308, -1.7976931348623157e308, 5e-324, math.nan, math.inf, -math.inf),
    "DECIMAL(5, 2)": tuple(map(Decimal, ("0.00", "999.99", "-999.99", "0.01", "-0.01"))),
    "DECIMAL(38, 0)": tuple(map(Decimal, ("9" * 38, "-" + "9" * 38, "0", "1"))),
    "DECIMAL(38, 38)": tuple(map(Decimal, ("0." + "9" * 38, "-0." + "9" * 38, "0E-38"))),
    "STRING": _TEXTS, "VARCHAR(3)": ("", "abc", "😀😀😀"), "CHAR(3)": ("abc", "ü€😀"),
    "BYTES": (b"", b"\0", b"\xff\xfe", bytes(range(256))), "BINARY(2)": (b"\0\0", b"\xff\xff"), "VARBINARY(2)": (b"", b"\xff"),
    "DATE": (dt.date(1, 1, 1), dt.date(1582, 10, 10), dt.date(1969, 12, 31), dt.date(1970, 1, 1), dt.date(2000, 2, 29), dt.date(9999, 12, 31)),
    "TIME(0)": (dt.time(0), dt.time(23, 59, 59)), "TIME(3)": (dt.time(0, 0, 0, 1000), dt.time(0, 0, 1, 1000), dt.time(23, 59, 59, 999000)),
    "TIMESTAMP(0)": _STAMPS, "TIMESTAMP(3)": tuple(t.replace(microsecond=999000) for t in _STAMPS), "TIMESTAMP(6)": tuple(t.replace(microsecond=999999) for t in _STAMPS),
    "TIMESTAMP_LTZ(3)": tuple(t.replace(microsecond=1000, tzinfo=dt.UTC) for t in _STAMPS), "TIMESTAMP_LTZ(6)": tuple(t.replace(microsecond=1, tzinfo=dt.UTC) for t in _STAMPS),
    "ARRAY<INT>": ([], [1, None, -(1 << 31)]), "ARRAY<STRING>": (["", "a", "ü"], []), "ARRAY<ARRAY<DATE>>": ([[dt.date(1, 1, 1)], []],),
    "MAP<STRING, INT>": ([], [("", 1), ("ü", None)]), "MAP<STRING, DECIMAL(5, 2)>": ([("a", Decimal("-999.99"))],), "MULTISET<STRING>": ([("a", 2)],),
    "ROW<x INT, y STRING>": ({"x": 1, "y": ""}, {"x": None, "y": None}), "ROW<x ROW<y TIMESTAMP(3)>>": ({"x": {"y": dt.datetime(9999, 12, 31, 23, 59, 59, 999000)}}, {"x": None}),
    "ARRAY<ROW<b BYTES>>": ([{"b": b"\xff"}, None],),
}  # fmt: skip
FORMATS = (
    "json",
    "csv",
    "avro",
    "avro-confluent",
    "debezium-json",
    "canal-json",
    "maxwell-json",
    "ogg-json",
    "debezium-avro-confluent",
    "raw",
)
REFUSED = {
    "csv": {"MAP<STRING, INT>", "MAP<STRING, DECIMAL(5, 2)>", "MULTISET<STRING>", "ROW<x INT, y STRING>", "ROW<x ROW<y TIMESTAMP(3)>>", "ARRAY<ARRAY<DATE>>", "ARRAY<ROW<b BYTES>>"},
    "raw": set(VALUES) - {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "STRING", "VARCHAR(3)", "CHAR(3)", "BYTES", "BINARY(2)", "VARBINARY(2)"},
    **{f: {"TIMESTAMP(6)", "TIMESTAMP_LTZ(3)", "TIMESTAMP_LTZ(6)"} for f in ("avro", "avro-confluent", "debezium-avro-confluent")},
}  # fmt: skip
"""Types that a format has no form for, as in Flink: refused when the table is used."""


@pytest.fixture(scope="module")
def registry() -> Iterator[Registry]:
    made = Registry()
    yield made
    made.close()


def options_of(format: str, registry: Registry) -> FormatOptions:
    settings = {"url": registry.url, "subject": "matrix"} if "confluent" in format else {}
    return FormatOptions(
        format, settings | ({"null-literal": "\\N", "escape-character": "\\"} if format == "csv" else {})
    )


def round_trip(format: str, t: str, values: tuple[Any, ...], registry: Registry) -> list[Any]:
    schema = pa.schema([("a", arrow_type(parse_type(t)))])
    options = options_of(format, registry)
    messages = list(open_encoder(fields(a=t), options).encode(pa.Table.from_pylist([{"a": v} for v in values], schema), ["+I"] * len(values)))  # fmt: skip
    if "json" in format:
        for message in messages:
            json.loads(message or b"", parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    return open_decoder(fields(a=t), options, {}).decode(messages).table.column("a").to_pylist()


@pytest.mark.parametrize("format", FORMATS)
def test_every_value_comes_back(format, registry):
    differences = []
    for t, values in VALUES.items():
        with_null = values if format == "raw" else (*values, None)
        expected = pa.array(with_null, arrow_type(parse_type(t))).to_pylist()
        if t in REFUSED.get(format, ()):
            with pytest.raises(UnsupportedOperation) as refused:
                round_trip(format, t, with_null, registry)
            assert refused.value.hint, t
            continue
        found = round_trip(format, t, with_null, registry)
        differences += [(t, e, f) for e, f in zip(expected, found, strict=True) if repr(e) != repr(f)]
    assert differences == []


# -- formats that only syncs read

SYNC_FORMATS = ("debezium-avro", "aws-dms-json")
AS_TEXT = {"debezium-avro": {t for t in VALUES if "<" in t}, "aws-dms-json": set(VALUES)}
"""Types whose values a sync stores as the text of the message, in a STRING column: the message does not have the type."""


def through_a_sync(format: str, t: str, rows: pa.Table, registry: Registry) -> tuple[DataType, list[Any]]:
    """The type of the column that a sync creates, and its values."""
    if format == "debezium-avro":
        messages = list(open_encoder(fields(a=t), options_of("debezium-avro-confluent", registry)).encode(rows, ["+I"] * len(rows)))  # fmt: skip
        schemas = SchemaRegistry(RegistryConf.of({"url": registry.url}, "url"), patience_s=0)
    else:
        data = open_encoder(fields(a=t), options_of("json", registry)).encode(rows, ["+I"] * len(rows))
        about = b'{"record-type": "data", "operation": "insert", "schema-name": "s", "table-name": "t"}'
        messages, schemas = [b'{"data": %b, "metadata": %b}' % (row, about) for row in data], None
    events = [parse_event(format, message, None, (), schemas) for message in messages]
    (column,) = {event.columns["a"] for event in events if event is not None}
    values = [event.changes[0][1]["a"] for event in events if event is not None]
    return column, to_column(values, column, None).to_pylist()


@pytest.mark.parametrize("format", SYNC_FORMATS)
def test_every_value_comes_through_a_sync(format, registry):
    differences = []
    for t, values in VALUES.items():
        expected = pa.array((*values, None), arrow_type(parse_type(t)))
        rows = pa.table({"a": expected})
        if t in REFUSED["avro"] and format == "debezium-avro":
            with pytest.raises(UnsupportedOperation):
                through_a_sync(format, t, rows, registry)
            continue
        column, found = through_a_sync(format, t, rows, registry)
        wanted = expected.to_pylist()
        if t in AS_TEXT[format]:
            assert column == parse_type("STRING"), t
            wanted = list(map(_text_in_message, open_encoder(fields(a=t), options_of("json", registry)).encode(rows, ["+I"] * len(rows))))  # fmt: skip
        if format == "debezium-avro" and t in AS_TEXT[format]:
            assert all(v is None or json.loads(v) is not None for v in found), t  # Connect's form of nested values
            continue
        differences += [(t, w, f) for w, f in zip(wanted, found, strict=True) if repr(w) != repr(f)]
    assert differences == []


def _text_in_message(message: bytes) -> str | None:
    """The value of `a` as the message writes it."""
    value = json.loads(message, parse_float=Decimal)["a"]
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, Decimal) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)  # fmt: skip
