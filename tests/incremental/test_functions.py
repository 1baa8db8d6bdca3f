"""Functions whose result depends on the order in which rows arrived, and several sets of grouping keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from incremental_kit import change, create_target, difference_from_batch, refreshed
from sampling import sampled

from paimon_nb import incremental

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")


@pytest.fixture
def events(wb: paimon_nb.Workbench) -> paimon_nb.Workbench:
    change(
        wb,
        """
        CREATE TABLE e (g STRING, x INT, d DOUBLE);
        INSERT INTO e VALUES ('a', 5, 0.5), ('a', 3, NULL), ('a', 5, 0.5);
        INSERT INTO e VALUES ('b', NULL, 1)
    """,
    )
    return wb


def followed(wb: paimon_nb.Workbench, text: str, *changes: str) -> list[dict[str, object]]:
    """The rows of a new target after some changes, each followed by a refresh; the last one is incremental."""
    create_target(wb, "t", incremental.analyse(wb.session, text))
    assert refreshed(wb, "t", text).action == "built"
    for statements in changes:
        change(wb, statements)
        assert refreshed(wb, "t", text).action == "incremental"
    return sorted(wb.table("t").to_arrow().to_pylist(), key=repr)


def test_values_are_listed_in_the_order_of_their_arrival(events: paimon_nb.Workbench) -> None:
    text = """SELECT g, listagg(CAST(x AS STRING), '-') AS l, collect_list(x) AS c, first_value(x) AS f, last_value(x, true) AS z
        FROM e GROUP BY g"""
    assert followed(events, text, "INSERT INTO e VALUES ('a', 4, 1), ('b', 1, 1)") == [
        {"g": "a", "l": "5-3-5-4", "c": [5, 3, 5, 4], "f": 5, "z": 4},
        {"g": "b", "l": "1", "c": [1], "f": None, "z": 1},
    ]


def test_a_removed_value_is_the_oldest_of_the_equal_ones(wb: paimon_nb.Workbench) -> None:
    change(
        wb,
        """CREATE TABLE k (id INT, x INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1');
        INSERT INTO k VALUES (1, 7), (2, 8), (3, 7)""",
    )
    text = "SELECT collect_list(x) AS c, first(x) AS f, last(x) AS l FROM k"
    assert followed(wb, text, "DELETE FROM k WHERE id = 3") == [{"c": [8, 7], "f": 8, "l": 7}]
    change(wb, "INSERT INTO k VALUES (2, 9), (4, 8)")  # an 8 goes, and an 8 comes
    refreshed(wb, "t", text)
    assert wb.table("t").to_arrow().to_pylist() == [{"c": [8, 7, 9], "f": 8, "l": 9}]
    change(wb, "DELETE FROM k WHERE id > 0")
    refreshed(wb, "t", text)
    assert wb.table("t").to_arrow().to_pylist() == [{"c": [], "f": None, "l": None}]


def test_sets_and_distinct_lists_have_each_value_once(events: paimon_nb.Workbench) -> None:
    text = """SELECT g, collect_set(x) AS s, string_agg(DISTINCT g) FILTER (WHERE x > 3) AS l, array_agg(x ORDER BY x DESC) AS o
        FROM e GROUP BY g"""
    assert followed(events, text, "INSERT INTO e VALUES ('b', 9, 1), ('a', 3, 2)", "DELETE FROM e WHERE x = 5") == [
        {"g": "a", "s": [3], "l": None, "o": [3, 3]},
        {"g": "b", "s": [9], "l": "b", "o": [9]},
    ]


def test_the_dialect_decides_about_nulls_and_separators(events: paimon_nb.Workbench) -> None:
    events.session.settings["execution.runtime-mode"] = "batch"
    assert events.session.flink_semantics
    text = "SELECT g, array_agg(x) AS a, listagg(g) AS l, first_value(x) AS f FROM e GROUP BY g"
    assert followed(events, text, "INSERT INTO e VALUES ('b', 2, 1)") == [
        {"g": "a", "a": [5, 3, 5], "l": "a,a,a", "f": 5},
        {"g": "b", "a": [None, 2], "l": "b,b", "f": 2},
    ]


def test_a_multiset_counts_its_values(events: paimon_nb.Workbench) -> None:
    events.session.settings["execution.runtime-mode"] = "batch"
    text = "SELECT g, collect(x) AS m FROM e GROUP BY g"
    assert followed(events, text, "INSERT INTO e VALUES ('a', 5, 1)") == [
        {"g": "a", "m": [(3, 1), (5, 3)]},
        {"g": "b", "m": []},
    ]


@pytest.mark.parametrize(
    "group",
    sampled(
        ["ROLLUP (g, x)", "CUBE (g, x)", "GROUPING SETS ((g), (x), (g), ())", "g, ROLLUP (x)", "ROLLUP ((g, x))"], 3
    ),
)
def test_each_set_of_keys_has_its_groups(events: paimon_nb.Workbench, group: str) -> None:
    text = f"SELECT g, x, grouping(x) AS gx, grouping_id() AS i, count(*) AS n, sum(d) AS s FROM e GROUP BY {group}"
    followed(events, text, "INSERT INTO e VALUES ('b', 1, 2), (NULL, NULL, 3)", "DELETE FROM e WHERE x = 5")
    assert difference_from_batch(events, "t", text) == ""


def test_a_rollup_of_no_rows_has_no_rows(events: paimon_nb.Workbench) -> None:
    text = "SELECT g, count(*) AS n FROM e GROUP BY ROLLUP (g)"
    assert followed(events, text, "DELETE FROM e WHERE d > 0; DELETE FROM e WHERE x = 3") == []
    assert difference_from_batch(events, "t", text) == ""


def test_the_empty_set_alone_has_a_row_of_no_rows(events: paimon_nb.Workbench) -> None:
    text = "SELECT count(*) AS n FROM e GROUP BY GROUPING SETS (())"
    assert followed(events, text, "DELETE FROM e WHERE d > 0; DELETE FROM e WHERE x = 3") == [{"n": 0}]
    assert difference_from_batch(events, "t", text) == ""


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT g, collect_set(d) AS s FROM e GROUP BY g", "COLLECT_SET of DOUBLE"),
        ("SELECT g, listagg(g, x) AS s FROM e GROUP BY g, x", "LISTAGG with a computed separator"),
        ("SELECT g, first(x, d > 1) AS s FROM e GROUP BY g, d", "FIRST with these arguments"),
    ],
)
def test_calls_without_a_rule_say_why(events: paimon_nb.Workbench, text: str, reason: str) -> None:
    assert incremental.analyse(events.session, text).explain().startswith(f"recomputed: {reason}")


def test_constants_in_subqueries_are_checked_without_rows(events: paimon_nb.Workbench) -> None:
    text = "SELECT g FROM e WHERE EXISTS (SELECT 1 FROM e AS i WHERE i.g = e.g AND i.x = 1 AND i.x + 2147483647 > 0)"
    assert incremental.analyse(events.session, text).checks
