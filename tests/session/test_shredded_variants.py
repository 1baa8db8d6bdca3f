"""VARIANT columns that are shredded in the files: Spark's own files are read, Spark reads ours, and SQL knows no difference."""

import json
from pathlib import Path

import pytest
from pyarrow import parquet as pq

from paimon_nb.format.data import read_data_file
from paimon_nb.format.types import DataField, parse_type
from paimon_nb.fs import LocalFileIO

pytestmark = pytest.mark.spark

VALUES = """
    SELECT id, parse_json(j) AS v FROM VALUES
      (0, '{"a": 1, "b": "x", "c": {"d": [1, 2.5, null], "e": true}}'), (1, '{"a": "no", "z": {"y": 1}}'), (2, '[1, "two", {"a": 3}]'),
      (3, 'null'), (4, NULL), (5, '{"a": null, "b": null, "c": {"d": [], "q": 1}}'), (6, '{}'), (7, '7') AS d (id, j)
    UNION ALL SELECT 8, to_variant_object(named_struct(
      'a', 1, 'ts', timestamp_ltz'2024-01-02 03:04:05.123456', 'n', timestamp_ntz'1960-01-02 03:04:05.000001', 'dt', date'1969-12-31',
      'bin', X'0102', 'dec', CAST(1.50 AS DECIMAL(20, 3)), 'f', CAST(1.5 AS FLOAT), 'dbl', 2.5d))
"""
LAYOUTS = {
    "object": "a bigint, b string, c struct<d array<double>, e boolean>, ts timestamp, n timestamp_ntz, dt date, bin binary, dec decimal(20,3), f float, dbl double",
    "narrow": "a tinyint, c struct<d string>, dec decimal(9,3), ts timestamp_ntz, dt int",
    "array": "array<int>",
}
"""Spark's types of what is shredded."""
FIELDS = (DataField(0, "id", parse_type("INT")), DataField(1, "v", parse_type("VARIANT")))
QUERIES = (
    "SELECT id, to_json(v), schema_of_variant(v) FROM {t}",
    "SELECT id, try_variant_get(v, '$.a', 'bigint'), try_variant_get(v, '$.c.d[1]', 'double'), try_variant_get(v, '$.z.y', 'string') FROM {t}",
    "SELECT id, try_cast(v AS STRING), v:b FROM {t} WHERE try_variant_get(v, '$.a', 'int') = 1",
    "SELECT id, is_variant_null(v), v IS NULL FROM {t}",
)


def as_texts(rows: list) -> list[tuple[str, ...]]:
    return sorted((tuple(map(str, r)) for r in rows), key=lambda r: int(r[0]))


def answers(session, source: str) -> list:
    """Of Spark or of a workbench."""
    return [as_texts(session.sql(q.format(t=source)).collect()) for q in QUERIES]


def shredded_by_spark(spark, layout: str, path: Path) -> Path:
    """A Parquet file of VALUES; '' leaves the VARIANT whole."""
    settings = {
        "spark.sql.variant.writeShredding.enabled": str(bool(layout)).lower(),
        "spark.sql.variant.forceShreddingSchemaForTest": layout,
    }
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        spark.sql(VALUES).coalesce(1).write.parquet(str(path))
    finally:
        for key in settings:
            spark.conf.unset(key)
    return next(path.glob("*.parquet"))


@pytest.mark.parametrize("name", LAYOUTS)
def test_what_spark_shredded_is_read(swb, spark, tmp_path, name):
    path = shredded_by_spark(spark, LAYOUTS[name], tmp_path / name)
    assert "typed_value" in str(pq.read_schema(path))
    swb.run("CREATE TABLE t (id INT, v VARIANT)")
    swb.table("t").append(read_data_file(LocalFileIO(), str(path), FIELDS))
    spark.sql(VALUES).createOrReplaceTempView("wanted")
    assert answers(swb, "t") == answers(spark, "wanted")


SCHEMA = {"type": "ROW", "fields": [{"name": "v", "type": {"type": "ROW", "fields": [
    {"name": "a", "type": "BIGINT"}, {"name": "b", "type": "STRING"},
    {"name": "c", "type": {"type": "ROW", "fields": [{"name": "d", "type": {"type": "ARRAY", "element": "DOUBLE"}}, {"name": "e", "type": "BOOLEAN"}]}},
    {"name": "ts", "type": "TIMESTAMP(6) WITH LOCAL TIME ZONE"}, {"name": "n", "type": "TIMESTAMP(6)"}, {"name": "dt", "type": "DATE"},
    {"name": "bin", "type": "BYTES"}, {"name": "dec", "type": "DECIMAL(20, 3)"}, {"name": "f", "type": "FLOAT"}, {"name": "dbl", "type": "DOUBLE"},
]}}]}  # fmt: skip


def test_spark_reads_what_is_shredded_here_and_queries_are_the_same(swb, spark):
    swb.run(f"CREATE TABLE t (id INT, v VARIANT) TBLPROPERTIES ('variant.shreddingSchema' = '{json.dumps(SCHEMA)}')")
    swb.run(f"INSERT INTO t {VALUES}")
    path = swb.table("t").system("files").column("file_path")[0].as_py()
    spark.read.schema("id int, v variant").parquet(path).createOrReplaceTempView("file_of_ours")
    spark.sql(VALUES).createOrReplaceTempView("wanted")
    wanted = answers(spark, "wanted")
    assert answers(spark, "file_of_ours") == wanted
    assert answers(swb, "t") == wanted
