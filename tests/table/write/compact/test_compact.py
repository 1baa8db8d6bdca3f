"""Compaction changes files and levels, never rows; changelogs tell what a compaction revealed."""

import random
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from sampling import sampled
from write_kit import arrow, by_key, compact_all, history, levels, make_table, put, rows_of

from paimon_nb.base import clock
from paimon_nb.base.errors import CommitConflict
from paimon_nb.format.data import VALUE_KIND
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.read.row_positions import one_split_per_file
from paimon_nb.table.tables.table import Table
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.bucket_compact.sorted_run_reader import file_rows
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.compact import compact
from paimon_nb.table.write.maintenance import ExpireLimits, expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.maintenance.reachable import changelog_entries
from paimon_nb.table.write.publish.overwrite import Overwrite
from paimon_nb.table.write.row_rewrite import delete_marked_rows

KV = {"k": "INT", "v": "STRING"}
TRIGGER = {"num-sorted-run.compaction-trigger": "3"}
KINDS = {0: "+I", 1: "-U", 2: "+U", 3: "-D"}


def rows(*pairs):
    return [{"k": k, "v": v} for k, v in pairs]


def table(tmp_path, name="t", **options):
    return make_table(
        f"{tmp_path}/{name}", KV, ["k"], bucket="1", **{k.replace("_", "-"): v for k, v in options.items()}
    )


def changes(store, since=0):
    """(kind, k, v) of all changelog files of the snapshots after `since`."""
    store.snapshots.invalidate_cache()
    out = []
    for snapshot_id in store.snapshots.ids():
        if snapshot_id <= since:
            continue
        for entry in changelog_entries(store, store.snapshots.get(snapshot_id)):
            for part in file_rows(store, entry.partition, entry.bucket, entry.file, None):
                kinds = part.column(VALUE_KIND).to_pylist()
                out += [(KINDS[kind], r["k"], r["v"]) for kind, r in zip(kinds, part.to_pylist(), strict=True)]
    return out


class TestFull:
    def test_one_file_on_the_top_level(self, tmp_path):
        store = table(tmp_path, write_only="true")
        put(store, rows((1, "a"), (2, "b"), (3, "c")))
        put(store, rows((2, "bb"), (3, "c")), ["+U", "-D"])
        assert compact_all(store) == [3]
        assert (levels(store), history(store)) == ([(0, 5, 2)], ["APPEND", "APPEND", "COMPACT"])
        assert by_key(rows_of(store), "k") == by_key(rows((1, "a"), (2, "bb")), "k")
        assert compact_all(store) == []

    def test_a_single_file_is_upgraded(self, tmp_path):
        store = table(tmp_path, write_only="true")
        put(store, rows((1, "a")))
        before = [e.file.file_name for e in live_entries(store, store.latest())]
        compact_all(store)
        assert [(e.file.file_name, e.file.level) for e in live_entries(store, store.latest())] == [(before[0], 5)]

    @pytest.mark.parametrize(
        ("options", "format"),
        [
            ({}, "parquet"),
            ({"changelog-producer": "full-compaction"}, "parquet"),
            ({"changelog-producer": "lookup"}, "orc"),
            ({"deletion-vectors.enabled": "true"}, "orc"),
        ],
    )
    def test_an_upgraded_file_keeps_its_format_unless_its_rows_are_looked_up(self, tmp_path, options, format):
        """Flink's answers."""
        store = table(
            tmp_path, write_only="true", **{"file.format": "parquet", "file.format.per.level": "5:orc"}, **options
        )
        put(store, rows((1, "a")))
        compact_all(store)
        (entry,) = live_entries(store, store.latest())
        assert (entry.file.level, entry.file.file_name.rpartition(".")[2]) == (5, format)

    def test_a_file_with_deletes_is_rewritten(self, tmp_path):
        store = table(tmp_path, write_only="true")
        put(store, rows((1, "a"), (2, "b")), ["+I", "-D"])
        compact_all(store)
        assert levels(store) == [(0, 5, 1)]

    def test_everything_deleted(self, tmp_path):
        store = table(tmp_path, write_only="true")
        put(store, rows((1, "a")))
        put(store, rows((1, "a")), ["-D"])
        compact_all(store)
        assert (levels(store), rows_of(store), store.latest().total_record_count) == ([], [], 0)

    def test_only_wanted_partitions(self, tmp_path):
        from paimon_nb.table.write.commit import TableCommit
        from paimon_nb.table.write.compact import compact

        store = make_table(
            f"{tmp_path}/t", {**KV, "dt": "STRING"}, ["k", "dt"], ["dt"], bucket="1", **{"write-only": "true"}
        )
        for turn in range(2):
            put(store, [{"k": 1, "v": f"{turn}", "dt": d} for d in ("x", "y")])
        TableCommit(store).commit(compact(store, lambda p: store.partition_values(p) == ("x",)))
        assert levels(store) == [(0, 0, 1), (0, 0, 1), (0, 5, 1)]


