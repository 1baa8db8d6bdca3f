"""A cell in, its result, its printed text and its error out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa

if TYPE_CHECKING:
    import pytest
    from IPython.core.interactiveshell import ExecutionResult, InteractiveShell

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


def rows(ids: list[int], text: str = "x") -> pa.Table:
    """Rows of a table made by `KEYED`."""
    return pa.table({"id": pa.array(ids, pa.int32()), "v": pa.array([text] * len(ids))})
