"""Spark's own reader on our files: special directory names, columns by id, masks, old dates."""

import datetime as dt
import shutil
from functools import reduce
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from paimon_nb.format.types import DataField, parse_type
from paimon_nb.spark.runtime.arrow_interop import to_arrow
from paimon_nb.spark.scan.native_scan import scan_files
from paimon_nb.spark.scan.position_filter import Mask, groups_of_distinct_sizes

pytestmark = pytest.mark.spark

OLD = (
    DataField(0, "a", parse_type("INT")),
    DataField(1, "b", parse_type("STRING")),
    DataField(2, "gone", parse_type("INT")),
)
NEW = (
    DataField(1, "name", parse_type("STRING")), DataField(0, "a", parse_type("BIGINT")),
    DataField(3, "fresh", parse_type("TIMESTAMP(3)")),
)  # fmt: skip


@pytest.fixture
def paths(tmp_path):
    out = []
    for number, folder in enumerate(["dt=2024-01-01/bucket-0", "dt=a%3Ab*{c} d/h=1/bucket-0", "bucket-1", "dt=x=y"]):
        where = tmp_path / folder
        where.mkdir(parents=True)
        rows = pa.table(
            {"a": pa.array([number, None], pa.int32()), "b": ["x", str(number)], "gone": pa.array([1, 2], pa.int32())}
        )
        pq.write_table(rows, where / f"data-{number}.parquet")
        out.append(f"file://{where}/data-{number}.parquet")
    return out


def test_columns_are_matched_by_id(spark, paths):
    frame = scan_files(spark, "parquet", paths, OLD, NEW)
    assert frame.columns == ["name", "a", "fresh"]
    assert sorted(map(tuple, frame.collect()), key=str) == sorted(
        [("x", n, None) for n in range(4)] + [(str(n), None, None) for n in range(4)], key=str
    )


def mask_of(hidden, sizes, group):
    return Mask.of([(n, hidden[n]) for n in group], sizes)


def test_hidden_rows_are_left_out(spark, paths):
    hidden = {f"data-{n}.parquet": np.array([n % 2 == 0, n % 2 == 1]) for n in range(4)}
    sizes = {name: Path(path.removeprefix("file://")).stat().st_size for name, path in zip(hidden, paths, strict=True)}
    frames = [
        scan_files(
            spark,
            "parquet",
            [p for p in paths if p.rsplit("/", 1)[-1] in group],
            OLD,
            NEW,
            mask_of(hidden, sizes, group),
        )
        for group in groups_of_distinct_sizes(sizes.items())
    ]
    frame = reduce(lambda a, b: a.union(b), frames)
    assert sorted(map(tuple, frame.select("name", "a").collect()), key=str) == sorted(
        [("0", None), ("x", 1), ("2", None), ("x", 3)], key=str
    )


def test_rows_are_counted_when_no_column_is_left(spark, paths):
    assert scan_files(spark, "parquet", paths, OLD, NEW[2:]).count() == 8


def test_timestamps_and_old_dates_come_as_stored(spark, tmp_path):
    fields = tuple(
        DataField(i, n, parse_type(t))
        for i, (n, t) in enumerate({"d": "DATE", "n": "TIMESTAMP(3)", "z": "TIMESTAMP(6) WITH LOCAL TIME ZONE"}.items())
    )
    when = dt.datetime(1, 3, 4, 5, 6, 7, 8000)
    rows = pa.table({
        "d": pa.array([dt.date(1, 1, 1), dt.date(1582, 10, 10)]),
        "n": pa.array([when, dt.datetime(2024, 3, 10, 2, 30)], pa.timestamp("ms")),
        "z": pa.array([when, dt.datetime(2024, 3, 10, 2, 30)], pa.timestamp("us", tz="UTC")),
    })  # fmt: skip
    pq.write_table(rows, tmp_path / "data-0.parquet")
    back = to_arrow(scan_files(spark, "parquet", [f"file://{tmp_path}/data-0.parquet"], fields, fields), fields)
    assert back.to_pylist() == rows.to_pylist()


def test_many_paths_are_listed_in_few_tasks(spark, paths, tmp_path):
    source = Path(paths[0].removeprefix("file://"))
    many = [f"file://{shutil.copy(source, tmp_path / f'data-{n}.parquet')}" for n in range(40)]
    setting = "spark.sql.sources.parallelPartitionDiscovery.parallelism"
    before, context = spark.conf.get(setting), spark.sparkContext
    context.setJobGroup("listing of many paths", "")
    frame = scan_files(spark, "parquet", many, OLD, NEW)
    context.setLocalProperty("spark.jobGroup.id", None)
    tracker = context.statusTracker()
    (job,) = tracker.getJobIdsForGroup("listing of many paths")
    (stage,) = tracker.getJobInfo(job).stageIds
    assert tracker.getStageInfo(stage).numTasks == context.defaultParallelism
    assert spark.conf.get(setting) == before
    assert frame.count() == 80
