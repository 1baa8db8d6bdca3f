"""Conditions as text: what they mean row by row, and where mistakes are."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_nb.base.errors import ColumnNotFound, PaimonError, SqlAnalysisError, SqlSyntaxError
from paimon_nb.format.schema import create_schema
from paimon_nb.table.read import parse_predicate
from paimon_nb.table.read.predicate.evaluate import evaluate

SCHEMA = create_schema(
    [
        (name, kind, None, None)
        for name, kind in {
            "id": "INT", "v": "STRING", "d": "DECIMAL(10, 2)", "f": "FLOAT", "t": "TIMESTAMP(3)", "day": "DATE",
            "b": "BOOLEAN", "c": "CHAR(3)", "x": "BYTES", "h": "TIME(3)", "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE",
            "a": "ARRAY<INT>", "end": "INT",
        }.items()
    ]
)  # fmt: skip
ROWS = pa.table(
    {
        "id": [1, 2, None],
        "v": ["a%b", "abc", None],
        "d": [Decimal("1.00"), Decimal("2.00"), None],
        "f": [float("nan"), 0.1, None],
        "t": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), None],
        "day": [dt.date(2024, 1, 1), dt.date(2024, 1, 2), None],
        "b": [True, False, None],
        "c": ["a", "ab ", None],
        "x": [b"\x01", b"\xff", None],
        "h": [dt.time(1, 2, 3), dt.time(4, 5, 6, 7000), None],
        "z": [dt.datetime(2024, 1, 1), dt.datetime(2024, 1, 2), None],
        "a": [[1], [], None],
        "end": [5, 6, None],
    }
).cast(SCHEMA.arrow)
T, F, U = True, False, None


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("id = 1", [T, F, U]),
        ("1 = id", [T, F, U]),
        ("2 > id", [T, F, U]),
        ("id <> 1", [F, T, U]),
        ("id != 1 AND id == 2", [F, T, U]),
        ("id = '1'", [T, F, U]),
        ("id = -1", [F, F, U]),
        ("ID = 1", [T, F, U]),
        ("`end` = 5", [T, F, U]),
        ('"end" = 5', [T, F, U]),
        ("end = 5", [T, F, U]),
        # literals that an INT cannot hold
        ("id > 1.5", [F, T, U]),
        ("id >= 1.5", [F, T, U]),
        ("id < 1.5", [T, F, U]),
        ("id = 1.5", [F, F, U]),
        ("id <> 1.5", [T, T, U]),
        ("id < 99999999999", [T, T, U]),
        ("id > 99999999999", [F, F, U]),
        ("id > -99999999999", [T, T, U]),
        ("id IN (1.5)", [F, F, U]),
        # NULL
        ("id = NULL", [U, U, U]),
        ("id IS NULL", [F, F, T]),
        ("id IS NOT NULL", [T, T, F]),
        ("id <=> 1", [T, F, F]),
        ("id <=> NULL", [F, F, T]),
        ("NOT id <=> 1", [F, T, T]),
        ("id IN (1, NULL)", [T, U, U]),
        ("id NOT IN (1, NULL)", [F, U, U]),
        ("NULL OR id = 1", [T, U, U]),
        ("NULL AND id = 1", [U, F, U]),
        ("TRUE AND id = 1", [T, F, U]),
        ("FALSE", [F, F, F]),
        # combinations
        ("id = 1 OR id = 2 AND v = 'x'", [T, F, U]),
        ("(id = 1 OR id = 2) AND v = 'abc'", [F, T, U]),
        ("NOT (id = 1 OR id IS NULL)", [F, T, F]),
        ("NOT NOT id = 1", [T, F, U]),
        ("id BETWEEN 2 AND 3", [F, T, U]),
        ("id NOT BETWEEN 2 AND 3", [T, F, U]),
        # texts
        ("v LIKE 'a\\%b'", [T, F, U]),
        ("v LIKE 'a%'", [T, T, U]),
        ("v LIKE 'ab_'", [F, T, U]),
        ("v LIKE '%c'", [F, T, U]),
        ("v NOT LIKE 'ab%'", [T, F, U]),
        ("v = 'it''s'", [F, F, U]),
        ("c = 'a'", [T, F, U]),
        ("c IN ('ab', 'zz')", [F, T, U]),
        # decimals, floats
        ("d < 1.005", [T, F, U]),
        ("d >= 1.005", [F, T, U]),
        ("d = 2", [F, T, U]),
        ("d = 2.000", [F, T, U]),
        ("f > 0.1", [T, T, U]),  # 0.1 as FLOAT is above 0.1 as DOUBLE; NaN is above every number
        ("f = 0.1", [F, F, U]),
        ("f < 1e9", [F, T, U]),
        ("f <> 5", [T, T, U]),
        # times
        ("day = '2024-01-01'", [T, F, U]),
        ("day >= DATE '2024-01-02'", [F, T, U]),
        ("day < TIMESTAMP '2024-01-01 12:00:00'", [T, F, U]),
        ("t = '2024-01-01'", [T, F, U]),
        ("t <= TIMESTAMP '2024-01-01 00:00:00.0009'", [T, F, U]),
        ("t > TIMESTAMP '2024-01-01 00:00:00.0009'", [F, T, U]),
        ("z = '2024-01-01T01:00:00+01:00'", [T, F, U]),
        ("h = TIME '01:02:03'", [T, F, U]),
        ("h > '04:05:06.0069'", [F, T, U]),
        # booleans, bytes
        ("b", [T, F, U]),
        ("NOT b", [F, T, U]),
        ("b IS TRUE", [T, F, F]),
        ("b IS NOT TRUE", [F, T, T]),
        ("b >= FALSE", [T, T, U]),
        ("x = X'01'", [T, F, U]),
        ("x > X'80'", [F, T, U]),
        ("a IS NOT NULL", [T, T, F]),
    ],
)
def test_meaning(text: str, answers: list[bool | None]) -> None:
    assert evaluate(parse_predicate(text, SCHEMA), ROWS, SCHEMA.fields).to_pylist() == answers


@pytest.mark.parametrize("text", ["id = 1", "v LIKE 'a%'", "b", "id IN (1, 2)", "(id = 1 OR v = 'it''s') AND f > 1.0"])
def test_its_own_text_means_the_same(text: str) -> None:
    found = parse_predicate(text, SCHEMA)
    assert parse_predicate(str(found), SCHEMA) == found


@pytest.mark.parametrize(
    ("text", "kind", "place"),
    [
        ("id = ", SqlSyntaxError, (5, 5)),
        ("", SqlSyntaxError, (0, 0)),
        ("id == 1 foo", SqlSyntaxError, (8, 11)),
        ("v = 'abc", SqlSyntaxError, (4, 5)),
        ("(id = 1", SqlSyntaxError, (7, 7)),
        ("id IN ()", SqlSyntaxError, (7, 8)),
        ("id NOT 5", SqlSyntaxError, (7, 8)),
        ("id = 1 AND", SqlSyntaxError, (10, 10)),
        ("v; DROP", SqlSyntaxError, (1, 2)),
        ("x = X'0'", SqlSyntaxError, (4, 8)),
        ("7", SqlSyntaxError, (0, 1)),
        ("id", SqlSyntaxError, (2, 2)),
        ("id = v", SqlAnalysisError, (5, 6)),
        ("id = 'x'", SqlAnalysisError, (0, 8)),
        ("day = 'soon'", SqlAnalysisError, (0, 12)),
        ("a = 1", SqlAnalysisError, (0, 5)),
        ("id LIKE '1%'", SqlAnalysisError, (0, 12)),
        ("v = 1 OR idd = 1", SqlAnalysisError, (0, 5)),
        ("idd = 1", ColumnNotFound, (0, 3)),
    ],
)
def test_mistakes_are_pointed_at(text: str, kind: type[PaimonError], place: tuple[int, int]) -> None:
    with pytest.raises(kind) as caught:
        parse_predicate(text, SCHEMA)
    assert (caught.value.facts["start"], caught.value.facts["stop"]) == place
    assert caught.value.facts["sql"] == text
    assert caught.value.hint


def test_depth_has_an_end() -> None:
    with pytest.raises(SqlSyntaxError, match="too deeply"):
        parse_predicate("(" * 5000 + "b" + ")" * 5000, SCHEMA)
