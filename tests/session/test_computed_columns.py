"""Computed columns of tables, kept and answered as real Flink 1.20 with Paimon 1.3.1 does."""

import datetime as dt
from decimal import Decimal

import pytest

from paimon_nb.base.errors import PaimonError, SchemaMismatch

pytestmark = pytest.mark.spark
TABLE = """CREATE TABLE cc (id INT, price DECIMAL(10,2), qty INT, cost AS price * qty, ts TIMESTAMP(3), d AS CAST(ts AS DATE) COMMENT 'day',
  WATERMARK FOR ts AS ts - INTERVAL '5' SECOND, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')"""


@pytest.fixture
def made(swb):
    swb.run(
        f"{TABLE}; INSERT INTO cc VALUES (1, 2.50, 4, TIMESTAMP '2024-01-31 10:15:30'); INSERT INTO cc (id, qty) VALUES (2, 3)"
    )
    return swb


def test_they_are_computed_when_read(made):
    first = (1, Decimal("2.50"), 4, Decimal("10.00"), dt.datetime(2024, 1, 31, 10, 15, 30), dt.date(2024, 1, 31))
    assert sorted(tuple(r) for r in made.sql("SELECT * FROM cc").collect()) == [first, (2, None, 3, None, None, None)]
    assert [tuple(r) for r in made.sql("SELECT c.d, id FROM cc AS c WHERE cost > 1").collect()] == [(first[5], 1)]
    assert made.spark.table("cc").columns == ["id", "price", "qty", "cost", "ts", "d"]
    assert made.table("cc").schema.names == ("id", "price", "qty", "ts")


def test_they_are_kept_as_flink_keeps_them(made):
    """What Flink wrote into the schema file for this statement; it writes expressions with quoted names."""
    schema = made.table("cc").schema
    kept = {k: v for k, v in schema.options.items() if k.startswith("schema.")}
    assert kept == {
        "schema.3.name": "cost", "schema.3.expr": "`price` * `qty`", "schema.3.data-type": "DECIMAL(21, 2)",
        "schema.5.name": "d", "schema.5.expr": "CAST(`ts` AS DATE)", "schema.5.data-type": "DATE", "schema.5.comment": "day",
        "schema.watermark.0.rowtime": "ts", "schema.watermark.0.strategy.expr": "`ts` - INTERVAL '5' SECOND",
        "schema.watermark.0.strategy.data-type": "TIMESTAMP(3)",
    }  # fmt: skip


def test_they_are_told(made):
    told = made.run("DESCRIBE cc").arrow.to_pylist()
    assert [(r["col_name"], r["data_type"], r["key"]) for r in told][3:] == [
        ("cost", "DECIMAL(21, 2)", "AS `price` * `qty`"), ("ts", "TIMESTAMP(3)", None), ("d", "DATE", "AS CAST(`ts` AS DATE)"),
    ]  # fmt: skip
    (again,) = made.run("SHOW CREATE TABLE cc").arrow.column(0).to_pylist()
    assert "  `cost` AS `price` * `qty`,\n  `ts` TIMESTAMP(3),\n  `d` AS CAST(`ts` AS DATE) COMMENT 'day'" in again
    made.run(again.replace("`cc`", "`dd`"))
    assert made.table("dd").schema.options == made.table("cc").schema.options
    made.run("CREATE TABLE ll (more INT, twice AS more * 2) LIKE cc")
    assert made.spark.table("ll").columns == ["id", "price", "qty", "cost", "ts", "d", "more", "twice"]


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("CREATE TABLE t (id INT, c AS nope + 1)", "nope"),
        ("CREATE TABLE t (id INT, id AS 1)", "duplicate column"),
        ("CREATE TABLE t (id INT, dt AS CAST(id AS STRING)) PARTITIONED BY (dt)", "partition key column 'dt'"),
    ],
)
def test_what_cannot_be_computed_is_refused(swb, text, error):
    with pytest.raises((PaimonError, SchemaMismatch), match=error) as caught:
        swb.run(text)
    assert caught.value.hint
    assert swb.run("SHOW TABLES").arrow.num_rows == 0
