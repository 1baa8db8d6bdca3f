"""Materialized tables whose query only Spark can run: they are computed again as a whole."""

from __future__ import annotations

QUERY = "SELECT region, percentile_approx(price, 0.5) AS middle FROM orders GROUP BY region"


def test_created_and_refreshed_by_spark(swb):
    swb.run("""SET 'paimon-nb.materialized-table.auto-refresh' = 'false';
        CREATE TABLE orders (id INT, region STRING, price INT); INSERT INTO orders VALUES (1, 'eu', 5), (2, 'us', 7)""")
    swb.run(f"CREATE MATERIALIZED TABLE m (PRIMARY KEY (region) NOT ENFORCED) AS {QUERY}")
    swb.run("INSERT INTO orders VALUES (3, 'asia', 1)")
    [done] = swb.run("ALTER MATERIALIZED TABLE m REFRESH").to_arrow().to_pylist()
    assert done["result"].startswith("materialized table default.m refreshed (recomputed")
    assert done["result"].endswith(": 1 row added, 0 removed")
    assert sorted(tuple(r.values()) for r in swb.table("m").to_arrow().to_pylist()) == [
        ("asia", 1), ("eu", 5), ("us", 7),
    ]  # fmt: skip


def test_a_table_of_groups_of_one_table(swb):
    """CREATE TABLE AS of a query whose first operator is not a projection."""
    swb.run("CREATE TABLE orders (region STRING, price INT); INSERT INTO orders VALUES ('eu', 5)")
    swb.run(f"CREATE TABLE x AS {QUERY}")
    assert swb.table("x").to_arrow().to_pylist() == [{"region": "eu", "middle": 5}]
