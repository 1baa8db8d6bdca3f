"""A displayed SELECT plans each scan once, whichever engine answers it."""

from __future__ import annotations

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.table.read.plan.snapshot_scan import observed_plans

pytestmark = pytest.mark.unit


@pytest.fixture
def wb(tmp_path):
    with paimon_nb.connect(tmp_path) as wb:
        wb.run("CREATE TABLE t (id INT, v DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
        for _ in range(2):
            wb.table("t").upsert(pa.table({"id": pa.array(range(60_000), pa.int32()), "v": [0.5] * 60_000}))
        yield wb


@pytest.mark.parametrize(
    "text",
    [
        "SELECT id, v FROM t WHERE v > 0.4",
        "SELECT count(*) AS n FROM t",
        "SELECT v, count(*) AS n FROM t WHERE id > 7 GROUP BY v",
        "SELECT count(*) AS n FROM t a JOIN t b ON a.id = b.id",
    ],
)
def test_a_displayed_select_plans_a_scan_once(wb, text):
    pytest.importorskip("duckdb")
    with observed_plans() as plans:
        rows = wb.run(text).arrow
    assert rows is not None
    assert not wb.session.spark_started
    assert len(plans) == 1


def test_the_next_statement_sees_the_next_snapshot(wb):
    text = "SELECT count(*) AS n FROM t WHERE id >= 0"
    before = wb.run(text).arrow.to_pylist()
    wb.table("t").upsert(pa.table({"id": pa.array([60_000], pa.int32()), "v": [1.5]}))
    assert (before, wb.run(text).arrow.to_pylist()) == ([{"n": 60_000}], [{"n": 60_001}])
