"""Incremental tables follow their queries: what each kind of change does, and what stops a refresh."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from incremental_kit import change, create_target, difference_from_batch, refreshed
from sampling import sampled

from paimon_nb import incremental
from paimon_nb.base.errors import PaimonError, QueryChanged, SchemaMismatch, TargetChanged

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")

GROUPS = "SELECT g, count(*) AS n, sum(x) AS s, min(x) AS low FROM o GROUP BY g"


@pytest.fixture
def orders(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    change(
        wb,
        """
        CREATE TABLE o (id INT, g STRING, x BIGINT, d DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE c (g STRING, name STRING);
        INSERT INTO o VALUES (1, 'a', 10, 0.1), (2, 'b', 20, 0.2), (3, 'a', 5, NULL);
        INSERT INTO c VALUES ('a', 'Ann'), ('b', 'Bob'), ('b', 'Bobby')
    """,
    )
    return wb


def target(wb: paimon_nb.Workbench, text: str, key: tuple[str, ...] = ()) -> None:
    create_target(wb, "t", incremental.analyse(wb.session, text), key)


def rows(wb: paimon_nb.Workbench) -> list[dict[str, object]]:
    return sorted(wb.table("t").to_arrow().to_pylist(), key=repr)


def test_groups_follow_inserts_updates_and_deletes(orders: paimon_nb.Workbench) -> None:
    target(orders, GROUPS)
    built = refreshed(orders, "t", GROUPS)
    change(orders, "INSERT INTO o VALUES (1, 'b', 1, 7.5), (4, NULL, 3, 1); DELETE FROM o WHERE id = 2")
    moved = refreshed(orders, "t", GROUPS)
    assert (built.action, moved.action, moved.added, moved.removed) == ("built", "incremental", 3, 2)
    assert rows(orders) == [
        {"g": "a", "n": 1, "s": 5, "low": 5},
        {"g": "b", "n": 1, "s": 1, "low": 1},
        {"g": None, "n": 1, "s": 3, "low": 3},
    ]


def test_without_changes_nothing_is_committed(orders: paimon_nb.Workbench) -> None:
    target(orders, GROUPS)
    refreshed(orders, "t", GROUPS)
    again = refreshed(orders, "t", GROUPS)
    assert (again.action, again.snapshot) == ("unchanged", None)
    assert orders.table("t").snapshots().num_rows == 1


def test_an_aggregate_without_groups_has_one_row_also_of_an_empty_table(orders: paimon_nb.Workbench) -> None:
    text = "SELECT count(*) AS n, sum(x) AS s, max(x) AS high FROM o"
    change(orders, "DELETE FROM o WHERE id > 0")
    target(orders, text)
    refreshed(orders, "t", text)
    assert rows(orders) == [{"n": 0, "s": None, "high": None}]
    change(orders, "INSERT INTO o VALUES (7, 'a', 70, 1)")
    refreshed(orders, "t", text)
    assert rows(orders) == [{"n": 1, "s": 70, "high": 70}]
    change(orders, "DELETE FROM o WHERE id = 7")
    refreshed(orders, "t", text)
    assert rows(orders) == [{"n": 0, "s": None, "high": None}]


def test_a_sum_of_doubles_does_not_drift(orders: paimon_nb.Workbench) -> None:
    text = "SELECT sum(d) AS s FROM o"
    target(orders, text)
    refreshed(orders, "t", text)
    before = rows(orders)
    for value in (1e300, 0.3, 1e-300):
        row = {"id": pa.array([9], pa.int32()), "g": ["z"], "x": pa.array([1], pa.int64()), "d": [value]}
        orders.table("o").append(pa.table(row))
        refreshed(orders, "t", text)
    change(orders, "DELETE FROM o WHERE id = 9")
    refreshed(orders, "t", text)
    assert rows(orders) == before


def test_the_order_of_a_changelog_is_before_then_after(orders: paimon_nb.Workbench) -> None:
    text = "SELECT id, x FROM o"
    change(
        orders,
        "CREATE TABLE t (id INT, x BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1', 'changelog-producer' = 'input')",
    )
    refreshed(orders, "t", text)
    change(orders, "INSERT INTO o VALUES (1, 'a', 11, 0); DELETE FROM o WHERE id = 2")
    refreshed(orders, "t", text)
    log = orders.table("t").system("audit_log", options={"incremental-between": "1,2"}).to_pylist()
    assert [(r["rowkind"], r["id"], r["x"]) for r in log if r["id"] == 1] == [("-U", 1, 10), ("+U", 1, 11)]
    assert [(r["rowkind"], r["id"]) for r in log if r["id"] == 2] == [("-D", 2)]


def test_rows_with_the_same_key_are_an_error_and_change_nothing(orders: paimon_nb.Workbench) -> None:
    text = "SELECT g, x FROM o"
    change(orders, "CREATE TABLE t (g STRING, x BIGINT, PRIMARY KEY (g) NOT ENFORCED) WITH ('bucket' = '1')")
    with pytest.raises(SchemaMismatch, match="two rows of the result have the key"):
        refreshed(orders, "t", text)
    assert orders.table("t").latest_snapshot() is None
    change(orders, "DELETE FROM o WHERE id = 3")
    refreshed(orders, "t", text)
    change(orders, "INSERT INTO o VALUES (5, 'b', 1, 1)")
    with pytest.raises(SchemaMismatch, match="two rows of the result have the key"):
        refreshed(orders, "t", text)
    assert len(rows(orders)) == 2


def test_another_query_does_not_move_the_target(orders: paimon_nb.Workbench) -> None:
    target(orders, GROUPS)
    refreshed(orders, "t", GROUPS)
    other = GROUPS.replace("min(x)", "max(x)")
    with pytest.raises(QueryChanged) as error:
        refreshed(orders, "t", other)
    assert "rebuild=True" in str(error.value.hint)
    assert refreshed(orders, "t", other, rebuild=True).action == "built"
    assert difference_from_batch(orders, "t", other) == ""


def test_rows_of_other_writers_are_not_removed(orders: paimon_nb.Workbench) -> None:
    target(orders, GROUPS)
    change(orders, "INSERT INTO t VALUES ('mine', 1, 1, 1)")
    with pytest.raises(TargetChanged):
        refreshed(orders, "t", GROUPS)
    refreshed(orders, "t", GROUPS, rebuild=True)
    change(orders, "INSERT INTO t VALUES ('mine', 1, 1, 1); INSERT INTO o VALUES (8, 'a', 1, 1)")
    with pytest.raises(TargetChanged):
        refreshed(orders, "t", GROUPS)
    refreshed(orders, "t", GROUPS, rebuild=True)
    assert difference_from_batch(orders, "t", GROUPS) == ""


@pytest.mark.parametrize(
    ("damage", "reason"),
    sampled(
        [
            ("DROP TABLE t__state_2_groups", "was dropped"),
            ("ALTER TABLE t__state_2_groups ADD COLUMN more INT", "was altered"),
            ("TRUNCATE TABLE t__state_2_group_rows", "another writer"),
            ("DELETE FROM t__state_2_groups WHERE rows > 0", "another writer"),
            ("ALTER TABLE t__state_2_group_rows RENAME TO elsewhere", "was dropped"),
            ("ALTER TABLE t__state_2_groups SET ('write-only' = 'true')", ""),
            ("CALL sys.compact(`table` => 'default.t__state_2_groups')", ""),
            (
                "CALL sys.compact(`table` => 'default.t__state_2_groups'); CALL sys.expire_snapshots(`table` => 'default.t__state_2_groups', retain_max => 1)",
                "is gone",
            ),
            ("CALL sys.rollback(`table` => 'default.o', snapshot => 1)", "rolled back"),
            ("CALL sys.expire_snapshots(`table` => 'default.o', retain_max => 1)", "expired"),
            ("ALTER TABLE o ADD COLUMN more INT", ""),
            ("ALTER TABLE o RENAME COLUMN d TO e", ""),
        ],
        3,
    ),
)
def test_what_cannot_be_continued_is_built_again(orders: paimon_nb.Workbench, damage: str, reason: str) -> None:
    target(orders, GROUPS)
    change(orders, "INSERT INTO o VALUES (4, 'c', 4, 4)")
    refreshed(orders, "t", GROUPS)
    change(orders, "INSERT INTO o (id, g, x) VALUES (5, 'c', 5), (1, 'c', 1)")
    change(orders, damage)
    change(orders, "INSERT INTO o (id, g, x) VALUES (6, 'c', 6)")
    result = refreshed(orders, "t", GROUPS)
    assert result.action == ("built" if reason else "incremental")
    assert reason in result.reason
    assert difference_from_batch(orders, "t", GROUPS) == ""
    assert refreshed(orders, "t", GROUPS).action == "unchanged"


def test_an_input_that_was_created_again_is_read_whole(orders: paimon_nb.Workbench) -> None:
    target(orders, GROUPS)
    refreshed(orders, "t", GROUPS)
    change(
        orders,
        "DROP TABLE o; CREATE TABLE o (id INT, g STRING, x BIGINT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1'); INSERT INTO o VALUES (1, 'z', 1)",
    )
    result = refreshed(orders, "t", GROUPS)
    assert (result.action, rows(orders)) == ("built", [{"g": "z", "n": 1, "s": 1, "low": 1}])


def test_a_changed_type_of_an_input_is_followed_by_a_rebuild(orders: paimon_nb.Workbench) -> None:
    text = "SELECT g, count(*) AS n, max(k) AS high FROM i GROUP BY g"
    change(orders, "CREATE TABLE i (g STRING, k INT); INSERT INTO i VALUES ('a', 1)")
    change(orders, "CREATE TABLE t (g STRING, n BIGINT, high BIGINT)")
    refreshed(orders, "t", text)
    change(orders, "ALTER TABLE i MODIFY k BIGINT; INSERT INTO i VALUES ('a', 5000000000)")
    result = refreshed(orders, "t", text)
    assert (result.action, rows(orders)) == ("built", [{"g": "a", "n": 2, "high": 5000000000}])


def test_a_query_without_a_rule_is_computed_again_and_only_differences_are_written(orders: paimon_nb.Workbench) -> None:
    text = "SELECT g, x FROM o INTERSECT ALL SELECT g, x FROM o"
    change(orders, "CREATE TABLE t (g STRING, x BIGINT)")
    plan = incremental.analyse(orders.session, text)
    assert not plan.is_incremental
    assert plan.explain().startswith("recomputed: INTERSECT ALL")
    assert refreshed(orders, "t", text).action == "recomputed"
    assert refreshed(orders, "t", text).action == "unchanged"
    change(orders, "INSERT INTO o VALUES (2, 'b', 1, 1)")
    result = refreshed(orders, "t", text)
    assert (result.action, result.added, result.removed) == ("recomputed", 1, 1)
    assert difference_from_batch(orders, "t", text) == ""


def test_explain_names_state_and_cost(orders: paimon_nb.Workbench) -> None:
    text = "SELECT c.name, count(*) AS n, max(o.x) AS high FROM o JOIN c ON o.g = c.g GROUP BY c.name"
    found = incremental.analyse(orders.session, text).explain()
    assert "group by name: count(*), max(x)" in found
    assert (
        "[incremental; one change costs its group's row, and the values of its group if it removes the max; state: "
        in found
    )
    assert "inner join on" in found
    assert "_inner_join_left, <target>__state_" in found
    assert "scan default.o  [stateless" in found


def test_a_plan_of_a_missing_table_is_an_error(orders: paimon_nb.Workbench) -> None:
    with pytest.raises(PaimonError):
        incremental.analyse(orders.session, "SELECT * FROM none_such").refresh("t")


def test_windows_over_groups_follow_their_partition(orders: paimon_nb.Workbench) -> None:
    text = "SELECT g, sum(x) AS s, sum(sum(x)) OVER () AS whole, count(*) AS n FROM o GROUP BY g"
    target(orders, text)
    refreshed(orders, "t", text)
    change(orders, "INSERT INTO o VALUES (4, 'c', 40, NULL); DELETE FROM o WHERE id = 2")
    assert refreshed(orders, "t", text).action == "incremental"
    assert rows(orders) == [{"g": "a", "s": 15, "whole": 55, "n": 2}, {"g": "c", "s": 40, "whole": 55, "n": 1}]


def test_rows_that_order_by_leaves_equal_keep_their_numbers(orders: paimon_nb.Workbench) -> None:
    text = "SELECT id, row_number() OVER (PARTITION BY g ORDER BY x) AS r FROM o"
    change(orders, "INSERT INTO o VALUES (11, 'a', 5, NULL), (12, 'a', 5, NULL), (13, 'a', 5, NULL)")
    target(orders, text, ("id",))
    refreshed(orders, "t", text)
    for number in range(20, 24):
        change(orders, f"INSERT INTO o VALUES ({number}, 'a', 5, NULL)")
        refreshed(orders, "t", text)
    numbers = sorted(row["r"] for row in rows(orders) if row["id"] != 2)
    assert numbers == list(range(1, 10))


def test_a_target_without_a_key_keeps_equal_rows(orders: paimon_nb.Workbench) -> None:
    text = "SELECT name FROM c"
    target(orders, text)
    refreshed(orders, "t", text)
    change(orders, "INSERT INTO c VALUES ('z', 'Bob'), ('y', 'Bob')")
    refreshed(orders, "t", text)
    change(orders, "DELETE FROM c WHERE g = 'z'")
    refreshed(orders, "t", text)
    assert [r["name"] for r in rows(orders)] == ["Ann", "Bob", "Bob", "Bobby"]


def test_a_change_that_cancels_out_leaves_an_aggregate_without_groups(wb: paimon_nb.Workbench) -> None:
    text = "SELECT count(DISTINCT a.d) AS n, sum(a.d) AS s, min(a.d) AS low FROM p AS a LEFT JOIN o AS b ON a.id = b.id"
    change(
        wb,
        """
        CREATE TABLE p (id INT, d DOUBLE, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        CREATE TABLE o (id INT, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        INSERT INTO p VALUES (1, 0.5), (2, 1.5); INSERT INTO o VALUES (1, 1)
    """,
    )
    target(wb, text)
    refreshed(wb, "t", text)
    change(wb, "INSERT INTO o VALUES (1, 2)")  # another value, which no column of the result has
    refreshed(wb, "t", text)
    assert rows(wb) == [{"n": 2, "s": 2.0, "low": 0.5}]
