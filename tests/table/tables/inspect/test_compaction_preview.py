"""What a compaction would pick is what it then does."""

import re

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import BadOptionValue


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


def append_table(tmp_path, files: int, **options: str):
    wb = paimon_nb.connect(str(tmp_path / "w"))
    options = {"bucket": "-1", **options}
    told = ", ".join(f"'{k.replace('__', '.').replace('_', '-')}' = '{v}'" for k, v in options.items())
    wb.run(f"CREATE TABLE log (a INT, day STRING) PARTITIONED BY (day) WITH ({told})")
    table = wb.table("log")
    for i in range(files):
        table.append(pa.table({"a": pa.array([i], pa.int32()), "day": ["mon"]}))
    table.append(pa.table({"a": pa.array([0], pa.int32()), "day": ["tue"]}))
    return table


def what_compaction_replaces(table) -> set[str]:
    before = set(table.files().column("file_path").to_pylist())
    table.compact(full=False)
    return {path.rsplit("/", 1)[1] for path in before - set(table.files().column("file_path").to_pylist())}


@pytest.mark.parametrize(
    ("files", "options", "decided"),
    [
        (4, {}, None),
        (5, {}, "compaction.min.file-num"),
        (3, {"compaction__min__file_num": "3"}, "compaction.min.file-num"),
        (5, {"bucket": "1", "bucket_key": "a", "write_only": "true"}, "compaction.min.file-num"),
        (5, {"row_tracking__enabled": "true", "data_evolution__enabled": "true"}, "compaction.min.file-num"),
        (2, {"target_file_size": "1 kb", "source__split__open_file_cost": "1 kb"}, "target-file-size"),
        (4, {"target_file_size": "64 b"}, None),  # larger than small
    ],
)
def test_of_a_table_without_keys_the_files_are_told_that_the_engine_merges(tmp_path, files, options, decided):
    table = append_table(tmp_path, files, **options)
    of_monday, of_tuesday = table.inspect.due_compactions()
    assert (of_monday.partition, of_monday.runs, of_monday.output_level) == ("day=mon", files, None)
    assert (of_monday.decided_by, of_monday.output_files) == (decided, 1 if decided else 0)
    assert (of_tuesday.decided_by, of_tuesday.files) == (None, ())
    assert what_compaction_replaces(table) == set(of_monday.files)


def test_large_files_are_picked_for_their_deleted_rows(tmp_path):
    options = {"deletion_vectors__enabled": "true", "target_file_size": "64 b", "compaction__min__file_num": "2"}
    table = append_table(tmp_path, 2, **options)
    for low in (10, 20):
        table.append(pa.table({"a": pa.array([low, low + 1], pa.int32()), "day": ["mon", "mon"]}))
    table.delete("a IN (10, 20)")
    due = next(d for d in table.inspect.due_compactions() if d.partition == "day=mon")
    assert (due.runs, len(due.files)) == (4, 2)
    assert due.rules[-1].numbers == "2 files with more than 20 % deleted rows"
    assert what_compaction_replaces(table) == set(due.files)


def test_a_clustered_table_has_sorted_runs(tmp_path):
    options = {"clustering__incremental": "true", "clustering__columns": "a", "num_sorted_run__compaction_trigger": "3"}
    table = append_table(tmp_path, 3, **options)
    due = next(d for d in table.inspect.due_compactions() if d.partition == "day=mon")
    assert (due.runs, due.output_files, due.decided_by) == (3, None, "compaction.max-size-amplification-percent")
    assert what_compaction_replaces(table) == set(due.files)


def test_the_sizes_of_many_runs_are_not_all_listed(t):
    for turn in range(6):
        t.upsert(pa.table({"id": pa.array([turn], pa.int32()), "v": ["y"]}))
    (due,) = t.inspect.due_compactions()
    (sizes,) = re.findall(r"picked \((.*)\)", " ".join(r.numbers for r in due.rules))
    assert (len(sizes.split(", ")), sizes.split(", ")[6]) == (8, "…")
