"""A scan made before is used again for the same files, settings and condition, and for nothing else."""

import pyarrow as pa
import pytest

from paimon_nb.spark.scan.table_scan import read_table
from paimon_nb.table.read.strategy.routes import StrategyLimits
from tests.spark.spark_tables import make_table

pytestmark = pytest.mark.spark
BIG = StrategyLimits(inline_bytes=0, inline_rows=0)


@pytest.fixture
def table(tmp_path):
    made = make_table(tmp_path, {"k": "INT", "v": "STRING"}, keys=("k",), bucket="2", **{"write-only": "true"})
    made.upsert(pa.table({"k": pa.array(range(400), pa.int32()), "v": ["old"] * 400}))
    made.upsert(pa.table({"k": pa.array(range(100, 200), pa.int32()), "v": ["new"] * 100}))
    return made


def counts(frame):
    return {r.v: r["count"] for r in frame.groupBy("v").count().collect()}


def test_the_same_question_makes_no_second_scan(spark, table):
    first, again = (read_table(spark, table, limits=BIG) for _ in range(2))
    assert again is first
    assert counts(first) == counts(again) == {"old": 300, "new": 100}
    assert again.alias("a").join(first.alias("b"), "k").count() == 400


def test_a_new_snapshot_other_columns_and_other_settings_are_asked_anew(spark, table):
    first = read_table(spark, table, limits=BIG)
    assert read_table(spark, table, limits=BIG, columns=["v"]).columns == ["v"]
    spark.conf.set("spark.sql.session.timeZone", "Asia/Tokyo")
    try:
        assert read_table(spark, table, limits=BIG) is not first
    finally:
        spark.conf.unset("spark.sql.session.timeZone")
    table.delete("k < 150")
    assert counts(read_table(spark, table, limits=BIG)) == {"old": 200, "new": 50}
    assert counts(read_table(spark, table, limits=BIG, options={"scan.snapshot-id": "1"})) == {"old": 400}
    assert counts(first) == {"old": 300, "new": 100}


def test_another_session_has_its_own(spark, table):
    other = spark.newSession()
    assert read_table(other, table, limits=BIG) is not read_table(spark, table, limits=BIG)
    assert counts(read_table(other, table, limits=BIG)) == {"old": 300, "new": 100}
