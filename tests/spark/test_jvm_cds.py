"""Spark's classes kept by `paimon-nb warm-up`: a session maps them where they fit, and starts without them where not."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from paimon_nb.base.errors import EnvironmentError_
from paimon_nb.spark.runtime.java import Java, find_java
from paimon_nb.spark.runtime.jvm_cds import archive_classes_option, class_archive_path, sharing_option

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache"


def test_each_java_has_its_own(cache: Path, tmp_path: Path) -> None:
    one, two = Java(tmp_path / "one", 17, True), Java(tmp_path / "two", 17, True)
    one.home.mkdir()
    (one.home / "release").write_text('JAVA_VERSION="17.0.15"')
    before = class_archive_path(one)
    (one.home / "release").write_text('JAVA_VERSION="17.0.16"')
    assert len({before, class_archive_path(one), class_archive_path(two)}) == 3
    assert before.is_relative_to(cache)


@pytest.mark.usefixtures("cache")
@pytest.mark.needs("java")
def test_it_is_named_once_it_is_there() -> None:
    path = class_archive_path(find_java())
    before = sharing_option()
    path.parent.mkdir(parents=True)
    path.touch()
    assert (before, sharing_option()) == ("", f"-XX:SharedArchiveFile={path}")


def test_a_folder_with_a_blank_is_refused(tmp_path: Path) -> None:
    with pytest.raises(EnvironmentError_) as refused:
        archive_classes_option(tmp_path / "my cache" / "a.jsa")
    assert "XDG_CACHE_HOME" in refused.value.hint


def kept_classes(log: Path) -> int:
    """How many classes a session takes from the archive."""
    code = f"""
from paimon_nb.spark.runtime.session import spark_session, stop
spark = spark_session(conf={{"spark.master": "local[1]", "spark.driver.extraJavaOptions": "-Xlog:class+load:file={log}"}})
assert spark.range(3).count() == 3
stop(spark)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return log.read_text().count("shared objects file (top)")


@pytest.mark.usefixtures("cache")
@pytest.mark.spark
@pytest.mark.nightly
def test_a_session_takes_its_classes_from_it(tmp_path: Path) -> None:
    path = class_archive_path(find_java())
    path.parent.mkdir(parents=True)
    path.write_bytes(os.urandom(1 << 16))  # as a copy that broke off may leave it
    broken = kept_classes(tmp_path / "broken.log")
    path.unlink()
    done = subprocess.run(
        [sys.executable, "-m", "paimon_nb.cli", "warm-up"], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stdout) == (0, f"Spark's classes are cached in {path}\n"), done.stderr
    assert broken == 0
    assert kept_classes(tmp_path / "kept.log") > 5000
    assert list(path.parent.iterdir()) == [path]