class TestMinor:
    def test_a_delete_stays_above_the_row_that_it_deletes(self, tmp_path):
        store = table(tmp_path, write_only="true", **TRIGGER)
        put(store, rows(*((k, f"row {k} that is long ago") for k in range(5000))))
        compact_all(store)
        put(store, rows((7, "x"), (8, "x")), ["-D", "+U"])
        for k in (9, 10):
            put(store, rows((k, "y")))
        compact_all(store, full=False)
        assert levels(store) == [(0, 2, 4), (0, 3, 5000)]
        left = by_key(rows_of(store), "k")
        assert (len(left), (7,) in left, left[8,]["v"], left[10,]["v"]) == (4999, False, "x", "y")


class TestAfterWrite:
    def test_every_few_runs(self, tmp_path):
        store = table(tmp_path, **TRIGGER)
        for i in range(7):
            put(store, rows((i, "x")))
        assert "COMPACT" in history(store)
        assert len([1 for _, level, _ in levels(store) if level == 0]) < 3
        assert sorted(r["k"] for r in rows_of(store)) == list(range(7))

    @pytest.mark.parametrize(
        "option", [{"changelog-producer": "lookup"}, {"deletion-vectors.enabled": "true"}], ids=str
    )
    def test_gentle_lookup_leaves_level_0_until_there_are_enough_runs(self, tmp_path, option):
        store = table(tmp_path, **option, **{"lookup-compact": "gentle", "num-sorted-run.compaction-trigger": "3"})
        for i in range(2):
            put(store, rows((0, str(i)), (i + 1, "x")))
        assert (history(store), [level for _, level, _ in levels(store)]) == (["APPEND"] * 2, [0, 0])
        put(store, rows((0, "last"), (9, "x")))
        assert history(store)[-1] == "COMPACT"
        assert by_key(rows_of(store), "k")[(0,)]["v"] == "last"

    def test_not_when_write_only(self, tmp_path):
        store = table(tmp_path, write_only="true", **TRIGGER)
        for i in range(7):
            put(store, rows((i, "x")))
        assert history(store) == ["APPEND"] * 7


