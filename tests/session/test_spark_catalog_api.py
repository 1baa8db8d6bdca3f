"""`spark.catalog`, and what else PySpark code asks by name."""

import pytest

from paimon_nb.base.errors import DatabaseNotFound, SchemaChangeError, SqlAnalysisError, TimeTravelError, UnknownOption

pytestmark = pytest.mark.spark


@pytest.fixture
def wb(swb):
    swb.run(
        "CREATE DATABASE d; CREATE TABLE d.t (id INT COMMENT 'key', p STRING, PRIMARY KEY (id, p) NOT ENFORCED) COMMENT 'x' PARTITIONED BY (p)"
        " WITH ('bucket' = '1'); INSERT INTO d.t VALUES (1, 'a'); INSERT INTO d.t VALUES (2, 'b'); USE d;"
        "CREATE TEMPORARY VIEW v AS SELECT id FROM t"
    )
    return swb


def test_spark_catalog_knows_what_show_knows(wb, tmp_path):
    names = wb.spark.catalog
    assert (names.currentCatalog(), names.currentDatabase()) == ("paimon", "d")
    assert [c.name for c in names.listCatalogs()] == ["paimon"]
    assert [(d.name, d.catalog) for d in names.listDatabases()] == [("d", "paimon"), ("default", "paimon")]
    assert names.getDatabase("paimon.d").locationUri == f"{tmp_path}/w/d.db"
    assert [(t.name, t.namespace, t.isTemporary) for t in names.listTables() if t.name in "tv"] == [
        ("t", ["d"], False),
        ("v", [], True),
    ]
    assert [t.name for t in names.listTables("d", "t|zz*")] == ["t"]
    assert (names.getTable("d.t").description, names.getTable("v").tableType) == ("x", "TEMPORARY")
    assert [names.tableExists(n) for n in ("t", "d.t", "paimon.d.t", "v", "nope", "nope.t", "t$files")] == [
        True
    ] * 4 + [False, False, True]
    assert names.tableExists("t", "d")
    assert [(c.name, c.description, c.dataType, c.nullable, c.isPartition, c.isBucket) for c in names.listColumns("t")] == [
        ("id", "key", "int", False, False, True), ("p", None, "string", False, True, False)
    ]  # fmt: skip
    names.refreshTable("t")
    names.setCurrentDatabase("default")
    assert wb.run("SHOW CURRENT DATABASE").arrow["namespace"].to_pylist() == ["default"]
    assert [names.databaseExists(n) for n in ("d", "paimon.d", "e", "x.d")] == [True, True, False, False]
    with pytest.raises(DatabaseNotFound, match="'e'"):
        names.setCurrentDatabase("e")
    assert names.dropTempView("v")
    assert not names.tableExists("v")


def test_sparks_own_names_stay_there(wb):
    wb.spark.range(2).createOrReplaceTempView("theirs")
    names = wb.spark.catalog
    assert names.tableExists("theirs")
    assert [c.name for c in names.listColumns("theirs")] == ["id"]
    assert "theirs" in [t.name for t in names.listTables()]
    assert names.dropTempView("theirs")


def test_moments_and_markers_that_spark_itself_knows(wb):
    def ids(frame):
        return sorted(r.id for r in frame.collect())

    path = wb.table("d.t").path
    reader = wb.spark.read.format("paimon")
    assert ids(reader.option("versionAsOf", "1").table("t")) == [1]
    assert ids(wb.spark.read.format("paimon").option("versionAsOf", 1).load(path)) == [1]
    assert ids(wb.spark.read.option("timestampAsOf", "2999-01-01 00:00:00").table("t")) == [1, 2]
    with pytest.raises(TimeTravelError):
        wb.spark.read.option("timestampAsOf", "2001-01-01").table("t")
    with pytest.raises(UnknownOption, match="idd"):
        wb.spark.read.option("scan.snapshot-idd", "1").table("t")
    assert ids(wb.spark.sql("SELECT id FROM t WHERE id > ? AND p <> ?", args=[1, "?"])) == [2]
    wb.spark.conf.set("spark.paimon.scan.snapshot-id", "1")
    try:
        assert ids(wb.spark.table("t")) == [1]
    finally:
        wb.spark.conf.unset("spark.paimon.scan.snapshot-id")
    assert ids(wb.sql("SET spark.paimon.paimon.d.t.scan.snapshot-id = 1; SELECT * FROM t")) == [1]
    assert ids(wb.sql("RESET; SELECT * FROM t")) == [1, 2]


def test_statements_that_begin_with_their_source(wb):
    wb.run(
        "WITH x AS (SELECT * FROM t WHERE id = 1) INSERT INTO t SELECT id + 10, p FROM x; FROM t INSERT INTO t SELECT id + 100, p WHERE id = 2"
    )
    assert sorted(r.id for r in wb.spark.table("t").collect()) == [1, 2, 11, 102]
    assert wb.run("DESCRIBE v").arrow.to_pylist() == [{"col_name": "id", "data_type": "INT", "comment": None}]
    assert [r.id for r in wb.sql("SELECT t.id FROM paimon.d.t WHERE d.t.id = 11").collect()] == [11]
    assert wb.sql("SELECT count(*) FROM t TIMESTAMP AS OF current_timestamp + interval 1 hour").first()[0] == 4


def test_the_past_of_a_path_has_its_own_columns(swb):
    swb.run("CREATE TABLE t (id INT); INSERT INTO t VALUES (1); ALTER TABLE t ADD COLUMN v STRING")
    swb.run("INSERT INTO t VALUES (2, 'a')")
    reader = swb.spark.read.format("paimon").option("scan.snapshot-id", 1)
    past = reader.load(swb.table("t").path)
    assert (past.columns, [tuple(r) for r in past.collect()]) == (["id"], [(1,)])
    assert reader.table("t").columns == ["id", "v"]


def test_new_columns_whose_names_differ_in_case_only_are_refused(swb):
    swb.run("CREATE TABLE t (aA INT, b INT)")
    for change in ("RENAME COLUMN aA TO aa", "ADD COLUMN B INT"):
        with pytest.raises(SchemaChangeError, match="exists already"):
            swb.spark.sql(f"ALTER TABLE t {change}")
    swb.spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        swb.spark.sql("ALTER TABLE t RENAME COLUMN aA TO aa")
        with pytest.raises(SqlAnalysisError):
            swb.run("SELECT AA FROM t")
    finally:
        swb.spark.conf.unset("spark.sql.caseSensitive")
    assert swb.table("t").schema.names == ("aa", "b")
