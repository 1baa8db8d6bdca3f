"""`/` between whole numbers: Spark's, until the user sets Flink's mode."""

from decimal import Decimal

import pytest
from sampling import sampled

pytestmark = pytest.mark.spark


def answers(wb, cases, rest):
    """(value, type) of the expressions of these cases, as one query has them."""
    listed = ", ".join(f"{expression} AS c{i}" for i, (expression, *_) in enumerate(cases))
    frame = wb.sql(f"SELECT {listed} {rest}")
    return [(value, kind) for value, (_, kind) in zip(frame.first(), frame.dtypes, strict=True)]


@pytest.fixture
def flink(swb):
    result = swb.run("SET 'execution.runtime-mode' = 'batch'")
    assert result.notes == ["7 / 2 is now 3, as in Flink; RESET 'execution.runtime-mode' for Spark's 3.5"]
    assert swb.run("SET 'execution.runtime-mode' = 'batch'").notes == []
    swb.run(
        "CREATE TABLE t (i INT, b BIGINT, y TINYINT, d DOUBLE, c DECIMAL(5, 2)); INSERT INTO t VALUES (-7, 7, 5, 7.0, 7.00)"
    )
    return swb


WHOLE = [
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
]


def test_division(flink):
    found = answers(flink, WHOLE, "FROM t GROUP BY i, b, y, d, c")
    assert [(e, *f) for (e, *_), f in zip(WHOLE, found, strict=True)] == WHOLE


def test_decimals_and_places(flink):
    assert str(flink.sql("SELECT c / 2 FROM t").first()[0]) == "3.5000000000000"
    assert (
        flink.sql(
            "SELECT count(*) FROM t JOIN (SELECT b / 2 AS h FROM t WHERE b / 2 = 3) u ON t.b / 2 = u.h WHERE i / 2 > :low",
            low=-4,
        ).first()[0]
        == 1
    )
    assert flink.sql("WITH w AS (SELECT b / 2 AS h FROM t) SELECT h FROM w ORDER BY h / 2").first()[0] == 3


def test_division_around_in_with_a_query(flink):
    assert flink.sql("SELECT count(*) FROM t WHERE b / 2 IN (SELECT max(b) / 2 FROM t)").first()[0] == 1


def test_spark_until_then(swb):
    assert swb.sql("SELECT 7 / 2").first()[0] == 3.5
    swb.run("SET 'execution.runtime-mode' = 'streaming'; RESET 'execution.runtime-mode'")
    assert swb.sql("SELECT 7 / 2").first()[0] == 3.5


INF, NAN = float("inf"), float("nan")


FLOATING = [
    ("d / z", INF, "double"),
    ("-d / z", -INF, "double"),
    ("z / z", NAN, "double"),
    ("d / (-z * 1)", -INF, "double"),
    ("d / 0", INF, "double"),
    ("i / z", INF, "double"),
    ("c / z", INF, "double"),
    ("d / c * 0", 0.0, "double"),
    ("d / (d / (z / d))", 0.0, "double"),
    ("n / z", None, "double"),
    ("d / n", None, "double"),
    ("1e0 / 0", INF, "double"),
    ("CAST(-1 AS DOUBLE) / CAST(0 AS DOUBLE)", -INF, "double"),
    ("sum(d) / sum(z)", INF, "double"),
    ("CASE WHEN z <> 0 THEN d / z ELSE 5 END", 5.0, "double"),
    ("f / 0", INF, "float"),
    ("f / d", 1.0142857, "float"),
    ("d / f", 0.985915486089674, "double"),
    ("f / c", 1.014285700661795, "double"),
    ("i / f", 0.98591554, "float"),
    ("sum(f)", 7.1, "float"),
    ("avg(f)", 7.1, "float"),
    ("c / 3", "2.3333333333333", "decimal(16,13)"),
    ("c / 9223372036854775807", "7.589E-19", "decimal(25,22)"),
    ("LN(z)", -INF, "double"),
    ("LOG10(-d)", NAN, "double"),
]


@pytest.mark.parametrize("asked", sampled([FLOATING[n::3] for n in range(3)], 3), ids=["first", "second", "third"])
def test_floating_point_division(swb, asked):
    swb.run("""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE t (i INT, f FLOAT, d DOUBLE, z DOUBLE, n DOUBLE, c DECIMAL(5, 2));
        INSERT INTO t VALUES (7, CAST(7.1 AS FLOAT), 7.0, 0.0, NULL, 7.00)
    """)
    found = answers(swb, asked, "FROM t GROUP BY i, f, d, z, n, c")
    assert [(e, kind) for (e, *_), (_, kind) in zip(asked, found, strict=True)] == [(e, k) for e, _, k in asked]
    for (expression, value, _), (got, _) in zip(asked, found, strict=True):
        same = str(got) == str(value) if value is None or isinstance(value, str) else got == pytest.approx(value, nan_ok=True)  # fmt: skip
        assert same, (expression, got)


KEPT = [
    ("FLOOR(d)", -3.0, "double"),
    ("CEIL(d)", -2.0, "double"),
    ("FLOOR(f)", 1.0, "float"),
    ("CEILING(f + 1)", 3.0, "float"),
    ("FLOOR(big)", 1e300, "double"),
    ("CEIL(-0.5e0)", -0.0, "double"),
    ("FLOOR(CEIL(d) / 4)", -1.0, "double"),
    ("FLOOR(i)", 7, "bigint"),
    ("TRUNCATE(d + 0.25e0, 1)", -2.2, "double"),
    ("TRUNCATE(f)", 1.0, "float"),
    ("FLOOR(RAND() * 0)", 0.0, "double"),
    ("f + 1", 2.5, "float"),
    ("f - -1", 2.5, "float"),
    ("i * f", 10.5, "float"),
    ("f + d", -1.0, "float"),
    ("d + f", -1.0, "double"),
    ("f * 1.5", 2.25, "double"),
    ("(f + i) * 2 - i", 10.0, "float"),
    ("CASE WHEN f + 1 > 2 THEN f * 2 ELSE f END", 3.0, "float"),
]


