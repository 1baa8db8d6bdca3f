"""What people paste that neither dialect's books put first: forms of Spark, Hive, Delta Lake and other databases."""

from __future__ import annotations

import pyspark
import pytest

from paimon_nb.base.errors import (
    AlreadyExists,
    PaimonError,
    SchemaMismatch,
    SqlSyntaxError,
    TableNotFound,
    UnsupportedOperation,
)

ELSEWHERE = {
    # statement -> a word of the next step
    "OPTIMIZE t": "sys.compact",
    "VACUUM t": "expire_snapshots",
    "RESTORE TABLE t TO VERSION AS OF 1": "rollback_to",
    "UPSERT INTO t VALUES (1)": "primary key",
    "REPLACE INTO t VALUES (1)": "primary key",
    "INSERT IGNORE INTO t VALUES (1)": "first-row",
    "START TRANSACTION": "one commit",
    "COMMIT": "one commit",
    "GRANT SELECT ON t TO me": "storage system",
    "DESCRIBE DETAIL t": "DESCRIBE EXTENDED t",
    "DESCRIBE HISTORY d.t": "`d.t$snapshots`",
    "CREATE TABLE g (id INT, d INT GENERATED ALWAYS AS (id + 1))": "d AS expression",
    "CREATE TABLE g (id INT, CONSTRAINT c CHECK (id > 0))": "remove it",
    "CREATE TABLE g (id INT) CLUSTER BY (id)": "zorder",
    "CREATE TABLE g (id INT) STORED AS PARQUET": "file.format",
    "FROM t INSERT INTO t SELECT id INSERT INTO u SELECT id": "separate INSERT statements",
}


@pytest.mark.parametrize("text", ELSEWHERE)
def test_statements_of_others_are_told_what_to_write_here(wb, text):
    wb.run("CREATE TABLE t (id INT); CREATE TABLE u (id INT)")
    with pytest.raises(SqlSyntaxError) as caught:
        wb.run(text)
    assert ELSEWHERE[text] in str(caught.value.hint)


def test_a_procedure_takes_values_by_name(wb):
    wb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1)")
    wb.run("CALL sys.create_tag(table => :t, tag => :tag, snapshot => :s)", t="t", tag="x'; DROP TABLE t; --", s=1)
    assert wb.table("t").store.tags.names() == ["x'; DROP TABLE t; --"]
    wb.run("CALL sys.delete_tag(:t, :tag)", t="t", tag="x'; DROP TABLE t; --")
    assert wb.table("t").store.tags.names() == []


@pytest.mark.spark
@pytest.mark.skipif(pyspark.__version__.startswith("4.0."), reason="Spark 4.0 itself fails")
def test_a_recursive_query(swb):
    found = swb.run("WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT * FROM r")
    assert sorted(tuple(row) for row in found.frame.collect()) == [(1,), (2,), (3,)]


@pytest.mark.spark
def test_forms_of_spark(swb):
    swb.run(
        "CREATE TABLE t (id INT, v STRING); INSERT INTO t VALUES (1, 'a'), (2, 'b'); CREATE TABLE u (id INT); CREATE TABLE w (n STRING)"
    )

    def asked(text: str) -> list[tuple]:
        result = swb.run(text)
        found = result.frame.collect() if result.frame is not None else [r.values() for r in result.arrow.to_pylist()]
        return sorted(tuple(r) for r in found)

    swb.run(
        "FROM t INSERT INTO u SELECT id WHERE id = 1 INSERT INTO w SELECT concat(v, (SELECT max(v) FROM t)) WHERE id = 2"
    )
    swb.run(
        "CREATE GLOBAL TEMPORARY VIEW g AS SELECT id + 10 AS id FROM t; CACHE LAZY TABLE c OPTIONS ('storageLevel' = 'DISK_ONLY') AS SELECT v FROM t WHERE id = 1"
    )
    swb.run(
        "DECLARE VARIABLE wild_one INT DEFAULT 5; SET VAR wild_one = 6; CREATE TABLE b (id INT) CLUSTERED BY (id) INTO 4 BUCKETS"
    )
    assert {
        "u": asked("SELECT * FROM u"), "w": asked("SELECT * FROM w"), "g": asked("SELECT * FROM global_temp.g"),
        "c": asked("SELECT * FROM c"), "vv": asked("SELECT wild_one"),
        "now": asked("SELECT current_catalog(), upper(current_database()), current_schema()"),
        "abs": asked("SHOW FUNCTIONS LIKE 'ab%'"),
    } == {
        "u": [(1,)], "w": [("bb",)], "g": [(11,), (12,)], "c": [("a",)], "vv": [(6,)],
        "now": [("paimon", "DEFAULT", "default")], "abs": [("abs",)],
    }  # fmt: skip
    assert swb.sql("SELECT current_catalog(), id FROM t").columns == ["current_catalog()", "id"]
    assert swb.table("b").schema.options == {"bucket-key": "id", "bucket": "4"}


