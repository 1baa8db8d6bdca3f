"""Casts against what Java's own casts made of the same values, in two time zones."""

import decimal
import gzip
import json
import struct
import time
from datetime import date

import pyarrow as pa
import pytest
from data_kit import GOLDEN

from paimon_nb.base.errors import ReadError, SchemaMismatch
from paimon_nb.format.data import cast_column, cast_text
from paimon_nb.format.row.binary_row import Instant, from_scalar, to_scalar
from paimon_nb.format.types import arrow_type, parse_type

STAMPS = ("TIMESTAMP", "TIMESTAMP_LTZ")


@pytest.mark.parametrize("zone", ["UTC", "America/New_York"])
def test_every_cast_of_javas(zone, monkeypatch):
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        wrong, compared = [], 0
        with gzip.open(GOLDEN / f"casts-{zone.rpartition('/')[2]}.jsonl.gz", "rt") as lines:
            for line in lines:
                source, target, text, java = json.loads(line)
                old, new = parse_type(source), parse_type(target)
                ours = cast(old, new, text)
                compared += 1
                if ours != expected(new, java) and not tolerated(old, new, text, java, ours):
                    wrong.append((source, target, text, java, ours))
        assert wrong == []
        assert compared == 9520
    finally:
        monkeypatch.undo()
        time.tzset()


def cast(old, new, text):
    try:
        return shown(new, cast_column(pa.array([given(old, text)], arrow_type(old)), old, new)[0])
    except ReadError:
        return ReadError


def expected(new, java):
    if "out" in java:
        text = java["out"]
        if text is not None and new.root in ("FLOAT", "DOUBLE"):
            return bits(new, float(text.replace("Infinity", "inf")))
        return text
    return ReadError


def tolerated(old, new, text, java, ours):
    """Where we differ on purpose."""
    if "none" in java:
        # Java cannot show some types as VARCHAR(n); nothing is to be done for equal types.
        return new.root in ("CHAR", "VARCHAR") or old.bare() == new.bare() or old.root == new.root == "TIME"
    if "out" not in java:
        return False
    if old.root == "TIMESTAMP" and new.root == "DATE":  # 1.3.1 rounds times before 1970 up, 2.1 takes their day
        return int(ours) == int(text.split(":")[0]) // 86_400_000
    if new.root == "TIME":  # Java makes times of day that are none, and fails when it shows them
        return not 0 <= int(java["out"]) < 86_400_000 and (
            ours is ReadError or int(ours) == int(java["out"]) % 86_400_000
        )
    if new.root in STAMPS:
        # In memory a TIMESTAMP(9) ends in 2262, and TIMESTAMP(6) has no nanoseconds.
        ms, nanos = map(int, java["out"].split(":"))
        per, unit = {"ms": (1, 10**6), "us": (1000, 1000), "ns": (10**6, 1)}[arrow_type(new).unit]
        if ours is ReadError:
            return abs(ms * per) >= 1 << 63 or (old.root in ("CHAR", "VARCHAR", "BIGINT") and abs(ms) == 1000)
        return ours == f"{ms}:{nanos - nanos % unit}"
    if old.root == "FLOAT" and new.root in ("CHAR", "VARCHAR"):
        return java["out"].startswith("9.9999898E8")  # Float.toString was only repaired in Java 19
    return False


def given(t, text):
    match t.root:
        case "BOOLEAN":
            return text == "true"
        case "FLOAT" | "DOUBLE":
            return float(text.replace("Infinity", "inf"))
        case "CHAR" | "VARCHAR":
            return text
        case "BINARY" | "VARBINARY":
            return bytes.fromhex(text)
        case "DECIMAL":
            return decimal.Decimal(text)
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            ms, nanos = text.split(":")
            return to_scalar(t, Instant(int(ms), int(nanos))).value
    return int(text)


def shown(t, scalar):
    value = from_scalar(t, scalar)
    if value is None:
        return None
    match t.root:
        case "BOOLEAN":
            return "true" if value else "false"
        case "BINARY" | "VARBINARY":
            return value.hex()
        case "DECIMAL":
            return format(value, "f")
        case "TIMESTAMP" | "TIMESTAMP_LTZ":
            return f"{value.ms}:{value.nanos}"
        case "FLOAT" | "DOUBLE":
            return bits(t, value)
    return str(value)


def bits(t, value):
    if value != value:
        return "NaN"
    return struct.pack("f", pa.scalar(value, pa.float32()).as_py()) if t.root == "FLOAT" else struct.pack("d", value)


def test_many_values_at_once_and_nulls():
    column = pa.chunked_array([["1.25", None] * 50, ["-7"]])
    old, new = parse_type("STRING"), parse_type("DECIMAL(5, 1)")
    assert cast_column(column, old, new).to_pylist() == [decimal.Decimal("1.3"), None] * 50 + [decimal.Decimal("-7.0")]


@pytest.mark.parametrize(
    ("text", "type_text", "value"),
    [
        ("[1, null, 3]", "ARRAY<INT>", [1, None, 3]),
        ("ARRAY(a, b)", "ARRAY<STRING>", ["a", "b"]),
        ("[]", "ARRAY<INT>", []),
        ("[[1], [2, 3]]", "ARRAY<ARRAY<INT>>", [[1], [2, 3]]),
        ("{a -> 1, b -> null}", "MAP<STRING, INT>", [("a", 1), ("b", None)]),
        ("MAP(k, 1)", "MAP<STRING, INT>", [("k", 1)]),
        ('map(9999, "hello, you")', "MAP<INT, STRING>", [(9999, "hello, you")]),
        ('{"a" -> "b\\"c"}', "MAP<STRING, STRING>", [("a", "bc")]),
        ("NULL", "MAP<STRING, INT>", None),
        ("{1, x}", "ROW<a INT, b STRING>", {"a": 1, "b": "x"}),
        ("STRUCT(1, null)", "ROW<a INT, b STRING>", {"a": 1, "b": None}),
        ("{}", "ROW<a INT, b STRING>", {"a": None, "b": None}),
        ("2020-02-29", "DATE", date(2020, 2, 29)),
    ],
)
def test_defaults_are_read_as_java_reads_them(text, type_text, value):
    assert cast_text(text, parse_type(type_text)).as_py() == value


def test_a_wrong_default_is_told():
    with pytest.raises(SchemaMismatch, match="default 'x' is not a valid INT"):
        cast_text("x", parse_type("INT"))
