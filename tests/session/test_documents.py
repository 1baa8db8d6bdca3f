"""The documents that people paste from: every SQL and Python block as it stands there, in order, in one session each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from document_blocks import BEFORE, DATABASE, IN_BATCH, LEFT, OUTCOMES, TOPICS
from document_stage import Stage, blocks
from flink_documents import compare
from spark_documents import compare as compare_with_spark

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def documents(shared) -> Path:
    return shared / "documents"


@pytest.fixture(scope="module")
def topics(broker):
    """The broker with the documents' topics."""
    for name, records in TOPICS.items():
        broker.send(broker.topic(name, exact=True), records)
    return broker


@pytest.fixture(scope="module")
def database(mariadb):
    """The database server with the documents' table."""
    mariadb.run(*DATABASE)
    return mariadb


@pytest.fixture
def stage(swb, spark, tmp_path, monkeypatch, topics, database):
    yield Stage(swb, tmp_path, monkeypatch, topics, database)
    for key in [k for k in spark.conf.getAll if k.startswith("spark.sql.catalog.paimon")]:
        spark.conf.unset(key)


def test_every_block_is_in_the_table(documents):
    assert {name: list(blocks(documents, name)) for name in OUTCOMES} == {n: list(o) for n, o in OUTCOMES.items()}
    named = {(name, line) for name, line, _ in BEFORE} | set(LEFT)
    assert named <= {(name, line) for name, lines in OUTCOMES.items() for line in lines}


@pytest.mark.spark
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.nightly) if n in ("000", "003") else n for n in OUTCOMES]
)
def test_a_document_from_beginning_to_end(stage, documents, name):
    assert stage.play(name, documents) == OUTCOMES[name]
    assert stage.in_batch == {k: rows for k, rows in IN_BATCH.items() if k.startswith(name)}


def test_all_that_flink_takes_is_equal(documents):
    """`flink_documents.py compare` counts the same; rows are those of `OUTCOMES`, which the test above found."""
    told = compare(documents)
    assert [key for key, same in told.items() if not same] == []
    assert len(told) > 75


def test_all_that_spark_takes_is_equal():
    """`spark_documents.py compare` counts the same."""
    told = compare_with_spark()
    assert [key for key, same in told.items() if not same] == []
    assert len(told) > 30
