"""Table.diff: what changed between two moments, from the rows themselves, where files alone would mislead."""

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError

TYPES = {"k": pa.int32(), "v": pa.int32(), "s": pa.string()}


def table(tmp_path, **options):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    keys = "" if options.get("merge-engine") == "none" else ", PRIMARY KEY (k) NOT ENFORCED"
    told = ", ".join(f"'{k}' = '{v}'" for k, v in options.items() if v != "none")
    wb.run(f"CREATE TABLE t (k INT, v INT, s STRING{keys}) WITH ({told})")
    return wb.table("t")


def rows(*values):
    return pa.table({name: pa.array([v[i] for v in values], t) for i, (name, t) in enumerate(TYPES.items())})


def changes(table, start, end):
    return sorted((tuple(r.values()) for r in table.diff(start, end).to_pylist()), key=repr)


def test_partial_rows_are_whole(tmp_path):
    t = table(tmp_path, **{"bucket": "1", "merge-engine": "partial-update", "write-only": "true"})
    t.upsert(rows((1, 1, "a"), (2, 2, "b")))
    t.upsert(rows((1, None, "new")))
    assert changes(t, 1, 2) == [("+I", 1, 1, "new")]


def test_overwrite_that_counts_rows_anew(tmp_path):
    t = table(tmp_path, bucket="1")
    for turn in range(3):
        t.upsert(rows((1, turn, "a"), (2, 0, "b"), (3, 0, "c")))
    t.overwrite(rows((1, 9, "a"), (2, 0, "b")))
    assert changes(t, 3, 4) == [("+I", 1, 9, "a"), ("-D", 3, 0, "c")]


def test_rows_deleted_by_vectors(tmp_path):
    t = table(tmp_path, **{"bucket": "1", "deletion-vectors.enabled": "true"})
    before = t.upsert(rows((1, 1, "a"), (2, 2, "b")))[-1]
    after = t.delete("k = 2")[-1]
    assert changes(t, before, after) == [("-D", 2, 2, "b")]


def test_a_map_is_its_entries_in_any_order(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(
        "CREATE TABLE t (k INT PRIMARY KEY NOT ENFORCED, m MAP<STRING, INT>, r ROW<c MULTISET<STRING>>) WITH ('bucket' = '1')"
    )
    types = {
        "k": pa.int32(), "m": pa.map_(pa.string(), pa.int32()),
        "r": pa.struct({"c": pa.map_(pa.string(), pa.int32())}),
    }  # fmt: skip
    for order, changed in ((1, 2), (-1, 3)):
        a, b = ([("a", 1), ("b", 2)][::order], [("a", 1), ("b", changed)][::order])
        values = [[1, 2], [a, b], [{"c": a}, {"c": a}]]
        wb.table("t").upsert(pa.table({n: pa.array(v, t) for (n, t), v in zip(types.items(), values, strict=True)}))
    assert wb.table("t").diff(1, 2).select(["rowkind", "k"]).to_pylist() == [{"rowkind": "+I", "k": 2}]


def test_rows_without_keys_after_a_compaction(tmp_path):
    t = table(tmp_path, **{"bucket": "-1", "merge-engine": "none"})
    t.append(rows((1, 1, "a"), (1, 1, "a"), (2, None, "b")))
    t.append(rows((1, 1, "a"), (3, 3, "c")))
    t.tags.create("before", 1)
    assert t.compact() == [3]
    assert changes(t, "before", 3) == [("+I", 1, 1, "a"), ("+I", 3, 3, "c")]
    assert changes(t, 2, 3) == []
    t.overwrite(rows((1, 1, "a")))
    assert changes(t, 3, 4) == sorted([("-D", 1, 1, "a")] * 2 + [("-D", 2, None, "b"), ("-D", 3, 3, "c")], key=repr)


def test_no_such_moment(tmp_path):
    t = table(tmp_path, bucket="1")
    t.upsert(rows((1, 1, "a")))
    for moments in ((1, 7), ("nobody", 1)):
        with pytest.raises(PaimonError):
            t.diff(*moments)