class TestChangelogs:
    STEPS = (
        (rows((1, "a"), (2, "b")), None, [("+I", 1, "a"), ("+I", 2, "b")]),
        (rows((1, "aa"), (3, "c")), None, [("-U", 1, "a"), ("+U", 1, "aa"), ("+I", 3, "c")]),
        (rows((2, "b"), (9, "z")), ["-D", "-D"], [("-D", 2, "b")]),
        (rows((2, "again"), (3, "cc")), None, [("+I", 2, "again"), ("-U", 3, "c"), ("+U", 3, "cc")]),
        (rows((1, "last")), None, [("-U", 1, "aa"), ("+U", 1, "last")]),
    )

    @pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
    @pytest.mark.parametrize("vectors", [False, True])
    def test_every_commit_tells_its_changes(self, tmp_path, producer, vectors):
        if vectors and producer == "full-compaction":
            pytest.skip("deletion vectors take none, input or lookup")
        store = table(tmp_path, changelog_producer=producer, **{"deletion-vectors.enabled": str(vectors).lower()})
        for data, kinds, expected in self.STEPS:
            before = store.latest().id if store.latest() else 0
            put(store, data, kinds)
            assert changes(store, before) == expected
        assert by_key(rows_of(store), "k") == by_key(rows((1, "last"), (2, "again"), (3, "cc")), "k")

    def test_first_row_tells_new_keys_only(self, tmp_path):
        store = table(tmp_path, merge_engine="first-row", changelog_producer="lookup")
        put(store, rows((1, "a"), (2, "b")))
        put(store, rows((1, "late"), (3, "c")))
        put(store, rows((3, "late"), (2, "late")))
        assert changes(store) == [("+I", 1, "a"), ("+I", 2, "b"), ("+I", 3, "c")]
        assert by_key(rows_of(store), "k") == by_key(rows((1, "a"), (2, "b"), (3, "c")), "k")

    @pytest.mark.parametrize("producer", ["lookup", "full-compaction"])
    def test_an_overwrite_has_none_though_it_compacts(self, tmp_path, producer):
        options = {"overwrite_upgrade": "false", "num-sorted-run.compaction-trigger": "1"}
        store = table(tmp_path, changelog_producer=producer, **options)
        put(store, rows((1, "a"), (2, "b")))
        put(store, rows((1, "new"), (3, "c")), overwrite=Overwrite())
        assert history(store)[-2:] == ["OVERWRITE", "COMPACT"]
        assert changes(store) == [("+I", 1, "a"), ("+I", 2, "b")]
        put(store, rows((3, "cc")))
        assert changes(store, store.latest().id - 2) == [("-U", 3, "c"), ("+U", 3, "cc")]

    def test_sums_are_not_counted_twice(self, tmp_path):
        store = make_table(
            f"{tmp_path}/t", {"k": "INT", "n": "BIGINT"}, ["k"], bucket="1",
            **{"merge-engine": "aggregation", "fields.n.aggregate-function": "sum", "changelog-producer": "lookup"},
        )  # fmt: skip
        put(store, [{"k": i, "n": 0} for i in range(100)])
        for turn in range(1, 10):
            put(store, [{"k": 1, "n": 1}, {"k": 2, "n": 10}])
            found = by_key(rows_of(store), "k")
            assert (found[(1,)]["n"], found[(2,)]["n"], len(found)) == (turn, 10 * turn, 100)
        compact_all(store)
        assert sum(r["n"] for r in rows_of(store)) == 99


class TestDeletionVectors:
    @pytest.mark.parametrize("bitmap64", ["false", "true"])
    def test_hidden_rows_are_marked_in_place(self, tmp_path, bitmap64):
        store = table(tmp_path, **{"deletion-vectors.enabled": "true", "deletion-vectors.bitmap64": bitmap64})
        put(store, rows(*((i, "old") for i in range(100))))
        put(store, rows((7, "new"), (50, None)), ["+U", "-D"])
        assert store.latest().index_manifest
        found = by_key(rows_of(store), "k")
        assert (len(found), found[(7,)]["v"], (50,) in found) == (99, "new", False)
        compact_all(store)
        assert store.latest().index_manifest is None
        assert by_key(rows_of(store), "k") == found

    @pytest.mark.parametrize(("target", "files"), [("1 b", 3), ("2 mb", 1)])
    def test_their_file_rolls_at_its_target_size(self, tmp_path, target, files):
        options = {"deletion-vectors.enabled": "true", "deletion-vector.index-file.target-size": target}
        store = make_table(f"{tmp_path}/t", KV, bucket="-1", **options)
        for n in range(3):
            put(store, rows((n, "a"), (n + 10, "b")))
        plan = plan_scan(store)
        TableCommit(store).commit(
            delete_marked_rows(store, plan, [(split, np.array([0])) for split in one_split_per_file(plan)])
        )
        assert len(index_entries(store, store.latest())) == files
        assert sorted(r["k"] for r in rows_of(store)) == [10, 11, 12]


