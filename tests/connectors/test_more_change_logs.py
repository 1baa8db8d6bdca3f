"""Change logs of Oracle GoldenGate and AWS DMS: as rows of a table, and as events of a sync."""

from __future__ import annotations

import datetime as dt
import json

import pytest
from test_formats import read, written

from paimon_nb.base.errors import BadMessage
from paimon_nb.connectors.cdc.events import Event, parse_event
from paimon_nb.connectors.formats.api import MalformedMessage

OGG = {
    "table": "SHOP.T",
    "op_ts": "2026-01-02 03:04:05.000001",
    "current_ts": "2026-01-02T03:04:06.000000",
    "primary_keys": ["id"],
    "pos": "1",
}


def test_goldengate_as_rows():
    messages = [
        {**OGG, "op_type": "I", "after": {"id": 1, "v": "a"}},
        {**OGG, "op_type": "U", "before": {"id": 1, "v": "a"}, "after": {"id": 1, "v": None}},
        {**OGG, "op_type": "D", "before": {"id": 1, "v": None}},
        {**OGG, "op_type": "T"},
    ]
    columns = {"id": "INT", "v": "STRING", "at": "TIMESTAMP_LTZ(6)", "t": "STRING"}
    about = (dt.datetime(2026, 1, 2, 3, 4, 5, 1, dt.UTC), "SHOP.T")
    assert read("ogg-json", columns, messages, {"at": "event-timestamp", "t": "table"}) == (
        [("+I", 1, "a", *about), ("-U", 1, "a", *about), ("+U", 1, None, *about), ("-D", 1, None, *about)], [0, 1, 1, 2],
    )  # fmt: skip
    with pytest.raises(BadMessage, match="'before' is not a JSON object"):
        read("ogg-json", columns, [{**OGG, "op_type": "U", "after": {"id": 1}}])
    assert [json.loads(m) for m in written("ogg-json", {"id": "INT"}, [{"id": 1}, {"id": 2}], ["+I", "-D"])] == [
        {"before": None, "after": {"id": 1}, "op_type": "I"}, {"before": {"id": 2}, "after": None, "op_type": "D"},
    ]  # fmt: skip


def event(format: str, message: dict) -> Event | None:
    return parse_event(format, json.dumps(message).encode(), None, ())


def test_goldengate_as_events():
    found = event("ogg-json", {**OGG, "op_type": "U", "before": {"id": 1, "v": 1.50}, "after": {"id": 1, "v": True}})
    assert found is not None
    assert (found.database, found.table, found.primary_keys, [str(t) for t in found.columns.values()]) == (
        "SHOP",
        "T",
        ("id",),
        ["STRING"] * 2,
    )
    assert found.changes == (("-U", {"id": "1", "v": "1.5"}), ("+U", {"id": "1", "v": "true"}))
    assert event("ogg-json", {**OGG, "op_type": "T"}) is None


def test_dms_as_events():
    about = {"record-type": "data", "schema-name": "shop", "table-name": "t"}

    def changes(operation: str, data: dict) -> tuple:
        found = event("aws-dms-json", {"data": data, "metadata": {**about, "operation": operation}})
        assert found is not None
        assert (found.database, found.table, found.primary_keys) == ("shop", "t", ())
        return found.changes

    assert changes("load", {"id": 1, "v": None}) == (("+I", {"id": "1", "v": None}),)
    assert changes("insert", {"id": 1}) == (("+I", {"id": "1"}),)
    assert changes("update", {"id": 2, "v": "b", "BI_id": 1}) == (
        ("-U", {"id": "1", "v": "b"}),
        ("+U", {"id": "2", "v": "b"}),
    )
    assert changes("update", {"id": 2}) == (("+U", {"id": "2"}),)
    assert changes("delete", {"id": 2}) == (("-D", {"id": "2"}),)
    assert event("aws-dms-json", {"metadata": {"record-type": "control", "operation": "create-table"}}) is None
    with pytest.raises(MalformedMessage, match="unknown operation 'x'"):
        changes("x", {})
