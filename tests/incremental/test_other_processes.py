"""Two live processes that refresh one target, and clocks that jump: the target has the batch answer."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from incremental_kit import change, create_target, difference_from_batch, refreshed

from paimon_nb import incremental
from paimon_nb.base import clock

if TYPE_CHECKING:
    from pathlib import Path

    import paimon_nb

pytest.importorskip("duckdb")

QUERY = "SELECT c.name, count(*) AS n, sum(o.x) AS s, min(o.x) AS low, listagg(o.g, '-') AS l FROM o JOIN c ON o.g = c.g GROUP BY c.name"
PROCESS = """
import sys, paimon_nb
from paimon_nb import incremental
from paimon_nb.base.errors import CommitConflict
wb = paimon_nb.connect(sys.argv[1])
done = 0
for line in sys.stdin:
    if line.strip() == "end":
        break
    try:
        done += incremental.analyse(wb.session, sys.argv[2]).refresh("t").action != "unchanged"
    except CommitConflict:
        pass
    print("ok", flush=True)
print(done, flush=True)
"""


@pytest.fixture
def orders(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    change(
        wb,
        """
        CREATE TABLE o (id INT, g STRING, x BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE c (g STRING, name STRING);
        INSERT INTO o VALUES (1, 'a', 10), (2, 'b', 20);
        INSERT INTO c VALUES ('a', 'Ann'), ('b', 'Bob')
    """,
    )
    create_target(wb, "t", incremental.analyse(wb.session, QUERY))
    refreshed(wb, "t", QUERY)
    return wb


@pytest.mark.nightly
@pytest.mark.parametrize("jump", [-40 * 86_400_000, 40 * 86_400_000])
def test_a_clock_that_jumps(orders: paimon_nb.Workbench, monkeypatch: pytest.MonkeyPatch, jump: int) -> None:
    real = clock.now_ms
    for number in range(14):  # more than the snapshots that an expiry keeps
        monkeypatch.setattr(clock, "now_ms", lambda at=number: real() + jump * (at % 2))
        change(orders, f"INSERT INTO o VALUES ({number % 3}, 'a', {number}), ({10 + number}, 'b', 1)")
        assert refreshed(orders, "t", QUERY).action == "incremental"
    assert difference_from_batch(orders, "t", QUERY) == ""


@pytest.mark.nightly
def test_two_live_processes_refresh_one_target(orders: paimon_nb.Workbench, tmp_path: Path) -> None:
    command = [sys.executable, "-c", PROCESS, str(tmp_path / "w"), QUERY]
    processes = [subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    for number in range(25):
        change(orders, f"INSERT INTO o VALUES ({number % 5}, '{'ab'[number % 2]}', {number})")
        for process in processes:  # both begin, then both end
            assert process.stdin is not None
            process.stdin.write("\n")
            process.stdin.flush()
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ok\n"
    done = [int(p.communicate("end\n", timeout=60)[0]) for p in processes]
    assert sum(done) >= 25
    refreshed(orders, "t", QUERY)
    assert difference_from_batch(orders, "t", QUERY) == ""
