"""`%paimon queries`: what ran in this kernel, and running it once more."""

from __future__ import annotations

import pytest
from shell_kit import KEYED, Shell

from paimon_nb.notebook.magics.active import current


@pytest.fixture
def ran(shell: Shell) -> Shell:
    """Four runs: a definition, an INSERT, a query, an error."""
    current.queries.clear()
    shell.value("%%paimon -q\n" + KEYED.format("t"))
    shell.value("%paimon INSERT INTO t VALUES (1, 'a'), (2, 'b')")
    shell.value("%%paimon -n 1\nSELECT * FROM t")
    shell.error("%paimon SELECT * FROM tt")
    return shell


def test_queries_are_listed_newest_first(ran: Shell) -> None:
    found = ran.value("%paimon queries").to_arrow().to_pylist()
    assert [(r["number"], r["rows"], r["committed"]) for r in found] == [
        (4, None, ""), (3, 2, ""), (2, None, "default.t snapshot 1"), (1, None, ""),
    ]  # fmt: skip
    assert found[1]["statement"] == "SELECT * FROM t"
    assert found[1]["read"].startswith("snapshot 1 · from 1 file, ")
    assert found[0]["error"].startswith("no table default.tt in catalog 'paimon'")
    assert found[2]["error"] == ""


def test_a_query_is_run_once_more_with_its_arguments(ran: Shell) -> None:
    rows = ran.value("%paimon queries 3")
    assert (rows.to_arrow().num_rows, rows.limit) == (2, 1)
    assert ran.value("%paimon queries").to_arrow().num_rows == 5
    assert "no query 99 in this kernel" in ran.error("%paimon queries 99")[1]
    assert "without a number it lists" in ran.error("%paimon queries x")[1]
