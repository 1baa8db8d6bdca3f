"""The examples of docs/sql.md run from top to bottom in a fresh session."""

import re
from pathlib import Path

import pytest

from paimon_nb.sql import parse

PAGE = Path(__file__).parents[2] / "docs" / "sql.md"


@pytest.mark.spark
def test_the_examples_run(swb, tmp_path):
    answers = {}
    for block in re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL):
        for statement in parse(block):
            text = block[statement.span.start : statement.span.stop].replace("'/data/", f"'{tmp_path}/")
            answers[text.split("\n")[0]] = [tuple(r) for r in swb.sql(text).collect()]
    assert answers["SELECT * FROM flights VERSION AS OF 1"] == [
        ("UA", 1, "2025-10-19", 5, None),
        ("UA", 2, "2025-10-19", 70, None),
    ]
    assert answers["SELECT count(*) FROM flights"] == [(2,)]
    assert answers["SHOW TABLES"] == [
        ("default", name, False) for name in ("carriers", "events", "flights", "log", "twin")
    ]
    assert answers["SELECT code FROM airports WHERE country = 'FR' ORDER BY code"] == [("CDG",), ("ORY",)]
    assert answers["SHOW PARTITIONS airports"] == [("country=FR",), ("country=US",)]
    assert answers["SELECT id, content FROM full_text_search('documents', 'content', 'house', 5)"] == [
        (1, "a lake house")
    ]
    searches = [[r[0] for r in rows] for q, rows in answers.items() if "FROM vector_search(" in q]
    assert searches == [[2], [2]]
    assert answers["CALL sys.compact('flights')"] == [("Success",)]
    assert sorted(r[:2] for r in answers["SELECT f.flight, c.name FROM flights /*+ OPTIONS('scan.snapshot-id' = '1') */ AS f JOIN carriers AS c ON f.carrier = c.carrier"]) == [
        (1, "United"), (2, "United"),
    ]  # fmt: skip
