"""Positions that Spark's errors do not name."""

from __future__ import annotations

import pytest

from paimon_nb.sql.error_spans import error_span


@pytest.mark.parametrize(
    ("condition", "parameters", "text", "part"),
    [
        ("MISSING_GROUP_BY", {}, "SELECT DISTINCT a, sum(b) FROM t", "a"),
        ("MISSING_GROUP_BY", {}, "SELECT sum(b), lower(a), `x y` FROM t", "`x y`"),
        ("MISSING_GROUP_BY", {}, "SELECT sum(b + lower(a)) FROM t", None),
        ("CAST_INVALID_INPUT", {"expression": "'abc'"}, "SELECT * FROM t WHERE a = 'ab' AND b > 'abc'", "'abc'"),
        ("CAST_INVALID_INPUT", {"expression": "'abc'"}, "SELECT CAST(v AS INT) FROM t", None),
        ("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", {"rowIndex": "1"}, "INSERT INTO t VALUES (1, f(2)), (3), (4, 5)", "(3)"),
        ("INVALID_INLINE_TABLE.NUM_COLUMNS_MISMATCH", {"rowIndex": "9"}, "INSERT INTO t VALUES (1, 2)", None),
        ("DIVIDE_BY_ZERO", {}, "SELECT 1 / 0", None),
        ("MISSING_GROUP_BY", {}, "SELECT 'open", None),
    ],
)  # fmt: skip
def test_the_part_of_a_statement(condition: str, parameters: dict[str, str], text: str, part: str | None) -> None:
    before = "SHOW TABLES;\n"
    found = error_span(condition, parameters, before + text, len(before), len(before + text))
    assert (found and (before + text)[slice(*found)]) == part
