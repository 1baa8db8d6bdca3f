"""The graph of a pipeline, the origin of columns, and the input rows of a row. No JVM."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from sampling import sampled

from paimon_nb.base.errors import UnsupportedOperation
from paimon_nb.session.materialized.column_lineage import LineageReader
from paimon_nb.session.materialized.pipeline import JOB, MATERIALIZED, TABLE, pipeline_of
from paimon_nb.session.materialized.row_origin import MAX_ROWS, origin_of_row
from paimon_nb.sql import parse
from paimon_nb.statements import Query

STAGES = """SET 'paimon-nb.materialized-table.auto-refresh' = 'false';
CREATE TABLE orders (id INT NOT NULL, region STRING, price INT, item INT, PRIMARY KEY (id) NOT ENFORCED);
INSERT INTO orders VALUES (1, 'eu', 1, 1), (2, 'us', 2, 2), (3, 'eu', 4, 2);
CREATE TABLE items (item INT NOT NULL, name STRING, PRIMARY KEY (item) NOT ENFORCED); INSERT INTO items VALUES (1, 'bolt'), (2, 'nut');
CREATE MATERIALIZED TABLE lines (PRIMARY KEY (id) NOT ENFORCED)
  AS SELECT o.id, upper(o.region) AS region, i.name, o.price * 2 AS cents FROM orders o JOIN items i ON o.item = i.item WHERE o.price > 1;