@pytest.mark.parametrize("asked", sampled([KEPT[0::2], KEPT[1::2]], 2), ids=["even", "odd"])
def test_floating_point_numbers_keep_their_type(swb, asked):
    swb.run("""
        SET 'execution.runtime-mode' = 'batch';
        CREATE TABLE t (i INT, f FLOAT, d DOUBLE, big DOUBLE);
        INSERT INTO t VALUES (7, CAST(1.5 AS FLOAT), -2.5, 1e300)
    """)
    found = answers(swb, asked, "FROM t")
    assert [(e, repr(value), kind) for (e, *_), (value, kind) in zip(asked, found, strict=True)] == [
        (e, repr(value), kind) for e, value, kind in asked
    ]


def test_floor_in_sparks_dialect_is_a_bigint(swb):
    assert dict(swb.sql("SELECT FLOOR(CAST(-2.5 AS DOUBLE)) AS x").dtypes)["x"] == "bigint"


@pytest.mark.parametrize("expression", ["i / 0", "1 / 0", "i / z", "c / z", "c / 0", "1.0 / 0", "MOD(i, z)"])
def test_exact_numbers_have_no_quotient_by_zero(swb, expression):
    swb.run("SET 'execution.runtime-mode' = 'batch'; CREATE TABLE t (i INT, z INT, c DECIMAL(5, 2))")
    swb.run("INSERT INTO t VALUES (7, 0, 7)")
    with pytest.raises(Exception, match=r"(?i)by.zero"):
        swb.sql(f"SELECT {expression} FROM t").collect()


def test_a_quotient_by_zero_in_where_and_insert(swb):
    swb.run("SET 'execution.runtime-mode' = 'batch'; CREATE TABLE t (d DOUBLE, z DOUBLE)")
    swb.run("INSERT INTO t SELECT 1e0 / 0, 0.0; INSERT INTO t VALUES (2.0, 1.0)")
    assert swb.sql("SELECT d / z FROM t WHERE d / z > 5 ORDER BY d / z").collect() == [(INF,)]


def test_division_by_zero_in_sparks_dialect(swb):
    with pytest.raises(Exception, match="DIVIDE_BY_ZERO"):
        swb.sql("SELECT CAST(1 AS DOUBLE) / 0").collect()


QUOTIENTS = [
    ("(c / 0.125) / i", "266.666666666666666667", "decimal(24,18)"),
    ("(100.00 / 0.125) / 3", "266.666666666666666667", "decimal(24,18)"),
    ("(c + 1.0) / (0.5 / i)", "605.9999999987880000", "decimal(32,16)"),
    ("c * 0.5 / i", "16.66666666666667", "decimal(19,14)"),
    ("i / .03", "100.000000", "decimal(18,6)"),
    ("c / h", "40000.00000000", "decimal(15,8)"),
]
"""Flink's answers."""


def test_a_zero_before_the_point_is_a_digit_of_a_quotient(flink):
    flink.run("CREATE TABLE q (c DECIMAL(5, 2), i INT); INSERT INTO q VALUES (100.00, 3)")
    found = answers(flink, QUOTIENTS, "FROM (SELECT c, i, 0.0025 AS h FROM q)")
    assert [(e, str(value), kind) for (e, *_), (value, kind) in zip(QUOTIENTS, found, strict=True)] == QUOTIENTS
    assert flink.sql("SELECT 0.5, c / i FROM q").columns[0] == "0.5"


def test_expressions_in_values_mean_what_they_mean_in_a_select(flink):
    """Flink's answers."""
    flink.run("""
        CREATE TABLE v (d DOUBLE, i INT, x DECIMAL(30, 20), s STRING);
        INSERT INTO v VALUES (7 / 2, 7 / 2, (100.00 / 0.125) / 3, CAST(1 > 2 AS STRING)), (7.5e0 / 2, -7 / 2, 1, CAST(TRUE AS STRING));
        INSERT INTO v (i, d) VALUES (DEFAULT, 5 / 4)
    """)
    assert sorted(map(str, flink.sql("SELECT * FROM v").toArrow().to_pylist())) == [
        "{'d': 1.0, 'i': None, 'x': None, 's': None}",
        "{'d': 3.0, 'i': 3, 'x': Decimal('266.66666666666666666700'), 's': 'FALSE'}",
        "{'d': 3.75, 'i': -3, 'x': Decimal('1.00000000000000000000'), 's': 'TRUE'}",
    ]
    values = "(VALUES (7 / 2, 1.0 / 3), (9 / 2, 2)) AS t (a, b)"
    assert answers(flink, [("MAX(a)",), ("MIN(b)",)], f"FROM {values}") == [
        (4, "int"),
        (Decimal("0.333333333333"), "decimal(22,12)"),
    ]
    assert answers(flink, [("i",)], "FROM v WHERE i IN (VALUES (7 / 2), (11))") == [(3, "int")]
    rows = "(VALUES ROW(7 / 2, 1), (ROW(5 / 2, 2)), (3, 3)) AS t (a, b)"
    assert answers(flink, [("SUM(a)",), ("SUM(b)",)], f"FROM {rows}") == [(8, "bigint"), (6, "bigint")]
