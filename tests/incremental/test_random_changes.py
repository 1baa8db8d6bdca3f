"""Random queries over random changes: after each refresh the target equals the batch answer of the same snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from incremental_kit import Story

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")


@pytest.mark.parametrize("seed", [1])
def test_random_queries_follow_random_changes(wb: paimon_nb.Workbench, seed: int) -> None:
    story = Story(wb, seed)
    assert story.run(queries=4, rounds=4) == []
    assert story.compared >= 12


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(1000, 1300))
def test_many_random_queries_follow_random_changes(wb: paimon_nb.Workbench, seed: int) -> None:
    assert Story(wb, seed).run(queries=10, rounds=6) == []