class TestAppend:
    def test_small_files_are_joined(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        for i in range(6):
            put(store, rows((i, "x")))
        assert compact_all(store) == [7]
        assert (levels(store), sorted(r["k"] for r in rows_of(store))) == ([(0, 0, 6)], list(range(6)))

    def test_order_within_a_bucket_is_kept(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="1", bucket_key="k")
        for i in (5, 3, 9, 1, 7, 2):
            put(store, rows((i, "x")))
        compact_all(store)
        assert [r["k"] for r in rows_of(store)] == [5, 3, 9, 1, 7, 2]

    def test_in_a_bucket_three_are_joined_when_asked_and_what_is_due_otherwise(self, tmp_path):
        options = {"bucket-key": "k", "write-only": "true", "compaction.min.file-num": "4"}
        store = make_table(f"{tmp_path}/t", KV, bucket="1", **options)
        for i in (5, 3):
            put(store, rows((i, "x")))
        assert (compact_all(store), history(store)) == ([], ["APPEND"] * 2)
        put(store, rows((4, "x")))
        assert (compact_all(store, full=False), history(store)) == ([], ["APPEND"] * 3)
        assert (compact_all(store), len(levels(store))) == ([4], 1)
        for i in (9, 1, 8):
            put(store, rows((i, "x")))
        assert (compact_all(store, full=False), len(levels(store))) == ([8], 1)
        assert [r["k"] for r in rows_of(store)] == [5, 3, 4, 9, 1, 8]

    def test_in_a_bucket_two_are_joined_when_asked_if_two_are_due(self, tmp_path):
        options = {"bucket-key": "k", "write-only": "true", "compaction.min.file-num": "2"}
        store = make_table(f"{tmp_path}/t", KV, bucket="1", **options)
        for i in (5, 3):
            put(store, rows((i, "x")))
        assert (compact_all(store), len(levels(store))) == ([3], 1)

    def test_too_few_to_bother_unless_asked(self, tmp_path):
        from paimon_nb.table.write.commit import TableCommit
        from paimon_nb.table.write.compact import compact

        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        for i in range(3):
            put(store, rows((i, "x")))
        assert compact(store, full=False) == []
        assert TableCommit(store).commit(compact(store)) == [4]


class TestMemory:
    def test_chunks_equal_the_whole(self, tmp_path, monkeypatch):
        from paimon_nb.table.write.bucket_compact import lookup_levels, sorted_run_reader

        real = sorted_run_reader.iter_data_file

        def small(fs, path, fields, columns=None, rows=7, **given):
            return real(fs, path, fields, columns, min(rows, 7), **given)

        monkeypatch.setattr(sorted_run_reader, "iter_data_file", small)
        monkeypatch.setattr(lookup_levels, "iter_data_file", small)
        dice = random.Random(1)
        store, expected = table(tmp_path, write_only="true"), {}
        for turn in range(6):
            keys = dice.sample(range(200), 90)
            put(store, rows(*((k, f"{turn}") for k in keys)))
            expected |= {(k,): {"k": k, "v": f"{turn}"} for k in keys}
        compact_all(store)
        assert by_key(rows_of(store), "k") == expected


def test_expired_rows_vanish_in_compaction(tmp_path, monkeypatch):
    options = {"record-level.expire-time": "1 h", "record-level.time-field": "at", "write-only": "true"}
    store = make_table(f"{tmp_path}/t", {"k": "INT", "at": "TIMESTAMP(3)"}, ["k"], bucket="1", **options)
    now = 1_700_000_000_000
    monkeypatch.setattr(clock, "now_ms", lambda: now)
    put(
        store,
        pa.table(
            {
                "k": pa.array([1, 2, 3], pa.int32()),
                "at": pa.array([now - 7_200_000, now - 60_000, None], pa.timestamp("ms")),
            }
        ),
    )
    compact_all(store)
    assert sorted(r["k"] for r in rows_of(store)) == [2, 3]


@pytest.mark.parametrize(
    ("kind", "times", "left"),
    [
        # 1.7e9 s are now; 1e12 and more are milliseconds, less are seconds (of a far future, beyond 1e11)
        (
            "BIGINT",
            [1_699_996_399, 1_699_996_400, 1_699_996_399_999, 1_699_996_400_000, 999_999_999_999, None],
            [1, 3, 4, 5],
        ),
        ("INT", [1_699_996_399, 1_699_996_400, None], [1, 2]),
    ],
)
def test_rows_expire_by_whole_seconds(tmp_path, monkeypatch, kind, times, left):
    options = {"record-level.expire-time": "1 h", "record-level.time-field": "at", "write-only": "true"}
    store = make_table(f"{tmp_path}/t", {"k": "INT", "at": kind}, ["k"], bucket="1", **options)
    monkeypatch.setattr(clock, "now_ms", lambda: 1_700_000_000_999)
    put(
        store,
        pa.table(
            {
                "k": pa.array(range(len(times)), pa.int32()),
                "at": pa.array(times, {"INT": pa.int32(), "BIGINT": pa.int64()}[kind]),
            }
        ),
    )
    compact_all(store)
    assert sorted(r["k"] for r in rows_of(store)) == left


@pytest.mark.parametrize("seed", sampled(range(6), 6))
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"changelog-producer": "lookup"},
        {"deletion-vectors.enabled": "true"},
        {"num-sorted-run.compaction-trigger": "2"},
    ],
    ids=lambda o: next(iter(o), "plain"),
)
def test_random_histories_equal_a_dict(tmp_path, seed, options):
    dice = random.Random(seed)
    store = make_table(f"{tmp_path}/t", {"k": "STRING", "n": "INT", "v": "STRING"}, ["k", "n"], bucket="2", **options)
    expected = {}
    for turn in range(12):
        data = [
            {"k": f"é{dice.randrange(8)}", "n": dice.randrange(3), "v": f"{turn}.{i}"}
            for i in range(dice.randrange(1, 9))
        ]
        kinds = [dice.choice(["+I", "+I", "+U", "-D"]) for _ in data]
        put(store, data, kinds)
        for row, kind in zip(data, kinds, strict=True):
            expected.pop((row["k"], row["n"]), None)
            if kind != "-D":
                expected[(row["k"], row["n"])] = row
        if dice.random() < 0.3:
            compact_all(store, full=dice.random() < 0.5)
        assert by_key(rows_of(store), "k", "n") == expected


