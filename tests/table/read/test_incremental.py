"""What changed between two moments: deltas, changelogs, differences, with and without kinds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from write_kit import compact_all, make_table, put

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, BucketsChanged, PaimonError, TagNotFound, TimeTravelError
from paimon_nb.table.read import plan_scan, read_plan
from paimon_nb.table.tables.system import SYSTEM_TABLES
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write.maintenance import create_tag

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from paimon_nb.table.read.store import TableStore

COLUMNS = {"id": "INT", "v": "STRING"}
Cell = tuple[Any, ...]


def between(store: TableStore, span: str, mode: str = "auto") -> TableStore:
    return store.copy({"incremental-between": span, "incremental-between-scan-mode": mode})


def rows(store: TableStore) -> list[Cell]:
    return sorted((tuple(r.values()) for r in read_plan(plan_scan(store)).to_pylist()), key=repr)


def audit(store: TableStore) -> list[Cell]:
    return sorted((tuple(r.values()) for r in SYSTEM_TABLES["audit_log"].read(store).to_pylist()), key=repr)


def write(store: TableStore, *changes: tuple[str, int, str | None]) -> None:
    put(store, [{"id": i, "v": v} for _, i, v in changes], kinds=[k for k, _, _ in changes])


def table(tmp_path: Path, keys: Sequence[str] = ("id",), **options: str) -> TableStore:
    return make_table(str(tmp_path / "t"), COLUMNS, keys, **{"bucket": "1", "write_only": "true", **options})


@pytest.fixture
def changed(tmp_path: Path) -> TableStore:
    """1: +1 +2 +3.  2: 2 becomes b, 3 is deleted.  3: +4, 1 as it was."""
    store = table(tmp_path)
    write(store, ("+I", 1, "a"), ("+I", 2, "a"), ("+I", 3, "a"))
    write(store, ("+U", 2, "b"), ("-D", 3, "a"))
    write(store, ("+I", 4, "a"), ("+U", 1, "a"))
    return store


def test_delta_tells_each_row_as_written(changed: TableStore) -> None:
    assert audit(between(changed, "1,3")) == [("+I", 4, "a"), ("+U", 1, "a"), ("+U", 2, "b"), ("-D", 3, "a")]
    assert rows(between(changed, "0,1")) == [(1, "a"), (2, "a"), (3, "a")]
    assert audit(between(changed, "2,2")) == []


def test_difference_compares_states(changed: TableStore) -> None:
    """Files of both states are left out on both sides, so a row written again as it was is told: Java tells it too."""
    assert rows(between(changed, "1,3", "diff")) == [(1, "a"), (2, "b"), (4, "a")]
    wanted = [("+I", 4, "a"), ("+U", 1, "a"), ("+U", 2, "b"), ("-D", 3, "a")]
    assert audit(between(changed, "1,3", "diff")) == wanted


def test_difference_of_partial_rows_is_partial(tmp_path: Path) -> None:
    """As in Java: only the newer file is merged, the older one belongs to both states."""
    columns = {"id": "INT", "a": "STRING", "b": "STRING"}
    store = make_table(
        str(tmp_path / "t"), columns, ["id"], bucket="1", write_only="true", merge_engine="partial-update"
    )
    put(store, [{"id": 1, "a": "a1", "b": None}])
    put(store, [{"id": 1, "a": None, "b": "b1"}])
    assert rows(between(store, "1,2", "diff")) == [(1, None, "b1")]


def test_difference_after_a_compaction(changed: TableStore) -> None:
    compact_all(changed.copy({"write-only": "false"}))
    assert audit(between(changed, "1,4", "diff")) == [("+I", 4, "a"), ("+U", 2, "b"), ("-D", 3, "a")]
    assert audit(between(changed, "3,4", "diff")) == []


def test_compactions_add_nothing_to_a_delta(changed: TableStore) -> None:
    compact_all(changed.copy({"write-only": "false"}))
    assert audit(between(changed, "3,4")) == []


def test_tags_are_states_unless_said_otherwise(changed: TableStore) -> None:
    create_tag(changed, "old", 1)
    create_tag(changed, "new", 3)
    assert audit(between(changed, "old,new")) == audit(between(changed, "1,3", "diff"))
    deltas = between(changed, "old,new").copy({"incremental-between-tag-to-snapshot": "true"})
    assert audit(deltas) == audit(between(changed, "1,3", "delta"))


def test_changelog_of_a_lookup_table(tmp_path: Path) -> None:
    store = table(tmp_path, changelog_producer="lookup", write_only="false")
    write(store, ("+I", 1, "a"), ("+I", 2, "a"))
    write(store, ("+U", 1, "b"), ("-D", 2, "a"))
    last = store.snapshots.latest_id()
    wanted = [("+I", 1, "a"), ("+I", 2, "a"), ("+U", 1, "b"), ("-D", 2, "a"), ("-U", 1, "a")]
    assert audit(between(store, f"0,{last}")) == wanted
    assert rows(between(store, f"0,{last}")) == sorted((w[1:] for w in wanted), key=repr)
    assert audit(between(store, f"0,{last}", "delta")) == [
        ("+I", 1, "a"), ("+I", 2, "a"), ("+U", 1, "b"), ("-D", 2, "a"),
    ]  # fmt: skip


def test_binlog_joins_the_two_sides_of_an_update(tmp_path: Path) -> None:
    store = table(tmp_path, changelog_producer="lookup", write_only="false")
    write(store, ("+I", 1, "a"), ("+I", 2, "a"))
    write(store, ("+U", 1, "b"), ("-D", 2, "a"), ("+I", 3, None))
    found = SYSTEM_TABLES["binlog"].read(between(store, f"2,{store.snapshots.latest_id()}")).to_pylist()
    assert found == [
        {"rowkind": "+U", "id": [1, 1], "v": ["a", "b"]},
        {"rowkind": "-D", "id": [2], "v": ["a"]},
        {"rowkind": "+I", "id": [3], "v": [None]},
    ]
    compact_all(store)
    assert SYSTEM_TABLES["binlog"].read(store).to_pylist() == [
        {"rowkind": "+U", "id": [1], "v": ["b"]},
        {"rowkind": "+I", "id": [3], "v": [None]},
    ]


def test_append_table(tmp_path: Path) -> None:
    store = table(tmp_path, keys=(), bucket="-1")
    for i in range(1, 4):
        put(store, [{"id": i, "v": "x"}])
    assert rows(between(store, "1,3")) == [(2, "x"), (3, "x")]
    assert rows(between(store, "1,3", "diff")) == [(2, "x"), (3, "x")]
    assert audit(between(store, "2,3")) == [("+I", 3, "x")]


def test_times(changed: TableStore) -> None:
    times = [changed.snapshots.get(i).time_ms for i in (1, 2, 3)]

    def spanning(start: int, end: int, mode: str = "auto") -> TableStore:
        return changed.copy({"incremental-between-timestamp": f"{start},{end}", "incremental-between-scan-mode": mode})

    assert audit(spanning(times[0] - 1, times[2])) == audit(between(changed, "0,3"))
    assert audit(spanning(times[0], times[2] + 10**6, "diff")) == audit(between(changed, "1,3", "diff"))
    assert audit(spanning(times[2] + 1, times[2] + 10**6)) == []


def test_a_difference_that_begins_before_the_first_commit(changed: TableStore) -> None:
    """The table was empty then, so the difference is the whole state at the end. Java from 2.1."""
    times = [changed.snapshots.get(i).time_ms for i in (1, 3)]
    spanning = {"incremental-between-timestamp": f"{times[0] - 1},{times[1]}", "incremental-between-scan-mode": "diff"}
    assert rows(changed.copy(spanning)) == rows(changed.copy({"scan.snapshot-id": "3"})) != []


def test_a_difference_over_a_rescale_of_postponed_buckets(tmp_path: Path) -> None:
    """Keys moved to other buckets, so files cannot be compared bucket by bucket; `paimon_incremental_query` compares rows."""
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(
        "CREATE TABLE pt (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '-2', 'postpone.batch-write-fixed-bucket' = 'false')"
    )
    wb.run("INSERT INTO pt VALUES (1, 1), (2, 2), (3, 3), (4, 4)")
    for call in ("compact('pt')", "create_tag('pt', 'b')", "rescale('pt', 4)", "create_tag('pt', 'c')"):
        wb.run(f"CALL sys.{call}")
    table = wb.table("pt")
    with pytest.raises(BucketsChanged, match="from 1 to 4") as refused:
        table.copy({"incremental-between": "b,c"}).to_arrow()
    assert "paimon_incremental_query" in refused.value.hint
    assert table.diff(1, table.latest_snapshot().id).num_rows == 4


def test_condition_on_values_keeps_both_sides(changed: TableStore) -> None:
    found = read_plan(plan_scan(between(changed, "1,3"), where="v = 'b' OR id = 4"), kinds=True).to_pylist()
    assert sorted((r["id"], r["v"], r["_VALUE_KIND"]) for r in found) == [(2, "b", 2), (4, "a", 0)]


def test_automatic_tags(changed: TableStore) -> None:
    daily = {"tag.automatic-creation": "process-time", "tag.creation-period": "daily"}
    for name, snapshot in (("2024-01-01", 1), ("2024-01-03", 3), ("other", 2)):
        create_tag(changed, name, snapshot)

    def to(tag: str) -> TableStore:
        return changed.copy({**daily, "incremental-to-auto-tag": tag})

    assert audit(to("2024-01-03")) == audit(between(changed, "1,3", "diff"))
    assert audit(to("2024-01-01")) == []
    assert audit(to("2024-01-02")) == []
    with pytest.raises(BadOptionValue, match="not an automatic tag"):
        audit(to("other"))


@pytest.mark.parametrize(
    ("options", "kind", "words"),
    [
        ({"incremental-between": "1,9"}, TimeTravelError, "snapshots 1 to 3"),
        ({"incremental-between": "9,9"}, TimeTravelError, "snapshots 1 to 3"),
        ({"incremental-between": "3,1"}, BadOptionValue, "before its start"),
        ({"incremental-between": "1"}, BadOptionValue, "start,end"),
        ({"incremental-between": "1,x"}, TagNotFound, "x"),
        ({"incremental-between": "a,b"}, TagNotFound, "no tag 'a'"),
        ({"incremental-between-timestamp": "a,b"}, BadOptionValue, "not a time"),
        ({"scan.mode": "incremental"}, BadOptionValue, "incremental-between"),
    ],
)
def test_no_such_increment(changed: TableStore, options: dict[str, str], kind: type[PaimonError], words: str) -> None:
    with pytest.raises(kind) as caught:
        rows(changed.copy(options))
    assert words in str(caught.value)


def test_an_increment_of_an_empty_table(tmp_path: Path) -> None:
    empty = table(tmp_path)
    for mode in ("auto", "delta", "changelog", "diff"):
        assert rows(between(empty, "1,2", mode)) == audit(between(empty, "1,2", mode)) == []
    assert rows(empty.copy({"incremental-between-timestamp": "0,1"})) == []


def test_values_of_every_kind_are_compared(tmp_path: Path) -> None:
    """NaN equals NaN, -0.0 is not 0.0, nested values count: as Java compares the rows' bytes."""
    columns = {"id": "INT", "d": "DOUBLE", "a": "ARRAY<FLOAT>", "m": "MAP<STRING, INT>"}
    store = make_table(str(tmp_path / "t"), columns, ["id"], bucket="1", write_only="true")
    nan = float("nan")
    first = [
        {"id": i, "d": d, "a": a, "m": [("k", i)]}
        for i, (d, a) in enumerate([(nan, [nan]), (0.0, [1.0]), (1.0, [1.0, None])])
    ]
    second = [
        {"id": i, "d": d, "a": a, "m": [("k", i)]}
        for i, (d, a) in enumerate([(nan, [nan]), (-0.0, [1.0]), (1.0, [1.0])])
    ]
    put(store, first)
    put(store, second)
    compact_all(store.copy({"write-only": "false"}))
    found = read_plan(plan_scan(between(store, "1,3", "diff"))).column("id").to_pylist()
    assert sorted(found) == [1, 2]


