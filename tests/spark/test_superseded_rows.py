"""Hidden rows worked out from those of the snapshot before are the ones that a merge of everything finds. Without Spark."""

import random

import numpy as np
import pyarrow as pa
import pytest
from sampling import sampled

from paimon_nb.table.read import plan_scan
from paimon_nb.table.read.strategy import superseded_rows
from paimon_nb.table.read.strategy.superseded_rows import hidden_rows_of
from paimon_nb.table.read.strategy.visible_rows import visible_rows
from paimon_nb.workbench import connect

KEYS = [("TINYINT", lambda k: k - 20), ("BIGINT", int), ("BIGINT", lambda k: k * 10**12), ("STRING", str)]
"""Types, and their keys for small numbers."""


def forget() -> None:
    superseded_rows._CACHE.clear()
    superseded_rows._DECODED.clear()


@pytest.mark.parametrize("seed", sampled(range(16), 3))
def test_commit_after_commit(seed, tmp_path):
    r = random.Random(seed)
    key_type, key = r.choice(KEYS)
    extra = r.choice([{}, {}, {"sequence.field": "v"}, {"merge-engine": "first-row"}, {"ignore-delete": "true"}])
    options = {"bucket": str(r.choice([1, 2])), "write-only": "true", **extra}
    wb = connect(str(tmp_path))
    given = ", ".join(f"{k!r} = {v!r}" for k, v in options.items())
    wb.run(f"CREATE TABLE t (k {key_type}, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ({given})")
    table = wb.table("t")
    for _ in range(r.randrange(4, 9)):
        keys = [key(k) for k in r.sample(range(40), r.choice([1, 5, 30]))]
        rows = pa.Table.from_pylist([{"k": k, "v": r.randrange(100)} for k in keys], schema=table.schema.arrow)
        if r.random() < 0.3 and "first-row" not in extra.values():
            table.delete(rows)
        else:
            table.upsert(rows)
        if r.random() < 0.2:
            table.copy({"write-only": "false"}).compact(full=r.random() < 0.5)
        plan = plan_scan(table.store)
        grown = hidden_rows_of(plan.store, plan.splits).rows
        forget()
        merged = hidden_rows_of(plan.store, plan.splits).rows
        assert {n: m.tolist() for n, m in grown.items()} == {n: m.tolist() for n, m in merged.items()}
        shown = visible_rows(plan.store, plan.splits, table.schema.fields, None, rows_ahead=100)
        rows = table.to_arrow().sort_by("k")
        assert pa.concat_tables([rows.slice(0, 0), *shown]).sort_by("k") == rows


def test_a_small_commit_sorts_nothing_anew_and_reads_only_its_own_file(tmp_path, monkeypatch):
    forget()
    wb = connect(str(tmp_path))
    wb.run("CREATE TABLE t (k BIGINT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")  # fmt: skip
    table = wb.table("t")
    for n in range(2):
        keys = np.arange(0, 10_000, n + 1)
        table.upsert(pa.table({"k": keys, "v": np.zeros(len(keys), np.int32)}))
    plan = plan_scan(table.store)
    hidden_rows_of(plan.store, plan.splits)
    table.upsert(pa.table({"k": [5, 6, 99_999], "v": pa.array([1, 1, 1], pa.int32())}))
    read, plan = [], plan_scan(table.store)
    own = superseded_rows.read_data_file
    monkeypatch.setattr(
        superseded_rows, "read_data_file", lambda fs, path, *a, **k: read.append(path) or own(fs, path, *a, **k)
    )
    monkeypatch.setattr(superseded_rows, "_superseded_by_merge", None)
    found = hidden_rows_of(plan.store, plan.splits).rows
    newest = max(plan.files, key=lambda f: f.min_sequence)
    assert [path.rsplit("/", 1)[1] for path in read] == [newest.file_name]
    assert sorted(int(m.sum()) for m in found.values()) == [1, 5001]


@pytest.mark.parametrize("engine", ["aggregation", "partial-update"])
def test_results_that_a_compaction_looked_up_are_not_merged_with_older_ones(tmp_path, engine):
    forget()
    wb = connect(str(tmp_path))
    wb.run(f"""CREATE TABLE t (k BIGINT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1',
        'merge-engine' = '{engine}', {"'fields.v.aggregate-function' = 'sum'," if engine == "aggregation" else ""}
        'changelog-producer' = 'lookup', 'num-levels' = '5', 'num-sorted-run.compaction-trigger' = '50')""")
    table = wb.table("t")
    for commit in range(6):
        keys = list(range(60 - 10 * commit))
        table.append(pa.table({"k": keys, "v": pa.array([1] * len(keys), pa.int32())}))
        if commit in (0, 2, 4):
            table.compact(full=commit == 0)
    plan = plan_scan(table.store)
    assert len({f.level for f in plan.files} - {0}) > 1
    created = {row["k"]: row for rows in hidden_rows_of(plan.store, plan.splits).merged for row in rows.to_pylist()}
    assert created
    assert created == {row["k"]: row for row in table.to_arrow().to_pylist() if row["k"] in created}
