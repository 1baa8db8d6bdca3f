"""The expressions of an analysed query, as they are listed in the JVM."""

import pytest

from paimon_nb.spark.runtime.jvm_bridge import analyzed_plan
from paimon_nb.spark.runtime.plan_expressions import expressions_of

pytestmark = pytest.mark.spark


def texts(spark, query, *names):
    return [
        (f.name, f.expression.sql(), f.parent is not None and f.parent.getClass().getSimpleName() == "Alias")
        for f in expressions_of(spark, analyzed_plan(spark.sql(query)), names)
    ]


def test_expressions_of_each_part_of_a_union(spark):
    query = "SELECT 1 / 2 AS a, upper('x') AS b UNION ALL SELECT 1 + 4 / 5, 'y'"
    assert texts(spark, query, "Divide", "Upper") == [
        ("Divide", "(CAST(1 AS DOUBLE) / CAST(2 AS DOUBLE))", True),
        ("Upper", "upper('x')", True),
        ("Divide", "(CAST(4 AS DOUBLE) / CAST(5 AS DOUBLE))", False),
    ]


def test_expressions_of_subqueries_and_none_of_views(spark):
    spark.sql("SELECT 3 / 4 AS v").createOrReplaceTempView("divided")
    try:
        query = "SELECT v, (SELECT max(5 / 6)) AS m FROM divided WHERE v < 7 / 8"
        assert sorted(text for _, text, _ in texts(spark, query, "Divide")) == [
            "(CAST(5 AS DOUBLE) / CAST(6 AS DOUBLE))", "(CAST(7 AS DOUBLE) / CAST(8 AS DOUBLE))",
        ]  # fmt: skip
    finally:
        spark.catalog.dropTempView("divided")
