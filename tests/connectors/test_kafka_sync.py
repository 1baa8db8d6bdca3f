"""Change logs in a real broker kept in tables, without Spark: types as the messages tell them, tables that grow, restarts."""

from __future__ import annotations

import base64
import datetime as dt
import json
import os
import random
import struct
import subprocess
import sys
import time
import uuid
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import paimon_nb
from paimon_nb.base.errors import (
    BadMessage,
    BadOptionValue,
    SchemaChangeError,
    SchemaMismatch,
    TableNotFound,
    UnknownName,
    UnknownOption,
    UnsupportedOperation,
)
from paimon_nb.connectors.cdc.events import parse_event
from paimon_nb.connectors.cdc.mysql_types import to_column
from paimon_nb.connectors.cdc.target import POSITION
from paimon_nb.format.types import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def wb(tmp_path: Path):
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()


def conf(broker, topic: str, format: str, **more: str) -> dict[str, str]:
    return {
        "properties.bootstrap.servers": broker.address, "topic": topic, "value.format": format,
        "scan.startup.mode": "earliest-offset", **{k.replace("__", ".").replace("_", "-"): v for k, v in more.items()},
    }  # fmt: skip


def start(wb, procedure: str, target: str, inputs: dict[str, str], **more: str):
    """The job that a CALL starts."""
    name = "`table`" if procedure.endswith("table") else "database"
    arguments = {
        name: target,
        "kafka_conf": ",".join(f"{k}={v}" for k, v in inputs.items()),
        "interval": "50 ms",
        **more,
    }
    (row,) = wb.run(f"CALL sys.{procedure}({', '.join(f'{k} => {v!r}' for k, v in arguments.items())})").arrow.to_pylist()  # fmt: skip
    return wb.session.jobs.find(row["job"])


def rows(wb, table: str) -> list[tuple]:
    return sorted((tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist()), key=repr)


def until(job, condition: Callable[[], bool]) -> None:
    assert job.wait_for(condition, 120), (job.status, job.error)


def canal(
    kind: str, table: str, types: dict[str, str], *data: dict[str, Any], old: Any = None, keys: str = "id"
) -> str:
    return json.dumps({"database": "shop", "table": table, "type": kind, "isDdl": False, "mysqlType": types, "pkNames": [keys], "data": data, "old": old})  # fmt: skip


def test_a_database_arrives_with_its_types_and_grows(wb, broker):
    topic = broker.topic("canal", 2)
    orders = {"id": "int", "amount": "decimal(6,2)", "at": "datetime(3)", "paid": "tinyint(1)"}
    first = {"id": "1", "amount": "1.50", "at": "2026-01-02 03:04:05.678", "paid": "1"}
    broker.send(topic, [
        canal("INSERT", "orders", orders, first, {**first, "id": "2"}),
        canal("INSERT", "customers", {"id": "bigint(20)", "name": "varchar(5)"}, {"id": "7", "name": "ann"}),
        canal("INSERT", "log", {"id": "int"}, {"id": "7"}),
    ])  # fmt: skip
    inputs = conf(broker, topic, "canal-json")
    job = start(wb, "kafka_sync_database", "ods", inputs, table_prefix="o_", excluding_tables="log")
    at = dt.datetime(2026, 1, 2, 3, 4, 5, 678000)
    until(job, lambda: job.rows == 3)
    until(job, lambda: len(rows(wb, "ods.o_orders")) == 2 and rows(wb, "ods.o_customers") == [(7, "ann")])
    wider = {"id": "int", "amount": "decimal(12,4)", "at": "datetime(3)", "paid": "tinyint(1)", "note": "text"}
    second = {"id": "2", "amount": "12345678.1234", "at": None, "paid": "0", "note": "new"}
    broker.send(topic, [
        canal("UPDATE", "orders", wider, second, old=[{"amount": "1.50", "at": first["at"], "paid": "1"}]),
        canal("DELETE", "customers", {"id": "bigint(20)", "name": "varchar(5)"}, {"id": "7", "name": "ann"}),
    ])  # fmt: skip
    broker.send(topic, [canal("INSERT", "born", {"id": "int"}, {"id": "1"})], partition=1)
    until(job, lambda: rows(wb, "ods.o_orders") == [(1, Decimal("1.5000"), at, True, None), (2, Decimal("12345678.1234"), None, False, "new")])  # fmt: skip
    until(job, lambda: "o_born" in wb.session.catalog.tables("ods") and rows(wb, "ods.o_born") == [(1,)])
    until(job, lambda: rows(wb, "ods.o_customers") == [])
    job.stop()
    assert wb.session.catalog.tables("ods") == ["o_born", "o_customers", "o_orders"]
    schema = wb.table("ods.o_orders").schema
    assert (schema.primary_keys, str(schema.field("id").type)) == (("id",), "INT NOT NULL")
    # The same again goes on from what the tables say, though the topic begins with rows that changed later.
    broker.send(topic, [canal("DELETE", "orders", wider, {**second, "id": "1"})])
    job = start(wb, "kafka_sync_database", "ods", inputs, table_prefix="o_", excluding_tables="log")
    until(job, lambda: rows(wb, "ods.o_orders") == [(2, Decimal("12345678.1234"), None, False, "new")])
    assert rows(wb, "ods.o_customers") == []
    until(job, lambda: job.rows == 1)
    snapshots = wb.table("ods.o_orders").store.snapshots.all()
    locations = [json.loads(s.properties[POSITION])[topic] for s in snapshots if s.properties]
    assert all(
        a[p] <= b[p] for a, b in pairwise(locations) for p in a
    )  # never a step back, though another table is slower


