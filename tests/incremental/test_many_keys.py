"""The change of an input when many of its keys changed: equal to the difference of both states, whatever the keys and options are."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from sampling import sampled

from paimon_nb.incremental.deltas import change_between, look_up
from paimon_nb.incremental.operators import WEIGHT
from paimon_nb.table.read.predicate.key_rows import ranges_with_values, row_in

if TYPE_CHECKING:
    import paimon_nb
    from paimon_nb.table.tables.table import Table

ROWS = 300
TABLES = {
    "an integer": ("k BIGINT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1'"),
    "several buckets": ("k INT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '5'"),
    "a text": ("k STRING, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '2'"),
    "a padded text": ("k CHAR(6), v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1'"),
    "a decimal": ("k DECIMAL(12, 2), v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1'"),
    "a date": ("k DATE, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '2'"),
    "a time": ("k TIMESTAMP(6), v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1'"),
    "bytes": ("k BYTES, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1'"),
    "two columns": ("k INT, j STRING, v INT, PRIMARY KEY (j, k) NOT ENFORCED", "'bucket' = '3'"),
    "partitions": ("k INT, j STRING, v INT, PRIMARY KEY (j, k) NOT ENFORCED) PARTITIONED BY (j", "'bucket' = '2'"),
    "keys that change their partition": ("k INT, j STRING, v INT, PRIMARY KEY (k) NOT ENFORCED) PARTITIONED BY (j", "'bucket' = '-1'"),
    "dynamic buckets": ("k INT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '-1', 'dynamic-bucket.target-row-num' = '60'"),
    "a sequence field": ("k INT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1', 'sequence.field' = 'v'"),
    "ignored deletes": ("k INT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1', 'ignore-delete' = 'true'"),
    "sums": ("k INT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1', 'merge-engine' = 'aggregation', 'fields.v.aggregate-function' = 'sum'"),
    "partial updates": ("k INT, v INT, PRIMARY KEY (k) NOT ENFORCED", "'bucket' = '1', 'merge-engine' = 'partial-update', 'ignore-delete' = 'true'"),
}  # fmt: skip


def _key(t: pa.DataType, number: int) -> Any:
    if pa.types.is_integer(t):
        return number
    if pa.types.is_decimal(t):
        return Decimal(number) / 4
    if pa.types.is_date(t):
        return dt.date(2020, 1, 1) + dt.timedelta(days=number)
    if pa.types.is_timestamp(t):
        return dt.datetime(2020, 1, 1) + dt.timedelta(microseconds=number)
    return f"k{number}".encode() if pa.types.is_binary(t) else f"k{number:05}"[: 6 if number % 3 else 4 + number % 2]


def _rows(table: Table, numbers: np.ndarray, random: np.random.Generator) -> pa.Table:
    types = {f.name: f.type for f in table.to_arrow().schema}
    columns: dict[str, Any] = {"k": [_key(types["k"], int(n)) for n in numbers]}
    if "j" in types:
        columns["j"] = [f"p{random.integers(0, 3)}" for _ in numbers]
    columns["v"] = random.integers(0, 1000, len(numbers)).astype(np.int32)
    return pa.table({n: pa.array(v, types[n]) for n, v in columns.items()})


def _counted(rows: pa.Table, sign: int = 1) -> Counter[str]:
    found: Counter[str] = Counter()
    for row in rows.to_pylist():
        found[repr(sorted((n, v) for n, v in row.items() if n != WEIGHT))] += sign * row.get(WEIGHT, 1)
    return found


@pytest.mark.parametrize("kind", sampled(TABLES, 4))
def test_many_changed_keys(wb: paimon_nb.Workbench, kind: str) -> None:
    columns, options = TABLES[kind]
    wb.run(f"CREATE TABLE t ({columns}) WITH ({options})")
    table, random = wb.table("t"), np.random.default_rng(5)
    table.append(_rows(table, np.arange(ROWS), random))
    table.append(_rows(table, random.permutation(ROWS)[:50], random))
    before = table.latest_snapshot()
    table.append(_rows(table, random.permutation(2 * ROWS)[:120], random))
    if "merge-engine" not in options:
        table.delete(where="v > 700")
    table.compact()
    table.append(_rows(table, random.permutation(ROWS)[:40], random))
    after = table.latest_snapshot()
    names = table.schema.names
    expected = _counted(table.to_arrow(snapshot=after.id))
    expected.subtract(_counted(table.to_arrow(snapshot=before.id)))
    found = change_between(table, before, after, names)
    assert {k: n for k, n in _counted(found).items() if n} == {k: n for k, n in expected.items() if n}
    assert found.num_rows < 2 * ROWS


@pytest.mark.parametrize(
    "kind", ["a padded text", "a time", "two columns", "partitions", "keys that change their partition"]
)
def test_many_keys_are_looked_up(wb: paimon_nb.Workbench, kind: str) -> None:
    columns, options = TABLES[kind]
    wb.run(f"CREATE TABLE t ({columns}) WITH ({options})")
    table, random = wb.table("t"), np.random.default_rng(6)
    for _ in range(3):
        table.append(_rows(table, random.permutation(ROWS)[:150], random))
    everything = table.to_arrow()
    keys = list(table.primary_keys)
    some = everything.take(random.permutation(everything.num_rows)[:70]).select(keys)
    others = _rows(table, np.arange(ROWS, ROWS + 30), random).select(keys)
    found = look_up(
        table, table.latest_snapshot(), pa.concat_tables([some, others.cast(some.schema)]), everything.column_names
    )
    wanted = {repr(r) for r in some.to_pylist()}
    expected = [r for r in everything.to_pylist() if repr({k: r[k] for k in keys}) in wanted]
    assert _counted(found) == _counted(pa.Table.from_pylist(expected, everything.schema))


def test_two_writers_at_a_time(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1')")
    table, random = wb.table("t"), np.random.default_rng(7)
    table.append(_rows(table, np.arange(ROWS), random))
    with table.write() as slow:  # its sequence numbers begin where those of the other writer do
        slow.write(_rows(table, np.arange(0, 100), random))
        messages = slow.prepare_commit()
        table.append(_rows(table, np.arange(50, 250), random))
        table.append(_rows(table, np.arange(60, 80), random))
        before = table.latest_snapshot()
        table.commit("slow").commit(messages)
    after = table.latest_snapshot()
    expected = _counted(table.to_arrow(snapshot=after.id))
    expected.subtract(_counted(table.to_arrow(snapshot=before.id)))
    found = _counted(change_between(table, before, after, ["k", "v"]))
    assert {k: n for k, n in found.items() if n} == {k: n for k, n in expected.items() if n}


def test_ranges_without_a_key_are_skipped() -> None:
    keys = row_in(["k"], pa.table({"k": ["b", "d", "a"]}))
    lows, highs = pa.array(["c", "a", "b", None, "e"]), pa.array(["c", "a", "c", "z", "f"])
    assert ranges_with_values(keys.rows["k"], lows, highs).tolist() == [False, True, True, True, False]
    numbers = row_in(["k"], pa.table({"k": [9, 2, 5]})).rows["k"]
    assert ranges_with_values(numbers, pa.array([3, 6, None, 9]), pa.array([4, 9, 1, 9])).tolist() == [
        False,
        True,
        True,
        True,
    ]
