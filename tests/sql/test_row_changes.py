"""UPDATE, DELETE and MERGE as plans: places of expressions, what surely concerns the target, edits, parameters."""

from decimal import Decimal

import pytest

from paimon_nb.base.errors import SqlSyntaxError
from paimon_nb.sql import parse
from paimon_nb.sql.pushdown import equal_columns
from paimon_nb.sql.qualify import qualify_bare_columns
from paimon_nb.sql.render import replace_spans
from paimon_nb.statements import Span
from paimon_nb.table.read.predicate.model import Compare, conjunction_of


def one(text):
    (statement,) = parse(text)
    return statement


def said(text, span):
    return text[span.start : span.stop]


def test_update():
    text = "UPDATE c.db.t SET a = CASE WHEN x > 1 THEN f(1, 2) ELSE 3 END, c.db.t.b = :p WHERE db2.q = 1 AND c.db.t.k = 'v'"
    s = one(text)
    assert [(name, said(text, value)) for name, value in s.assignments] == [
        (("a",), "CASE WHEN x > 1 THEN f(1, 2) ELSE 3 END"),
        (("c", "db", "t", "b"), ":p"),
    ]
    assert (s.parameters, s.target.parts) == (("p",), ("c", "db", "t"))
    assert [(said(text, place), new) for place, new in s.edits] == [("c.db.t", "`t`")] * 2
    assert s.target.filter == Compare("k", "=", "v")


def test_delete_knows_what_to_skip_by():
    assert one("DELETE FROM t WHERE a = 1 AND (b > 2 OR rand() > 0.5) AND t.c <= 3").target.filter == conjunction_of(
        [Compare("a", "=", 1), Compare("c", "<=", 3)]
    )
    assert one("DELETE FROM t WHERE a < 10 + 2 * 3").target.filter == Compare("a", "<", 16)
    assert one("DELETE FROM t WHERE a < 100 - 0.5").target.filter == Compare("a", "<", Decimal("99.5"))
    assert one("DELETE FROM t WHERE a < 2000000000 * 2").target.filter is None  # overflows in Spark
    assert one("DELETE FROM t AS x WHERE x.a = 1 AND t.b = 2").target.filter == Compare("a", "=", 1)
    assert one("DELETE FROM t WHERE a = 1 OR f(a) = 2").target.filter is None
    assert one("DELETE FROM t").where is None


def test_merge_prunes_the_target_by_on_unless_by_source_wants_all_of_it():
    head = "MERGE INTO t USING s ON t.id = s.id AND t.dt = 'x' AND n = 1 WHEN MATCHED THEN DELETE"
    assert one(head).target.filter == Compare("dt", "=", "x")  # n may be a column of s
    assert one(f"{head} WHEN NOT MATCHED BY SOURCE THEN DELETE").target.filter is None


def test_merge_clauses():
    text = """MERGE INTO db.t AS x USING (SELECT id, CASE WHEN a THEN 1 END AS v FROM db.s JOIN u ON s.a = u.a) AS y ON x.id = y.id
        WHEN MATCHED AND CASE WHEN y.v = 1 THEN true ELSE false END THEN UPDATE SET v = CASE WHEN y.v > 1 THEN 2 END, x.n = 1
        WHEN MATCHED THEN DELETE WHEN NOT MATCHED BY TARGET THEN INSERT (id, v) VALUES (y.id, concat('a', ','))
        WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *"""
    s = one(text)
    assert (s.source_alias, [t.parts for t in s.tables]) == ("y", [("db", "s"), ("u",)])
    assert [(c.on, c.action, c.star) for c in s.clauses] == [
        ("matched", "update", False), ("matched", "delete", False), ("not matched", "insert", False),
        ("not matched by source", "update", True),
    ]  # fmt: skip
    assert said(text, s.clauses[0].condition) == "CASE WHEN y.v = 1 THEN true ELSE false END"
    assert [said(text, v) for _, v in s.clauses[0].assignments] == ["CASE WHEN y.v > 1 THEN 2 END", "1"]
    assert [said(text, v) for _, v in s.clauses[2].assignments] == ["y.id", "concat('a', ',')"]


@pytest.mark.parametrize(
    ("source", "alias"),
    [("s", "s"), ("db.s", "s"), ("c.db.s AS q", "q"), ("s VERSION AS OF 3 q", "q"), ("(SELECT 1) q", "q"), ("(SELECT 1)", None),
     ("(VALUES (1)) AS q(a)", "q"), ("`s$audit_log`", "s$audit_log"), ("range(3) AS r", "r")],
)  # fmt: skip
def test_sources_of_a_merge(source, alias):
    text = f"MERGE INTO t USING {source} ON true WHEN MATCHED THEN DELETE"
    s = one(text)
    assert (said(text, s.source), s.source_alias) == (source, alias)


@pytest.mark.parametrize(
    "text",
    ["UPDATE t", "UPDATE t SET", "UPDATE t SET a", "UPDATE t SET a =", "UPDATE t SET a = 1 WHERE", "DELETE t", "DELETE FROM t WHERE",
     "MERGE INTO t USING s", "MERGE INTO t USING s ON WHEN MATCHED THEN DELETE", "MERGE INTO t USING ON a = b WHEN MATCHED THEN DELETE",
     "MERGE INTO t USING s ON a = b WHEN MATCHED THEN", "MERGE INTO t USING s ON a = b WHEN MATCHED AND THEN DELETE"],
)  # fmt: skip
def test_what_is_missing_is_told_where(text):
    with pytest.raises(SqlSyntaxError) as caught:
        parse(text)
    assert caught.value.start is not None


def test_bare_names_get_their_table():
    text = "id + s.id + f(id) + (SELECT max(id) FROM u) + CAST(v AS id) + `ID` + id.x + id(1) + other"
    edits = qualify_bare_columns(text, Span(0, len(text)), {"id"}, "q")
    assert replace_spans(text, Span(0, len(text)), edits) == (
        "`q`.id + s.id + f(`q`.id) + (SELECT max(id) FROM u) + CAST(v AS id) + `q`.`ID` + id.x + id(1) + other"
    )


def test_equal_columns():
    assert equal_columns("t.a = s.B AND (c = s.d) AND t.e > s.e AND t.f = 1 AND (t.g = s.g OR true)") == [
        (("t", "a"), ("s", "b")), (("", "c"), ("s", "d")),
    ]  # fmt: skip
