r"""A backslash in a text: it takes the next character with it in Spark, and is a letter in Flink (real Flink 1.20: `CHAR_LENGTH('\')` is 1)."""

from __future__ import annotations

import pytest

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse, render, tokens
from paimon_nb.statements import CreateTable, Insert, Query


@pytest.mark.parametrize(
    ("text", "values"),
    [
        # whole in Spark's way: read so
        (r"SELECT 'it\'s', 'a\b', 'c\\'", ["it's", r"a\b", r"c\\"]),
        # never ends in Spark's way, ends in Flink's
        (r"SELECT '\'", ["\\"]),
        (r"SELECT 'a\', ',' , 'b'", ["a\\", ",", "b"]),
        (r"SELECT '\', 'x', '\'", ["\\", "x", "\\"]),
        (r"SELECT '\''' || 'x'", ["\\'", "x"]),
        (r"SELECT 'c:\dir\'", [r"c:\dir" + "\\"]),
    ],
)
def test_the_way_that_a_cell_ends_in(text, values):
    assert [t.value for t in tokens(text) if t.kind == "string"] == values


@pytest.mark.parametrize("text", [r"SELECT '\ FROM t", r"SELECT 'it\'s' || '\'", "SELECT 'a"])
def test_what_ends_in_neither_is_told_at_its_place(text):
    with pytest.raises(SqlSyntaxError, match=r"unexpected character|unterminated") as caught:
        parse(text)
    assert text[caught.value.facts["start"]] in "'\\"


def test_spark_is_told_the_letter():
    text = r"SELECT SPLIT_INDEX(p, '\', 1) FROM t WHERE p <> 'a\b'"
    (query,) = parse(text)
    assert isinstance(query, Query)
    assert r"'\\'" in render(query, text, {})
    assert r"'a\\b'" in render(query, text, {})
    assert [t.filter for t in query.tables] == [None]


def test_constants_and_comments_keep_it():
    created, inserted = parse(r"CREATE TABLE t (a STRING COMMENT 'ends in \'); INSERT INTO t VALUES ('c:\')")
    assert isinstance(created, CreateTable)
    assert isinstance(inserted, Insert)
    assert created.definition.columns[0].comment == "ends in \\"
