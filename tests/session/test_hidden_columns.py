"""Where hidden columns go in a query's text: into each select list that no * covers, and nowhere else."""

from __future__ import annotations

from paimon_nb.session.query.hidden_columns import with_hidden_columns_selected


def test_each_select_list_gives_them_once():
    told = {
        "SELECT a, b FROM t": "SELECT a, b , `k`, `o` FROM t",
        "select a from t": "select a , `k`, `o` from t",
        "SELECT * FROM t WHERE a > 1": None,
        "SELECT *, PROCTIME() AS p FROM t": None,
        "SELECT x.*, 1 AS one FROM t AS x": None,
        "SELECT x.* FROM s.t x LEFT JOIN d ON x.a = d.a": None,
        "SELECT d.* FROM t AS x JOIN d ON x.a = d.a": "SELECT d.* , `k`, `o` FROM t AS x JOIN d ON x.a = d.a",
        "SELECT COUNT(*) + 1, 'FROM' FROM t": "SELECT COUNT(*) + 1, 'FROM' , `k`, `o` FROM t",
        "SELECT EXTRACT(DAY FROM a) FROM t": "SELECT EXTRACT(DAY FROM a) , `k`, `o` FROM t",
        "SELECT a IS NOT DISTINCT FROM b AS same FROM t": "SELECT a IS NOT DISTINCT FROM b AS same , `k`, `o` FROM t",
        "SELECT q.a FROM (SELECT a * 2 AS a FROM t) AS q": "SELECT q.a , `k`, `o` FROM (SELECT a * 2 AS a , `k`, `o` FROM t) AS q",
        "SELECT q.* FROM (SELECT a FROM t) AS q": "SELECT q.* FROM (SELECT a , `k`, `o` FROM t) AS q",
        "WITH q AS (SELECT a FROM t) SELECT a FROM q": "WITH q AS (SELECT a , `k`, `o` FROM t) SELECT a , `k`, `o` FROM q",
        "SELECT `FROM` /* FROM */ -- FROM\n FROM t": "SELECT `FROM` /* FROM */ -- FROM\n , `k`, `o` FROM t",
    }
    assert {q: with_hidden_columns_selected(q, ("k", "o")) for q in told} == {
        q: q if e is None else e for q, e in told.items()
    }
