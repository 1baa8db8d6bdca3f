"""Real Flink renames, drops or replaces a table while we commit to it: no acknowledged row is lost, no other table is damaged."""

from __future__ import annotations

import pytest
from test_races import MEANWHILE, MOMENTS, commit_meanwhile, opened

from paimon_nb.fs import LocalFileIO

pytestmark = pytest.mark.java


@pytest.mark.nightly
@pytest.mark.parametrize("at", MOMENTS)
@pytest.mark.parametrize("meanwhile", [m for m in MEANWHILE if "undrop" not in m])
def test_java_moves_a_table_while_a_writer_publishes(flink, meanwhile, at, tmp_path, monkeypatch):
    for statement in (
        f"CREATE CATALOG moves WITH ('type' = 'paimon', 'warehouse' = '{tmp_path}/w')",
        "USE CATALOG moves",
    ):
        flink.ask(statement)
    commit_meanwhile(lambda: opened("filesystem", tmp_path), LocalFileIO, meanwhile, at, monkeypatch, flink.ask)
