"""What a compaction would pick is what it then does."""

import re

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue, UnsupportedOperation


@pytest.fixture
def t(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run(
        "CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"
    )
    table = wb.table("t")
    for turn in range(4):
        table.upsert(pa.table({"id": pa.array(range(100 * turn, 100 * turn + 100), pa.int32()), "v": ["x"] * 100}))
    return table


def test_below_the_trigger_nothing_is_due(t):
    (due,) = t.inspect.due_compactions()
    assert (due.runs, due.decided_by, due.files, due.output_level) == (4, None, (), None)
    assert [r.applies for r in due.rules] == [False, False, False]
    assert str(due).splitlines()[0] == "bucket 0: 4 sorted runs; nothing to compact"


def test_every_rule_says_its_numbers(t):
    (due,) = t.inspect.due_compactions()
    texts = [re.sub(r"[\d.]+ kB|\d+ % of", lambda m: "N" + m[0][m[0].index(" ") :], r.numbers) for r in due.rules]
    assert texts == [
        "4 runs (starts at 5); newer runs have N % of the oldest run's size (limit 200 %)",
        "4 runs (starts at 5); a run is merged if it is at most 1 % larger than the runs already picked (N kB, N kB, N kB, N kB)",
        "4 runs (starts at 5)",
    ]


def test_what_if(t):
    (due,) = t.inspect.due_compactions({"num-sorted-run.compaction-trigger": "3"})
    assert due.decided_by == "compaction.max-size-amplification-percent"
    assert (len(due.files), due.output_level) == (4, 3)  # a smaller trigger means fewer levels
    calm = {"num-sorted-run.compaction-trigger": "3", "compaction.max-size-amplification-percent": "1000"}
    assert t.inspect.due_compactions({**calm, "compaction.size-ratio": "50"})[0].decided_by == "compaction.size-ratio"
    (none,) = t.inspect.due_compactions()
    assert none.decided_by is None  # asking changes nothing
    with pytest.raises(BadOptionValue):
        t.inspect.due_compactions({"num-sorted-run.compaction-trigger": "many"})


def test_the_engine_does_what_was_told(t):
    t.upsert(pa.table({"id": pa.array([1], pa.int32()), "v": ["y"]}))
    (due,) = t.inspect.due_compactions()
    before = set(t.files().column("file_path").to_pylist())
    t.compact(full=False)
    gone = before - set(t.files().column("file_path").to_pylist())
    assert {path.rsplit("/", 1)[1] for path in gone} == set(due.files)
    assert set(t.files().column("level").to_pylist()) == {due.output_level}


def test_append_tables_have_no_levels(tmp_path):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    wb.run("CREATE TABLE log (a INT)")
    with pytest.raises(UnsupportedOperation, match="no LSM levels"):
        wb.table("log").inspect.due_compactions()


def test_the_sizes_of_many_runs_are_not_all_listed(t):
    for turn in range(6):
        t.upsert(pa.table({"id": pa.array([turn], pa.int32()), "v": ["y"]}))
    (due,) = t.inspect.due_compactions()
    (sizes,) = re.findall(r"picked \((.*)\)", " ".join(r.numbers for r in due.rules))
    assert (len(sizes.split(", ")), sizes.split(", ")[6]) == (8, "…")
