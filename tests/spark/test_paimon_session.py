"""`wb.spark`: a SparkSession that asks a resolver for Paimon names, and everything else of Spark."""

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from paimon_nb.base.errors import TableNotFound
from paimon_nb.spark.api.base_session import bind_to_session
from paimon_nb.spark.api.paimon_session import PaimonSession, paimon_session
from paimon_nb.spark.runtime.jvm_bridge import plain_session

pytestmark = pytest.mark.spark


class Shelf:
    """A resolver over a dict of frames; it writes down what it is asked."""

    def __init__(self, spark: SparkSession) -> None:
        self.spark = spark
        self.frames = {("db", "t"): spark.range(3)}
        self.asked: list[Any] = []

    def table(self, parts, options):
        self.asked.append(("table", parts, dict(options)))
        return self.frames.get(parts)

    def path(self, path, options):
        self.asked.append(("path", path, dict(options)))
        return self.spark.range(5)

    def sql(self, text, args, kwargs):
        self.asked.append(("sql", text, args, dict(kwargs)))
        return self.spark.sql(text.replace("db.t", "range(3)"), args)

    def write(self, frame, request):
        options, partition_by = dict(request.options), tuple(request.partition_by)
        asked = ("write", frame.count(), request.target, request.mode, options, partition_by)
        self.asked.append((*asked, request.create, request.by_name))


@pytest.fixture
def shelf(spark):
    return Shelf(spark)


@pytest.fixture
def wb_spark(spark, shelf):
    return paimon_session(spark, shelf)


def test_it_is_a_spark_session_and_stays_one(spark, shelf, wb_spark):
    assert isinstance(wb_spark, SparkSession)
    assert paimon_session(spark, shelf) is wb_spark
    assert paimon_session(wb_spark, shelf) is wb_spark
    assert plain_session(wb_spark) is spark
    assert SparkSession.builder.getOrCreate() is wb_spark
    assert SparkSession.active() is wb_spark
    assert SparkSession.getActiveSession() is wb_spark
    assert wb_spark.version == spark.version


def test_frames_keep_the_session_through_transformations(wb_spark):
    frame = wb_spark.sql("SELECT * FROM db.t")
    for derived in (
        frame, frame.select("id"), frame.groupBy("id").count(), frame.join(frame, "id"), frame.na.fill(0), frame.limit(1),
        frame.mapInArrow(lambda b: b, "id bigint"), wb_spark.range(2), wb_spark.createDataFrame([(1,)], "a int"),
        wb_spark.table("db.t"), wb_spark.read.table("db.t"), frame.toDF("x").unionByName(frame.toDF("x")),
    ):  # fmt: skip
        assert type(derived.sparkSession) is PaimonSession


def test_sql_goes_to_the_resolver_with_its_arguments(wb_spark, shelf):
    assert wb_spark.sql("SELECT count(*) FROM db.t WHERE id >= :x", {"x": 1}).first()[0] == 2
    assert shelf.asked == [("sql", "SELECT count(*) FROM db.t WHERE id >= :x", {"x": 1}, {})]


def test_sql_with_a_frame_in_braces_and_with_question_marks(wb_spark):
    assert wb_spark.sql("SELECT count(*) FROM {f}", f=wb_spark.range(4)).first()[0] == 4
    assert wb_spark.sql("SELECT ? + 1", args=[1]).first()[0] == 2


def test_reading_by_name_and_path_with_options(wb_spark, shelf):
    assert wb_spark.table("db.t").count() == 3
    assert wb_spark.table("`db`.`t`").count() == 3
    assert wb_spark.read.option("scan.snapshot-id", 2).table("db.t").count() == 3
    assert wb_spark.read.format("paimon").option("snapshot-id", "10").load("/x/t").count() == 5
    assert wb_spark.read.format("paimon").options(database="db", table="t", a=True).load().count() == 3
    assert shelf.asked == [
        ("table", ("db", "t"), {}),
        ("table", ("db", "t"), {}),
        ("table", ("db", "t"), {"scan.snapshot-id": "2"}),
        ("path", "/x/t", {"snapshot-id": "10"}),
        ("table", ("db", "t"), {"a": "true"}),
    ]


def test_names_of_sparks_own_and_other_formats(wb_spark, tmp_path):
    wb_spark.range(2).createOrReplaceTempView("own")
    assert wb_spark.table("own").count() == 2
    assert wb_spark.read.table("own").count() == 2
    path = str(tmp_path / "p")
    wb_spark.range(6).write.parquet(path)
    wb_spark.range(6).write.format("parquet").mode("append").save(path)
    assert wb_spark.read.parquet(path).count() == 12
    assert wb_spark.read.format("parquet").load(path).count() == 12


def test_an_unknown_table_is_said_so(wb_spark):
    with pytest.raises(TableNotFound):
        wb_spark.read.format("paimon").option("table", "no").load()
    with pytest.raises(TableNotFound):
        wb_spark.read.format("paimon").load()


def test_every_way_to_write(wb_spark, shelf):
    frame = wb_spark.range(7)
    frame.write.format("paimon").mode("append").saveAsTable("db.t")
    frame.write.mode("overwrite").partitionBy("id").option("bucket", 4).saveAsTable("db.new")
    frame.write.format("paimon").mode("append").save("/x/t")
    frame.write.save("/x/t", format="paimon", mode="ignore", bucket="2")
    frame.write.insertInto("db.t")
    frame.write.insertInto("db.t", overwrite=True)
    frame.writeTo("db.t").append()
    frame.writeTo("db.t").overwritePartitions()
    frame.writeTo("db.n").using("paimon").tableProperty("bucket", "1").partitionedBy("id").createOrReplace()
    assert [a[2:] for a in shelf.asked if a[0] == "write"] == [
        (("db", "t"), "append", {}, (), True, True),
        (("db", "new"), "overwrite", {"bucket": "4"}, ("id",), True, True),
        ("/x/t", "append", {}, (), True, False),
        ("/x/t", "ignore", {"bucket": "2"}, (), True, False),
        (("db", "t"), "append", {}, (), False, False),
        (("db", "t"), "overwrite", {}, (), False, False),
        (("db", "t"), "append", {}, (), False, True),
        (("db", "t"), "partitions", {}, (), False, True),
        (("db", "n"), "replace", {"bucket": "1"}, ("id",), True, True),
    ]


@pytest.mark.usefixtures("shelf")
def test_frames_of_other_sessions_are_left_alone(spark, wb_spark, tmp_path):
    plain = spark.range(3)
    plain.write.mode("append").parquet(str(tmp_path / "p"))
    assert type(plain.write).__name__ == "DataFrameWriter"
    assert type(bind_to_session(plain, wb_spark).write).__name__ == "PaimonWriter"
    assert isinstance(plain, DataFrame)


def test_a_new_session_knows_paimon_too(wb_spark):
    fresh = wb_spark.newSession()
    assert fresh.table("db.t").count() == 3
    assert fresh._jsparkSession is not wb_spark._jsparkSession
