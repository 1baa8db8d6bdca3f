"""One long-lived Flink with Paimon for the tests of a process."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

TABLE = Path(__file__).parents[1] / "table"
sys.path[:0] = [
    str(Path(__file__).parent),
    str(Path(__file__).parents[1] / "adversary"),
    *(str(TABLE / folder) for folder in ("write", "write/maintenance", "write/commit", "lsm/merge")),
]

if TYPE_CHECKING:
    from collections.abc import Iterator

    from flink_session import FlinkSession


@pytest.fixture(scope="session")
def flink_process(shared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[FlinkSession]:
    from flink_session import FlinkSession

    with FlinkSession(shared / "oracle", tmp_path_factory.mktemp("flink")) as running:
        yield running


@pytest.fixture
def flink(flink_process: FlinkSession) -> FlinkSession:
    """Without catalogs and settings of the test before."""
    flink_process.ask("!new")
    return flink_process
