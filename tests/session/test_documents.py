"""The documents that people paste from: every SQL and Python block as it stands there, in order, in one session each."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from document_blocks import BEFORE, DATABASE, LEFT, OUTCOMES, TOPICS
from document_stage import Stage, blocks


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
@pytest.mark.parametrize("name", OUTCOMES)
def test_a_document_from_beginning_to_end(stage, documents, name):
    assert stage.play(name, documents) == OUTCOMES[name]


FORMS_OF_OURS = {
    "000_898_left": "Flink's expire_snapshots takes no time in second place, so nothing expired there",
    "000_996_left": "Flink refuses SELECT * that carries the static partition column",
    "003_290_left": "Flink's rollback_to takes a snapshot by name only",
    "003_297_left": "Flink's expire_snapshots refuses to keep fewer than the table's smallest number",
}
"""Where the documents write what this takes and Flink does not: what a block leaves behind differs by that."""
AS_STREAMS = ("000_397_1", "000_407_0", "000_1224_7")
"""Asked of Flink in batch mode; the documents ask them in streaming mode, where they mean the changes from that snapshot on."""


def test_answers_are_those_of_flink():
    flink = json.loads((Path(__file__).parent / "flink_documents.json").read_text())
    ours = {}
    for key in flink:
        document, line, number = key.split("_")
        answers = OUTCOMES[document][int(line)]
        rows = answers[answers.index("->") + 1] if number == "left" else answers[int(number)]
        ours[key] = [[str(v) if isinstance(v, Decimal) else v for v in row] for row in rows]
    assert {k for k in flink if ours[k] != flink[k]} == {*FORMS_OF_OURS, *AS_STREAMS}
    assert len(flink) >= 30
