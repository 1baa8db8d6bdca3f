"""The way of a split is chosen from sizes and from how many keys are asked for; no Spark is started to choose."""

import numpy as np
import pyarrow as pa
import pytest
from spark_tables import make_table

from paimon_nb.table.read import And, Compare, In
from paimon_nb.table.read.predicate.evaluate import filter_rows
from paimon_nb.table.read.strategy.planned_scan import plan_table_scan, read_inline
from paimon_nb.table.read.strategy.routes import ScanStrategy, StrategyLimits

SMALL = StrategyLimits(inline_bytes=50_000, inline_rows=2_000)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """100,000 keys, every tenth written again in each of two more commits."""
    made = make_table(
        tmp_path_factory.mktemp("route"), {"k": "BIGINT", "v": "STRING", "n": "INT"}, keys=("k",), bucket="2"
    )
    for number, step in enumerate((1, 10, 10)):
        keys = np.arange(0, 100_000, step)
        rows = {"k": keys, "v": [f"{number}-{k}" for k in keys], "n": pa.array(keys[::-1].astype(np.int32))}
        made.upsert(pa.table(rows))
    return made


@pytest.mark.parametrize(
    ("where", "way"),
    [
        (None, ScanStrategy.MASKED),
        (Compare("k", "=", 77), ScanStrategy.INLINE),
        (In("k", (5, 900)), ScanStrategy.INLINE),
        (And((Compare("k", ">=", 5_000), Compare("k", "<", 6_000))), ScanStrategy.INLINE),
        (Compare("k", "<", 50_000), ScanStrategy.MASKED),
        (Compare("k", ">", -(2**63)), ScanStrategy.MASKED),
        (Compare("v", "=", "0-3"), ScanStrategy.LATE_MATERIALIZATION),
        (Compare("n", "<", 1_000), ScanStrategy.LATE_MATERIALIZATION),
        (Compare("n", "<", 50_000), ScanStrategy.MASKED),
        (And((Compare("k", "<", 50_000), Compare("n", "=", 70_000))), ScanStrategy.LATE_MATERIALIZATION),
    ],
)
def test_few_keys_are_read_in_the_driver(table, where, way):
    chosen = plan_table_scan(table, filter=where, limits=SMALL)
    assert {r.strategy for r in chosen.routes} == {way}
    every = table.to_arrow()
    expected = filter_rows(where, every, table.schema.fields).sort_by("k")
    assert expected.num_rows
    assert read_inline(chosen, chosen.plan.splits).sort_by("k").to_pydict() == expected.to_pydict()


@pytest.mark.parametrize(
    ("limits", "without_spark", "way"),
    [
        ({}, False, ScanStrategy.MASKED),
        ({"driver_rows": 119_000}, False, ScanStrategy.TASKS),
        ({"driver_rows": 119_000}, True, ScanStrategy.MASKED),
        ({"driver_rows": 50_000}, False, ScanStrategy.MASKED),  # each split is larger: one task for it would be slow
        ({"masked_rows": 119_000, "driver_rows": 50_000}, False, ScanStrategy.TASKS),
    ],
)
def test_the_driver_hides_few_rows_by_position(table, limits, without_spark, way):
    """120,000 stored rows in two splits."""
    limits = StrategyLimits(inline_bytes=0, **limits)
    chosen = plan_table_scan(table, limits=limits, without_spark=without_spark)
    assert {r.strategy for r in chosen.routes} == {way}


def test_a_selective_condition_on_many_rows_reads_only_matching_rows(table):
    limits = StrategyLimits(inline_bytes=50_000, inline_rows=2_000, driver_rows=119_000)
    chosen = plan_table_scan(table, filter=Compare("n", "<", 1_000), limits=limits)
    assert {(r.strategy, r.fallback) for r in chosen.routes} == {
        (ScanStrategy.LATE_MATERIALIZATION, ScanStrategy.TASKS)
    }
