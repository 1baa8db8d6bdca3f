"""Made-up rows: every field option, bounds, determinism, and options that fit nothing."""

from __future__ import annotations

import pickle
import time
from decimal import Decimal

import pyarrow as pa
import pytest

from paimon_nb.base.errors import BadOptionValue, UnknownName, UnknownOption
from paimon_nb.connectors import open_source
from paimon_nb.connectors.api import ConnectorTable
from paimon_nb.format.types import DataField, arrow_type, parse_type


def datagen(columns: dict[str, str], **options: str):
    fields = tuple(DataField(i, n, parse_type(t)) for i, (n, t) in enumerate(columns.items()))
    inputs = {"connector": "datagen"} | {k.replace("__", "."): v for k, v in options.items()}
    return open_source(ConnectorTable("t", fields, inputs))


def fields(**options: dict[str, object]) -> dict[str, str]:
    return {f"fields.{c}.{w.replace('_', '-')}": str(v).lower() if isinstance(v, bool) else str(v) for c, ws in options.items() for w, v in ws.items()}  # fmt: skip


EVERY = {
    "a": "TINYINT", "b": "SMALLINT", "c": "INT", "d": "BIGINT", "e": "FLOAT", "f": "DOUBLE", "g": "DECIMAL(10, 2)",
    "h": "BOOLEAN", "i": "CHAR(3)", "j": "VARCHAR(5)", "k": "STRING", "l": "BINARY(4)", "m": "BYTES", "n": "DATE",
    "o": "TIME(3)", "p": "TIMESTAMP(3)", "q": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "r": "ARRAY<INT>",
    "s": "MAP<STRING, INT>", "t": "ROW<x INT, y STRING>", "u": "MULTISET<STRING>",
}  # fmt: skip


def test_every_type_has_values_of_its_own():
    source = datagen(EVERY)
    rows = source.rows(0, 10_000)
    assert rows.schema == pa.schema([(n, arrow_type(parse_type(t))) for n, t in EVERY.items()])
    assert rows.num_rows == 10_000
    assert [c.null_count for c in rows.columns] == [0] * len(EVERY)
    first = rows.slice(0, 1).to_pylist()[0]
    assert [len(first[c]) for c in "ijklmr"] == [3, 5, 100, 4, 100, 3]
    assert min(rows.column("a").to_pylist()) < -100
    assert max(rows.column("a").to_pylist()) > 100
    assert not source.bounded


def test_rows_are_a_function_of_their_number():
    source = datagen(EVERY | {"z": "INT"}, **fields(z={"kind": "sequence", "start": 5, "end": 50_000}))
    whole = source.rows(0, 9_000).drop_columns(["n", "p", "q"])  # moments are told when they are made
    parts = [pickle.loads(pickle.dumps(source)).rows(a, b) for a, b in ((0, 1), (1, 4_097), (4_097, 9_000))]
    assert pa.concat_tables(parts).drop_columns(["n", "p", "q"]).equals(whole)
    assert pa.concat_tables(source.batches(3, 9_000)).num_rows == 8_997
    assert whole.column("z").to_pylist() == list(range(5, 9_005))
    assert not source.rows(0, 100).equals(datagen(EVERY).rows(0, 100))


def test_limits_lengths_and_nulls():
    source = datagen(
        {"a": "INT", "g": "DECIMAL(6, 2)", "f": "DOUBLE", "s": "STRING", "v": "STRING", "l": "ARRAY<STRING>", "r": "ROW<x INT>", "p": "TIMESTAMP(3)"},
        **fields(a={"min": 3, "max": 5, "null_rate": 0.25}, g={"min": "1.50", "max": "1.52"}, f={"min": 0, "max": 1}, s={"length": 1},
                 v={"length": 4, "var_len": True}, l={"length": 2}, p={"max_past": "1 h"}) | {"fields.l.element.length": "7", "fields.r.x.max": "0", "fields.r.x.min": "0"},
    )  # fmt: skip
    rows = source.rows(0, 8_000)
    assert set(rows.column("a").to_pylist()) == {3, 4, 5, None}
    assert 1_800 < rows.column("a").null_count < 2_200
    assert set(rows.column("g").to_pylist()) == {Decimal("1.50"), Decimal("1.51"), Decimal("1.52")}
    assert 0 <= min(rows.column("f").to_pylist()) < max(rows.column("f").to_pylist()) <= 1
    assert set(rows.column("s").to_pylist()) == set("0123456789abcdef")
    assert {len(v) for v in rows.column("v").to_pylist()} == {1, 2, 3, 4}
    assert {(len(v), len(v[0])) for v in rows.column("l").to_pylist()} == {(2, 7)}
    assert set(map(str, rows.column("r").to_pylist())) == {"{'x': 0}"}
    timestamps = rows.column("p").cast(pa.int64()).to_pylist()
    now = time.time() * 1000
    assert now - 3_700_000 < min(timestamps) < max(timestamps) <= now


def test_the_end_is_the_nearest_of_all_ends():
    assert datagen({"a": "INT"}, **{"number-of-rows": "7"}).total == 7
    sequences = fields(a={"kind": "sequence", "start": 1, "end": 10}, b={"kind": "sequence", "start": 1, "end": 4})
    source = datagen({"a": "INT", "b": "STRING", "c": "INT"}, **sequences, **{"number-of-rows": "7"})
    assert (source.total, source.bounded) == (4, True)
    assert source.rows(0, 4).select(["a", "b"]).to_pylist() == [{"a": n, "b": str(n)} for n in range(1, 5)]
    assert source.due(source.began_ms + 1_000_000) == 4


def test_rows_are_due_at_their_rate():
    source = datagen({"a": "INT"}, **{"rows-per-second": "50"})
    assert [source.due(source.began_ms + ms) for ms in (-5, 0, 10, 20, 1_000, 60_000)] == [0, 0, 0, 1, 50, 3_000]


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"rows-per-second": "many"}, BadOptionValue), ({"rows.per.second": "1"}, UnknownOption), ({"fields.x.min": "1"}, BadOptionValue),
        ({"fields.a.kind": "sequence"}, BadOptionValue), ({"fields.a.kind": "guess"}, BadOptionValue),
        ({"fields.a.min": "2", "fields.a.max": "1"}, BadOptionValue), ({"fields.a.length": "3"}, BadOptionValue),
        ({"fields.s.length": "9"}, BadOptionValue), ({"fields.a.null-rate": "2"}, BadOptionValue), ({"fields.s.var-len": "perhaps"}, BadOptionValue),
        ({"fields.a.kind": "sequence", "fields.a.start": "5", "fields.a.end": "1"}, BadOptionValue),
    ],
    ids=str,
)  # fmt: skip
def test_options_that_fit_nothing_are_refused(options, error):
    with pytest.raises(error):
        datagen({"a": "INT", "s": "VARCHAR(5)"}, **options)


def test_an_unknown_connector_is_named_with_the_nearest():
    with pytest.raises(UnknownName, match="did you mean 'datagen'"):
        open_source(ConnectorTable("t", (), {"connector": "datgen"}))
