"""Spark's exceptions become ours, with the place in the user's own text."""

import pytest

from paimon_nb.base.errors import CorruptFile, EngineError, SqlAnalysisError, SqlError, SqlSyntaxError
from paimon_nb.spark.errors import (
    encode_error,
    encode_errors_of_task,
    first_sentence,
    paimon_error_of_spark,
    spark_errors,
)
from paimon_nb.statements import Span


def test_first_sentence_keeps_names_with_dots():
    text = "[A_B.C] Column `t.x. y` is gone. Did you mean `z`? SQLSTATE: 42703; line 1 pos 7"
    assert first_sentence(text) == "Column `t.x. y` is gone"


@pytest.mark.spark
def test_an_unknown_column_points_into_the_users_text(spark):
    spark.range(3).createOrReplaceTempView("__paimon_0")
    text = "USE x; SELECT idd FROM db.t"
    with pytest.raises(SqlAnalysisError) as caught, spark_errors(text, Span(7, len(text))):
        spark.sql("SELECT idd FROM `__paimon_0` AS `t`")
    error = caught.value
    assert text[error.start : error.stop] == "idd"
    assert error.condition == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert error.hint == "did you mean `t`.`id` or `id`?" or "id" in error.hint
    assert "__paimon" not in str(error)
    assert "JVM" not in str(error)


@pytest.mark.spark
def test_a_parse_error_points_at_the_word(spark):
    text = "SELECT 1;\nSELECT a\nFRM t"
    with pytest.raises(SqlSyntaxError) as caught, spark_errors(text, Span(10, len(text))):
        spark.sql("SELECT a\nFRM t WHERE")
    assert caught.value.sql == text
    assert caught.value.start is not None


@pytest.mark.spark
def test_a_failing_value_is_a_short_error(spark):
    text = "SELECT CAST('x' AS INT)"
    with pytest.raises(SqlError) as caught, spark_errors(text):
        spark.sql(text).collect()
    assert caught.value.message.startswith('The value \'x\' of the type "STRING" cannot be cast to "INT"')
    assert text[caught.value.start : caught.value.stop] == "CAST('x' AS INT)"


@pytest.mark.spark
def test_an_error_of_ours_crosses_the_tasks_whole(spark):
    @encode_errors_of_task
    def broken(batches):
        yield from batches
        raise CorruptFile("/a/b.parquet", 'torn "page"\nhere')

    for act in (lambda f: f.collect(), lambda f: f.toArrow(), lambda f: f.count()):
        with pytest.raises(CorruptFile) as caught, spark_errors():
            act(spark.range(10, numPartitions=2).mapInArrow(broken, "id bigint"))
        assert caught.value.path == "/a/b.parquet"
        assert caught.value.message == '/a/b.parquet is broken: torn "page"\nhere'
        assert caught.value.hint


@pytest.mark.spark
def test_other_errors_of_tasks_are_engine_errors(spark):
    def broken(_batches):
        raise ValueError("no")
        yield

    with pytest.raises(EngineError) as caught, spark_errors():
        spark.range(1).mapInArrow(broken, "id bigint").collect()
    assert "\n" not in caught.value.message


def test_python_errors_pass():
    with pytest.raises(ZeroDivisionError), spark_errors():
        1 / 0  # noqa: B018


def test_packing_survives_odd_facts():
    assert "PAIMON_ERROR" in encode_error(CorruptFile("x", "y", rows=[1, 2]))


@pytest.mark.spark
def test_the_users_own_exception_inside_a_task_is_told(spark):
    def broken(batches):
        yield from batches
        raise KeyError("no such airport: XYZ")

    with pytest.raises(EngineError) as caught, spark_errors():
        spark.range(10).mapInArrow(broken, "id bigint").collect()
    assert caught.value.message == "a Python function inside Spark failed: KeyError: 'no such airport: XYZ'"


@pytest.mark.spark
def test_a_python_process_that_was_killed_is_told(spark):
    def die(batches):
        import os
        import signal

        os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    with pytest.raises(EngineError, match="a Python worker of Spark exited") as caught, spark_errors():
        spark.range(1).mapInArrow(die, "id bigint").collect()
    assert "resumes from its checkpoint" in str(caught.value.hint)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("org.apache.spark.SparkException: Python worker failed to connect back.", "did not start within ten seconds"),
        ("An error occurred while calling o1406.load.\n: java.io.IOException: Stream closed", "lost a connection"),
        ("Job aborted: java.net.SocketException: Connection reset", "lost a connection"),
    ],
)
def test_what_becomes_of_a_dead_python_process_is_told(text, said):
    kind = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
    error = paimon_error_of_spark(kind(text))
    assert isinstance(error, EngineError)
    assert said in error.message
    assert "resumes from its checkpoint" in error.hint


def test_more_rows_than_the_driver_may_collect():
    kind = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
    text = (
        "An error occurred while calling o55.getResult.\n: org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
        "Caused by: org.apache.spark.SparkException: Job aborted due to stage failure: Total size of serialized results of 1 tasks "
        "(3.9 MiB) is bigger than spark.driver.maxResultSize (2.0 MiB)\n\tat org.apache.spark.scheduler.DAGScheduler"
    )
    error = paimon_error_of_spark(kind(text))
    assert isinstance(error, EngineError)
    assert error.message == "the driver would collect more than 2.0 MiB of rows ('spark.driver.maxResultSize')"


def test_an_error_inside_a_callback_is_named_by_its_condition():
    kind = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
    text = (
        "An exception was raised by the Python Proxy. Return Message: Traceback (most recent call last):\n"
        "pyspark.errors.ArithmeticException: [NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION] The value 123.4 cannot be "
        "represented as Decimal(2, 1). If necessary set the mode. SQLSTATE: 22003"
    )
    error = paimon_error_of_spark(kind(text))
    assert isinstance(error, EngineError)
    assert error.message == "The value 123.4 cannot be represented as Decimal(2, 1)"


def test_an_error_of_another_thread_is_told_by_its_innermost_cause():
    kind = type("Py4JJavaError", (Exception,), {"__module__": "py4j.protocol"})
    text = (
        "An error occurred while calling o91.getResult.\n: org.apache.spark.SparkException: Exception thrown in awaitResult: \n"
        "\tat org.apache.spark.util.ThreadUtils$.awaitResult(ThreadUtils.scala:359)\n"
        "Caused by: org.apache.spark.SparkException: Job aborted due to stage failure\n\t... 30 more\n"
        "Caused by: java.lang.ArithmeticException: long overflow\n\t... 41 more\n"
    )
    error = paimon_error_of_spark(kind(text))
    assert isinstance(error, EngineError)
    assert error.message == "long overflow"
