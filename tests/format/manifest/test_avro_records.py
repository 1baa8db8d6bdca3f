"""Records decoded one by one are those of fastavro, and broken bytes end in an error."""

from __future__ import annotations

import io
import random

import fastavro
import pytest

from paimon_nb.format.avro.records import compile_columns, compile_fields, read_records, read_values

NAMES = {"type": "array", "items": "string"}
INNER = {"type": "record", "name": "inner", "fields": [{"name": "names", "type": NAMES}]}
SCHEMA = {
    "type": "record",
    "name": "row",
    "fields": [
        {"name": "number", "type": "long"},
        {"name": "small", "type": ["null", "int"]},
        {"name": "raw", "type": ["bytes", "null"]},
        {"name": "text", "type": "string"},
        {"name": "counts", "type": {"type": "array", "items": ["null", "long"]}},
        {"name": "inner", "type": ["null", INNER]},
    ],
}


def _rows(seed: int) -> list[dict[str, object]]:
    dice = random.Random(seed)
    numbers = [0, -1, 63, 64, -64, -65, 1 << 31, -(1 << 63), (1 << 63) - 1]
    return [
        {
            "number": dice.choice(numbers),
            "small": dice.choice([None, 0, -5, 1 << 20]),
            "raw": dice.choice([None, b"", bytes(range(200))]),
            "text": dice.choice(["", "größe", "x" * 100]),
            "counts": [dice.choice([None, *numbers]) for _ in range(dice.randrange(4))],
            "inner": dice.choice([None, {"names": []}, {"names": ["a", "ü"]}]),
        }
        for _ in range(20)
    ]


def _encoded(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    for row in rows:
        fastavro.schemaless_writer(out, fastavro.parse_schema(SCHEMA), row)
    return out.getvalue()


@pytest.mark.parametrize("schema", [SCHEMA, ["null", SCHEMA]], ids=["plain", "union"])
@pytest.mark.parametrize("seed", range(5))
def test_records_are_those_that_were_written(schema, seed):
    rows = _rows(seed)
    data = _encoded(rows) if schema is SCHEMA else b"\0" + b"".join(b"\2" + _encoded([row]) for row in rows)
    expected = rows if schema is SCHEMA else [None, *rows]

    assert read_records(compile_fields(schema), len(expected), data) == expected


def test_an_array_in_blocks_with_their_sizes():
    fields = compile_fields({"type": "array", "items": "long"})

    assert read_records(fields, 1, b"\x03\x04\x02\x04\x02\x06\x00") == [[1, 2, 3]]


@pytest.mark.parametrize("seed", range(5))
def test_what_is_cut_off_is_an_error(seed):
    data = _encoded(_rows(seed))
    fields = compile_fields(SCHEMA)

    for end in range(len(data)):
        with pytest.raises((IndexError, ValueError)):
            read_records(fields, 20, data[:end])


@pytest.mark.parametrize(
    ("schema", "data"),
    [
        ("long", b"\xff" * 11),
        ("long", b"\xff" * 9 + b"\x02"),
        ("bytes", b"\x01"),
        ("string", b"\x02\xff"),
        (["null", "long"], b"\x04"),
        ({"type": "array", "items": "long"}, b"\xfe\xff\xff\xff\x0f\x02"),
    ],
    ids=[
        "an endless number",
        "a number of 65 bits",
        "a negative size",
        "no UTF-8",
        "a branch too far",
        "too few items",
    ],
)
def test_broken_bytes(schema, data):
    with pytest.raises((IndexError, ValueError)):
        read_records(compile_fields(schema), 1, data)


@pytest.mark.parametrize(
    "schema",
    ["double", ["int", "long"], {"type": "map", "values": "long"}, {"type": "fixed", "name": "f", "size": 2}, "row"],
)
def test_types_that_metadata_does_not_use_are_left_out(schema):
    assert compile_fields(schema) is None


FLAT = {**SCHEMA, "fields": [*SCHEMA["fields"][:-1], {"name": "inner", "type": INNER}]}


def _flat_rows(seed: int) -> list[dict[str, object]]:
    return [{**row, "inner": row["inner"] or {"names": ["a"] * 3}} for row in _rows(seed)]


def _flat_encoded(rows: list[dict[str, object]]) -> bytes:
    out = io.BytesIO()
    for row in rows:
        fastavro.schemaless_writer(out, fastavro.parse_schema(FLAT), row)
    return out.getvalue()


@pytest.mark.parametrize("seed", range(5))
def test_values_by_path_are_those_that_were_written(seed):
    rows = _flat_rows(seed)
    fields = compile_columns(FLAT)
    columns: dict[str, list[object]] = {field[0]: [] for field in fields}

    read_values(fields, len(rows), _flat_encoded(rows), columns)

    expected = {name: [row[name] for row in rows] for name in ("number", "small", "raw", "text")}
    expected["counts"] = [tuple(row["counts"]) for row in rows]
    expected["inner.names"] = [tuple(row["inner"]["names"]) for row in rows]
    assert columns == expected


@pytest.mark.parametrize("seed", range(5))
def test_values_that_are_cut_off_are_an_error(seed):
    data = _flat_encoded(_flat_rows(seed))
    fields = compile_columns(FLAT)

    for end in range(len(data)):
        with pytest.raises((IndexError, ValueError)):
            read_values(fields, 20, data[:end], {field[0]: [] for field in fields})


@pytest.mark.parametrize(
    "schema", [SCHEMA, ["null", SCHEMA], "long"], ids=["a nullable record", "a union", "no record"]
)
def test_what_has_no_value_per_path_is_left_out(schema):
    assert compile_columns(schema) is None
