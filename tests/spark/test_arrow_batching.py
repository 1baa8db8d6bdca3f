"""Rows cross to Python in batches bounded by rows while they are narrow; wide ones fall back to the session's limits."""

import pytest
from pyspark.sql import functions as F

from paimon_nb.spark.runtime.arrow_batching import BATCH_ROWS, ROW_BYTES, try_row_bounded_batches

pytestmark = pytest.mark.spark


@pytest.fixture
def small_batches(spark):
    """The session's own settings, which only the second run may show."""
    keys = {"maxRecordsPerBatch": "1000", "maxBytesPerBatch": "1g"}
    before = {k: spark.conf.get(f"spark.sql.execution.arrow.{k}") for k in keys}
    for key, value in keys.items():
        spark.conf.set(f"spark.sql.execution.arrow.{key}", value)
    yield spark
    for key, value in before.items():
        spark.conf.set(f"spark.sql.execution.arrow.{key}", value)


def longest_batch(frame):
    def count(batches):
        import pyarrow as pa

        for batch in batches:
            yield pa.RecordBatch.from_pydict({"rows": [batch.num_rows]})

    return frame.mapInArrow(count, "rows bigint").agg(F.max("rows")).head()[0]


@pytest.mark.parametrize(
    ("columns", "longest"),
    [
        (["id", "'short' AS s", "X'00' AS b", "CAST(NULL AS STRING) AS n"], BATCH_ROWS),
        pytest.param(["id"], BATCH_ROWS, marks=pytest.mark.nightly),
        (["id", f"repeat('x', {ROW_BYTES}) AS s"], BATCH_ROWS),
        (["id", f"CASE WHEN id = 19999 THEN repeat('x', {ROW_BYTES}) END AS s", "'more' AS t"], 1000),
        (["id", "array(id) AS a"], 1000),
    ],
    ids=["narrow", "numbers", "just narrow", "one wide row", "nested"],
)
def test_the_width_of_rows_decides(small_batches, columns, longest):
    frame = small_batches.range(0, 20000, 1, 1).selectExpr(*columns)
    runs = []

    def job(given):
        runs.append(given.count())
        return longest_batch(given)

    assert try_row_bounded_batches(frame, job) == longest
    assert set(runs) == {20000}
    assert small_batches.conf.get("spark.sql.execution.arrow.maxRecordsPerBatch") == "1000"


def test_settings_and_views_of_the_session_are_seen(small_batches):
    small_batches.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        small_batches.range(1).selectExpr("timestamp'2026-01-01 00:00:00' AS t").createOrReplaceTempView(
            "narrow_source"
        )
        frame = small_batches.sql("SELECT date_format(t, 'VV HH') AS s FROM narrow_source")
        assert try_row_bounded_batches(frame, lambda given: given.head()[0]) == "Asia/Tokyo 00"
    finally:
        small_batches.conf.unset("spark.sql.session.timeZone")
        small_batches.catalog.dropTempView("narrow_source")


def test_other_failures_are_not_tried_again(small_batches):
    runs = []

    def job(_):
        runs.append(1)
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        try_row_bounded_batches(small_batches.range(3), job)
    assert runs == [1]