def test_rows_that_wait_for_a_bucket_are_no_changes_yet(tmp_path: Path) -> None:
    store = table(tmp_path, bucket="-2", **{"postpone.batch-write-fixed-bucket": "false"})
    write(store, ("+I", 1, "a"))
    compact_all(store)
    write(store, ("+I", 2, "b"))
    assert rows(store) == [(1, "a")]
    assert rows(between(store, "0,3")) == audit(between(store, "0,3", "delta")) == []


def test_rows_merged_further_by_a_compaction(tmp_path: Path) -> None:
    """Both states hold one base file, which is left out, so the newer records differ."""
    options = {"merge_engine": "aggregation", "changelog_producer": "lookup", "bucket": "1"}
    columns = {"id": "INT", "s": "INT"}
    store = make_table(f"{tmp_path}/t", columns, ["id"], **options, **{"fields.s.aggregate-function": "sum"})
    put(store, [{"id": i, "s": 1} for i in range(1, 100)])
    put(store, [{"id": i, "s": 1} for i in range(1, 6)])
    assert rows(between(store, "3,4", "diff")) == [(i, 2) for i in range(1, 6)]


@pytest.mark.parametrize("options", [{}, {"sequence.field": "n"}], ids=["order of writing", "sequence field"])
def test_the_later_state_counts_whatever_its_sequence_numbers(tmp_path: Path, options: dict[str, str]) -> None:
    """An overwrite begins to count again, and a value may be older by its sequence field."""
    store = make_table(f"{tmp_path}/t", {"id": "INT", "v": "STRING", "n": "INT"}, ["id"], bucket="1", **options)
    for values, n in (("ABC", 9), ("CD", 3), ("D", 2)):
        Table(store).overwrite(
            pa.table(
                {
                    "id": pa.array([1] * len(values), pa.int32()),
                    "v": list(values),
                    "n": pa.array([n] * len(values), pa.int32()),
                }
            )
        )
    assert [r[1] for r in rows(between(store, "1,2", "diff"))] == ["D"]
    assert audit(between(store, "1,2", "diff")) == [("+I", 1, "D", 3)]
    assert rows(between(store, "2,2", "diff")) == []


def test_changes_are_read_in_javas_order_of_files(tmp_path: Path) -> None:
    """The order in which Java's queue of runs is left by files of the keys 1 to 3, 1 to 2 and 2."""
    store = table(tmp_path, changelog_producer="input")
    write(store, ("+I", 1, "a"), ("+I", 2, "a"), ("+I", 3, "a"))
    write(store, ("+I", 1, "b"), ("+I", 2, "b"))
    write(store, ("+I", 2, "c"))
    found = read_plan(plan_scan(between(store, "0,3"))).column("v").to_pylist()
    assert found == ["c", "a", "a", "a", "b", "b"]
