"""A workbench for tests of connectors; Spark and the servers are every test's (`tests/conftest.py`)."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from log_server import Postgres
from server_kit import started

import paimon_nb


@pytest.fixture
def swb(tmp_path: Path, spark) -> Iterator[paimon_nb.Workbench]:
    workbench = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    yield workbench
    workbench.session.jobs.stop_all()


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A real PostgreSQL with a logical log; ends with the tests."""
    yield from started("psycopg", Postgres)