def test_a_table_of_debezium_keyed_by_its_records(wb, broker):
    topic = broker.topic("debezium")

    def message(op: str, before: Any, after: Any) -> dict[str, Any]:
        key = (after or before)["id"]
        return {"key": json.dumps({"id": key}), "value": json.dumps({"op": op, "before": before, "after": after, "source": {"db": "s", "table": "t"}})}  # fmt: skip

    a, b = {"id": 1, "v": "a"}, {"id": 2, "v": None}
    broker.send(topic, [message("r", None, a), message("c", None, b), message("u", None, {**a, "w": True}), {"key": b'{"id": 2}', "value": None}])  # fmt: skip
    job = start(wb, "kafka_sync_table", "lake.t", conf(broker, topic, "debezium-json"), computed_column="n=upper(v)", table_conf="bucket=1")  # fmt: skip
    until(job, lambda: rows(wb, "lake.t") == [("1", "a", "A", "true"), ("2", None, None, None)])
    broker.send(topic, [message("d", b, None)])
    until(job, lambda: rows(wb, "lake.t") == [("1", "a", "A", "true")])
    assert {f.name: str(f.type) for f in wb.table("lake.t").schema.fields} == {"id": "STRING NOT NULL", "v": "STRING", "n": "STRING", "w": "STRING"}  # fmt: skip


def _unscaled(number: int) -> str:
    return base64.b64encode(number.to_bytes(16, "big", signed=True)).decode()


