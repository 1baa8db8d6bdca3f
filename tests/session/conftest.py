"""A workbench over an empty warehouse. `wb` starts no JVM until a statement needs one; `swb` shares one Spark."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import paimon_nb


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()  # a stream that goes on takes the time of the tests behind it


@pytest.fixture
def swb(tmp_path: Path, spark) -> Iterator[paimon_nb.Workbench]:
    workbench = paimon_nb.connect(str(tmp_path / "w"), spark=spark)
    yield workbench
    workbench.session.jobs.stop_all()
