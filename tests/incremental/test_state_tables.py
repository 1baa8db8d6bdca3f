"""State tables: not listed with others, dropped and renamed with their target."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from incremental_kit import change, create_target, refreshed

from paimon_nb import incremental

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")

GROUPS = "SELECT g, count(*) AS n FROM e GROUP BY g"


@pytest.fixture
def counted(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    """A target `t` with one state table."""
    change(wb, "CREATE TABLE e (g STRING); INSERT INTO e VALUES ('a'), ('a'), ('b')")
    create_target(wb, "t", incremental.analyse(wb.session, GROUPS))
    refreshed(wb, "t", GROUPS)
    return wb


def listed(wb: paimon_nb.Workbench, statement: str) -> list[str]:
    found = wb.run(statement).arrow
    assert found is not None
    return found.column("tableName").to_pylist()


def test_state_tables_are_listed_only_by_a_pattern(counted: paimon_nb.Workbench) -> None:
    state = ["t__state_2_groups"]
    assert listed(counted, "SHOW TABLES") == counted.tables() == ["e", "t"]
    assert listed(counted, "SHOW TABLES LIKE '%state%'") == state
    assert listed(counted, "SHOW TABLES LIKE 't*'") == ["t"]
    assert counted.table(state[0]).to_arrow().num_rows == 2


def test_a_users_table_with_such_a_name_is_listed(counted: paimon_nb.Workbench) -> None:
    change(
        counted,
        "CREATE TABLE t__state_9_own (x INT); CREATE TABLE u__state_1_x (x INT) COMMENT 'incremental state of default.u'",
    )
    assert counted.tables() == ["e", "t", "t__state_9_own", "u__state_1_x"]


def test_a_dropped_target_takes_its_state_along(counted: paimon_nb.Workbench) -> None:
    change(counted, "CREATE TABLE t__state_9_own (x INT); DROP TABLE t")
    assert counted.session.catalog.tables("default") == ["e", "t__state_9_own"]


@pytest.mark.parametrize("by", ["statement", "method"])
def test_a_renamed_target_keeps_its_state(counted: paimon_nb.Workbench, by: str) -> None:
    if by == "statement":
        change(counted, "ALTER TABLE t RENAME TO moved")
    else:
        counted.rename_table("t", "moved")
    assert counted.session.catalog.tables("default") == ["e", "moved", "moved__state_2_groups"]
    change(counted, "INSERT INTO e VALUES ('b')")
    assert refreshed(counted, "moved", GROUPS).action == "incremental"
    assert sorted(counted.table("moved").to_arrow().to_pylist(), key=str) == [{"g": "a", "n": 2}, {"g": "b", "n": 2}]