def _decimal(precision: int, scale: int) -> dict[str, Any]:
    parameters = {"scale": str(scale), "connect.decimal.precision": str(precision)}
    return {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": parameters}


def test_types_as_debezium_tells_them():
    number, point = _unscaled(-12345), base64.b64encode(struct.pack("<BI2d", 1, 1, 1.0, 2.5)).decode()
    long = "1234567890123456789012345678.0123456789"
    told = {
        "b": ({"type": "boolean"}, True, "BOOLEAN", True),
        "i": ({"type": "int16"}, 5, "SMALLINT", 5),
        "n": (_decimal(10, 2), number, "DECIMAL(10, 2)", Decimal("-123.45")),
        "d": ({"type": "int32", "name": "io.debezium.time.Date"}, 20000, "DATE", dt.date(2024, 10, 4)),
        "ts": ({"type": "int64", "name": "io.debezium.time.Timestamp"}, 1_700_000_000_123, "TIMESTAMP(3)", dt.datetime(2023, 11, 14, 22, 13, 20, 123000)),
        "us": ({"type": "int64", "name": "io.debezium.time.MicroTimestamp"}, 1_700_000_000_123_456, "TIMESTAMP(6)", dt.datetime(2023, 11, 14, 22, 13, 20, 123456)),
        "z": ({"type": "string", "name": "io.debezium.time.ZonedTimestamp"}, "2023-11-14T22:13:20+02:00", "TIMESTAMP(6) WITH LOCAL TIME ZONE", dt.datetime(2023, 11, 14, 20, 13, 20, tzinfo=dt.UTC)),
        "t": ({"type": "int64", "name": "io.debezium.time.MicroTime"}, 3_600_000_001_000, "TIME(3)", dt.time(1, 0, 0, 1000)),
        "e": ({"type": "string", "name": "io.debezium.data.Enum"}, "x", "STRING", "x"),
        "s": ({"type": "string", "name": "io.debezium.data.EnumSet"}, "x,y", "ARRAY<STRING>", ["x", "y"]),
        "bits": ({"type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": "10"}}, base64.b64encode(b"\1\2").decode(), "BINARY(2)", b"\2\1"),
        "none": ({"type": "string"}, None, "STRING", None),
        "wide": (_decimal(65, 30), _unscaled(15 * 10**29), "STRING", "1.500000000000000000000000000000"),
        "zero": (_decimal(65, 30), _unscaled(0), "STRING", f"0.{'0' * 30}"),
        "tiny": (_decimal(3, 5), _unscaled(-1), "STRING", "-0.00001"),
        "round": (_decimal(5, -2), _unscaled(-15), "STRING", "-1500"),
        "number": (_decimal(10, 2), -123.45, "DECIMAL(10, 2)", Decimal("-123.45")),  # decimal.format = NUMERIC
        "whole": (_decimal(10, 2), 7, "DECIMAL(10, 2)", Decimal("7.00")),
        "variable": ({"type": "struct", "name": "io.debezium.data.VariableScaleDecimal"}, {"scale": 2, "value": number}, "STRING", "-123.45"),
        "point": ({"type": "struct", "name": "io.debezium.data.geometry.Point"}, {"x": 1.0, "y": 2.5, "wkb": point, "srid": None}, "STRING", '{"coordinates":[1,2.5],"type":"Point","srid":0}'),
        "geometry": ({"type": "struct", "name": "io.debezium.data.geometry.Geometry"}, {"wkb": point, "srid": 4326}, "STRING", '{"coordinates":[1,2.5],"type":"Point","srid":4326}'),
    }  # fmt: skip
    told["t"] = (told["t"][0], 3_600_001_000, *told["t"][2:])
    schema = {"fields": [{"field": "after", "fields": [{"field": n, **s} for n, (s, *_) in told.items()]}]}
    payload = {"op": "c", "after": {n: v for n, (_, v, _, _) in told.items()}, "source": {"db": "a", "table": "b"}}
    key = {"schema": {}, "payload": {"i": 5}}
    event = parse_event("debezium-json", json.dumps({"schema": schema, "payload": payload}).encode(), json.dumps(key).encode(), ())  # fmt: skip
    assert event is not None
    assert (event.database, event.table, event.primary_keys) == ("a", "b", ("i",))
    assert {n: str(t) for n, t in event.columns.items()} == {n: t for n, (_, _, t, _) in told.items()}
    ((kind, row),) = event.changes
    made = {n: to_column([row[n]], t, None).to_pylist()[0] for n, t in event.columns.items()}
    assert (kind, made) == ("+I", {n: v for n, (*_, v) in told.items()})
    assert to_column([long], parse_type("DECIMAL(38, 10)"), None).to_pylist() == [Decimal(long)]


def test_what_changes_no_rows_is_no_event():
    assert parse_event("debezium-json", json.dumps({"ddl": "ALTER", "source": {}}).encode(), None, ()) is None
    assert parse_event("canal-json", json.dumps({"type": "ALTER", "isDdl": True, "data": None}).encode(), None, ()) is None  # fmt: skip
    assert parse_event("maxwell-json", json.dumps({"type": "bootstrap-start"}).encode(), None, ()) is None
    assert parse_event("json", None, b"1", ()) is None
    event = parse_event("maxwell-json", json.dumps({"type": "update", "database": "d", "table": "t", "data": {"a": 1, "b": [2]}, "old": {"a": 0}, "primary_key_columns": ["a"]}).encode(), None, ())  # fmt: skip
    assert event is not None
    assert event.changes == (("-U", {"a": "0", "b": "[2]"}), ("+U", {"a": "1", "b": "[2]"}))
    assert event.primary_keys == ("a",)


