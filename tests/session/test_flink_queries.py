"""Queries in Flink's words answer as real Flink answered them."""

import datetime as dt
import json
from decimal import Decimal

import pytest
from flink_queries import ANSWERS, PREPARE, QUERIES
from sampling import sampled


def plain(value):
    """As the oracle writes values."""
    if isinstance(value, dt.datetime):
        return value.isoformat(" ", "milliseconds")
    if isinstance(value, dt.date):
        return value.isoformat()
    return str(value) if isinstance(value, Decimal) else value


@pytest.fixture(scope="module")
def asked(spark, tmp_path_factory):
    """The tables, in Flink's mode."""
    import paimon_nb

    wb = paimon_nb.connect(str(tmp_path_factory.mktemp("flink")), spark=spark)
    wb.run("SET 'execution.runtime-mode' = 'batch';" + PREPARE)
    return wb


def test_flink_was_asked_all_of_them():
    assert list(json.loads(ANSWERS.read_text())) == list(QUERIES)


@pytest.mark.spark
@pytest.mark.parametrize("name", sampled(QUERIES, 3))
def test_the_answer(asked, name):
    ours = [[plain(v) for v in row] for row in asked.run(QUERIES[name]).frame.collect()]
    flink = [
        [v.removesuffix("Z") if isinstance(v, str) and v[:2] in ("19", "20") else v for v in row]
        for row in json.loads(ANSWERS.read_text())[name]
    ]
    assert sorted(ours, key=repr) == sorted(flink, key=repr)
