"""One Spark for all tests of connectors; the broker is every test's (`tests/conftest.py`)."""

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
def swb(tmp_path: Path, spark) -> Iterator[paimon_nb.Workbench]:
    workbench = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    yield workbench
    workbench.session.jobs.stop_all()
