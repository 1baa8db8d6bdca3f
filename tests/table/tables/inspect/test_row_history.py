"""Why a row is as it is, on tables of every engine."""

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import ColumnNotFound, UnsupportedOperation


@pytest.fixture
def wb(tmp_path):
    return paimon_nb.connect(str(tmp_path / "w"))


def make(wb, columns: str, **options: str):
    given = {"bucket": "1", "write-only": "true"} | {k.replace("_", "-"): v for k, v in options.items()}
    listed = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
    wb.run(f"CREATE TABLE t ({columns}, PRIMARY KEY (id) NOT ENFORCED) WITH ({listed})")
    return wb.table("t")


def put(table, kind: str = "upsert", **columns):
    rows = pa.table({k: pa.array(v, pa.int32() if k != "v" else pa.string()) for k, v in columns.items()})
    getattr(table, kind)(rows)


def told(answer) -> list[tuple]:
    return [(v.level, v.sequence, v.kind, v.snapshot, v.hidden, v.after) for v in answer.versions]


def test_deduplicate_tells_each_version_and_the_winner(wb):
    t = make(wb, "id INT, v STRING")
    put(t, id=[1, 2], v=["a", "x"])
    put(t, id=[2], v=["y"])
    put(t, id=[2], v=["z"])
    answer = t.why(id=2)
    assert told(answer) == [
        (0, 1, "+I", 1, None, {"id": 2, "v": "x"}),
        (0, 2, "+I", 2, None, {"id": 2, "v": "y"}),
        (0, 3, "+I", 3, None, {"id": 2, "v": "z"}),
    ]
    assert [v.position for v in answer.versions] == [1, 0, 0]
    assert answer.row == {"id": 2, "v": "z"} == t.lookup(id=2).to_pylist()[0]
    assert answer.rule == "deduplicate: the last version by sequence number wins (#3)"
    assert "= id=2, v='z'" in str(answer)


def test_a_deleted_row_says_so(wb):
    t = make(wb, "id INT, v STRING")
    put(t, id=[1], v=["a"])
    t.delete("id = 1")
    answer = t.why(id=1)
    assert [(v.kind, v.after) for v in answer.versions] == [("+I", {"id": 1, "v": "a"}), ("-D", None)]
    assert answer.row is None
    assert answer.rule == "deduplicate: the last version by sequence number is -D, so there is no row"


def test_a_sequence_field_beats_the_order_of_commits(wb):
    t = make(wb, "id INT, v STRING, at INT", **{"sequence.field": "at"})
    put(t, id=[1], v=["late"], at=[9])
    put(t, id=[1], v=["early"], at=[3])
    answer = t.why(id=1)
    assert [v.values["v"] for v in answer.versions] == ["early", "late"]
    assert answer.row == {"id": 1, "v": "late", "at": 9}
    assert "by at, then sequence number" in answer.rule


def test_partial_update_steps_through_its_columns(wb):
    t = make(wb, "id INT, a INT, b INT", **{"merge-engine": "partial-update"})
    put(t, id=[1], a=[1], b=[None])
    put(t, id=[1], a=[None], b=[2])
    put(t, id=[1], a=[3], b=[None])
    answer = t.why(id=1)
    assert [v.after for v in answer.versions] == [
        {"id": 1, "a": 1, "b": None},
        {"id": 1, "a": 1, "b": 2},
        {"id": 1, "a": 3, "b": 2},
    ]


def test_aggregation_shows_the_accumulator(wb):
    t = make(wb, "id INT, n INT", **{"merge-engine": "aggregation", "fields.n.aggregate-function": "sum"})
    for n in (5, 7, -2):
        put(t, id=[1], n=[n])
    answer = t.why(id=1)
    assert [v.after["n"] for v in answer.versions] == [5, 12, 10]
    assert "n: sum" in answer.rule


def test_what_a_deletion_vector_hides_is_told(wb):
    t = make(wb, "id INT, v STRING", **{"deletion-vectors.enabled": "true", "write-only": "false"})
    put(t, id=[1, 2], v=["a", "b"])
    t.compact()
    put(t, id=[1], v=["c"])
    answer = t.why(id=1)
    assert [(v.values["v"], v.hidden is None) for v in answer.versions] == [("a", False), ("c", True)]
    assert answer.versions[0].hidden == "a deletion vector marks it deleted"
    assert answer.row == {"id": 1, "v": "c"}


def test_level_0_waits_where_it_is_not_read(wb):
    t = make(wb, "id INT, v STRING", **{"merge-engine": "first-row", "write-only": "true"})
    put(t, id=[1], v=["a"])
    answer = t.why(id=1)
    assert answer.versions[0].hidden == "level 0 is not read before a compaction"
    assert (answer.row, answer.rule) == (None, "no version is visible")


def test_after_a_compaction_one_version_is_left(wb):
    t = make(wb, "id INT, v STRING")
    put(t, id=[1], v=["a"])
    put(t, id=[1], v=["b"])
    t.compact()
    answer = t.why(id=1)
    assert told(answer) == [(5, 1, "+I", 3, None, {"id": 1, "v": "b"})]


def test_renamed_columns_are_read_by_their_id(wb):
    t = make(wb, "id INT, v STRING")
    put(t, id=[1], v=["a"])
    wb.run("ALTER TABLE t RENAME COLUMN v TO w")
    assert wb.table("t").why(id=1).row == {"id": 1, "w": "a"}


def test_every_key_agrees_with_lookup(wb):
    t = make(wb, "id INT, v STRING, p STRING", **{"num-sorted-run.compaction-trigger": "3", "write-only": "false"})
    for turn in range(8):
        rows = [i for i in range(20) if (i + turn) % 3]
        columns = {"id": pa.array(rows, pa.int32()), "v": [f"{turn}.{i}" for i in rows], "p": ["x"] * len(rows)}
        t.upsert(pa.table(columns))
        t.delete(f"id = {turn}")
    for i in range(21):
        found = t.lookup(id=i).to_pylist()
        assert t.why(id=i).row == (found[0] if found else None)


def test_wrong_questions(wb):
    t = make(wb, "id INT, v STRING")
    with pytest.raises(ColumnNotFound):
        t.why(idd=1)
    with pytest.raises(UnsupportedOperation, match="missing: id"):
        t.why(v="a")
    wb.run("CREATE TABLE log (a INT)")
    with pytest.raises(UnsupportedOperation, match="no primary key"):
        wb.table("log").why(a=1)
    assert t.why(id=1).rule == "no file contains this key"
