"""Writing rows: append and upsert, partitions and buckets, kinds, defaults, sequence numbers, rolling."""

import pickle
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from write_kit import arrow, by_key, compact_all, history, levels, make_table, put, rows_of

from paimon_nb.base.errors import ColumnNotFound, NullNotAllowed, SchemaMismatch, UnsupportedOperation
from paimon_nb.format.row import deserialize
from paimon_nb.table.read import plan_scan, read_plan
from paimon_nb.table.read.live_files import live_entries
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.publish.overwrite import Overwrite

KV = {"k": "INT", "v": "STRING"}


def rows(*pairs):
    return [{"k": k, "v": v} for k, v in pairs]


def files(store):
    return sorted(
        (e.file for e in live_entries(store, store.latest())),
        key=lambda f: (f.min_sequence, f.max_sequence, f.file_name),
    )


class TestAppendTables:
    def test_rows_keep_their_order(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        assert put(store, rows((3, "c"), (1, "a"), (2, None))) == [1]
        assert put(store, rows((0, "z"))) == [2]
        assert sorted(rows_of(store), key=lambda r: r["k"]) == rows((0, "z"), (1, "a"), (2, None), (3, "c"))
        assert [(f.min_sequence, f.max_sequence, f.row_count) for f in files(store)] == [(0, 0, 1), (0, 2, 3)]

    def test_buckets_by_key_and_ordered_numbers(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="2", bucket_key="k")
        put(store, rows(*((i, str(i)) for i in range(10))))
        put(store, rows(*((i, str(i)) for i in range(10))))
        per_bucket = {}
        for e in live_entries(store, store.latest()):
            per_bucket.setdefault(e.bucket, []).append((e.file.min_sequence, e.file.max_sequence))
            assert e.total_buckets == 2
        for spans in per_bucket.values():
            (a, b), (c, d) = sorted(spans)
            assert (a, c, d - c) == (0, b + 1, b - a)

    @pytest.mark.parametrize(
        ("format_", "size", "expected"),
        [("parquet", "64 kb", [3000, 3000, 3000, 3000, 2000]), ("parquet", "256 kb", [12000, 2000]), ("orc", "64 kb", [6000, 6000, 2000])],
    )  # fmt: skip
    def test_a_file_ends_at_its_target_size(self, tmp_path, format_, size, expected):
        """Parquet: the row counts of Flink 1.20 with Paimon 1.3.1, whose ORC files are smaller."""
        store = make_table(
            f"{tmp_path}/t", {"a": "INT", "b": "INT", "s": "STRING", "d": "DOUBLE"}, bucket="-1",
            **{"target-file-size": size, "file.format": format_},
        )  # fmt: skip
        i = np.arange(14000)
        table = pa.table({"a": i % 400, "b": i // 400, "s": [f"s{n % 50}" for n in i], "d": np.random.default_rng(0).random(14000)})  # fmt: skip
        with TableWrite(store) as writing:
            writing.write(table)
            TableCommit(store).commit(writing.prepare_commit())
        assert [f.row_count for f in files(store)] == expected

    def test_deletes_are_refused(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        with pytest.raises(UnsupportedOperation, match="no primary key"):
            put(store, rows((1, "a")), ["-D"])
        assert (store.latest(), list((tmp_path / "t").rglob("*.parquet"))) == (None, [])

    def test_statistics(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        put(store, rows((3, "c"), (1, None), (2, "a very long text that is cut")))
        [file] = files(store)
        types = [f.type for f in store.schema.fields]
        assert deserialize(types, file.value_stats.min_values) == (1, "a very long text")
        assert deserialize(types, file.value_stats.max_values) == (3, "c")
        assert (file.value_stats.null_counts, file.value_stats_cols) == ((0, 1), None)


class TestKeyTables:
    def test_upsert_and_delete(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")
        put(store, rows((1, "a"), (2, "b"), (3, "c"), (1, "aa")))
        put(store, rows((2, "bb"), (3, None)), ["+U", "-D"])
        assert by_key(rows_of(store), "k") == by_key(rows((1, "aa"), (2, "bb")), "k")
        assert [(f.row_count, f.delete_row_count, f.min_sequence, f.max_sequence) for f in files(store)] == [
            (3, 0, 1, 3),
            (2, 1, 4, 5),
        ]

    def test_keys_of_the_file(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")
        put(store, rows((5, "a"), (-3, "b"), (4, "c")))
        [file] = files(store)
        types = [f.type for f in store.schema.key_fields]
        assert (deserialize(types, file.min_key), deserialize(types, file.max_key)) == ((-3,), (5,))

    def test_null_keys_are_refused(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")
        with pytest.raises(NullNotAllowed):
            put(store, pa.table({"k": pa.array([1, None], pa.int32()), "v": ["a", "b"]}))

    def test_kinds_from_a_column(self, tmp_path):
        store = make_table(f"{tmp_path}/t", {**KV, "op": "STRING"}, ["k"], bucket="1", **{"rowkind.field": "op"})
        put(store, [{"k": 1, "v": "a", "op": "+I"}, {"k": 2, "v": "b", "op": "+I"}])
        put(store, [{"k": 1, "v": "a", "op": "-D"}])
        assert [r["k"] for r in rows_of(store)] == [2]
        with pytest.raises(SchemaMismatch, match="'DEL' is not a row kind"):
            put(store, [{"k": 1, "v": "a", "op": "DEL"}])

    @pytest.mark.parametrize(
        ("option", "kind", "left"),
        [("ignore-delete", "-D", [1, 2]), ("ignore-update-before", "-U", [1, 2]), ("ignore-update-before", "-D", [2])],
    )
    def test_kinds_that_options_drop(self, tmp_path, option, kind, left):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1", **{option: "true"})
        put(store, rows((1, "a"), (2, "b")))
        put(store, rows((1, "a")), [kind])
        assert sorted(r["k"] for r in rows_of(store)) == left

    def test_full_buffer_becomes_a_file(self, tmp_path):
        store = make_table(
            f"{tmp_path}/t", KV, ["k"], bucket="1", **{"write-buffer-size": "1 kb", "write-only": "true"}
        )
        with TableWrite(store) as write:
            for n in range(20):
                write.write(pa.table({"k": pa.array(range(100), pa.int32()), "v": [f"{n}"] * 100}))
            messages = write.prepare_commit()
        TableCommit(store).commit(messages, expected_rows=2000)
        assert len(files(store)) == 20
        assert by_key(rows_of(store), "k") == by_key(rows(*((i, "19") for i in range(100))), "k")

    def test_input_changelog_holds_every_row(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1", **{"changelog-producer": "input"})
        put(store, rows((1, "a"), (1, "b"), (2, "c")), ["+I", "+U", "-D"])
        snapshot = store.latest()
        assert (snapshot.delta_record_count, snapshot.changelog_record_count) == (2, 3)


class TestPartitions:
    def test_every_value_its_own(self, tmp_path):
        store = make_table(f"{tmp_path}/t", {**KV, "dt": "STRING", "h": "INT"}, [], ["dt", "h"], bucket="-1")
        data = [
            {"k": i, "v": "x", "dt": d, "h": h}
            for i, (d, h) in enumerate([("a", 1), (None, 1), ("a", None), ("", 2), ("a", 1)])
        ]
        put(store, data)
        assert sorted(rows_of(store), key=lambda r: r["k"]) == data
        assert sorted(p.parent.relative_to(tmp_path / "t").as_posix() for p in (tmp_path / "t").rglob("*.parquet")) == [
            "dt=__DEFAULT_PARTITION__/h=1/bucket-0",
            "dt=__DEFAULT_PARTITION__/h=2/bucket-0",
            "dt=a/h=1/bucket-0",
            "dt=a/h=__DEFAULT_PARTITION__/bucket-0",
        ]


class TestColumns:
    def test_missing_columns_and_defaults(self, tmp_path):
        from dataclasses import replace

        from paimon_nb.format.schema import SchemaDirectory
        from paimon_nb.fs import LocalFileIO
        from paimon_nb.table.read.store import TableStore

        first = make_table(f"{tmp_path}/t", {**KV, "n": "INT"}, ["k"], bucket="1")
        with_default = tuple(replace(f, default_value="7") if f.name == "n" else f for f in first.schema.fields)
        SchemaDirectory(LocalFileIO(), first.root).create(replace(first.schema, id=1, fields=with_default))
        store = TableStore.open(LocalFileIO(), first.root)
        put(store, pa.table({"n": pa.array([None, 3], pa.int32()), "k": pa.array([1, 2], pa.int32())}))
        put(store, pa.table({"k": pa.array([3], pa.int32())}))
        assert by_key(rows_of(store), "k") == by_key(
            [{"k": 1, "v": None, "n": 7}, {"k": 2, "v": None, "n": 3}, {"k": 3, "v": None, "n": 7}], "k"
        )

    def test_unknown_column(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")
        with pytest.raises(ColumnNotFound, match="no column 'w'"):
            put(store, pa.table({"k": pa.array([1], pa.int32()), "w": ["a"]}))


class TestOverwrite:
    def test_files_go_to_the_top(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")
        put(store, rows((1, "a"), (2, "b")))
        put(store, rows((2, "new"), (3, "c")), overwrite=Overwrite())
        assert by_key(rows_of(store), "k") == by_key(rows((2, "new"), (3, "c")), "k")
        assert (levels(store), history(store)) == ([(0, 5, 2)], ["APPEND", "OVERWRITE"])

    def test_bucket_count_may_change(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")
        put(store, rows(*((i, "x") for i in range(9))))
        wider = store.with_buckets(4)
        with pytest.raises(UnsupportedOperation, match="has 1 buckets"):
            put(wider, rows((1, "a")))
        put(wider, rows_of(store), overwrite=Overwrite())
        put(wider, rows((1, "new")))
        assert by_key(rows_of(wider), "k")[(1,)]["v"] == "new"


class TestMisuse:
    def test_leaving_without_commit_says_so_and_cleans_up(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        with pytest.warns(UserWarning, match="2 rows were written and not committed"), TableWrite(store) as write:
            write.write(pa.table({"k": pa.array([1, 2], pa.int32()), "v": ["a", "b"]}))
        assert list((tmp_path / "t").rglob("*.parquet")) == []

    def test_a_write_is_used_once(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, bucket="-1")
        with TableWrite(store) as write:
            write.prepare_commit()
            with pytest.raises(UnsupportedOperation, match="is closed"):
                write.prepare_commit()

    def test_an_error_leaves_no_file(self, tmp_path):
        store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="1", **{"write-buffer-size": "1 b"})
        with TableWrite(store) as write:
            write.write(pa.table({"k": pa.array([1], pa.int32()), "v": ["a"]}))
            with pytest.raises(SchemaMismatch):
                write.write(pa.table({"k": ["no number"], "v": ["a"]}))
            write.abort()
        assert list((tmp_path / "t").rglob("*.parquet")) == []

    def test_messages_and_stores_pickle(self, tmp_path):
        store = pickle.loads(pickle.dumps(make_table(f"{tmp_path}/t", KV, ["k"], bucket="1")))
        with TableWrite(store) as write:
            write.write(pa.table({"k": pa.array([1], pa.int32()), "v": ["a"]}))
            messages = pickle.loads(pickle.dumps(write.prepare_commit()))
        assert TableCommit(store).commit(messages) == [1]
        assert compact_all(store) == [2]


def test_overwrite_writes_no_changelog_files(tmp_path):
    """An overwrite has no changelog, so files of one would lie about for ever."""
    store = make_table(f"{tmp_path}/t", {"k": "INT", "v": "STRING"}, ["k"], bucket="1", changelog_producer="input")
    put(store, [{"k": 1, "v": "a"}])
    put(store, [{"k": 2, "v": "b"}], overwrite=Overwrite())
    assert len(list((tmp_path / "t" / "bucket-0").glob("changelog-*"))) == 1
    assert rows_of(store) == [{"k": 2, "v": "b"}]


@pytest.mark.parametrize("kind", ["FLOAT", "DOUBLE"])
def test_zero_and_minus_zero_are_one_key(kind: str, tmp_path: Path) -> None:
    """Java's answer after each of three commits."""
    store, seen = make_table(f"{tmp_path}/t", {"k": kind, "v": "STRING"}, ["k"], bucket="1"), []
    for key, value in ((0.0, "a"), (-0.0, "c"), (0.0, "d")):
        put(store, [{"k": key, "v": value}, {"k": 1.0, "v": "b"}])
        seen.append([(str(r["k"]), r["v"]) for r in read_plan(plan_scan(store.refreshed())).to_pylist()])
    assert seen == [[("0.0", "a"), ("1.0", "b")], [("-0.0", "c"), ("1.0", "b")], [("0.0", "d"), ("1.0", "b")]]


@pytest.mark.parametrize("type_", ["FLOAT", "DOUBLE"])
@pytest.mark.parametrize("bucket", ["1", "4", "-1"])
def test_nan_is_one_key_whatever_its_bits_are(bucket: str, type_: str, tmp_path: Path) -> None:
    """0.0 / 0.0 gives a NaN with the sign set on x86, `float("nan")` one without."""
    store = make_table(f"{tmp_path}/t", {"k": type_, "v": "INT"}, ["k"], bucket=bucket, **{"write-only": "true"})
    nan, other = np.float32("nan"), -np.float32("nan")
    assert nan.tobytes() != other.tobytes()
    for v, keys in enumerate([[nan, 1.0], [other, 1.0], [other], [nan, other]]):
        put(store, pa.table({"k": pa.array(keys, pa.float32()), "v": pa.array([v] * len(keys), pa.int32())}))
    read = sorted((str(r["k"]), r["v"]) for r in read_plan(plan_scan(store)).to_pylist())
    compact_all(store)
    assert read == sorted((str(r["k"]), r["v"]) for r in rows_of(store)) == [("1.0", 1), ("nan", 3)]


def test_all_buckets_share_the_write_buffer(tmp_path):
    """Four buckets of 40 KB each, none of which fills 64 KB by itself."""
    options = {"write-buffer-size": "64 kb", "write-only": "true"}
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="4", **options)
    with TableWrite(store) as writing:
        for turn in range(16):
            writing.write(arrow(store, [{"k": turn * 100 + i, "v": "x" * 80} for i in range(100)]))
        messages = writing.prepare_commit()
    TableCommit(store).commit(messages)
    assert all(len(m.new_files) > 1 for m in messages)
    assert sorted(r["k"] for r in rows_of(store)) == list(range(1600))
