"""Messages that are JSON, but not of the form of their format: each is a malformed message, which a rule can step over."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any

import pytest
from test_formats import read

from paimon_nb.base.errors import BadMessage, PaimonError
from paimon_nb.connectors.cdc.events import parse_event
from paimon_nb.connectors.formats.api import MalformedMessage

if TYPE_CHECKING:
    from collections.abc import Iterator

_FIELDS: list[dict[str, Any]] = [
    {"field": "k", "type": "int32"},
    {"field": "n", "type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": {"scale": "2"}},
    {"field": "b", "type": "bytes", "name": "io.debezium.data.Bits", "parameters": {"length": "9"}},
]
_IMAGE = {"type": "struct", "fields": [{"field": "after", "type": "struct", "fields": _FIELDS}]}
_ROW, _SOURCE = {"k": 1, "n": "AfQ=", "b": "AQA="}, {"db": "d", "table": "t"}
_TYPES = {"k": "int(11)", "v": "varchar(20)", "t": "time(3)", "e": "enum('a','b')"}
_DMS = {"record-type": "data", "operation": "update", "schema-name": "d", "table-name": "t"}
MESSAGES: dict[str, list[dict[str, Any]]] = {
    "debezium-json": [
        {"op": "u", "before": _ROW, "after": _ROW, "source": _SOURCE},
        {"schema": _IMAGE, "payload": {"op": "c", "before": None, "after": _ROW, "source": _SOURCE}},
    ],
    "canal-json": [
        {"database": "d", "table": "t", "type": "UPDATE", "isDdl": False, "mysqlType": _TYPES, "pkNames": ["k"],
         "data": [{"k": "1", "v": "x", "t": "1:00:00", "e": "a"}], "old": [{"v": "y"}]},
    ],
    "maxwell-json": [{"database": "d", "table": "t", "type": "update", "data": {"k": 1}, "old": {"k": 2}, "primary_key_columns": ["k"]}],
    "ogg-json": [{"table": "d.t", "op_type": "U", "before": {"k": 1}, "after": {"k": 2}, "primary_keys": ["k"]}],
    "aws-dms-json": [{"data": {"k": 1, "BI_k": 2}, "metadata": _DMS}],
    "json": [{"k": 1, "v": {"a": [1, 2]}}],
}  # fmt: skip
ODD = (None, True, -1, 2**64, 1.5, float("nan"), "", "\ud800", "1e5", [], [1], [[1]], {}, {"a": 1})


def _places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if place:
        yield place
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for name, item in inner:
        yield from _places(item, (*place, name))


def _broken(message: dict[str, Any]) -> Iterator[bytes]:
    """The message with each of its members gone or odd."""
    for place in _places(message):
        for odd in (*ODD, _places):
            changed = copy.deepcopy(message)
            holder = changed
            for name in place[:-1]:
                holder = holder[name]
            if odd is _places:
                del holder[place[-1]]
            else:
                holder[place[-1]] = odd
            yield json.dumps(changed).encode()


@pytest.mark.parametrize("format", MESSAGES)
def test_a_sync_reads_it_or_calls_it_malformed(format):
    read_well, malformed, strange = 0, 0, []
    for message in MESSAGES[format]:
        for broken in _broken(message):
            try:
                parse_event(format, broken, None, ())
                read_well += 1
            except (MalformedMessage, PaimonError):
                malformed += 1
            except Exception as error:
                strange.append((broken, error))
    assert strange == []
    assert read_well
    assert malformed or format == "json"


@pytest.mark.parametrize("format", sorted(set(MESSAGES) - {"aws-dms-json"}))
def test_a_table_reads_it_or_calls_it_malformed(format):
    columns = {"k": "INT", "v": "STRING", "n": "DECIMAL(5, 2)", "t": "TIME(0)", "b": "BYTES"}
    strange = []
    for message in MESSAGES[format]:
        for broken in _broken(message):
            try:
                read(format, columns, [broken])
            except BadMessage:
                assert read(format, columns, [broken], ignore_parse_errors="true") is not None
            except Exception as error:
                strange.append((broken, error))
    assert strange == []


def test_a_number_that_is_none_is_no_decimal():
    for text in (b'{"n": "NaN"}', b'{"n": NaN}', b'{"n": "Infinity"}', b'{"n": "sNaN"}'):
        with pytest.raises(BadMessage, match="is not DECIMAL"):
            read("json", {"n": "DECIMAL(5, 2)"}, [text])


def test_half_a_character_is_a_question_mark_as_in_java():
    columns = {"a": "STRING", "b": "ARRAY<STRING>", "c": "STRING"}
    message = rb'{"a": "x\ud83d", "b": ["\ude00y"], "c": {"d": "\ud83d"}}'
    assert read("json", columns, [message]) == ([("+I", "x?", ["?y"], '{"d":"?"}')], [0])
    event = parse_event("json", message, None, ())
    assert event is not None
    assert event.changes == (("+I", {"a": "x?", "b": '["?y"]', "c": '{"d":"?"}'}),)
