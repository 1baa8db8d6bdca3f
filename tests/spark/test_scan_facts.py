"""Strategies of splits: what depends on a schema and a format is found once for all files."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.spark.scan.table_scan import StrategyLimits
from paimon_nb.table.read.strategy.planned_scan import facts_of, plan_table_scan
from paimon_nb.table.read.strategy.routes import NativeReads, choose_routes

pytestmark = pytest.mark.unit


@pytest.fixture
def wb(tmp_path):
    with paimon_nb.connect(tmp_path) as wb:
        yield wb


def test_facts_of_a_schema_are_found_once(wb: paimon_nb.Workbench):
    """100,000 files of a schema are asked for their names only."""
    wb.run("CREATE TABLE t (k INT, v STRING) PARTITIONED BY (k)")
    wb.table("t").append(pa.table({"k": pa.array([*range(20)] * 2, pa.int32()), "v": ["x"] * 40}))
    wb.run("ALTER TABLE t ADD COLUMN w INT")
    wb.table("t").append(
        pa.table({"k": pa.array([1, 1, 2, 2], pa.int32()), "v": ["y"] * 4, "w": pa.array([1] * 4, pa.int32())})
    )
    scan = plan_table_scan(wb.table("t"))
    asked: Counter[int] = Counter()
    facts = facts_of(scan.store, scan.fields, StrategyLimits(inline_bytes=0))

    def file_fields(schema_id):
        asked[schema_id] += 1
        return facts.file_fields(schema_id)

    routes = choose_routes(scan.plan.splits, replace(facts, file_fields=file_fields))

    assert {r.strategy.value for r in routes} == {"native"}
    assert sum(len(s.files) for s in scan.plan.splits) == 22
    assert asked == {0: 1, 1: 1}


def test_files_of_one_schema_keep_their_own_obstacles(wb: paimon_nb.Workbench):
    """Beside files that Spark reads: another format, a hidden name, some of the columns."""
    wb.run("CREATE TABLE t (k INT, v STRING)")
    wb.table("t").append(pa.table({"k": pa.array([1], pa.int32()), "v": ["x"]}))
    scan = plan_table_scan(wb.table("t"))
    (file,) = scan.plan.splits[0].files
    native = NativeReads(facts_of(scan.store, scan.fields, scan.limits))
    files = [
        file,
        replace(file, file_name=file.file_name.replace(".parquet", ".avro")),
        replace(file, file_name="_" + file.file_name),
        replace(file, write_cols=("k",)),
        file,
    ]

    assert [native.obstacle(f) for f in files] == [
        None,
        "Spark reads no avro files",
        "Spark skips files whose names start with '_' or '.'",
        "the file contains only some columns of its schema",
        None,
    ]
