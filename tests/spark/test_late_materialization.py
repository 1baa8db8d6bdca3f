"""Few rows found in the driver by their values are those that merging everything and asking then gives."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from sampling import sampled
from spark_tables import as_rows, make_table, random_rows, store_rows

from paimon_nb import workbench
from paimon_nb.base.errors import SnapshotExpired
from paimon_nb.spark.runtime.arrow_interop import to_arrow
from paimon_nb.spark.scan.explain import describe_scan
from paimon_nb.spark.scan.table_scan import to_dataframe
from paimon_nb.table.read import And, Compare, In, IsNull, Like, Not, Or
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.strategy import late_materialization as searching
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan, read_by_late_materialization
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits
from paimon_nb.table.write.maintenance import ExpireLimits, expire_snapshots

NOT_SMALL = StrategyLimits(inline_bytes=20_000, inline_rows=400)
KINDS = {
    "deduplicate": {},
    "by field": {"sequence__field": "i"},
    "first-row": {"merge_engine": "first-row"},
    "ignore delete": {"ignore_delete": "true"},
    "deletion vectors": {"deletion_vectors__enabled": "true"},
}
WHERE = [
    Compare("i", "=", 50),
    And((Compare("i", ">=", 10), Compare("i", "<", 13))),
    In("i", (1, 99, 1_000)),
    Compare("s", "=", "vvvv"),
    And((Like("s", "vvvvvvvvvv%"), Compare("k", "<", 700))),
    IsNull("i"),
    Or((Compare("d", "<", 0.02), Compare("i", "=", 3))),
    And((Not(In("i", tuple(range(97)))), Compare("e", ">", 5))),
]


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """One table of each kind."""
    return {kind: scene(tmp_path_factory.mktemp("kind"), kind) for kind in KINDS}


@pytest.mark.parametrize("kind", sampled(KINDS, 2))
@pytest.mark.parametrize("where", WHERE, ids=str)
def test_the_rows_that_a_merge_gives(tables, kind, where):
    table = tables[kind]
    chosen = plan_table_scan(table, filter=where, limits=NOT_SMALL, columns=["k", "s", "a", "ts"], without_spark=True)
    assert {r.strategy for r in chosen.routes} == {ScanStrategy.LATE_MATERIALIZATION}
    expected = filter_rows(where, table.to_arrow(), table.schema.fields).select(chosen_names(chosen))
    found = read_by_late_materialization(chosen, chosen.plan.splits)
    assert found.schema.names == chosen_names(chosen)
    assert as_rows(found) == as_rows(expected)


def scene(where, kind, **more):
    r = random.Random(kind)
    columns = {"k": "BIGINT", "i": "INT", "d": "DOUBLE", "e": "DECIMAL(10, 2)", "s": "STRING", "ts": "TIMESTAMP(3)", "a": "ARRAY<INT>"}  # fmt: skip
    table = make_table(where, columns, keys=("k",), bucket="2", **KINDS[kind], **more)
    kinds = ["+I", "+I", "+I", "-D"] if kind in ("deduplicate", "ignore delete", "deletion vectors") else ["+I"]
    for _ in range(4):
        rows = random_rows(r, 700, 1_000).select(list(columns))
        store_rows(
            table, rows, [r.choice(kinds) for _ in range(700)], compact=kind in ("first-row", "deletion vectors")
        )
    return table


def chosen_names(chosen):
    return [f.name for f in chosen.fields]


@pytest.mark.spark
@pytest.mark.parametrize("kind", KINDS)
def test_more_rows_than_thought_come_through_spark(spark, tmp_path, kind):
    """Most values are 7: bounds tell nothing of that."""
    table = scene(tmp_path, kind)
    rows = table.to_arrow()
    mostly_seven = np.where(np.arange(rows.num_rows) % 50, 7, 99_999)
    again = rows.set_column(1, "i", pa.array(mostly_seven, pa.int32())).set_column(0, "k", pc.add(rows["k"], 10_000))
    store_rows(table, again, compact=kind in ("first-row", "deletion vectors"))
    for where, few in ((Compare("i", "=", 7), False), (Compare("i", "=", 99_999), True)):
        few_rows = StrategyLimits(inline_bytes=20_000, inline_rows=100)
        chosen = plan_table_scan(table, filter=where, limits=few_rows, without_spark=True)
        assert {r.strategy for r in chosen.routes} == {ScanStrategy.LATE_MATERIALIZATION}
        assert (read_by_late_materialization(chosen, chosen.plan.splits) is not None) is few
        got = to_arrow(to_dataframe(spark, chosen).where(f"i = {where.literal}"), chosen.fields)
        expected = filter_rows(where, table.to_arrow(), table.schema.fields)
        assert expected.num_rows
        assert as_rows(got) == as_rows(expected)


def test_too_many_rows_are_noticed_in_the_smallest_file(tmp_path, monkeypatch):
    table = make_table(tmp_path, {"k": "BIGINT", "i": "INT"}, keys=("k",), bucket="1", write__only="true")
    for rows in (200_000, 20_000):
        table.upsert(pa.table({"k": np.arange(rows), "i": pa.array(np.arange(rows) % 2 * 1_000_000, pa.int32())}))
    chosen = plan_table_scan(table, filter=Compare("i", "=", 0))
    assert {r.strategy for r in chosen.routes} == {ScanStrategy.LATE_MATERIALIZATION}
    looked = []
    monkeypatch.setattr(searching, "_thread_count", lambda _files: 1)
    own = searching.open_data_file
    monkeypatch.setattr(
        searching, "open_data_file", lambda fs, path, *a, **k: looked.append(path) or own(fs, path, *a, **k)
    )
    assert read_by_late_materialization(chosen, chosen.plan.splits) is None
    smallest = min(chosen.plan.splits[0].files, key=lambda f: f.row_count)
    assert looked[0].endswith(smallest.file_name)


@pytest.mark.parametrize(
    ("change", "where", "found"),
    [
        ("ALTER TABLE t ADD late STRING", IsNull("late"), None),
        ("ALTER TABLE t ADD late STRING", Compare("i", "=", 5), {"k": 5, "i": 5, "s": "b5", "late": None}),
        ("ALTER TABLE t MODIFY i BIGINT", Compare("i", "=", 5), None),
        ("ALTER TABLE t MODIFY i BIGINT", Compare("s", "=", "b5"), {"k": 5, "i": 5, "s": "b5"}),
        ("ALTER TABLE t RENAME s TO name", Compare("name", "=", "b5"), {"k": 5, "i": 5, "name": "b5"}),
        ("ALTER TABLE t DROP s", Compare("i", "=", 5), {"k": 5, "i": 5}),
    ],
)
def test_files_of_an_older_schema(tmp_path, change, where, found):
    """What the files do not hold as the table has it now is not asked of them."""
    wb = workbench.connect(str(tmp_path))
    wb.run("CREATE TABLE t (k BIGINT, i INT, s STRING, PRIMARY KEY (k) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')")  # fmt: skip
    for letter in "ab":
        keys = np.arange(3_000)
        texts = [f"{letter}{k}" for k in keys]
        wb.table("t").upsert(pa.table({"k": keys, "i": pa.array(keys, pa.int32()), "s": texts}))
    wb.run(change)
    chosen = plan_table_scan(wb.table("t"), filter=where, limits=NOT_SMALL)
    assert {r.strategy for r in chosen.routes} == {ScanStrategy.LATE_MATERIALIZATION}
    rows = read_by_late_materialization(chosen, chosen.plan.splits)
    assert (rows and rows.to_pylist()) == (found and [found])


def test_a_snapshot_that_expires_meanwhile_is_told(tmp_path):
    table = scene(tmp_path, "deduplicate")
    chosen = plan_table_scan(table, filter=Compare("i", "=", 5), limits=NOT_SMALL)
    table.compact(full=True)
    expire_snapshots(table.store, ExpireLimits(1, 1, 1 << 62, 50))
    with pytest.raises(SnapshotExpired, match="expired while it was read"):
        read_by_late_materialization(chosen, chosen.plan.splits)


def test_it_is_explained(tmp_path):
    lines = describe_scan(
        plan_table_scan(scene(tmp_path, "deduplicate"), filter=Compare("i", "<", 10), limits=NOT_SMALL)
    )
    assert "late materialization: 2 splits, 8 files: the condition may leave about 219 of 2028 rows" in lines[-1]


def test_without_spark_a_large_table_is_searched_too(tmp_path):
    wb = workbench.connect(str(tmp_path))
    wb.run("CREATE TABLE log (k BIGINT, s STRING)")
    keys = np.arange(300_000)
    wb.table("log").append(pa.table({"k": keys, "s": [f"text {k}" for k in keys]}))
    assert wb.run("SELECT k FROM log WHERE s = 'text 77'").arrow.to_pylist() == [{"k": 77}]
    assert not wb.session.spark_started
