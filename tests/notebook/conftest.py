"""A real IPython and small real tables, without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets.config import Config

import paimon_nb
from paimon_nb.notebook.magics.paimon import current
from paimon_nb.workbench import Workbench

KEYED = "CREATE TABLE {} (id INT, v STRING COMMENT 'the value', PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'write-only' = 'true')"


class Shell:
    """An IPython as a reader uses it: a cell in, its result, its printed text and its error out."""

    def __init__(self, shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
        self.ip, self._capsys = shell, capsys

    def run(self, cell: str) -> ExecutionResult:
        return self.ip.run_cell(cell)

    def value(self, cell: str) -> Any:
        """What the cell evaluates to; an error fails the test."""
        done = self.run(cell)
        done.raise_error()
        return done.result

    def printed(self, cell: str) -> str:
        self._capsys.readouterr()
        self.value(cell)
        return self._capsys.readouterr().out

    def error(self, cell: str) -> tuple[str, str]:
        """(error class, what IPython shows for it)."""
        self._capsys.readouterr()
        done = self.run(cell)
        raised = done.error_in_exec or done.error_before_exec
        assert raised is not None, f"no error: {cell}"
        said = self._capsys.readouterr()
        return type(raised).__name__, (said.out + said.err).strip()


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
    assert current.workbench is None
    current.error = None


@pytest.fixture
def wb(tmp_path: Path) -> Iterator[Workbench]:
    with paimon_nb.connect(str(tmp_path / "wh")) as opened:
        yield opened


def rows(ids: list[int], text: str = "x") -> pa.Table:
    """Rows of a table made by `KEYED`."""
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array([text] * len(ids))})
