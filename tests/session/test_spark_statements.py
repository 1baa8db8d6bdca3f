"""Statements and blocks in Spark's words: what real Spark 4.0 with Paimon 1.3.1 answered is what is answered here."""

from __future__ import annotations

import pytest
import spark_statements

pytestmark = pytest.mark.spark


def test_rows_changed_and_read_as_in_spark(swb):
    """The first statements; the others are asked at night."""
    found = list(spark_statements.compare(swb, 34))
    assert [(k, ours) for k, _, ours in found] == [(k, theirs) for k, theirs, _ in found]
    assert len(found) > 30


@pytest.fixture
def leaving_nothing(spark):
    """What the statements tell the session that all tests share is taken back."""
    yield
    for text in ("DROP TEMPORARY VARIABLE IF EXISTS vv", "RESET spark.sql.sources.partitionOverwriteMode"):
        spark.sql(text)


@pytest.mark.nightly
@pytest.mark.usefixtures("leaving_nothing")
def test_all_that_spark_takes_is_answered_alike(swb):
    found = list(spark_statements.compare(swb))
    assert [(k, ours) for k, _, ours in found] == [(k, theirs) for k, theirs, _ in found]
    assert len(found) > 150
