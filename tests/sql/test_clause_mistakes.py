"""Mistakes in the clauses of a query, at their place; queries without mistakes have none."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse

MISTAKES = [
    ("SELECT * FORM orders", "FORM", "did you mean FROM?"),
    ("SELECT status FRM orders", "FRM", "did you mean FROM?"),
    ("SELECT (a) fromm orders", "fromm", "did you mean FROM?"),
    ("SELECT status FROM orders WEHRE a = 1", "WEHRE", "did you mean WHERE?"),
    ("SELECT status FROM orders o WHER a = 1", "WHER", "did you mean WHERE?"),
    ("SELECT status, count(*) FROM orders GROUP BY status ORDRE BY 1", "ORDRE", "did you mean ORDER?"),
    ("SELECT status, count(*) FROM orders GRUOP BY status", "GRUOP", "did you mean GROUP?"),
    ("SELECT status, count(*) FROM orders GROUP BY status HAVIN count(*) > 1", "HAVIN", "did you mean HAVING?"),
    ("SELECT a FROM orders LIMT 3", "LIMT", "did you mean LIMIT?"),
    ("SELECT a FROM orders o JION lines l ON o.id = l.id", "JION", "did you mean JOIN?"),
    ("SELECT status, FROM orders", ",", "remove the comma: it follows the last item"),
    ("SELECT a FROM orders GROUP BY a, ORDER BY a", ",", "remove the comma: it follows the last item"),
    ("SELECT a, b, FROM (SELECT 1 AS a, 2 AS b)", ",", "remove the comma: it follows the last item"),
    ("SELECT concat(a, ) FROM orders", ",", "remove the comma"),
    ("SELECT a FROM orders,", ",", "remove the comma, or write what follows it"),
    ("SELECT 1, , 2", ",", "remove the comma"),
    ("SELECT a FROM t WHERE a IN (1, 2,)", ",", "remove the comma"),
    ("SELECT a FROM orders\nSELECT b FROM orders", "SELECT", "write ; between two statements"),
    ("SELECT a FROM orders WHERE a = 1\nDELETE FROM orders", "DELETE", "write ; between two statements"),
    ("INSERT INTO t SELECT a, FROM orders", ",", "remove the comma: it follows the last item"),
    ("CREATE TABLE x AS SELECT * FORM orders", "FORM", "did you mean FROM?"),
]


@pytest.mark.parametrize(("text", "at", "hint"), MISTAKES, ids=[m[0] for m in MISTAKES])
def test_a_mistake_has_its_place_and_its_hint(text: str, at: str, hint: str) -> None:
    with pytest.raises(SqlSyntaxError) as raised:
        parse(text)
    assert raised.value.hint == hint
    assert text[raised.value.facts["start"] : raised.value.facts["stop"]] == at


@pytest.mark.parametrize(
    "text",
    [
        "SELECT form FROM t form",
        "SELECT a AS form, b frm FROM t",
        "SELECT a, `from` FROM t",
        "SELECT t.from FROM t",
        "SELECT limt, wehre FROM t WHERE wehre = 1",
        "SELECT a order_ FROM t ORDER BY order_",
        "SELECT a, where FROM t",
        "SELECT a, group, order FROM t",
        "SELECT a FROM t UNION ALL SELECT b FROM u EXCEPT SELECT c FROM v MINUS SELECT d FROM w",
        "WITH c AS (SELECT 1 AS a) SELECT a FROM c",
        "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u) AND b IN (SELECT c FROM v)",
        "SELECT * FROM t PIVOT (sum(a) FOR b IN ('x', 'y'))",
        "SELECT /*+ BROADCAST(t) */ a FROM t joins CROSS JOIN u",
        "SELECT a FROM t LATERAL VIEW explode(b) c AS d",
        "SELECT a, row_number() OVER (PARTITION BY b ORDER BY c) FROM t DISTRIBUTE BY a SORT BY b",
        "FROM t SELECT a",
        "SELECT a FROM t TABLESAMPLE (10 PERCENT) form WHERE a = 1",
        "VALUES (1, 2), (3, 4)",
        "SELECT CASE WHEN a THEN b END form, c FROM t",
        "SELECT INTERVAL '1' DAY, DATE '2024-01-01' frm FROM t",
        "EXPLAIN SELECT a FROM t",
    ],
)
def test_what_is_right_has_no_mistake(text: str) -> None:
    assert parse(text)
