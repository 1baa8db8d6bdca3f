"""Dynamic buckets: a key stays where it was first put, buckets fill up to the target, two writers do not collide unseen."""

import pyarrow as pa
import pytest
from write_kit import by_key, compact_all, make_table, put, rows_of

from paimon_nb.base.errors import CommitConflict
from paimon_nb.table.read.live_files import index_entries, live_entries
from paimon_nb.table.write import TableWrite
from paimon_nb.table.write.commit import TableCommit
from paimon_nb.table.write.publish.overwrite import Overwrite

KV = {"k": "INT", "v": "STRING"}


def rows(numbers, text="x"):
    return [{"k": i, "v": text} for i in numbers]


def counts(store):
    """Keys per bucket, as the index tells."""
    return {e.bucket: e.row_count for e in index_entries(store, store.latest())}


def dynamic(tmp_path, **options):
    return make_table(f"{tmp_path}/t", KV, ["k"], bucket="-1", **{"dynamic-bucket.target-row-num": "3", **options})


def test_buckets_fill_in_order(tmp_path):
    store = dynamic(tmp_path)
    put(store, rows(range(4)))
    assert counts(store) == {0: 3, 1: 1}
    put(store, rows([1, 3, 10, 11, 12, 13], "new"))
    assert counts(store) == {0: 3, 1: 3, 2: 2}
    assert {e.total_buckets for e in live_entries(store, store.latest())} == {-1}
    assert by_key(rows_of(store), "k") == by_key(rows([0, 2]) + rows([1, 3, 10, 11, 12, 13], "new"), "k")


def test_no_new_key_no_new_index(tmp_path):
    store = dynamic(tmp_path)
    put(store, rows(range(3)))
    before = store.latest().index_manifest
    put(store, rows(range(3)), ["-D"] * 3)
    assert (store.latest().index_manifest, rows_of(store)) == (before, [])


def test_a_limited_number_of_buckets_shares_the_first_rows(tmp_path):
    options = {"dynamic-bucket.max-buckets": "2", "dynamic-bucket.target-row-num": "100"}
    store = dynamic(tmp_path, **options)
    for text in ("a", "b"):
        put(store, rows(range(8), text))
        assert (set(counts(store)), sum(counts(store).values())) == ({0, 1}, 8)


def test_no_bucket_at_most_is_one(tmp_path):
    store = dynamic(tmp_path, **{"dynamic-bucket.max-buckets": "0"})
    put(store, rows(range(10)))
    assert counts(store) == {0: 10}


def test_most_buckets(tmp_path):
    store = dynamic(tmp_path, **{"dynamic-bucket.max-buckets": "2"})
    put(store, rows(range(10)))
    assert (set(counts(store)), sum(counts(store).values())) == ({0, 1}, 10)
    assert len(rows_of(store)) == 10


@pytest.mark.parametrize(
    ("options", "buckets"),
    [
        ({"dynamic-bucket.initial-buckets": "4"}, {0, 1, 2, 3}),
        ({"dynamic-bucket.assigner-parallelism": "2"}, {0, 1}),
        ({"dynamic-bucket.initial-buckets": "2", "dynamic-bucket.assigner-parallelism": "4"}, {0, 1}),
        ({"dynamic-bucket.initial-buckets": "4", "dynamic-bucket.max-buckets": "3"}, {0, 1, 2}),
    ],
    ids=str,
)
def test_a_partition_starts_with_as_many_buckets_as_asked(tmp_path, options, buckets):
    store = dynamic(tmp_path, **options, **{"dynamic-bucket.target-row-num": "100"})
    put(store, rows(range(40)))
    first = counts(store)
    assert (set(first), sum(first.values())) == (buckets, 40)
    put(store, rows(range(60), "new"))
    assert (set(counts(store)), by_key(rows_of(store), "k")) == (buckets, by_key(rows(range(60), "new"), "k"))


def test_each_share_of_the_keys_opens_buckets_of_its_own(tmp_path):
    store = dynamic(tmp_path, **{"dynamic-bucket.initial-buckets": "2", "dynamic-bucket.target-row-num": "5"})
    put(store, rows(range(40)))
    found = counts(store)
    assert (max(found.values()), sum(found.values())) == (5, 40)
    assert by_key(rows_of(store), "k") == by_key(rows(range(40)), "k")