CREATE MATERIALIZED TABLE by_region (PRIMARY KEY (region) NOT ENFORCED)
  AS SELECT region, count(*) AS n, sum(cents) AS total FROM lines GROUP BY region"""


@pytest.fixture
def lake(wb, monkeypatch):
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    wb.run(STAGES)
    return wb


def nodes(wb) -> dict:
    return {n.title.removeprefix("default."): n for n in pipeline_of(wb.session).nodes}


def origin(wb, name: str, **key: object) -> dict[str, list[dict]]:
    return {i.table: i.rows.to_pylist() for i in origin_of_row(wb.session, wb.session.find((name,)), key)}


# -- the graph


def test_each_part_is_after_what_it_reads(lake):
    found = pipeline_of(lake.session)
    assert [(n.kind, n.title) for n in found.nodes] == [
        (TABLE, "default.orders"),
        (TABLE, "default.items"),
        (MATERIALIZED, "default.lines"),
        (MATERIALIZED, "default.by_region"),
    ]
    titles = {n.id: n.title.removeprefix("default.") for n in found.nodes}
    assert [(titles[a], titles[b]) for a, b in found.edges] == [
        ("orders", "lines"), ("items", "lines"), ("lines", "by_region"),
    ]  # fmt: skip


def test_states_and_lags(lake):
    assert {k: n.state for k, n in nodes(lake).items()} == {"orders": "", "items": "", "lines": "ok", "by_region": "ok"}
    lake.run("INSERT INTO orders VALUES (4, 'eu', 9, 1); INSERT INTO orders VALUES (5, 'eu', 9, 1)")
    lines = nodes(lake)["lines"]
    assert (lines.state, [str(lag) for lag in lines.lags]) == (
        "behind",
        ["default.orders: snapshot 1 of 3", "default.items: up to date"],
    )
    lake.run(
        "ALTER MATERIALIZED TABLE lines REFRESH; ALTER MATERIALIZED TABLE lines SUSPEND; CALL sys.compact('default.orders')"
    )
    found = nodes(lake)
    assert (found["lines"].state, found["by_region"].state) == ("suspended", "behind")
    assert [lag.behind for lag in found["lines"].lags] == [0, 0]
    lake.run("CALL sys.rollback_to('default.orders', 1)")
    assert [str(lag) for lag in nodes(lake)["lines"].lags] == ["default.orders: not known", "default.items: up to date"]


def test_errors_are_shown(lake):
    lake.run("DROP TABLE items")
    with pytest.raises(Exception, match="items"):
        lake.run("ALTER MATERIALIZED TABLE lines REFRESH")
    lines = nodes(lake)["lines"]
    assert lines.state == "failed"
    assert "items" in dict(lines.facts)["error"]
    lake.run("UNDROP TABLE items")
    assert "TableNotFound" in dict(nodes(lake)["lines"].facts)["last error"]


def test_facts_name_freshness_state_and_plan(lake):
    node = nodes(lake)["by_region"]
    facts = dict(node.facts)
    assert (facts["freshness"], facts["mode"], facts["status"], facts["refreshed by"]) == (
        "3 minutes", "continuous", "active", "this session",
    )  # fmt: skip
    assert facts["state"].startswith("default.by_region__state_")
    assert node.query.startswith("SELECT region")
    assert "lines" in node.plan


def test_jobs_are_parts(lake):
    lake.run("CREATE TABLE copied (id INT)")
    lake.run("SET 'execution.runtime-mode' = 'streaming'")
    from paimon_nb.session.core.jobs import Loop, StreamJob

    class Idle(Loop):
        def _process_until_stopped(self) -> None:
            self._stop.wait()

    job = lake.session.jobs.add(StreamJob("insert-into-copied", Idle(), lambda: 7))
    job.statement = "INSERT INTO copied SELECT id FROM orders"
    found = pipeline_of(lake.session)
    node = next(n for n in found.nodes if n.kind == JOB)
    titles = {n.id: n.title for n in found.nodes}
    assert (node.title, node.state, dict(node.facts)["rows"]) == ("insert-into-copied", "ok", "7")
    assert [(titles[a], titles[b]) for a, b in found.edges if node.id in (a, b)] == [
        ("default.orders", "insert-into-copied"), ("insert-into-copied", "default.copied"),
    ]  # fmt: skip


def test_a_catalog_without_any(wb):
    assert pipeline_of(wb.session).nodes == ()


# -- columns


TABLES = {"o": ("id", "region", "price", "item"), "i": ("item", "name"), "s": ("a", "b")}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT id, price * 2 AS p, count(*) AS n, 1 AS one FROM o", {"id": "o.id", "p": "o.price", "n": "", "one": ""}),
        ("SELECT * FROM o", {c: f"o.{c}" for c in TABLES["o"]}),
        ("SELECT x.item AS j, i.* FROM o AS x JOIN i ON x.item = i.item", {"j": "o.item", "item": "i.item", "name": "i.name"}),
        ("SELECT sum(CASE WHEN region = 'x' THEN price END) AS s FROM o", {"s": "o.region o.price"}),
        ("WITH c AS (SELECT id + item AS k FROM o) SELECT k AS z FROM c", {"z": "o.id o.item"}),
        ("WITH c (q) AS (SELECT id FROM o) SELECT d.q FROM c AS d", {"q": "o.id"}),
        ("SELECT v.y FROM (SELECT id, price FROM o) AS v (x, y)", {"y": "o.price"}),
        ("SELECT id FROM o UNION ALL SELECT item FROM i", {"id": "o.id i.item"}),
        ("SELECT row_number() OVER (PARTITION BY region ORDER BY price) AS n FROM o", {"n": "o.region o.price"}),
        ("SELECT (SELECT max(a) FROM s) AS m, region FROM o", {"m": "s.a", "region": "o.region"}),
        ("SELECT * EXCEPT (id, item) FROM o", {"region": "o.region", "price": "o.price"}),
        ("SELECT `ID` FROM o", {"ID": "o.id"}),
    ],
)  # fmt: skip
def test_origin_of_columns(query, expected):
    [parsed] = parse(query)
    assert isinstance(parsed, Query)
    names = [".".join(t.parts) for t in parsed.tables]
    reader = LineageReader(query, lambda number: TABLES[names[number]])
    found = reader.query(parsed.tree)
    assert {c.name: " ".join(f"{names[n]}.{column}" for n, column in c.origins) for c in found} == expected


def test_columns_that_decide_about_rows():
    query = "SELECT name FROM o JOIN i ON o.item = i.item WHERE price > 1 GROUP BY name HAVING min(id) > 0"
    [parsed] = parse(query)
    reader = LineageReader(query, lambda number: TABLES["oi"[number]])
    reader.query(parsed.tree)
    assert list(dict.fromkeys(reader.conditions)) == [(0, "item"), (1, "item"), (0, "price"), (0, "id"), (1, "name")]


# -- rows


def test_filters_joins_and_groups_are_followed(lake):
    assert origin(lake, "by_region", region="EU") == {
        "default.lines": [{"id": 3, "region": "EU", "name": "nut", "cents": 8}]
    }
    assert origin(lake, "lines", id=3) == {
        "default.orders": [{"id": 3, "region": "eu", "price": 4, "item": 2}],
        "default.items": [{"item": 2, "name": "nut"}],
    }
    [lines] = origin_of_row(lake.session, lake.session.find(("by_region",)), {"region": "EU"})
    assert (lines.parts, lines.key, lines.is_complete) == (("paimon", "default", "lines"), ("id",), True)


def test_a_row_that_is_not_there_has_no_input_rows(lake):
    assert origin(lake, "by_region", region="ASIA") == {"default.lines": []}


def test_input_rows_are_those_of_the_last_refresh(lake):
    before = origin(lake, "lines", id=3)
    lake.run("INSERT INTO orders VALUES (3, 'eu', 100, 1)")
    assert origin(lake, "lines", id=3) == before
    lake.run("ALTER MATERIALIZED TABLE lines REFRESH")
    assert origin(lake, "lines", id=3)["default.orders"] == [{"id": 3, "region": "eu", "price": 100, "item": 1}]


def test_more_rows_than_are_shown(lake):
    values = ", ".join(f"({n}, 'mu', 9, 1)" for n in range(10, 10 + MAX_ROWS + 5))
    lake.run(
        f"INSERT INTO orders VALUES {values}; ALTER MATERIALIZED TABLE lines REFRESH; ALTER MATERIALIZED TABLE by_region REFRESH"
    )
    [lines] = origin_of_row(lake.session, lake.session.find(("by_region",)), {"region": "MU"})
    assert (lines.rows.num_rows, lines.is_complete) == (MAX_ROWS, False)


@pytest.mark.parametrize(
    ("query", "key", "expected"),
    sampled([
        ("SELECT id AS k, price FROM orders WHERE price < 3 UNION ALL SELECT item + 100, item FROM items", {"k": 102}, {"default.orders": [], "default.items": [2]}),
        ("WITH big AS (SELECT * FROM orders WHERE price > 1) SELECT id AS k, price FROM big", {"k": 3}, {"big": [3]}),
        ("SELECT q.k, q.n FROM (SELECT item AS k, count(*) AS n FROM orders GROUP BY item) AS q", {"k": 2}, {"q": [2]}),
        ("SELECT region AS k, max(price) AS top FROM orders GROUP BY 1", {"k": "eu"}, {"default.orders": [1, 3]}),
        ("SELECT DISTINCT region AS k FROM orders", {"k": "us"}, {"default.orders": [2]}),
        ("SELECT o.id AS k FROM orders o LEFT JOIN items i ON i.item = o.item", {"k": 1}, {"default.orders": [1], "default.items": [1]}),
    ], 3),
)  # fmt: skip
def test_other_queries(lake, query, key, expected):
    lake.run(f"CREATE MATERIALIZED TABLE m (PRIMARY KEY (k) NOT ENFORCED) AS {query}")
    assert {t: sorted(next(iter(r.values())) for r in rows) for t, rows in origin(lake, "m", **key).items()} == expected


ROWS_OF_OPERATORS = {
    "union": ("SELECT region FROM orders UNION SELECT name FROM items", {"region": "eu"}, {"orders": [1, 3], "items": []}),
    "a left join": ("SELECT o.id, i.name FROM orders o LEFT JOIN items i ON o.item = i.item", {"id": 4}, {"orders": [4], "items": []}),
    "a right join": ("SELECT o.id, i.name AS label FROM orders o RIGHT JOIN items i ON o.item = i.item", {"label": "cog"}, {"orders": [], "items": [3]}),
    "a full join": ("SELECT o.id, i.name FROM orders o FULL JOIN items i ON o.item = i.item", {"id": 2}, {"orders": [2], "items": [2]}),
    "a semi join": ("SELECT o.id FROM orders o LEFT SEMI JOIN items i ON o.item = i.item", {"id": 3}, {"orders": [3]}),
    "NOT EXISTS": ("SELECT id FROM orders WHERE NOT EXISTS (SELECT 1 FROM items i WHERE i.item = orders.item)", {"id": 4}, {"orders": [4]}),
    "groups": ("SELECT region, count(*) AS n, min(price) AS m FROM orders GROUP BY region", {"region": "eu"}, {"orders": [1, 3]}),
    "a NULL group": ("SELECT region, count(*) AS n FROM orders GROUP BY region", {"region": None}, {"orders": [4]}),
    "HAVING": ("SELECT region, count(*) AS n FROM orders GROUP BY region HAVING count(*) > 1", {"region": "eu"}, {"orders": [1, 3]}),
    "one row of all": ("SELECT count(*) AS n FROM orders", {"n": 4}, {"orders": [1, 2, 3, 4]}),
    "ROLLUP": ("SELECT region, item, count(*) AS n FROM orders GROUP BY ROLLUP (region, item)", {"region": "eu", "item": 2}, {"orders": [3]}),
    "a total of ROLLUP": ("SELECT region, item, count(*) AS n FROM orders GROUP BY ROLLUP (region, item)", {"region": "eu", "item": None}, {"orders": [1, 3]}),
    "LIMIT": ("SELECT id FROM orders ORDER BY id LIMIT 2", {"id": 2}, {"orders": [2]}),
    "a scalar subquery": ("SELECT id FROM orders WHERE price > (SELECT avg(price) FROM orders)", {"id": 3}, {"orders": [3]}),
    "a correlated subquery": ("SELECT id, (SELECT max(name) FROM items i WHERE i.item = orders.item) AS m FROM orders", {"id": 3}, {"orders": [3]}),
    "array_agg": ("SELECT region, array_agg(price) AS l FROM orders GROUP BY region", {"region": "eu"}, {"orders": [1, 3]}),
    "an aggregate as the key": ("SELECT region, count(*) AS n FROM orders GROUP BY region", {"n": 2}, "several rows"),
    "a window function as the key": ("SELECT id, sum(price) OVER (ORDER BY id) AS s FROM orders", {"s": 1}, "several rows"),
    "EXCEPT": ("SELECT item FROM orders EXCEPT SELECT item FROM items", {"item": 9}, "EXCEPT"),
}  # fmt: skip


@pytest.mark.parametrize("operator", sampled(ROWS_OF_OPERATORS, 3))
def test_rows_of_each_operator(lake, operator):
    query, key, expected = ROWS_OF_OPERATORS[operator]
    lake.run("INSERT INTO orders (id, price, item) VALUES (4, 3, 9); INSERT INTO items VALUES (3, 'cog')")
    lake.run(f"CREATE MATERIALIZED TABLE m AS {query}")
    assert nodes(lake)["m"].state == "ok"
    if isinstance(expected, str):
        with pytest.raises(UnsupportedOperation, match=expected):
            origin(lake, "m", **key)
        return
    found = origin(lake, "m", **key)
    assert {t: sorted(next(iter(r.values())) for r in rows) for t, rows in found.items()} == {
        f"default.{t}": ids for t, ids in expected.items()
    }


def test_a_view_with_other_names(lake):
    lake.run("CREATE MATERIALIZED VIEW v (a, b) TBLPROPERTIES ('primary-key' = 'a') AS SELECT id, price FROM orders")
    assert origin(lake, "v", a=2) == {"default.orders": [{"id": 2, "region": "us", "price": 2, "item": 2}]}


@pytest.mark.parametrize(
    ("kind", "literal", "value"),
    sampled(
        [
            ("DATE", "DATE '2026-01-31'", dt.date(2026, 1, 31)),
            ("DECIMAL(9, 2)", "1.50", Decimal("1.50")),
            ("STRING", "'x y'", "x y"),
            ("BIGINT", "9007199254740993", 9007199254740993),
            ("BOOLEAN", "TRUE", True),
        ],
        3,
    ),
)
def test_types_of_keys(lake, kind, literal, value):
    lake.run(f"CREATE TABLE t (k {kind}, x INT); INSERT INTO t VALUES ({literal}, 1)")
    lake.run("CREATE MATERIALIZED TABLE m (PRIMARY KEY (k) NOT ENFORCED) AS SELECT k, x FROM t WHERE k IS NOT NULL")
    assert origin(lake, "m", k=value) == {"default.t": [{"k": value, "x": 1}]}


def test_what_cannot_be_followed_says_so(lake):
    lake.run(
        "CREATE MATERIALIZED TABLE m (PRIMARY KEY (id) NOT ENFORCED) AS SELECT id FROM orders EXCEPT SELECT item FROM items"
    )
    with pytest.raises(UnsupportedOperation, match="EXCEPT"):
        origin(lake, "m", id=3)