class TestOldWriters:
    """Whoever rewrites other people's rows must know all their columns."""

    @pytest.mark.parametrize("keys", [["k"], []], ids=["keys", "no keys"])
    def test_columns_that_came_later_survive(self, tmp_path, keys):
        options = {"bucket": "1", "num-sorted-run.compaction-trigger": "2", "compaction.min.file-num": "2"}
        options |= {} if keys else {"bucket-key": "k"}
        old = make_table(f"{tmp_path}/t", {"k": "INT", "v": "INT"}, keys, **options)
        wide = [("k", "INT"), ("v", "BIGINT"), ("late", "STRING")]
        fields = [replace(f, type=parse_type(t)) for f, (_, t) in zip(old.schema.fields, wide, strict=False)]
        late = DataField(2, "late", parse_type("STRING"))
        assert old.schemas.create(replace(old.schema, id=1, fields=(*fields, late), highest_field_id=2))
        new = old.refreshed()
        put(new, [{"k": 1, "v": 1 << 40, "late": "kept"}])
        put(old, [{"k": 2, "v": 2}])  # compacts the file of the newer writer with its own
        compact_all(old)
        expected = [{"k": 1, "v": 1 << 40, "late": "kept"}, {"k": 2, "v": 2, "late": None}]
        assert by_key(rows_of(new), "k") == by_key(expected, "k")
        assert len(live_entries(new, new.latest())) == 1


