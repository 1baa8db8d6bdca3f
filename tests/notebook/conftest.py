"""A real IPython and small real tables, without Spark."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

import pytest
from IPython.core.interactiveshell import InteractiveShell
from shell_kit import Shell
from traitlets.config import Config

import paimon_nb
from paimon_nb.notebook.magics.active import current
from paimon_nb.spark.runtime.session import spark_session, stop

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from paimon_nb.workbench import Workbench


@pytest.fixture(scope="session")
def spark() -> Iterator[object]:
    """One JVM for all: a workbench that closes lets go of it, and it stays."""
    session = spark_session(
        conf={"spark.master": "local[2]", "spark.sql.shuffle.partitions": "2", "spark.driver.memory": "2g"}
    )
    yield session
    stop(session)


@pytest.fixture(autouse=True)
def _one_jvm(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("spark"):
        request.getfixturevalue("spark")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Iterator[Shell]:
    """IPython in an empty folder, with the extension loaded and `./wh` open."""
    monkeypatch.chdir(tmp_path)
    config = Config()
    config.HistoryManager.enabled = False
    ip = InteractiveShell(config=config, ipython_dir=str(tmp_path / ".ipython"))
    shell = Shell(ip, capsys)
    shell.value("%load_ext paimon_nb")
    shell.value("%paimon connect wh")
    yield shell
    ip.run_line_magic("unload_ext", "paimon_nb")
    atexit.unregister(ip.atexit_operations)  # else hundreds stay in memory, and each collects garbage at the end
    assert current.workbench is None
    current.error = None
    current.history.clear()
    current.snippets.clear()


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[Workbench]:
    with paimon_nb.connect(str(tmp_path / "wh")) as opened:
        yield opened
