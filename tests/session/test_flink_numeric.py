"""`/` between whole numbers: Spark's, until the user sets Flink's mode."""

import pytest

pytestmark = pytest.mark.spark


@pytest.fixture
def flink(swb):
    result = swb.run("SET 'execution.runtime-mode' = 'batch'")
    assert result.notes == ["7 / 2 is now 3, as in Flink; RESET 'execution.runtime-mode' for Spark's 3.5"]
    assert swb.run("SET 'execution.runtime-mode' = 'batch'").notes == []
    swb.run(
        "CREATE TABLE t (i INT, b BIGINT, y TINYINT, d DOUBLE, c DECIMAL(5, 2)); INSERT INTO t VALUES (-7, 7, 5, 7.0, 7.00)"
    )
    return swb


@pytest.mark.parametrize(
    ("expression", "value", "kind"),
    [
        ("i / 2", -3, "int"),
        ("b / 2", 3, "bigint"),
        ("y / y", 1, "tinyint"),
        ("y / i", 0, "int"),
        ("b / 2 / 2", 1, "bigint"),
        ("b / (2 / 2) * 3", 21, "bigint"),
        ("2 * b / 4", 3, "bigint"),
        ("7 /* half */ / 2", 3, "int"),
        ("CASE WHEN b / 2 = 3 THEN b / 3 ELSE 0 END / 2", 1, "bigint"),
        ("sum(b) / 2", 3, "bigint"),
        ("d / 2", 3.5, "double"),
        ("CAST(b AS DOUBLE) / CAST(2 AS DOUBLE)", 3.5, "double"),
        ("(SELECT max(b) / 2 FROM t)", 3, "bigint"),
        ("length('a/b') / 2", 1, "int"),
    ],
)
def test_division(flink, expression, value, kind):
    frame = flink.sql(f"SELECT {expression} AS x FROM t GROUP BY i, b, y, d, c")
    assert (frame.first()[0], dict(frame.dtypes)["x"]) == (value, kind)


def test_decimals_and_places(flink):
    assert str(flink.sql("SELECT c / 2 FROM t").first()[0]) == "3.500000"
    assert (
        flink.sql(
            "SELECT count(*) FROM t JOIN (SELECT b / 2 AS h FROM t WHERE b / 2 = 3) u ON t.b / 2 = u.h WHERE i / 2 > :low",
            low=-4,
        ).first()[0]
        == 1
    )
    assert flink.sql("WITH w AS (SELECT b / 2 AS h FROM t) SELECT h FROM w ORDER BY h / 2").first()[0] == 3


def test_spark_until_then(swb):
    assert swb.sql("SELECT 7 / 2").first()[0] == 3.5
    swb.run("SET 'execution.runtime-mode' = 'streaming'; RESET 'execution.runtime-mode'")
    assert swb.sql("SELECT 7 / 2").first()[0] == 3.5
