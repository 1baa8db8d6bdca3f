"""`spark.sql.catalog.<name>` and the keys below it open catalogs of ours, as they do for paimon-spark."""

import pytest

import paimon_nb
from paimon_nb.base.errors import CatalogNotFound, SourceUnavailable

pytestmark = pytest.mark.spark
OURS = "org.apache.paimon.spark.SparkCatalog"


@pytest.fixture
def settings(spark):
    """Sets Spark settings; they are gone after the test."""
    keys = []

    def put(**values: str) -> None:
        for key, value in values.items():
            keys.append("spark.sql.catalog." + key.replace("__", "."))
            spark.conf.set(keys[-1], value)

    yield put
    for key in keys:
        spark.conf.unset(key)


def made(wb, place, *rows: int) -> str:
    wb.run(f"CREATE CATALOG other WITH ('warehouse' = '{place}'); CREATE TABLE other.default.t (id INT)")
    wb.run("INSERT INTO other.default.t VALUES " + ", ".join(f"({r})" for r in rows))
    wb.run("DROP CATALOG other")
    return str(place)


def test_a_catalog_by_settings(swb, tmp_path, settings):
    place = made(swb, tmp_path / "a", 1, 2)
    with pytest.raises(CatalogNotFound):
        swb.table("lake.default.t")
    settings(lake="no.class.of.Ours", lake__warehouse=place)
    with pytest.raises(CatalogNotFound):
        swb.table("lake.default.t")
    settings(lake=OURS)
    assert swb.spark.table("lake.default.t").count() == 2
    assert swb.sql("SELECT max(id) FROM lake.default.t").first()[0] == 2


def test_what_was_said_last_counts(swb, tmp_path, settings):
    first, second = made(swb, tmp_path / "a", 1), made(swb, tmp_path / "b", 1, 2)
    settings(paimon=OURS, paimon__warehouse=first)  # the name that the workbench gave its first catalog
    assert swb.spark.table("paimon.default.t").count() == 1
    swb.run("USE CATALOG paimon")
    settings(paimon__warehouse=second)
    assert swb.spark.table("t").count() == 2
    swb.run(f"""CREATE CATALOG own WITH ('warehouse' = '{first}')""")
    settings(own__warehouse=second)  # no class is named, so it is nobody's catalog
    assert swb.table("own.default.t").to_arrow().num_rows == 1
    settings(own=OURS)
    assert swb.table("own.default.t").to_arrow().num_rows == 2


def test_the_warehouse_given_to_connect_goes_before_older_settings(spark, tmp_path, settings):
    settings(paimon=OURS, paimon__warehouse=str(tmp_path / "old"))
    wb = paimon_nb.connect(str(tmp_path / "new"), spark=spark)
    wb.run("CREATE TABLE t (id INT)")
    assert (tmp_path / "new/default.db/t/schema/schema-0").is_file()


def test_a_metastore_that_cannot_be_reached_is_refused_when_it_is_used(swb, settings):
    pytest.importorskip("hive_metastore")
    settings(hive=OURS, hive__metastore="hive", hive__uri="thrift://127.0.0.1:9", hive__warehouse="/w")
    with pytest.raises(SourceUnavailable, match="does not answer"):
        swb.spark.table("hive.default.t")