def test_two_writers_with_new_keys(tmp_path):
    store = dynamic(tmp_path)
    put(store, rows([1]))
    messages = []
    for text in ("a", "b"):
        with TableWrite(store) as write:
            write.write(pa.table({"k": pa.array([5], pa.int32()), "v": [text]}))
            messages.append(write.prepare_commit())
    TableCommit(store).commit(messages[0])
    with pytest.raises(CommitConflict, match="assigned buckets to keys of this partition"):
        TableCommit(store).commit(messages[1])
    assert by_key(rows_of(store), "k")[(5,)]["v"] == "a"


def test_overwrite_begins_anew(tmp_path):
    store = dynamic(tmp_path)
    put(store, rows(range(9)))
    put(store, rows([100, 101]), overwrite=Overwrite())
    assert (counts(store), len(rows_of(store))) == ({0: 2}, 2)
    put(store, rows([100, 102, 103], "new"))
    assert counts(store) == {0: 3, 1: 1}


def test_compaction_keeps_the_index(tmp_path):
    store = dynamic(tmp_path, **{"write-only": "true"})
    for _ in range(3):
        put(store, rows(range(7)))
    before = counts(store)
    compact_all(store)
    assert (counts(store), len(rows_of(store))) == (before, 7)


class TestKeysThatMove:
    COLUMNS = {"k": "INT", "dt": "STRING", "v": "STRING"}  # noqa: RUF012

    def table(self, tmp_path, **options):
        return make_table(f"{tmp_path}/t", self.COLUMNS, ["k"], ["dt"], bucket="-1", **options)

    def test_the_old_row_goes(self, tmp_path):
        store = self.table(tmp_path)
        put(store, [{"k": k, "dt": "a", "v": "1"} for k in (1, 2, 3)])
        put(store, [{"k": 2, "dt": "b", "v": "2"}, {"k": 9, "dt": "b", "v": "2"}, {"k": 9, "dt": "c", "v": "3"}])
        assert by_key(rows_of(store), "k") == by_key(
            [
                {"k": 1, "dt": "a", "v": "1"},
                {"k": 2, "dt": "b", "v": "2"},
                {"k": 3, "dt": "a", "v": "1"},
                {"k": 9, "dt": "c", "v": "3"},
            ],
            "k",
        )

    def test_assigners_share_the_keys(self, tmp_path):
        store = self.table(
            tmp_path, **{"dynamic-bucket.assigner-parallelism": "3", "dynamic-bucket.target-row-num": "3"}
        )
        put(store, [{"k": k, "dt": "a", "v": "1"} for k in range(1, 6)])
        assert {e.bucket for e in live_entries(store, store.latest())} == {0, 1, 2}
        put(store, [{"k": k, "dt": "b", "v": "2"} for k in range(1, 6)])
        assert by_key(rows_of(store), "k") == by_key([{"k": k, "dt": "b", "v": "2"} for k in range(1, 6)], "k")

    def test_partial_updates_join_the_old_partition(self, tmp_path):
        store = self.table(tmp_path, **{"merge-engine": "partial-update"})
        put(store, [{"k": 1, "dt": "a", "v": None}])
        put(store, [{"k": 1, "dt": "b", "v": "x"}])
        assert rows_of(store) == [{"k": 1, "dt": "a", "v": "x"}]

    def test_first_rows_stay(self, tmp_path):
        store = self.table(tmp_path, **{"merge-engine": "first-row"})
        put(store, [{"k": 1, "dt": "a", "v": "first"}])
        assert put(store, [{"k": 1, "dt": "b", "v": "late"}]) == []
        assert rows_of(store) == [{"k": 1, "dt": "a", "v": "first"}]

    def test_a_second_writer_is_refused(self, tmp_path):
        store = self.table(tmp_path)
        with TableWrite(store) as write:
            write.write(pa.table({"k": pa.array([5], pa.int32()), "dt": ["x"], "v": ["mine"]}))
            mine = write.prepare_commit()
        put(store, [{"k": 5, "dt": "y", "v": "theirs"}])
        with pytest.raises(CommitConflict, match="moved the same keys"):
            TableCommit(store).commit(mine)
        assert rows_of(store) == [{"k": 5, "dt": "y", "v": "theirs"}]
