"""Temporary views that change: another query, another name, and views that would read themselves."""

import pytest

from paimon_nb.base.errors import AlreadyExists, SqlAnalysisError, TableNotFound

pytestmark = pytest.mark.spark


def asked(wb, text):
    return sorted(tuple(r) for r in wb.sql(text).collect())


def test_views_change(swb):
    swb.run(
        "CREATE TABLE t (a INT, b INT); INSERT INTO t VALUES (1, 10), (2, 20); CREATE TEMPORARY VIEW v AS SELECT a FROM t"
    )
    swb.run("ALTER VIEW v AS SELECT b FROM t WHERE a > 1")
    assert asked(swb, "SELECT * FROM v") == [(20,)]
    assert swb.run("SHOW CREATE VIEW v").arrow.to_pylist() == [
        {"createtab_stmt": "CREATE OR REPLACE TEMPORARY VIEW `v` AS SELECT b FROM t WHERE a > 1"}
    ]
    swb.run("ALTER VIEW v RENAME TO w")
    assert asked(swb, "SELECT * FROM w") == [(20,)]
    with pytest.raises(TableNotFound):
        swb.run("SHOW CREATE VIEW v")
    swb.run("CREATE TEMPORARY VIEW v AS SELECT 1 AS x")
    with pytest.raises(AlreadyExists):
        swb.run("ALTER VIEW v RENAME TO w")
    with pytest.raises(SqlAnalysisError):
        swb.run("ALTER VIEW nobodys RENAME TO x")
    # a view of Spark's own stays Spark's
    swb.spark.range(3).createOrReplaceTempView("of_spark")
    swb.run("ALTER VIEW of_spark AS SELECT 7 AS x")
    assert asked(swb, "SELECT * FROM of_spark") == [(7,)]
    swb.run("DROP VIEW of_spark")


@pytest.mark.parametrize("text", ["ALTER VIEW v AS", "CREATE OR REPLACE TEMPORARY VIEW v AS"])
def test_a_view_that_would_read_itself(swb, text):
    swb.run("CREATE TEMPORARY VIEW v AS SELECT 1 AS x; CREATE TEMPORARY VIEW u AS SELECT x + 1 AS x FROM v")
    for source in ("v", "u", "(SELECT * FROM u) AS s"):
        with pytest.raises(SqlAnalysisError, match="itself"):
            swb.run(f"{text} SELECT * FROM {source}")
    assert asked(swb, "SELECT * FROM u") == [(2,)]
