"""The documents that people paste from: every SQL and Python block as it stands there, in order, in one session each."""

from __future__ import annotations

from pathlib import Path

import pytest
from document_blocks import BEFORE, LEFT, OUTCOMES
from document_stage import Stage, blocks


@pytest.fixture(scope="module")
def documents(shared) -> Path:
    return shared / "documents"


@pytest.fixture
def stage(swb, spark, tmp_path, monkeypatch):
    yield Stage(swb, tmp_path, monkeypatch)
    for key in [k for k in spark.conf.getAll if k.startswith("spark.sql.catalog.paimon")]:
        spark.conf.unset(key)


def test_every_block_is_in_the_table(documents):
    assert {name: list(blocks(documents, name)) for name in OUTCOMES} == {n: list(o) for n, o in OUTCOMES.items()}
    named = {(name, line) for name, line, _ in BEFORE} | set(LEFT)
    assert named <= {(name, line) for name, lines in OUTCOMES.items() for line in lines}


@pytest.mark.spark
@pytest.mark.parametrize("name", OUTCOMES)
def test_a_document_from_beginning_to_end(stage, documents, name):
    assert stage.play(name, documents) == OUTCOMES[name]
