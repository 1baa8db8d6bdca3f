"""A workbench over an empty warehouse; it starts no JVM."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import paimon_nb


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[paimon_nb.Workbench]:
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()
