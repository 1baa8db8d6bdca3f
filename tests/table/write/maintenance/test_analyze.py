"""ANALYZE: the numbers are those of real Flink with Paimon 1.3.1, found again by reads and inherited by later snapshots."""

from __future__ import annotations

import datetime as dt
import json
import random
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pytest
from write_kit import compact_all, make_table, put

from paimon_nb.base.errors import ColumnNotFound, UnsupportedOperation
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

TYPES = {
    "i": "INT", "s": "STRING", "d": "DOUBLE", "dd": "DATE", "bo": "BOOLEAN", "f": "FLOAT", "l": "BIGINT", "ti": "TINYINT",
    "si": "SMALLINT",
}  # fmt: skip


def statistics(store: TableStore) -> dict[str, Any]:
    snapshot = store.latest()
    assert snapshot is not None
    assert snapshot.statistics is not None
    return json.loads(store.fs.read(store.statistics_path(snapshot.statistics)))  # type: ignore[no-any-return]


def test_the_numbers_of_real_paimon(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", TYPES, bucket="-1")
    one = {"i": 1, "s": "abc", "d": 1.5, "dd": dt.date(2024, 1, 2), "bo": True, "f": 1.5, "l": 5, "ti": 1, "si": 1}
    two = {"i": 2, "s": "é€", "d": 1e10, "dd": dt.date(2020, 1, 2), "bo": False, "f": -1.5, "l": -5, "ti": 2, "si": 2}
    put(store, [one, two])
    assert Table(store).maintain.analyze(list(TYPES)) == 2
    snapshot = store.latest()
    assert snapshot is not None
    assert (snapshot.commit_kind, snapshot.total_record_count, snapshot.delta_record_count) == ("ANALYZE", 2, 0)
    found = statistics(store)
    size = found.pop("mergedRecordSize")  # Flink leaves -1 here; this is Spark's: bytes of the files
    assert size == sum(p.stat().st_size for p in tmp_path.rglob("*.parquet"))

    def numbers(column: int, low: str, high: str) -> dict[str, Any]:
        return {"colId": column, "distinctCount": 2, "min": low, "max": high, "nullCount": 0}

    assert found == {
        "snapshotId": 1,
        "schemaId": 0,
        "mergedRecordCount": 2,
        "colStats": {
            "i": numbers(0, "1", "2"),
            "s": {"colId": 1, "distinctCount": 2, "nullCount": 0, "avgLen": 2, "maxLen": 3},
            "d": numbers(2, "1.5", "1.0E10"),
            "dd": numbers(3, "18263", "19724"),
            "bo": {"colId": 4, "distinctCount": 2, "nullCount": 0},
            "f": numbers(5, "-1.5", "1.5"),
            "l": numbers(6, "-5", "5"),
            "ti": numbers(7, "1", "2"),
            "si": numbers(8, "1", "2"),
        },
    }


def test_texts_of_other_types(tmp_path: Path) -> None:
    types = {
        "dec": "DECIMAL(30, 5)", "ts": "TIMESTAMP(3)", "us": "TIMESTAMP(6)", "ns": "TIMESTAMP(9)", "t": "TIME(3)", "x": "BYTES",
        "m": "MAP<INT, INT>",
    }  # fmt: skip
    store = make_table(f"{tmp_path}/t", types, bucket="-1")
    early, late = dt.datetime(1969, 12, 31, 23, 59), dt.datetime(2024, 1, 2, 3, 4, 5, 678000)
    for moment, number, data in ((early, "-1", b"\x01"), (late, "12345678901234567890.12345", b"\x01\x02\x03")):
        row = dict.fromkeys(types) | {
            "dec": Decimal(number), "ts": moment, "us": moment, "ns": moment, "t": moment.time(), "x": data,
        }  # fmt: skip
        put(store, [row])
    Table(store).maintain.analyze(None)
    found = statistics(store)["colStats"]
    assert {k: (v.get("min"), v.get("max")) for k, v in found.items()} == {
        "dec": ("-1.00000", "12345678901234567890.12345"),
        "ts": ("1969-12-31 23:59:00", "2024-01-02 03:04:05.678"),
        "us": ("1969-12-31 23:59:00", "2024-01-02 03:04:05.678"),
        "ns": ("1969-12-31 23:59:00", "2024-01-02 03:04:05.678"),
        "t": ("11045678", "86340000"),
        "x": (None, None),
    }
    assert found["x"] == {"colId": 5, "nullCount": 0}


def test_rows_are_counted_merged_and_without_columns_nothing_else(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", {"k": "INT", "v": "STRING"}, ["k"], bucket="2", write_only="true")
    for _ in range(2):
        put(store, [{"k": i, "v": "x"} for i in range(10)])
    assert Table(store).maintain.analyze() == 3
    found = statistics(store)
    assert (found["mergedRecordCount"], found["colStats"], found["snapshotId"]) == (10, {}, 2)
    assert found["mergedRecordSize"] == sum(p.stat().st_size for p in tmp_path.rglob("*.parquet")) // 2
    [row] = Table(store).system("statistics").to_pylist()
    assert (row["snapshot_id"], row["mergedRecordCount"]) == (2, 10)
    compact_all(store.copy({"write-only": "false"}))
    assert store.latest().statistics is not None  # type: ignore[union-attr]


def test_nulls_and_nothing(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", {"k": "INT", "s": "STRING", "d": "DOUBLE"}, bucket="-1")
    assert Table(store).maintain.analyze(None) is None
    put(store, [{"k": None, "s": None, "d": float("nan")}, {"k": None, "s": None, "d": None}])
    Table(store).maintain.analyze(None)
    assert statistics(store)["colStats"] == {
        "k": {"colId": 0, "distinctCount": 0, "nullCount": 2},
        "s": {"colId": 1, "distinctCount": 0, "nullCount": 2},
        "d": {"colId": 2, "distinctCount": 1, "nullCount": 1},
    }


@pytest.mark.parametrize(("column", "error"), [("nope", ColumnNotFound), ("m", UnsupportedOperation)])
def test_columns_that_cannot_be(tmp_path: Path, column: str, error: type[Exception]) -> None:
    store = make_table(f"{tmp_path}/t", {"k": "INT", "m": "MAP<INT, INT>"}, bucket="-1")
    put(store, [{"k": 1, "m": None}])
    with pytest.raises(error):
        Table(store).maintain.analyze([column])
    assert not list(tmp_path.rglob("stat-*"))


def test_distinct_values_are_exact_beyond_the_buffer(tmp_path: Path) -> None:
    chance = random.Random(7)
    store = make_table(f"{tmp_path}/t", {"k": "INT", "s": "STRING"}, bucket="-1")
    rows = [{"k": chance.randrange(500), "s": chance.choice([None, f"t{chance.randrange(300)}"])} for _ in range(4000)]
    for start in range(0, 4000, 500):
        put(store, rows[start : start + 500])
    small = store.copy({"write-buffer-size": "1 kb", "source.split.target-size": "1 b"})
    Table(small).maintain.analyze(["k", "s"])
    found = statistics(store)["colStats"]
    assert found["k"]["distinctCount"] == len({r["k"] for r in rows})
    assert found["s"]["distinctCount"] == len({r["s"] for r in rows if r["s"] is not None})
    assert found["s"]["nullCount"] == sum(r["s"] is None for r in rows)
