"""`scan.fallback-branch` in SQL: how it is set up, and what keeps it from breaking."""

from __future__ import annotations

import pytest
from test_branch_option import rows

import paimon_nb
from paimon_nb.base.errors import UnsupportedOperation


@pytest.fixture
def fallback(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    wb.run("""
        CREATE TABLE t (pt INT NOT NULL, k INT NOT NULL, v STRING) PARTITIONED BY (pt) WITH ('bucket' = '-1');
        CALL sys.create_branch('default.t', 'b');
        ALTER TABLE t SET ('scan.fallback-branch' = 'b');
        INSERT INTO t VALUES (1, 10, 'main');
        INSERT INTO `t$branch_b` VALUES (2, 20, 'branch')
    """)
    return wb


@pytest.mark.parametrize("change", ["delete_branch('t', 'b')", "rename_branch('t', 'b', 'c')", "purge_files('t')"])
def test_the_fallback_branch_stays_as_long_as_it_is_one(fallback, change):
    with pytest.raises(UnsupportedOperation, match=r"scan\.fallback-branch") as refused:
        fallback.run(f"CALL sys.{change}")
    assert "RESET" in refused.value.hint
    assert rows(fallback, "SELECT * FROM t") == [(1, 10, "main"), (2, 20, "branch")]
    fallback.run("ALTER TABLE t RESET ('scan.fallback-branch'); CALL sys.delete_branch('t', 'b')")
    assert rows(fallback, "SELECT * FROM t") == [(1, 10, "main")]
