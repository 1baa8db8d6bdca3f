"""A workbench over an empty warehouse. `wb` starts no JVM until a statement needs one; `swb` shares one Spark."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import paimon_nb
from paimon_nb.engine.session import spark_session, stop


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    session = spark_session(conf={"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2"})
    yield session
    stop(session)


@pytest.fixture
def wb(tmp_path: Path) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"))


@pytest.fixture
def swb(tmp_path: Path, spark) -> paimon_nb.Workbench:
    return paimon_nb.connect(str(tmp_path / "w"), spark=spark)