def test_what_is_wrong_is_said(wb, broker):
    topic, empty = broker.topic("wrong"), broker.topic("empty")
    broker.send(topic, ['{"id": 1}'])
    cases: list[tuple[dict[str, str], type[Exception], str]] = [
        (conf(broker, topic, "jsn"), UnknownName, "json"),
        (conf(broker, topic, "json", colour="red"), UnknownOption, "colour"),
        ({k: v for k, v in conf(broker, topic, "json").items() if k != "value.format"}, BadOptionValue, "value.format"),
        (conf(broker, "absent", "json"), TableNotFound, "absent"),
        (conf(broker, empty, "json"), SchemaMismatch, "no message"),
        (conf(broker, topic, "json"), UnsupportedOperation, "no primary key"),
    ]
    for inputs, kind, word in cases:
        with pytest.raises(kind, match=word):
            start(wb, "kafka_sync_table", "r", inputs)
    assert wb.session.jobs.all == {}
    job = start(wb, "kafka_sync_table", "r", conf(broker, topic, "json"), primary_keys="id")
    lenient = start(wb, "kafka_sync_table", "lenient", conf(broker, topic, "json", json__ignore_parse_errors="true"), primary_keys="id")  # fmt: skip
    broker.send(topic, ["no json", '{"id": 2}'])
    with pytest.raises(BadMessage, match="no json"):
        job.wait_for(lambda: False, 60)
    until(lenient, lambda: rows(wb, "lenient") == [("1",), ("2",)])
    wb.run("CREATE TABLE typed (id INT PRIMARY KEY NOT ENFORCED)")
    with pytest.raises(SchemaChangeError, match="cannot also hold STRING"):
        start(wb, "kafka_sync_table", "typed", conf(broker, topic, "json")).wait_for(lambda: False, 60)


def equal_at_the_end(wb, broker, count: int, kills: int) -> None:
    """The sync runs as the command line's process, killed hard some times while messages come."""
    topic = broker.topic("kills", 3)
    command = [sys.executable, "-m", "paimon_nb.cli", "kafka_sync_table", "--warehouse", wb.session.catalog.warehouse, "--table", "t",
               *[w for k, v in conf(broker, topic, "maxwell-json").items() for w in ("--kafka_conf", f"{k}={v}")],
               *[w for option in ("bucket=2", "merge-engine=aggregation", "fields.v.aggregate-function=listagg") for w in ("--table_conf", option)],
               "--interval", "50 ms"]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(Path(paimon_nb.__file__).parents[1])}
    random_ = random.Random(uuid.uuid4().int)
    wanted: dict[str, list[str]] = {}
    process = None
    try:
        for part in range(kills + 1):
            for partition in range(3):
                keys = [f"{partition}-{random_.randrange(20)}" for _ in range(count // 3)]
                values = [f"{part}.{i}" for i in range(len(keys))]
                broker.send(topic, [json.dumps({"type": "insert", "database": "d", "table": "t", "data": {"k": k, "v": v}, "primary_key_columns": ["k"]}) for k, v in zip(keys, values, strict=True)], partition=partition)  # fmt: skip
                for k, v in zip(keys, values, strict=True):
                    wanted.setdefault(k, []).append(v)
            if process is not None:
                time.sleep(random_.random() * 2)
                process.kill()
                process.wait()
            process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        expected = sorted((k, ",".join(v)) for k, v in wanted.items())
        deadline = time.monotonic() + 240
        while time.monotonic() < deadline and process.poll() is None:
            if "t" in wb.session.catalog.tables("default") and rows(wb, "t") == expected:
                break
            time.sleep(0.2)
        assert process.poll() is None
        assert rows(wb, "t") == expected  # every value once, in its order: listagg would show a second time
    finally:
        if process is not None:
            process.kill()
            process.wait()


@pytest.mark.nightly
def test_a_sync_that_is_killed_takes_each_change_once(wb, broker):
    equal_at_the_end(wb, broker, 600, kills=2)


@pytest.mark.nightly
def test_after_50_kills_each_change_is_there_once(wb, broker):
    equal_at_the_end(wb, broker, 6_000, kills=50)
