"""A workbench over an empty warehouse. A test that needs Spark fails: refreshes and their batch answers start no JVM."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import paimon_nb
from paimon_nb.session.core.session import Session


@pytest.fixture
def wb(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[paimon_nb.Workbench]:
    def refuse(_session: Session) -> None:
        raise AssertionError("Spark was started")

    monkeypatch.setattr(Session, "spark", property(refuse))
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()
