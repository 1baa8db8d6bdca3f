"""Avro with a schema registry: every type there and back, schemas that grow, Debezium's envelopes, a registry that is late."""

from __future__ import annotations

import datetime as dt
import io
import json
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import fastavro
import pytest
from registry_server import Registry
from sampling import sampled
from test_formats import fields, read

from paimon_nb.base.errors import BadMessage, BadOptionValue, SourceUnavailable, UnknownOption
from paimon_nb.connectors.cdc.events import parse_event
from paimon_nb.connectors.formats import open_decoder, open_encoder, schema_registry
from paimon_nb.connectors.formats.api import FormatOptions
from paimon_nb.connectors.formats.schema_registry import RegistryConf, SchemaRegistry, with_schema_id
from paimon_nb.format.types import arrow_type, parse_type

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture
def registry() -> Iterator[Registry]:
    made = Registry()
    yield made
    made.close()


def record(**types: Any) -> dict[str, Any]:
    return {"type": "record", "name": "shop.Row", "fields": [{"name": n, "type": t} for n, t in types.items()]}


def message(registry: Registry, schema: dict[str, Any], row: dict[str, Any]) -> bytes:
    out = io.BytesIO()
    fastavro.schemaless_writer(out, fastavro.parse_schema(schema, _write_hint=False), row)
    return with_schema_id(registry.add("t-value", json.dumps(schema)), out.getvalue())


def test_columns_are_read_by_name_with_the_schema_of_each_message(registry):
    old = message(registry, record(a="int", b=["null", "string"]), {"a": 1, "b": "x"})
    new = message(registry, record(c="double", b=["null", "string"], a="long"), {"a": 1 << 40, "b": None, "c": 1.5})
    columns = {"a": "BIGINT", "b": "STRING", "c": "DOUBLE"}
    assert read("avro-confluent", columns, [old, None, new, old], url=registry.url) == (
        [("+I", 1, "x", None), ("+I", 1 << 40, None, 1.5), ("+I", 1, "x", None)], [0, 2, 3],
    )  # fmt: skip


