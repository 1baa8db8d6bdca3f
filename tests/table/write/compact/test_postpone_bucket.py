"""Postponed buckets: rows wait unseen until compaction gives them a bucket."""

import re

import pytest
from write_kit import by_key, compact_all, history, levels, make_table, put, rows_of

from paimon_nb.base import clock
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write.maintenance import find_orphans

KV = {"k": "INT", "v": "STRING"}
WAITS = {"postpone.batch-write-fixed-bucket": "false"}


def rows(numbers, text):
    return [{"k": i, "v": text} for i in numbers]


def test_rows_get_their_buckets(tmp_path):
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="-2", **WAITS, **{"postpone.default-bucket-num": "2"})
    put(store, rows(range(10), "a"))
    put(store, rows([3, 4], "b"))
    put(store, rows([5], "c"), ["-D"])
    assert {bucket for bucket, _, _ in levels(store)} == {-2}
    compact_all(store)
    assert {bucket for bucket, _, _ in levels(store)} == {0, 1}
    assert history(store) == ["APPEND"] * 3 + ["COMPACT"]
    expected = rows([0, 1, 2, 6, 7, 8, 9], "a") + rows([3, 4], "b")
    assert by_key(rows_of(store), "k") == by_key(expected, "k")


def test_later_rows_join_the_buckets_that_are_there(tmp_path):
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="-2", **WAITS, **{"postpone.default-bucket-num": "2"})
    put(store, rows(range(10), "a"))
    compact_all(store)
    later = store.copy({"postpone.default-bucket-num": "7"})
    put(later, rows([1, 2, 20], "b"))
    compact_all(later)
    expected = rows([0, *range(3, 10)], "a") + rows([1, 2, 20], "b")
    assert by_key(rows_of(later), "k") == by_key(expected, "k")
    assert {bucket for bucket, _, _ in levels(store)} == {0, 1}
    assert list((tmp_path / "t" / "bucket-postpone").glob("*"))  # still in the history


def test_changes_are_told_once_by_the_snapshot_that_gives_the_rows_their_buckets(tmp_path):
    options = {"changelog-producer": "input", "postpone.default-bucket-num": "2"}
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="-2", **WAITS, **options)
    put(store, rows([1, 2], "a"))
    put(store, rows([2], "b"))
    compact_all(store)
    told = [(s.commit_kind, s.changelog_record_count) for s in store.snapshots.all()]
    assert told == [("APPEND", 0), ("APPEND", 0), ("COMPACT", 3)]


def test_buckets_with_several_runs_and_waiting_rows(tmp_path):
    """The rows that move and the buckets they move to are one task, so that the commit does not conflict with itself."""
    options = {"postpone.default-bucket-num": "1", "file-index.bloom-filter.columns": "v"}
    options |= {"file-index.in-manifest-threshold": "1 b"}
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="-2", **WAITS, **options)
    for turn in range(4):
        put(store, rows([turn, 50], f"{turn}"))
        compact_all(store, full=False)
    assert sum(bucket == 0 for bucket, _, _ in levels(store)) > 1
    put(store, rows([50, 60], "last"))
    assert compact_all(store) != []
    compact_all(store)
    assert levels(store) == [(0, 5, 6)]
    expected = [{"k": i, "v": f"{i}"} for i in range(4)] + rows([50, 60], "last")
    assert by_key(rows_of(store), "k") == by_key(expected, "k")
    assert find_orphans(store, clock.now_ms() + 1) == []  # nor the indexes of files that never were seen


@pytest.mark.parametrize(("column", "extension"), [("TIMESTAMP(3)", "avro"), ("TIMESTAMP(9)", "orc")])
def test_waiting_files_are_as_javas_compaction_wants_them(tmp_path, column, extension):
    """It takes the writer's number out of the name, and refuses a name without."""
    columns = {"k": "INT", "m": "MAP<INT, STRING>", "at": column}
    store = make_table(
        f"{tmp_path}/t", columns, ["k"], bucket="-2", **WAITS, **{"file.format": "orc", "data-file.prefix": "d_"}
    )
    put(store, [{"k": 1, "m": [(2, "x")], "at": None}])
    [entry] = live_entries(store, store.latest())
    assert re.fullmatch(rf"d_-u-[0-9a-f-]{{36}}-s-\d+-w-[0-9a-f-]{{36}}-0\.{extension}", entry.file.file_name)
    assert bool(entry.file.value_stats.min_values.strip(b"\0")) == (extension == "orc")
    compact_all(store)
    assert [f.suffix for f in (tmp_path / "t/bucket-0").iterdir()] == [".orc"]
    assert rows_of(store) == [{"k": 1, "m": [(2, "x")], "at": None}]