@pytest.mark.spark
def test_merge_of_pyspark(swb):
    from pyspark.sql.functions import col, expr, lit

    swb.run(
        "CREATE TABLE t (id INT, v STRING, n INT, PRIMARY KEY (id) NOT ENFORCED); INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', 3)"
    )
    rows = swb.spark.createDataFrame([(1, "x", 10), (3, "it's", 30), (5, "new", 50)], "id int, v string, n int").alias(
        "s"
    )
    merge = rows.mergeInto("t", expr("t.id = s.id"))
    merge = merge.whenMatched(col("s.n") == lit(30)).update({"v": col("s.v"), "t.n": col("t.n") + col("s.n")})
    merge = (
        merge.whenMatched().delete().whenNotMatched(col("s.v") != "o'clock").insert({"id": col("s.id"), "v": lit("q'")})
    )
    merge.whenNotMatchedBySource(expr("t.id = 2")).update({"v": lit("alone")}).merge()
    assert sorted(tuple(r) for r in swb.sql("SELECT * FROM t").collect()) == [
        (2, "alone", 2),
        (3, "it's", 33),
        (5, "q'", None),
    ]
    rows.mergeInto("t", expr("t.id = s.id")).whenMatched().updateAll().whenNotMatched().insertAll().merge()
    assert swb.sql("SELECT sum(n) FROM t").collect()[0][0] == 92
    with pytest.raises(UnsupportedOperation, match="without a clause"):
        rows.mergeInto("t", expr("t.id = s.id")).merge()


@pytest.mark.spark
@pytest.mark.parametrize("call", ["bucketBy", "clusterBy"])
def test_layouts_of_sparks_own_tables_are_refused_and_not_forgotten(swb, call):
    writer = swb.spark.range(3).write.format("paimon")
    writer = writer.bucketBy(2, "id").sortBy("id") if call == "bucketBy" else writer.clusterBy("id")
    with pytest.raises(UnsupportedOperation, match=f"{call} is for Spark's own tables"):
        writer.saveAsTable("laid")
    with pytest.raises(TableNotFound):
        swb.table("laid")


@pytest.mark.spark
def test_tables_by_pyspark(swb):
    spark = swb.spark
    made = spark.catalog.createTable(
        "t", schema=spark.sql("SELECT 1 AS id, 'a' AS p").schema, source="paimon", description="it's"
    )
    assert made.columns == ["id", "p"]
    assert swb.table("t").schema.comment == "it's"
    spark.catalog.cacheTable("t")
    assert not spark.catalog.isCached("t")
    spark.catalog.uncacheTable("t")


@pytest.mark.nightly
@pytest.mark.spark
def test_overwrite_by_a_condition_is_of_the_partition_that_it_names(swb):
    from pyspark.sql.functions import col, lit

    spark = swb.spark
    swb.run("CREATE TABLE t (id BIGINT, p INT, q STRING) PARTITIONED BY (p, q)")
    swb.run("INSERT INTO t VALUES (1, 1, 'a'), (2, 1, 'b'), (3, 2, 'a')")

    def after(condition, *given) -> list[tuple]:
        spark.createDataFrame([*given], "id BIGINT, p INT, q STRING").writeTo("t").overwrite(condition)
        return sorted(tuple(r) for r in spark.table("t").collect())

    assert after((col("p") == 1) & (lit("b") == col("Q")), (20, 1, "b")) == [(1, 1, "a"), (3, 2, "a"), (20, 1, "b")]
    assert after(col("p") == lit(1).cast("bigint")) == [(3, 2, "a")]
    for condition in (
        col("id") == 1,
        col("p") > 1,
        (col("p") == 1) | (col("p") == 2),
        (col("p") == 1) & (col("p") == 2),
    ):
        with pytest.raises(UnsupportedOperation, match="by the condition"):
            after(condition)
    with pytest.raises(PaimonError):
        after(col("p") == 2, (4, 5, "a"))
    assert after(lit(True), (5, 5, "z")) == [(5, 5, "z")]


@pytest.mark.nightly
@pytest.mark.spark
def test_a_table_is_replaced_by_pyspark_or_stays_as_it_was(swb):
    rows = swb.spark.createDataFrame([(1, "a")], "id INT, v STRING")
    with pytest.raises(TableNotFound, match="no table t"):
        rows.writeTo("t").replace()
    rows.writeTo("t").createOrReplace()
    rows.withColumnRenamed("v", "w").writeTo("t").replace()
    assert swb.spark.table("t").columns == ["id", "w"]
    bad = rows.writeTo("t").tableProperty("primary-key", "id").tableProperty("sequence.field", "nope")
    for replaces in (bad.replace, bad.createOrReplace):
        with pytest.raises(PaimonError, match="nope"):
            replaces()
    assert [tuple(r) for r in swb.spark.table("t").collect()] == [(1, "a")]
    with pytest.raises(AlreadyExists, match="table t exists"):
        rows.write.format("paimon").saveAsTable("t")