def test_a_compaction_does_not_bring_back_what_was_replaced_meanwhile(tmp_path):
    """With deletion vectors the newer row only marks the older one; a compaction that was planned before knows no mark."""
    store = table(tmp_path, **{"deletion-vectors.enabled": "true"})
    put(store, rows(*((k, f"old {k}") for k in range(1000))))
    put(store, rows(*((k, f"newer {k}") for k in range(500, 600))))
    planned = compact(store, full=True)
    put(store, rows((9, "new")))
    assert {f.file_name for m in planned for f in m.compact_before} <= {
        e.file.file_name for e in live_entries(store, store.latest())
    }
    with pytest.raises(CommitConflict, match="another writer deleted rows of"):
        TableCommit(store).commit(planned)
    assert [r["v"] for r in rows_of(store) if r["k"] == 9] == ["new"]


def test_a_long_compaction_outlives_the_snapshot_that_it_was_planned_from(tmp_path):
    store = table(tmp_path, **{"deletion-vectors.enabled": "true"})
    put(store, rows(*((k, f"old {k}") for k in range(1000))))
    put(store, rows(*((k, f"newer {k}") for k in range(500, 600))))
    planned = compact(store, full=True)
    with_vectors = {r.data_file for m in planned for i in m.compact_deleted_index for r in i.dv_ranges or ()}
    assert with_vectors & {f.file_name for m in planned for f in m.compact_before}
    Table(store).maintain.analyze()
    expire_snapshots(store, ExpireLimits(1, 1, 0, 50))
    store.snapshots.invalidate_cache()
    TableCommit(store).commit(planned)
    assert levels(store) == [(0, 5, 1000)]


@pytest.mark.parametrize("meanwhile", ["compaction", "rollback", "truncate", "overwrite"])
def test_a_delete_by_position_is_not_lost_with_the_file(tmp_path, meanwhile):
    store = make_table(f"{tmp_path}/t", KV, bucket="-1", **{"deletion-vectors.enabled": "true"})
    for n in range(3):
        put(store, rows((n, "a"), (n + 10, "b")))
    split = list(one_split_per_file(plan := plan_scan(store)))[-1]
    gone = delete_marked_rows(store, plan, [(split, np.array([0]))])
    match meanwhile:
        case "compaction":
            TableCommit(store).commit(compact(store, full=True))
        case "rollback":
            rollback_to_snapshot(store, 2)
        case "truncate":
            Table(store).truncate()
        case "overwrite":
            Table(store).overwrite(arrow(store, rows((7, "c"))))
    before = rows_of(store)
    with pytest.raises(CommitConflict, match=r"the commit deletes rows of .*, which is no longer live"):
        TableCommit(store).commit(gone)
    assert rows_of(store) == before


def test_an_overwrite_from_itself_does_not_bring_back_what_was_deleted_meanwhile(tmp_path):
    store = make_table(f"{tmp_path}/t", KV, bucket="-1", **{"deletion-vectors.enabled": "true"})
    put(store, rows((1, "a"), (2, "b")))
    read = store.latest()
    plan = plan_scan(store)
    [split] = one_split_per_file(plan)
    TableCommit(store).commit(delete_marked_rows(store, plan, [(split, np.array([0]))]))
    with TableWrite(store, overwrite=True) as writing:
        writing.write(arrow(store, rows((1, "A"), (2, "B"))))
        messages = writing.prepare_commit()
    with pytest.raises(CommitConflict, match="another writer deleted rows of"):
        TableCommit(store).commit(messages, overwrite=Overwrite(read_snapshot=read.id))
    assert rows_of(store) == rows((2, "b"))