LOGICAL = {
    "DATE": ({"type": "int", "logicalType": "date"}, [(0, dt.date(1970, 1, 1)), (-719162, dt.date(1, 1, 1)), (2932896, dt.date(9999, 12, 31))]),
    "TIMESTAMP(3)": ({"type": "long", "logicalType": "timestamp-millis"}, [(-1, dt.datetime(1969, 12, 31, 23, 59, 59, 999000)), (253402300799999, dt.datetime(9999, 12, 31, 23, 59, 59, 999000))]),
    "TIMESTAMP(6)": ({"type": "long", "logicalType": "local-timestamp-micros"}, [(1, dt.datetime(1970, 1, 1, 0, 0, 0, 1)), (-62135596800000000, dt.datetime(1, 1, 1))]),
    "TIMESTAMP_LTZ(3)": ({"type": "long", "connect.name": "org.apache.kafka.connect.data.Timestamp"}, [(1, dt.datetime(1970, 1, 1, 0, 0, 0, 1000, dt.UTC))]),
    "TIMESTAMP(0)": ({"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}, [(1_999_999, dt.datetime(1970, 1, 1, 0, 0, 1))]),
    "TIME(3)": ({"type": "long", "logicalType": "time-micros"}, [(86_399_999_999, dt.time(23, 59, 59, 999000)), (1_001_000, dt.time(0, 0, 1, 1000))]),
    "TIME(0)": ({"type": "int", "logicalType": "time-millis"}, [(0, dt.time(0))]),
    "DECIMAL(5, 2)": ({"type": "bytes", "logicalType": "decimal", "precision": 5, "scale": 2}, [(b"\x01\x86\x9f", Decimal("999.99")), (b"\xff", Decimal("-0.01")), (b"\x7f\xff\xff\xff", None)]),
    "DECIMAL(38, 0)": ({"type": "fixed", "name": "f", "size": 16, "logicalType": "decimal", "precision": 38, "scale": 0}, [(b"\xff" * 16, Decimal(-1))]),
    "BYTES": ("bytes", [(b"", b""), (b"\0\xff", b"\0\xff")]),
    "BINARY(2)": ({"type": "fixed", "name": "g", "size": 2}, [(b"\0\1", b"\0\1")]),
    "STRING": ({"type": "enum", "name": "e", "symbols": ["A", "B"]}, [("B", "B")]),
    "BOOLEAN": ("boolean", [(True, True), (False, False)]),
    "TINYINT": ("int", [(127, 127), (-128, -128)]), "INT": ("int", [(-(1 << 31), -(1 << 31))]), "BIGINT": ("long", [((1 << 63) - 1, (1 << 63) - 1)]),
    "FLOAT": ("float", [(1.5, 1.5), (float("inf"), float("inf"))]), "DOUBLE": ("double", [(-1e300, -1e300), (float("-inf"), float("-inf"))]),
    "ARRAY<INT>": ({"type": "array", "items": ["null", "int"]}, [([1, None], [1, None]), ([], [])]),
    "MAP<STRING, DATE>": ({"type": "map", "values": {"type": "int", "logicalType": "date"}}, [({"a": 1}, [("a", dt.date(1970, 1, 2))])]),
    "ROW<x INT, y ROW<z TIMESTAMP(3)>>": (
        {"type": "record", "name": "r", "fields": [{"name": "x", "type": "int"}, {"name": "y", "type": {"type": "record", "name": "q", "fields": [{"name": "z", "type": ["null", {"type": "long", "logicalType": "timestamp-millis"}]}]}}]},
        [({"x": 1, "y": {"z": 0}}, {"x": 1, "y": {"z": dt.datetime(1970, 1, 1)}})],
    ),
}  # fmt: skip


@pytest.mark.parametrize("t", sampled(LOGICAL, 4))
def test_every_type_with_its_edges(registry, t):
    schema, values = LOGICAL[t]
    messages = [message_of_stored(registry, schema, stored) for stored, _ in values]
    found, _ = read("avro-confluent", {"a": t}, messages, url=registry.url)
    assert found == [("+I", expected) for _, expected in values]


def message_of_stored(registry: Registry, schema: Any, stored: Any) -> bytes:
    """A message with a value as Avro stores it, below its logical type."""
    from paimon_nb.connectors.formats.avro_registry import _without_logical_types

    whole = record(a=schema)
    out = io.BytesIO()
    fastavro.schemaless_writer(
        out, fastavro.parse_schema(_without_logical_types(whole), _write_hint=False), {"a": stored}
    )
    return with_schema_id(registry.add("t-value", json.dumps(whole)), out.getvalue())


def test_what_is_written_is_read_again_with_one_schema(registry):
    import pyarrow as pa

    columns = {"a": "INT NOT NULL", "b": "STRING", "d": "DECIMAL(10, 2)", "t": "TIMESTAMP(3)"}
    rows = [
        {"a": 1, "b": "ü", "d": Decimal("1.25"), "t": dt.datetime(2026, 1, 2, 3, 4, 5, 6000)},
        {"a": 2, "b": None, "d": None, "t": None},
    ]
    table = pa.Table.from_pylist(rows, pa.schema([(n, arrow_type(parse_type(t))) for n, t in columns.items()]))
    options = {"url": registry.url, "subject": "t-value"}
    messages = list(
        open_encoder(fields(**columns), FormatOptions("avro-confluent", options)).encode(table, ["+I", "+I"])
    )
    assert read("avro-confluent", columns, messages, url=registry.url)[0] == [("+I", *r.values()) for r in rows]
    options["subject"] = "d-value"
    changes = list(
        open_encoder(fields(**columns), FormatOptions("debezium-avro-confluent", options)).encode(table, ["+I", "-U"])
    )
    assert [r[:2] for r in read("debezium-avro-confluent", columns, changes, url=registry.url)[0]] == [
        ("+I", 1),
        ("-D", 2),
    ]
    assert {name: len(ids) for name, ids in registry.subjects.items()} == {"t-value": 1, "d-value": 1}


ENVELOPE = {
    "type": "record", "name": "shop.t.Envelope", "fields": [
        {"name": "before", "default": None, "type": ["null", {"type": "record", "name": "Value", "namespace": "shop.t", "fields": [
            {"name": "id", "type": "int"},
            {"name": "day", "type": ["null", {"type": "int", "connect.version": 1, "connect.name": "io.debezium.time.Date"}]},
            {"name": "price", "type": ["null", {"type": "bytes", "scale": 2, "precision": 5, "connect.version": 1, "connect.parameters": {"scale": "2", "connect.decimal.precision": "5"}, "connect.name": "org.apache.kafka.connect.data.Decimal", "logicalType": "decimal"}]},
            {"name": "at", "type": ["null", {"type": "long", "connect.name": "io.debezium.time.MicroTimestamp"}]},
            {"name": "zoned", "type": ["null", {"type": "string", "connect.name": "io.debezium.time.ZonedTimestamp"}]},
            {"name": "data", "type": ["null", "bytes"]},
            {"name": "small", "type": ["null", {"type": "int", "connect.type": "int16"}]},
        ]}]},
        {"name": "after", "type": ["null", "Value"], "default": None},
        {"name": "source", "type": {"type": "record", "name": "Source", "fields": [{"name": "db", "type": "string"}, {"name": "table", "type": "string"}]}},
        {"name": "op", "type": "string"}, {"name": "ts_ms", "type": ["null", "long"]},
    ],
}  # fmt: skip
ROW = {
    "id": 1,
    "day": 1,
    "price": Decimal("1.25"),
    "at": 1_000_001,
    "zoned": "2026-01-02T03:04:05Z",
    "data": b"\0\1",
    "small": 7,
}
SOURCE = {"db": "shop", "table": "t"}


def test_changes_of_debezium(registry):
    changed = {**ROW, "price": None}
    messages = [
        message(registry, ENVELOPE, {"before": None, "after": ROW, "source": SOURCE, "op": "c", "ts_ms": 5}),
        message(registry, ENVELOPE, {"before": ROW, "after": changed, "source": SOURCE, "op": "u", "ts_ms": 6}),
        message(registry, ENVELOPE, {"before": changed, "after": None, "source": SOURCE, "op": "d", "ts_ms": 7}),
    ]
    columns = {
        "id": "INT",
        "day": "DATE",
        "price": "DECIMAL(5, 2)",
        "at": "TIMESTAMP(6)",
        "data": "BYTES",
        "db": "STRING",
    }
    found, _ = read("debezium-avro-confluent", columns, messages, {"db": "source.database"}, url=registry.url)
    row = (1, dt.date(1970, 1, 2), Decimal("1.25"), dt.datetime(1970, 1, 1, 0, 0, 1, 1), b"\0\1", "shop")
    without = (*row[:2], None, *row[3:])
    assert found == [("+I", *row), ("-U", *row), ("+U", *without), ("-D", *without)]


def test_an_event_of_a_sync_has_the_types_of_its_schema(registry):
    value = message(registry, ENVELOPE, {"before": None, "after": ROW, "source": SOURCE, "op": "c", "ts_ms": 5})
    key = message(registry, {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}, {"id": 1})
    event = parse_event("debezium-avro", value, key, (), SchemaRegistry(RegistryConf((registry.url,))))
    assert event is not None
    assert (event.database, event.table, event.primary_keys) == ("shop", "t", ("id",))
    assert {n: str(t) for n, t in event.columns.items()} == {
        "id": "INT", "day": "DATE", "price": "DECIMAL(5, 2)", "at": "TIMESTAMP(6)", "zoned": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
        "data": "BYTES", "small": "SMALLINT",
    }  # fmt: skip
    assert event.changes == (("+I", {
        "id": 1, "day": dt.date(1970, 1, 2), "price": Decimal("1.25"), "at": dt.datetime(1970, 1, 1, 0, 0, 1, 1),
        "zoned": dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC), "data": b"\0\1", "small": 7,
    }),)  # fmt: skip


def test_a_registry_that_is_late_is_waited_for(registry, monkeypatch):
    monkeypatch.setattr(schema_registry, "_PAUSE_S", 0.01)
    value = message(registry, record(a="int"), {"a": 1})
    registry.late = 3
    assert read("avro-confluent", {"a": "INT"}, [value], url=registry.url)[0] == [("+I", 1)]
    registry.late = 10_000
    with pytest.raises(SourceUnavailable, match="does not answer: 503 starting"):
        SchemaRegistry(RegistryConf((registry.url,)), patience_s=0.05).schema(99)


def test_what_is_wrong_is_said(registry, monkeypatch):
    monkeypatch.setattr(schema_registry, "_PAUSE_S", 0.01)
    monkeypatch.setattr(schema_registry, "_MISSING_S", 0.05)
    value = message(registry, record(a="int"), {"a": 1})
    for bad, words in [
        (b"", None), (b"x", "does not begin with a zero byte"), (value[:3], "zero byte"), (value[:5], "not a record of its schema"),
        (with_schema_id(77, b"\2"), "has no schema 77"),
    ]:  # fmt: skip
        if words is None:
            assert read("avro-confluent", {"a": "INT"}, [bad], url=registry.url)[0] == []
            continue
        with pytest.raises(BadMessage, match=words):
            read("avro-confluent", {"a": "INT"}, [bad], url=registry.url)
    with pytest.raises(BadMessage, match="column 'a'"):
        read("avro-confluent", {"a": "TINYINT"}, [message(registry, record(a="int"), {"a": 128})], url=registry.url)
    for options, error in [
        ({}, "url' is missing"), ({"url": "file:///etc/passwd"}, "http or https"), ({"url": "http://u:p@h"}, "without a user"),
    ]:  # fmt: skip
        with pytest.raises(BadOptionValue, match=error):
            open_decoder(fields(a="INT"), FormatOptions("avro-confluent", options))
    with pytest.raises(BadOptionValue, match="subject"):
        open_encoder(fields(a="INT"), FormatOptions("avro-confluent", {"url": registry.url}))
    with pytest.raises(UnknownOption, match="urls"):
        open_decoder(fields(a="INT"), FormatOptions("avro-confluent", {"urls": registry.url}))


def test_a_registry_with_a_user():
    registry = Registry(user="reader:s3cret-word")
    try:
        value = message(registry, record(a="int"), {"a": 1})
        with pytest.raises(SourceUnavailable, match="401 Unauthorized"):
            read("avro-confluent", {"a": "INT"}, [value], url=registry.url)
        given = {"url": registry.url, "basic-auth.user-info": "reader:s3cret-word"}
        decoder = open_decoder(fields(a="INT"), FormatOptions("avro-confluent", given))
        assert decoder.decode([value]).table.to_pylist() == [{"a": 1}]
    finally:
        registry.close()


def test_a_registry_that_redirects_gets_no_request_elsewhere(registry):
    """The user and password of the options are for the server that they name."""
    elsewhere = Registry()
    try:
        value = message(registry, record(a="int"), {"a": 1})
        registry.redirect_to = elsewhere.url
        given = {"url": registry.url, "basic-auth.user-info": "reader:s3cret-word"}
        with pytest.raises(SourceUnavailable, match="302"):
            open_decoder(fields(a="INT"), FormatOptions("avro-confluent", given)).decode([value])
        assert elsewhere.requests == []
    finally:
        elsewhere.close()