@pytest.mark.spark
def test_partitions_that_a_writer_names_are_the_tables(swb):
    rows = swb.spark.createDataFrame([(1, "a")], "id INT, p STRING")
    rows.write.format("paimon").partitionBy("p").saveAsTable("t")
    for mode in ("append", "overwrite"):
        with pytest.raises(SchemaMismatch, match=r"partitioned by \(p\), not by \(id\)"):
            rows.write.format("paimon").partitionBy("id").mode(mode).saveAsTable("t")
    with pytest.raises(UnsupportedOperation, match="own partitions"):
        rows.write.partitionBy("p").insertInto("t")
    rows.write.format("paimon").partitionBy("p").mode("append").saveAsTable("t")
    assert swb.table("t").to_arrow().num_rows == 2


@pytest.mark.nightly
@pytest.mark.spark
def test_merge_by_pyspark_of_keys_that_spark_widens(swb):
    """Python's numbers are BIGINT, and Spark casts the table's INT for the comparison."""
    from pyspark.sql.functions import expr

    swb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED); INSERT INTO t VALUES (1, 'a')")
    rows = swb.spark.createDataFrame([(1, "b"), (2, "c")], ["id", "v"]).alias("s")
    rows.mergeInto("t", expr("t.id = s.id")).whenMatched().updateAll().whenNotMatched().insertAll().merge()
    assert sorted(tuple(r) for r in swb.spark.table("t").collect()) == [(1, "b"), (2, "c")]


@pytest.mark.spark
def test_a_missing_table_of_a_catalog_by_javas_class(swb, tmp_path):
    """Spark itself cannot load the class, and is not asked to."""
    settings = {
        "spark.sql.catalog.lake": "org.apache.paimon.spark.SparkCatalog",
        "spark.sql.catalog.lake.warehouse": str(tmp_path),
    }
    for key, value in settings.items():
        swb.spark.conf.set(key, value)
    try:
        swb.run("CREATE DATABASE lake.db; CREATE TABLE lake.db.things (id INT)")
        with pytest.raises(TableNotFound, match="thing") as caught:
            swb.spark.table("lake.db.thing")
        assert "things" in str(caught.value)
    finally:
        for key in settings:
            swb.spark.conf.unset(key)


@pytest.mark.spark
def test_what_only_the_session_knows(swb):
    swb.run(
        "CREATE TABLE t (id INT, v STRING DEFAULT 'dv', n INT DEFAULT 7, dt STRING) PARTITIONED BY (dt) WITH ('row-tracking.enabled' = 'true')"
    )
    swb.run("INSERT INTO t VALUES (1, DEFAULT, DEFAULT, 'a'), (2, 'x', 8, 'b')")

    def asked(text: str) -> list[tuple]:
        return [tuple(r) for r in swb.sql(text).collect()]

    assert asked("SELECT * FROM t WHERE dt = sys.max_pt('t')") == [(2, "x", 8, "b")]
    assert asked("SELECT paimon.sys.max_pt('default.t') AS m") == [("b",)]
    assert asked("SELECT *, _ROW_ID FROM t WHERE id = 1") == [(1, "dv", 7, "a", 0)]
    assert asked("SELECT t.*, _ROW_ID AS r FROM t WHERE id = 1") == [(1, "dv", 7, "a", 0)]
    assert asked("SELECT * FROM (SELECT id, _ROW_ID FROM t) ORDER BY id") == [(1, 0), (2, 1)]


@pytest.mark.spark
def test_an_overwrite_replaces_what_each_way_to_say_it_means(swb):
    rows = swb.spark.createDataFrame([(9, "a")], "id int, p string")

    def left() -> list[tuple]:
        found = sorted(tuple(r.values()) for r in swb.table("t").to_arrow().to_pylist())
        swb.run(
            "CREATE OR REPLACE TABLE t (id INT, p STRING) PARTITIONED BY (p); INSERT INTO t VALUES (1, 'a'), (2, 'b')"
        )
        return found

    swb.run("CREATE TABLE t (id INT, p STRING) PARTITIONED BY (p); INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    told = swb.run("INSERT OVERWRITE t VALUES (9, 'a')").notes
    assert (left(), "are kept" in told[0]) == ([(2, "b"), (9, "a")], True)
    rows.write.mode("overwrite").insertInto("t")
    assert left() == [(9, "a")]
    rows.write.mode("overwrite").option("partitionOverwriteMode", "dynamic").saveAsTable("t")
    assert left() == [(2, "b"), (9, "a")]
    rows.writeTo("t").overwritePartitions()
    assert left() == [(2, "b"), (9, "a")]
    rows.selectExpr("id", "id AS n").writeTo("t").using("paimon").createOrReplace()
    assert swb.table("t").schema.names == ("id", "n")
    assert left() == [(9, 9)]
    try:
        swb.run("SET spark.sql.sources.partitionOverwriteMode = static; INSERT OVERWRITE t VALUES (9, 'a')")
        assert left() == [(9, "a")]
    finally:
        swb.run("RESET spark.sql.sources.partitionOverwriteMode")
