"""Random queries over random changes have the last result of Flink's stream of the same changes."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest
from flink_streams import FlinkStory

if TYPE_CHECKING:
    from pathlib import Path

    import paimon_nb

pytest.importorskip("duckdb")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(20))
def test_queries_equal_flinks_streams(wb: paimon_nb.Workbench, tmp_path: Path, shared: Path, seed: int) -> None:
    story = FlinkStory(wb, tmp_path, seed)
    (tmp_path / "q.sql").write_text(story.run(queries=25, rounds=5))
    program = str(shared / "oracle" / "run_flink_sql.sh")
    out = tmp_path / "out"
    subprocess.run([program, "--out", str(out), str(tmp_path / "q.sql")], check=False, capture_output=True, timeout=600)
    compared, wrong = story.differences(out)
    assert wrong == []
    assert compared > 15
