"""Postponed buckets: rows wait unseen until compaction gives them a bucket."""

from write_kit import by_key, compact_all, history, levels, make_table, put, rows_of

KV = {"k": "INT", "v": "STRING"}


def rows(numbers, text):
    return [{"k": i, "v": text} for i in numbers]


def test_rows_get_their_buckets(tmp_path):
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="-2", **{"postpone.default-bucket-num": "2"})
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
    store = make_table(f"{tmp_path}/t", KV, ["k"], bucket="-2", **{"postpone.default-bucket-num": "2"})
    put(store, rows(range(10), "a"))
    compact_all(store)
    later = store.copy({"postpone.default-bucket-num": "7"})
    put(later, rows([1, 2, 20], "b"))
    compact_all(later)
    expected = rows([0, *range(3, 10)], "a") + rows([1, 2, 20], "b")
    assert by_key(rows_of(later), "k") == by_key(expected, "k")
    assert {bucket for bucket, _, _ in levels(store)} == {0, 1}
    assert list((tmp_path / "t" / "bucket-postpone").glob("*"))  # still in the history
