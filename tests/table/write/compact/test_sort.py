"""Sort compaction and clustering: the order is Java's, the rows are the same, the memory is bounded."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pytest
from write_kit import history, make_table, put, rows_of

from paimon_nb.base.errors import (
    BadOptionValue,
    ColumnNotFound,
    CommitConflict,
    NullNotAllowed,
    UnknownName,
    UnsupportedOperation,
)
from paimon_nb.format.data import read_data_file
from paimon_nb.table.read import plan_scan, read_split
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.cluster import ExternalSort, Order
from paimon_nb.table.write.cluster.curve import STRATEGIES
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import plan_sort, run_sort, sort_overwrite
from paimon_nb.table.write.compact.rescale import rescale

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"a": "INT", "b": "INT", "s": "STRING", "d": "DOUBLE"}
PLAIN = {"bucket": "-1"}


def row(a: int, b: int | None) -> dict[str, Any]:
    """The rows that real Paimon was given: s and d follow from a and b."""
    return {"a": a, "b": b, "s": None if b is None else f"s{a * 7 + b}", "d": a - 2.5}


JAVA = {
    # Answers of Flink 1.20 with Paimon 1.3.1, `CALL sys.compact(order_strategy => ..., order_by => ...)`, read by SELECT.
    ("zorder", "a,b"): [
        (-1, None), (-1, -10), (-1, 0), (-1, 2), (-1, 3), (0, None), (2, None), (300, None), (0, -10), (2, -10),
        (300, -10), (0, 0), (0, 2), (0, 3), (2, 0), (2, 2), (2, 3), (300, 0), (300, 2), (300, 3),
    ],
    ("hilbert", "a,b"): [
        (0, 0), (2, 0), (2, 2), (2, 3), (0, 2), (0, 3), (300, 0), (300, 2), (300, 3), (2, -10), (0, -10), (0, None),
        (2, None), (300, None), (300, -10), (-1, None), (-1, -10), (-1, 3), (-1, 2), (-1, 0),
    ],
    ("hilbert", "s,d,a"): [
        (2, -10), (2, 3), (2, 2), (2, 0), (-1, 3), (-1, 2), (-1, 0), (-1, -10), (300, 0), (300, 2), (300, 3),
        (300, -10), (0, 0), (0, 2), (0, 3), (0, -10), (0, None), (300, None), (-1, None), (2, None),
    ],
    ("zorder", "s,d,a"): [
        (-1, None), (-1, -10), (-1, 3), (-1, 2), (-1, 0), (0, None), (2, None), (0, -10), (0, 0), (0, 2), (0, 3),
        (2, 0), (2, 2), (2, 3), (2, -10), (300, None), (300, -10), (300, 0), (300, 2), (300, 3),
    ],
}  # fmt: skip


def in_files(store: TableStore) -> list[dict[str, Any]]:
    """All rows, file by file in the order they lie there."""
    out = []
    for e in sorted(live_entries(store, store.latest()), key=lambda e: e.partition):
        path = store.data_path(e.partition, e.bucket, e.file)
        out += read_data_file(store.fs, path, store.schema.fields, None).to_pylist()
    return out


@pytest.mark.parametrize(("how", "expected"), JAVA.items(), ids=str)
def test_the_order_of_real_paimon(tmp_path: Path, how: tuple[str, str], expected: list[tuple[int, int | None]]) -> None:
    store = make_table(f"{tmp_path}/t", COLUMNS, **PLAIN)
    shuffled = random.Random(1).sample(expected, len(expected))
    put(store, [row(*p) for p in shuffled[:11]])
    put(store, [row(*p) for p in shuffled[11:]])
    assert Table(store).maintain.sort_compact(how[0], how[1].split(",")) == [3]
    assert [(r["a"], r["b"]) for r in in_files(store)] == expected
    assert history(store) == ["APPEND", "APPEND", "OVERWRITE"]


@pytest.mark.parametrize("strategy", ["zorder", "hilbert"])
def test_a_curve_lets_a_query_skip_small_files(tmp_path: Path, strategy: str) -> None:
    """Every file has all values of `a` before; then a file of a thousand rows has a part of them."""
    store = make_table(f"{tmp_path}/t", COLUMNS, **PLAIN, **{"target-file-size": "24 kb"})
    table, side = Table(store), 120
    a, b = np.tile(np.arange(side), side), np.repeat(np.arange(side), side)
    table.append(pa.table({"a": a, "b": b, "s": a.astype(str), "d": a / 2}))

    def files(where: str | None = None) -> int:
        return sum(len(s.files) for s in table.scan(where).plan.splits)

    assert files("a BETWEEN 40 AND 80") == files() > 1
    table.maintain.sort_compact(strategy, ["b", "a"])
    table = Table(store)
    assert 0 < files("a BETWEEN 40 AND 80") < files()


def test_plain_order_has_null_first_and_nan_last(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", {"d": "DOUBLE", "k": "INT"}, **PLAIN)
    values = [1.0, None, float("nan"), -0.0, 0.0, float("-inf"), -5.5, float("inf")]
    put(store, [{"d": v, "k": i} for i, v in enumerate(values)])
    Table(store).maintain.sort_compact("order", ["d"])
    assert [r["k"] for r in in_files(store)] == [1, 5, 6, 3, 4, 0, 7, 2]


@pytest.mark.parametrize("strategy", sorted(STRATEGIES))
def test_every_type_has_a_key_for_every_row(strategy: str, tmp_path: Path) -> None:
    import datetime as dt
    from decimal import Decimal

    types = {
        "ti": "TINYINT", "si": "SMALLINT", "i": "INT", "l": "BIGINT", "f": "FLOAT", "d": "DOUBLE", "b": "BOOLEAN",
        "c": "CHAR(3)", "s": "STRING", "x": "BYTES", "dec": "DECIMAL(20, 3)", "day": "DATE", "t": "TIME(3)",
        "ts": "TIMESTAMP(6)", "ns": "TIMESTAMP(9)", "z": "TIMESTAMP_LTZ(3)",
    }  # fmt: skip
    moment = dt.datetime(2024, 2, 3, 4, 5, 6)
    full = {
        "ti": -1, "si": 2, "i": 3, "l": 4, "f": -1.5, "d": 2.5, "b": True, "c": "abc", "s": "a much longer text",
        "x": b"\xff\x00", "dec": Decimal("-12.345"), "day": moment.date(), "t": moment.time(), "ts": moment, "ns": moment,
        "z": moment.replace(tzinfo=dt.UTC),
    }  # fmt: skip
    store = make_table(f"{tmp_path}/t", types, **PLAIN)
    put(store, [full, dict.fromkeys(types), full])
    before = sorted(rows_of(store), key=str)
    Table(store).maintain.sort_compact(strategy, list(types))
    assert sorted(rows_of(store), key=str) == before
    assert len(before) == 3


def test_partitions_stay_apart_and_others_untouched(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", {"p": "INT", **COLUMNS}, [], ["p"], **PLAIN)
    put(store, [{"p": p, **row(a, 0)} for p in (1, 2) for a in (3, 1, 2)])
    before = {e.partition: e.file.file_name for e in live_entries(store, store.latest())}
    table = Table(store)
    assert table.maintain.sort_compact("order", ["a"], lambda p: store.partition_values(p) == (2,)) == [2]
    after = {store.partition_values(e.partition): e.file.file_name for e in live_entries(store, store.latest())}
    kept = {store.partition_values(p): name for p, name in before.items()}
    assert (after[(1,)] == kept[(1,)], after[(2,)] == kept[(2,)]) == (True, False)
    assert [(r["p"], r["a"]) for r in in_files(store)] == [(1, 3), (1, 1), (1, 2), (2, 1), (2, 2), (2, 3)]
    assert table.maintain.sort_compact("order", ["a"], lambda _p: False) == []


def test_rows_that_came_meanwhile_are_a_conflict(tmp_path: Path) -> None:
    store = make_table(f"{tmp_path}/t", COLUMNS, **PLAIN)
    put(store, [row(2, 1), row(1, 1)])
    tasks = plan_sort(store)
    messages = run_sort(store, tasks[0], Order.of(store, "order", ["a"]))
    put(store, [row(9, 9)])
    with pytest.raises(CommitConflict):
        TableCommit(store).commit(messages, overwrite=sort_overwrite(store, tasks))
    assert sorted(r["a"] for r in rows_of(store)) == [1, 2, 9]
    assert len(list(tmp_path.rglob("*.parquet"))) == 2


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"deletion-vectors.enabled": "true"},
        {"merge-engine": "first-row"},
        {"write-only": "true", "file.format": "orc"},
    ],
    ids=str,
)
def test_keys_with_buckets_as_they_come_get_them_in_the_new_order(tmp_path: Path, options: dict[str, str]) -> None:
    """What each bucket holds is a range of the wanted column, as Java does it; the older version of a key is gone."""
    store = make_table(
        f"{tmp_path}/t", COLUMNS, ["a", "d"], ["d"], bucket="-1", **{"dynamic-bucket.target-row-num": "4"}, **options
    )
    for b in (0, 50):
        put(store, [{"a": a, "b": (a * 37 + b) % 100, "s": f"{b}", "d": float(a % 2)} for a in range(20)])
    before = rows_of(store)
    assert len(before) == 20
    assert Table(store).maintain.sort_compact("order", ["b"])[0] == store.snapshots.latest_id()
    assert sorted(rows_of(store), key=str) == sorted(before, key=str)
    ranges: dict[bytes, list[list[int]]] = {}
    plan = plan_scan(store.refreshed())
    for split in sorted(plan.splits, key=lambda s: s.bucket):
        ranges.setdefault(split.partition, []).append(sorted(read_split(plan.store, split)["b"].to_pylist()))
    assert [[len(r) for r in found] for found in ranges.values()] == [[4, 4, 2], [4, 4, 2]]
    for found in ranges.values():
        assert [b for r in found for b in r] == sorted(b for r in found for b in r)
    put(store, [{"a": 3, "b": 1000, "s": "new", "d": 1.0}, {"a": 99, "b": 1001, "s": "new", "d": 1.0}])
    assert len(rows_of(store)) == 21


@pytest.mark.parametrize("options", [{"deletion-vectors.enabled": "true"}, {"merge-engine": "first-row"}], ids=str)
def test_rows_that_wait_for_a_compaction_are_not_thrown_away(tmp_path: Path, options: dict[str, str]) -> None:
    for bucket in ("-1", "1"):
        store = make_table(f"{tmp_path}/t{bucket}", COLUMNS, ["a"], bucket=bucket, **{"write-only": "true"}, **options)
        put(store, [row(1, 2)])
        if bucket == "-1" or "merge-engine" in options:
            with pytest.raises(UnsupportedOperation, match="are not compacted yet"):
                Table(store).maintain.sort_compact("order", ["b"]) if bucket == "-1" else rescale(store.refreshed(), 2)
        Table(store.copy({"write-only": "false"})).compact()
        if bucket == "-1":
            Table(store).maintain.sort_compact("order", ["b"])
        else:
            wider, messages, scope = rescale(store.refreshed(), 2)
            TableCommit(wider).commit(messages, overwrite=scope)
        assert rows_of(store) == [row(1, 2)]


@pytest.mark.parametrize(
    ("keys", "partitions", "options"),
    [
        (["a"], [], {"bucket": "1"}),
        (["a"], ["b"], {"bucket": "-1"}),
        ([], [], {"bucket": "2", "bucket-key": "a"}),
        (["a"], [], {"bucket": "-2"}),
    ],
)
def test_only_tables_whose_rows_may_lie_anywhere(
    tmp_path: Path, keys: list[str], partitions: list[str], options: dict[str, str]
) -> None:
    store = make_table(f"{tmp_path}/t", COLUMNS, keys, partitions, **options)
    with pytest.raises(UnsupportedOperation, match="cannot be sorted"):
        Table(store).maintain.sort_compact("order", ["b"])


@pytest.mark.parametrize(
    ("strategy", "columns", "error"),
    [
        ("zorderr", ["a"], UnknownName),
        ("zorder", ["nope"], ColumnNotFound),
        ("zorder", [], BadOptionValue),
        ("hilbert", ["a"], UnsupportedOperation),
        ("order", ["m"], UnsupportedOperation),
    ],
)
def test_orders_that_cannot_be(tmp_path: Path, strategy: str, columns: list[str], error: type[Exception]) -> None:
    store = make_table(f"{tmp_path}/t", {**COLUMNS, "m": "MAP<STRING, INT>"}, **PLAIN)
    with pytest.raises(error):
        Table(store).maintain.sort_compact(strategy, columns)
    assert Table(make_table(f"{tmp_path}/e", COLUMNS, **PLAIN)).maintain.sort_compact("order", ["a"]) == []


class TestClusteredWrites:
    def write(self, tmp_path: Path, **options: str) -> list[tuple[int, int | None]]:
        store = make_table(f"{tmp_path}/t", COLUMNS, bucket="-1", **options)
        put(store, [row(3, 1), row(1, 2), row(2, 1), row(9, 0), row(9, -1)])
        return [(r["a"], r["b"]) for r in in_files(store)]

    def test_by_two_columns(self, tmp_path: Path) -> None:
        """As Flink with Paimon 1.3.1 wrote the same rows."""
        got = self.write(tmp_path, **{"clustering.columns": "b,a", "clustering.strategy": "order"})
        assert got == [(9, -1), (9, 0), (2, 1), (3, 1), (1, 2)]

    def test_one_column_alone_means_plain_order(self, tmp_path: Path) -> None:
        assert self.write(tmp_path, **{"clustering.columns": "a"}) == [(1, 2), (2, 1), (3, 1), (9, 0), (9, -1)]

    def test_incremental_clustering_leaves_writes_alone(self, tmp_path: Path) -> None:
        options = {"clustering.columns": "a", "clustering.incremental": "true"}
        assert self.write(tmp_path, **options)[0] == (3, 1)

    @pytest.mark.parametrize(("columns", "strategy"), [(1, "order"), (2, "zorder"), (4, "zorder"), (5, "hilbert")])
    def test_auto(self, tmp_path: Path, columns: int, strategy: str) -> None:
        names = {f"c{i}": "INT" for i in range(5)}
        chosen = tuple(names)[:columns]
        store = make_table(f"{tmp_path}/t", names, bucket="-1", **{"clustering.columns": ",".join(chosen)})
        assert Order.of_options(store) == Order(strategy, chosen)

    def test_an_abort_removes_what_was_spilled(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        spill = tmp_path / "spill"
        spill.mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(spill))
        store = make_table(
            f"{tmp_path}/t",
            {"a": "INT NOT NULL"},
            bucket="-1",
            **{"clustering.columns": "a", "write-buffer-size": "1 b"},
        )
        from paimon_nb.table.write import TableWrite

        with TableWrite(store) as write:
            write.write(pa.table({"a": pa.array([2, 1], pa.int32())}))
            assert list(spill.rglob("run-*"))
            with pytest.raises(NullNotAllowed):
                write.write(pa.table({"a": pa.array([None], pa.int32())}))
            write.abort()
        assert list(spill.iterdir()) == []
        assert not list(tmp_path.rglob("*.parquet"))


class TestExternalSort:
    @pytest.mark.parametrize("limit", [1, 10_000, 1 << 30])
    def test_the_same_at_every_limit(self, limit: int) -> None:
        chance = random.Random(limit)
        rows = [
            {"x": chance.choice([None, *range(20)]), "y": chance.choice([None, "a", "b", "é"]), "n": n}
            for n in range(3000)
        ]
        schema = pa.schema([("x", pa.int64()), ("y", pa.string()), ("n", pa.int64())])
        with ExternalSort(["x", "y"], limit) as sort:
            for start in range(0, len(rows), 100):
                sort.add(pa.Table.from_pylist(rows[start : start + 100], schema=schema))
            got = [r for t in sort.sorted() for r in t.to_pylist()]
            assert (sort.spilled > 1) is (limit < 1 << 30)
        key = [((r["x"] is not None, r["x"]), (r["y"] is not None, r["y"])) for r in got]
        assert key == sorted(key)
        assert sorted(r["n"] for r in got) == list(range(3000))

    def test_memory_is_bounded_by_the_limit_not_by_the_rows(self) -> None:
        limit, total = 4 << 20, 0
        pool = pa.default_memory_pool()
        start, most = pool.bytes_allocated(), 0
        chance = np.random.default_rng(1)
        with ExternalSort(["x"], limit) as sort:
            for _ in range(64):
                part = pa.table({"x": chance.integers(0, 1 << 60, 65536), "y": chance.random(65536)})
                total += part.nbytes
                sort.add(part)
                del part
                most = max(most, pool.bytes_allocated() - start)
            last, count = -1, 0
            for table in sort.sorted():
                x = np.asarray(table.column("x"))
                assert last <= x[0]
                assert (np.diff(x) >= 0).all()
                last, count = int(x[-1]), count + len(x)
                most = max(most, pool.bytes_allocated() - start)
        assert count == 64 * 65536
        assert total >= 16 * limit
        assert most < 4 * limit, (most, limit)


def test_rescale_reads_level_0_under_deletion_vectors(tmp_path: Path) -> None:
    """Reads leave those rows to a compaction; a rescale must not throw them away."""
    store = make_table(f"{tmp_path}/t", COLUMNS, ["a"], bucket="1", **{"deletion-vectors.enabled": "true"})
    put(store, [row(1, 1), row(2, 2), row(3, 3)])
    put(store, [row(2, 20)])
    waiting = store.copy({"write-only": "true"})
    put(waiting, [row(4, 4), row(3, 30)])
    assert {r["a"]: r["b"] for r in rows_of(store)} == {1: 1, 2: 20, 3: 3}
    wider, messages, scope = rescale(store.refreshed(), 2)
    TableCommit(wider).commit(messages, overwrite=scope)
    assert {r["a"]: r["b"] for r in rows_of(store.refreshed())} == {1: 1, 2: 20, 3: 30, 4: 4}
