"""SELECTs that an embedded engine answers without Spark: what it answers, what it leaves to Spark and why, and that answers are equal."""

from __future__ import annotations

import datetime as dt
import json
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from local_differences import FLINK, differences
from random_nested import Nested
from random_structures import Structures

from benchmarks.tpch_queries import QUERIES
from paimon_nb.base.errors import BadOptionValue, PaimonError, TableNotFound
from paimon_nb.session.query.local import sources
from paimon_nb.sql import parse

if TYPE_CHECKING:
    import paimon_nb

pytest.importorskip("duckdb")

ROOT = Path(__file__).parents[2]
TPCH_TABLES = {
    "region": "r_regionkey BIGINT, r_name STRING, r_comment STRING",
    "nation": "n_nationkey BIGINT, n_name STRING, n_regionkey BIGINT, n_comment STRING",
    "supplier": "s_suppkey BIGINT, s_name STRING, s_address STRING, s_nationkey BIGINT, s_phone STRING, s_acctbal DECIMAL(15, 2), s_comment STRING",
    "customer": """c_custkey BIGINT, c_name STRING, c_address STRING, c_nationkey BIGINT, c_phone STRING, c_acctbal DECIMAL(15, 2),
        c_mktsegment STRING, c_comment STRING""",
    "part": """p_partkey BIGINT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, p_size INT, p_container STRING,
        p_retailprice DECIMAL(15, 2), p_comment STRING""",
    "partsupp": "ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INT, ps_supplycost DECIMAL(15, 2), ps_comment STRING",
    "orders": """o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus STRING, o_totalprice DECIMAL(15, 2), o_orderdate DATE, o_orderpriority STRING,
        o_clerk STRING, o_shippriority INT, o_comment STRING""",
    "lineitem": """l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, l_quantity DECIMAL(15, 2),
        l_extendedprice DECIMAL(15, 2), l_discount DECIMAL(15, 2), l_tax DECIMAL(15, 2), l_returnflag STRING, l_linestatus STRING,
        l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING""",
}


def scene(wb: paimon_nb.Workbench) -> None:
    """Orders with keys, one overwritten, and customers without keys."""
    wb.run("""
        CREATE TABLE orders (id INT, customer STRING, price DECIMAL(10, 2), weight DOUBLE, day DATE, c CHAR(3), z TIMESTAMP_LTZ(3),
            PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '2');
        CREATE TABLE customers (name STRING, city STRING);
        INSERT INTO customers VALUES ('ann', 'Oslo'), ('cid', 'Rome'), ('bob', 'Oslo')
    """)
    first, second = dt.date(2024, 1, 1), dt.date(2024, 2, 2)
    for added in (
        [(1, "ann", "10.00", 0.5, first), (2, "bob", "2.50", 1.5, first), (3, "ann", "99.99", 0.1, None)],
        [(2, "bob", "3.55", None, second), (4, None, None, 2.25, dt.date(2023, 1, 1))],
    ):
        ids, names, prices, weights, days = zip(*added, strict=True)
        decimals = pa.array([None if p is None else Decimal(p) for p in prices], pa.decimal128(10, 2))
        columns = {
            "id": pa.array(ids, pa.int32()),
            "customer": names,
            "price": decimals,
            "weight": weights,
            "day": days,
        }
        wb.table("orders").upsert(pa.table({**columns, "c": ["a"] * len(ids)}))


def rows(wb: paimon_nb.Workbench, text: str) -> list[tuple]:
    """The answer, which must come without Spark."""
    result = wb.run(text).arrow
    assert result is not None
    return list(zip(*(c.to_pylist() for c in result.columns), strict=True))


ANSWERS = {
    "SELECT customer, count(*) AS n, sum(price) AS s, avg(price) AS a FROM orders GROUP BY customer ORDER BY n DESC, customer": [
        ("ann", 2, Decimal("109.99"), Decimal("54.995000")), (None, 1, None, None), ("bob", 1, Decimal("3.55"), Decimal("3.550000"))],
    "SELECT count(*), min(day), max(customer), count(DISTINCT customer) FROM orders WHERE id > 1": [(3, dt.date(2023, 1, 1), "bob", 2)],
    "SELECT DISTINCT city FROM customers": [("Oslo",), ("Rome",)],
    "SELECT c.city, sum(o.price * 2) AS twice FROM orders o JOIN customers c ON o.customer = c.name GROUP BY c.city": [("Oslo", Decimal("227.08"))],
    "SELECT id / 2 AS half, id % 2 AS odd, -id AS n FROM orders ORDER BY id LIMIT 2": [(0.5, 1, -1), (1.0, 0, -2)],
    "SELECT CASE WHEN price > 9 THEN 'dear' WHEN price IS NULL THEN NULL ELSE 'cheap' END AS kind, count(*) AS n FROM orders GROUP BY 1": [
        (None, 1), ("cheap", 1), ("dear", 2)],
    "SELECT id FROM orders UNION ALL SELECT 0 FROM customers WHERE city = 'Rome' ORDER BY id DESC LIMIT 2 OFFSET 3": [(1,), (0,)],
    "SELECT year(day) AS y, round(avg(weight), 1) AS w FROM orders WHERE weight <> 0.1 GROUP BY year(day) HAVING count(*) > 0 ORDER BY y": [
        (2023, 2.3), (2024, 0.5)],
    "SELECT sum(if(weight > 1, 1, 0)) AS n FROM orders": [(1,)],
    "SELECT city, n FROM (SELECT city, count(*) AS n FROM customers GROUP BY city) AS q WHERE n > 1": [("Oslo", 2)],
    "SELECT sum(price) FROM orders VERSION AS OF 1": [(Decimal("112.49"),)],
    "SELECT city FROM customers c WHERE name IN (SELECT customer FROM orders) AND EXISTS (SELECT 1 FROM orders WHERE customer = c.name)": [
        ("Oslo",), ("Oslo",)],
    "SELECT id FROM orders o WHERE price > (SELECT 0.5 * avg(price) FROM orders i WHERE i.customer = o.customer) ORDER BY id": [(2,), (3,)],
    "SELECT id, (SELECT count(*) FROM customers WHERE city = 'Oslo') AS n FROM orders WHERE id < 2": [(1, 2)],
    "SELECT customer, count(*) AS n, grouping(customer) AS g FROM orders WHERE id < 4 GROUP BY ROLLUP (customer)": [
        (None, 3, 1), ("ann", 2, 0), ("bob", 1, 0)],
    "SELECT city FROM customers UNION SELECT customer FROM orders EXCEPT SELECT 'ann' FROM customers": [(None,), ("Oslo",), ("Rome",), ("bob",)],
    "SELECT o.id, c.name FROM orders o JOIN customers c ON o.customer > c.name ORDER BY id": [(2, "ann")],
    "SELECT id, row_number() OVER (PARTITION BY customer ORDER BY id DESC) AS r, sum(id) OVER (ORDER BY id) AS s FROM orders ORDER BY id": [
        (1, 2, 1), (2, 1, 3), (3, 1, 6), (4, 1, 10)],
    "SELECT id, row_number() OVER (ORDER BY 10 / id) AS r FROM orders ORDER BY id": [(1, 4), (2, 3), (3, 2), (4, 1)],
    "WITH r (c, n) AS (SELECT customer, count(*) FROM orders GROUP BY 1) SELECT c FROM r WHERE n = (SELECT max(n) FROM r)": [("ann",)],
    "SELECT name, v FROM customers JOIN (VALUES ('ann', 1), ('cid', 2)) AS t (name, v) USING (name) ORDER BY v": [("ann", 1), ("cid", 2)],
    "SELECT id FROM orders WHERE day >= '2024-01-01' AND day < DATE '2024-01-31' + INTERVAL '1' DAY ORDER BY 1": [(1,)],
    "SELECT * EXCEPT (city) FROM customers ORDER BY name LIMIT 1": [("ann",)],
    "SELECT 1 + 1 AS two": [(2,)],
    "SELECT round(sum(weight), 6) AS s, round(avg(weight), 6) AS a FROM orders": [(2.85, 0.95)],
    "SELECT commit_kind, count(*) AS n FROM `orders$snapshots` GROUP BY commit_kind": [("APPEND", 2)],
}  # fmt: skip


def test_the_first_rows_of_files_with_one_value_each(wb: paimon_nb.Workbench) -> None:
    wb.run("CREATE TABLE q (k INT, s STRING) PARTITIONED BY (s)")
    for value in "abc":
        wb.table("q").append(pa.table({"k": pa.array(range(20), pa.int32()), "s": [value] * 20}))
    for _ in range(10):  # the order in which threads read the files decides
        assert rows(wb, "SELECT x.s AS c FROM q AS x ORDER BY 1 LIMIT 9") == [("a",)] * 9
        assert rows(wb, "SELECT x.s AS c, x.k AS d FROM q AS x ORDER BY 1 DESC, 2 LIMIT 2") == [("c", 0), ("c", 1)]


def test_answers_without_spark(wb):
    scene(wb)
    assert {text: rows(wb, text) for text in ANSWERS} == ANSWERS
    names = wb.run("SELECT count(*), SUM(Price), avg(id), id + 1 FROM orders GROUP BY id + 1").arrow.schema.names
    assert names == ["count(1)", "sum(Price)", "avg(id)", "(id + 1)"]
    names = wb.run(
        "SELECT CAST(o.Id AS BIGINT), CAST(id + 1 AS BIGINT), ID IS NOT NULL, id BETWEEN 1 AND 2 FROM orders o"
    ).arrow.schema.names
    assert names == ["Id", "CAST((id + 1) AS BIGINT)", "(ID IS NOT NULL)", "between(id, 1, 2)"]
    assert not wb.session.spark_started
    names = wb.run("SELECT Id, ID + 1, count(*) AS n FROM orders GROUP BY ID, id").arrow.schema.names
    assert names == ["Id", "(ID + 1)", "n"]


def test_the_smallest_integers_have_their_types(wb):
    """Spark reads the sign as a part of the number: 2147483648 alone would be a BIGINT, and 9223372036854775808 too large."""
    found = wb.run("SELECT -2147483648 AS i, - 9223372036854775808 AS l").arrow
    assert [str(t) for t in found.schema.types] == ["int32", "int64"]
    assert found.to_pylist() == [{"i": -(2**31), "l": -(2**63)}]
    scene(wb)
    assert "too large" in (reason(wb, "SELECT - -2147483648 + id AS n FROM orders") or "")  # an error in Spark
    assert not wb.session.spark_started


def test_tpch_needs_no_jvm(wb):
    """All 22 queries, over tables without rows."""
    wb.run("SET 'paimon-nb.engine' = 'local'")
    for table, columns in TPCH_TABLES.items():
        wb.run(f"CREATE TABLE {table} ({columns})")
    one_row = {1: 0, 6: 1, 14: 1, 17: 1, 19: 1}  # aggregates without groups
    found = {number: wb.run(text).arrow.num_rows for number, text in QUERIES.items()}
    assert found == {number: one_row.get(number, 0) for number in QUERIES}
    assert not wb.session.spark_started


def test_views_frames_and_parameters(wb):
    scene(wb)
    wb.run("CREATE TEMPORARY VIEW mine AS SELECT customer, count(*) AS n FROM orders GROUP BY customer")
    wb.run("CREATE TEMPORARY VIEW stored (who, town) AS SELECT name, city FROM customers WHERE city <> 'Rome'")
    places = pa.table({"city": ["Oslo", "Rome"], "country": ["NO", "IT"]})
    joined = "SELECT country, sum(n) AS n FROM mine JOIN stored ON customer = who JOIN places ON town = city GROUP BY country"
    assert wb.run(joined, places=places).arrow.to_pylist() == [{"country": "NO", "n": 3}]
    counted = "SELECT count(*) AS n FROM orders WHERE price > :price AND customer = :who AND day = :day"
    found = wb.run(counted, price=Decimal("1.5"), who="ann", day=dt.date(2024, 1, 1)).arrow
    assert found.to_pylist() == [{"n": 1}]
    assert not wb.session.spark_started


def test_tables_above_the_limit_of_memory_are_streamed(wb, monkeypatch):
    monkeypatch.setattr(sources, "_IN_MEMORY_BYTES", 0)
    scene(wb)
    wb.run("CREATE TABLE weights (w DOUBLE, s STRING); INSERT INTO weights VALUES (0.5, 'a'), (1.5, 'b'), (NULL, 'a')")
    query = "SELECT s, count(*) AS n, sum(w) AS w FROM weights GROUP BY s ORDER BY s"
    assert rows(wb, query) == [("a", 2, 0.5), ("b", 1, 1.5)]
    assert rows(wb, "SELECT count(*), sum(weight) FROM orders WHERE id <> 3") == [(3, 2.75)]


def test_flinks_semantics(wb):
    scene(wb)
    wb.run(FLINK)
    assert rows(wb, "SELECT avg(id) AS a, sum(id) / 4 AS q, CAST(max(id) > 1 AS STRING) AS t FROM orders") == [
        (2, 2, "TRUE")
    ]
    assert wb.run("SELECT avg(id) AS a FROM orders").arrow.schema.types == [pa.int32()]
    assert rows(wb, "SELECT 1e0 / (id - 1) AS q FROM orders WHERE id = 1") == [(float("inf"),)]
    assert not wb.session.spark_started


LEFT = {
    "SELECT id FROM orders GROUP BY id HAVING count(*) > 0 ORDER BY max(price)": "aggregate under HAVING",
    "WITH q AS (SELECT 7 % (id - 1) AS x FROM orders) SELECT x FROM q JOIN orders o ON q.x = o.id": "the engine stopped",
    "SELECT id FROM orders WHERE length(customer) > 70 AND 1 / (id - 1) > 0": "the engine stopped",  # a row that the first part leaves out
    "SELECT o.id FROM orders o JOIN customers c ON o.customer = c.name WHERE 1 / o.id > 0": "WHERE computes over a join",
    "SELECT DISTINCT o.customer AS x FROM orders o ORDER BY o.customer": "DISTINCT leaves out",
    "SELECT price / (id * 200000000000000000) AS x FROM orders": "the engine stopped",  # Spark rounds such a quotient twice
    "SELECT id, sum(weight) OVER (ORDER BY id) AS s FROM orders": "the engine stopped",  # its last digits depend on the order of rows
    "SELECT id / 0 AS x FROM orders": "the engine stopped",
    "SELECT id, CAST(2147483648 * 1e0 AS TINYINT) AS x FROM orders WHERE id > 9": "the engine stopped",  # without rows
    "WITH q AS (SELECT 2147483647 AS x FROM orders WHERE id > 9) SELECT X * 2 AS y FROM q": "the engine stopped",  # Spark puts it into X
    "SELECT x * 2 AS y FROM (SELECT 2147483647 * id AS x FROM orders WHERE id > 9) AS q": "the engine stopped",  # and multiplies constants first
    "SELECT -CAST(id AS BIGINT) AS x FROM orders WHERE id = 2147483647 AND 1 + id > 0": "the engine stopped",  # 1 + 2147483647
    "SELECT id FROM orders WHERE -CAST(id - 129 AS TINYINT) <> 100": "the engine stopped",  # -(-128) overflows
    "SELECT upper(customer) AS x, skewness(id) FROM orders GROUP BY customer": "SKEWNESS is left to Spark",
    "SELECT id FROM orders WHERE c = customer": "CHAR(3) beside STRING is left to Spark",
    "SELECT v FROM orders_of_variants": "column v is VARIANT",
    "SELECT id FROM orders WHERE customer = 1": "STRING beside INT is left to Spark",
    "SELECT customer, id FROM orders GROUP BY customer": "id is not in GROUP BY",
    "SELECT customer AS id, count(*) AS n FROM orders GROUP BY id": "id is a column and an alias",
    "SELECT nothing + 1 AS x FROM orders": "nothing is not a column",
    "SELECT o.id FROM orders o JOIN orders p ON o.weight = p.weight": "floating-point",
    "SELECT customer = 'it''s' AS x FROM orders": "quotes",
    "SELECT price * price * price * price * price AS x FROM orders": "rounded",
    "SELECT * FROM orders TABLESAMPLE (1 ROWS)": "left to Spark",
    "SELECT -3 AS x, count(*) AS n FROM orders GROUP BY -3": "signed number",  # Spark: no such position
    "SELECT id FROM orders ORDER BY -3": "signed number",
    "SELECT sum(id * id) FILTER (WHERE id < 0) AS x FROM orders": "FILTER",  # Spark multiplies in all rows
    "SELECT row_number() OVER (ORDER BY id) FROM orders": "a column has no alias",
    "SELECT sum(id) FILTER (WHERE id > 1) OVER () AS x FROM orders": "FILTER in a window",
    "SELECT id FROM orders WHERE id NOT IN (SELECT id FROM orders) OR id > 2": "NOT IN (SELECT ...) under OR",
    "SELECT id FROM orders o WHERE price > (SELECT sum(price) FROM orders i WHERE i.id < o.id)": "correlated",
    "SELECT approx_count_distinct(id) AS x FROM orders": "APPROX_COUNT_DISTINCT is left to Spark",
    "SELECT o.id FROM orders o JOIN customers c ON o.id + 1 = length(c.name)": "a join condition computes",
    "WITH RECURSIVE r AS (SELECT 1 AS n) SELECT n FROM r": "RECURSIVE",
}  # fmt: skip


def reason(wb: paimon_nb.Workbench, text: str) -> str | None:
    """Why a query is left to Spark; None: it is answered here."""
    from paimon_nb.session.query.local.answer import prepare_for_embedded_engine, run_in_embedded_engine
    from paimon_nb.session.query.local.not_local import NotLocal

    (query,) = parse(text)
    try:
        run_in_embedded_engine(prepare_for_embedded_engine(wb.session, query, text))
    except (NotLocal, PaimonError) as why:
        return str(why)
    return None


def test_what_is_left_to_spark(wb):
    scene(wb)
    wb.run("CREATE TABLE orders_of_variants (v VARIANT)")
    for text, why in LEFT.items():
        assert why in (reason(wb, text) or ""), text
    wb.run("SET 'spark.sql.session.timeZone' = 'UTC'")
    assert reason(wb, "SELECT count(id) AS n FROM orders") is None


@pytest.mark.parametrize(
    ("expression", "fails"),
    [
        ("h + 1", False),
        ("h * 65536", False),
        ("h * 65537", True),
        ("h + y", True),
        ("y - 127", False),
        ("i + 1", True),
        ("5 - n", True),
    ],
)
def test_integers_that_cannot_overflow_raise_no_errors(wb, expression, fails):
    """Only a condition that may fail is left to Spark over a join, where rows are left out."""
    wb.run("CREATE TABLE w (y TINYINT, h SMALLINT, i INT, n BIGINT)")
    found = reason(
        wb,
        f"SELECT a.i FROM w a JOIN w b ON a.i = b.i WHERE {expression.replace('h', 'a.h').replace('y', 'a.y').replace('i', 'a.i').replace('n', 'a.n')} > 0",
    )
    assert ("WHERE computes over a join" in (found or "")) == fails


def test_the_setting(wb):
    scene(wb)
    with pytest.raises(BadOptionValue, match="cannot be 'fast'"):
        wb.run("SET 'paimon-nb.engine' = 'fast'")
    wb.run("SET 'paimon-nb.engine' = 'local'")
    with pytest.raises(BadOptionValue, match="cannot be answered without Spark: SKEWNESS is left"):
        wb.run("SELECT c, skewness(id) AS n FROM orders GROUP BY c")
    wb.run("SET 'paimon-nb.engine' = 'spark'")
    assert reason(wb, "SELECT count(id) AS n FROM orders") == "'paimon-nb.engine' is 'spark'"
    wb.run("RESET 'paimon-nb.engine'; SET 'paimon-nb.engine.max-bytes' = '1 kb'")
    assert "more than 'paimon-nb.engine.max-bytes' (1,024)" in (reason(wb, "SELECT count(id) AS n FROM orders") or "")
    assert not wb.session.spark_started


def test_a_large_result_is_left_to_spark(wb):
    wb.run("CREATE TABLE big (n BIGINT, s STRING)")
    wb.table("big").append(pa.table({"n": range(600_000), "s": ["x"] * 600_000}))
    assert reason(wb, "SELECT n + 1 AS m FROM big") == "the result may be large; Spark shows its first rows"
    assert rows(wb, "SELECT s, sum(n) AS m, count(*) AS c FROM big GROUP BY s") == [("x", 179999700000, 600_000)]
    assert rows(wb, "SELECT n FROM big WHERE n % 100000 = 7 ORDER BY n DESC LIMIT 2") == [(500_007,), (400_007,)]


def test_nan_in_parquet_files(wb):
    """Statistics of Parquet leave out NaN, which is the greatest number to Spark."""
    wb.run("CREATE TABLE f (d DOUBLE)")
    wb.table("f").append(pa.table({"d": [1.0, float("nan"), 2.0]}))
    wanted = [(1,), (1,), (1,), (2,)]
    conditions = ["d > 5", "d <> 1 AND d <= 2", "d = d + 1 AND d > 2", "NOT d > 2"]
    found = [rows(wb, f"SELECT count(d) AS n FROM f WHERE {c}")[0] for c in conditions]
    assert found == wanted
    assert str(rows(wb, "SELECT max(d) AS m, min(d) AS n FROM f")) == "[(nan, 1.0)]"


@pytest.mark.parametrize("options", ["'bucket' = '1'", "'bucket' = '2', 'deletion-vectors.enabled' = 'true'"])
@pytest.mark.parametrize("count", [1, 13, 40_000])
def test_hidden_rows_of_files_that_the_engine_reads(wb, options, count):
    """Overwritten, deleted and late rows; files of an older schema."""
    wb.run(f"CREATE TABLE k (id INT, v BIGINT, s STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ({options})")

    def upsert(ids: range, value: int) -> None:
        columns = {"id": pa.array(ids, pa.int32()), "v": [value] * len(ids), "s": [f"s{value}"] * len(ids)}
        wb.table("k").upsert(pa.table(columns))

    upsert(range(count), 1)
    upsert(range(0, count, 3), 2)
    upsert(range(0, count, 7), 3)
    wb.run("ALTER TABLE k ADD COLUMN late INT")
    wb.table("k").delete("id = 5")
    newest = {i: 3 if i % 7 == 0 else 2 if i % 3 == 0 else 1 for i in range(count) if i != 5}
    expected = [(f"s{v}", list(newest.values()).count(v)) for v in sorted(set(newest.values()))]
    assert rows(wb, "SELECT s, count(*) AS n FROM k GROUP BY s ORDER BY s") == expected
    assert rows(wb, "SELECT sum(v) AS s, max(id) AS m FROM k WHERE id >= 0") == [(sum(newest.values()), max(newest))]
    assert rows(wb, "SELECT count(late) AS n, count(*) AS c FROM k AS a") == [(0, len(newest))]
    assert rows(wb, "SELECT a.v + b.v AS s FROM k a JOIN k b ON a.id = b.id ORDER BY a.id LIMIT 1") == [
        (2 * newest[0],)
    ]


def test_values_of_partitions_are_those_of_the_rows(wb):
    """Not what the paths of the files look like: dt=07 is a text."""
    wb.run(
        "CREATE TABLE p (dt STRING, v INT) PARTITIONED BY (dt); INSERT INTO p VALUES ('07', 1), ('7', 2), ('a*b[1]', 3), (NULL, 4)"
    )
    assert rows(wb, "SELECT dt, sum(v) AS s FROM p GROUP BY dt") == [(None, 4), ("07", 1), ("7", 2), ("a*b[1]", 3)]


INTERRUPTED = """
import os, signal, sys, threading
import paimon_nb, pyarrow as pa
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job ignores it
with paimon_nb.connect(sys.argv[1]) as wb:
    wb.run("CREATE TABLE big (n BIGINT)")
    wb.table("big").append(pa.table({"n": [1] * 200_000}))
    threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    try:
        wb.run("SELECT count(*) AS c FROM big a JOIN big b ON a.n = b.n JOIN big c ON b.n = c.n")
    except KeyboardInterrupt:
        print(wb.run("SELECT sum(n) AS s FROM big").arrow.to_pylist(), wb.session.spark_started)
"""


def test_an_interrupt_ends_the_engine(tmp_path):
    """The stop button of a cell: a KeyboardInterrupt, and the next query works. Other libraries of a process may take the signal."""
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(tmp_path)], capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[{'s': 200000}] False"


def displayed_selects() -> list[str]:
    """The SELECTs that our notebooks and pages display, in batch mode."""
    texts: list[str] = []
    for page in sorted((ROOT / "notebooks").glob("*.ipynb")):
        sources = ["".join(c["source"]) for c in json.loads(page.read_text())["cells"] if c["cell_type"] == "code"]
        texts += [s.partition("\n")[2] for s in sources if s.startswith("%%paimon")]
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        texts += re.findall(r"```sql\n(.*?)```", page.read_text(), re.DOTALL) if page.name != "streaming.md" else []
    texts = [text.removeprefix("%%paimon\n") for text in texts]
    return [
        text[s.span.start : s.span.stop]
        for text in texts
        if "'streaming'" not in text
        for s in parse(text)
        if type(s).__name__ == "Query"
    ]


class _SparkStarted(Exception):
    pass


def answered_without_spark(wb: paimon_nb.Workbench, text: str) -> bool | None:
    """Whether a query has its rows; None: this test has no such table. `airlines` and `df` are variables that the pages query."""
    frame = pa.table({"carrier": ["UA"], "name": ["United"], "founded": [1931]})
    if "skip = 2" in text:
        Path("sales.csv").write_text("of\nJune\ncarrier,zip\nUA,12\n")
    variables = {name: frame for name in ("airlines", "df") if re.search(rf"\b(FROM|JOIN) {name}\b", text)}
    try:
        return wb.run(text, **variables).arrow is not None
    except TableNotFound:
        return None
    except (_SparkStarted, PaimonError):
        return False


def test_most_displayed_selects_need_no_jvm(wb, capsys, tmp_path, monkeypatch):
    """At least 95 of 100, over tables with the columns that the pages create, and the files and variables that they query."""
    wb.run("""
        CREATE TABLE flights (flight_date DATE, carrier STRING, flight INT, name STRING, dep_delay DOUBLE, arr_delay DOUBLE, dt STRING,
            delay INT, seen TIMESTAMP(3));
        CREATE TABLE carriers (carrier STRING, name STRING, flights BIGINT);
        CREATE TABLE log (line STRING);
        CREATE TABLE orders (id INT, state STRING);
        CREATE TABLE my_table (id BIGINT, name STRING);
        CREATE TABLE word_count (word STRING, cnt BIGINT);
        CREATE TABLE airports (faa STRING, code STRING, name STRING, country STRING, tz INT, place VECTOR<FLOAT, 3>);
        CREATE TEMPORARY VIEW zones AS SELECT tz, count(*) AS airports FROM airports WHERE name <> 'new' GROUP BY tz;
        CREATE TABLE documents (id INT, content STRING, embedding VECTOR<FLOAT, 3>);
        CREATE TABLE items (id INT, amount INT, status STRING, embedding VECTOR<FLOAT, 3>);
        CREATE TABLE notes (line STRING) USING text;
        CREATE TABLE reports (id INT, doc VARIANT);
        CREATE TABLE weather (id INT, measured MAP<STRING NOT NULL, DOUBLE>);
        CREATE TABLE visits (id INT, faa STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '-2');
        CREATE TABLE codes (faa STRING, tz INT) WITH ('file-index.bloom-filter.columns' = 'faa');
        CREATE DATABASE shop;
        CREATE TABLE shop.orders (id INT, customer INT, amount DECIMAL(8, 2), state VARCHAR(5));
        INSERT INTO flights (carrier, flight) VALUES ('UA', 3);
        INSERT INTO flights (carrier, flight) VALUES ('UA', 4);
        INSERT INTO orders VALUES (1, 'new');
        CALL sys.create_tag('flights', 'before-arrivals');
        CALL sys.create_tag('flights', 'first day')
    """)
    monkeypatch.chdir(tmp_path)
    for file in ("sales.csv", "warehouse/airlines.csv"):
        Path(file).parent.mkdir(exist_ok=True)
        Path(file).write_text("carrier,amount\nUA,12\n")

    def start_spark(_session: object) -> None:
        raise _SparkStarted

    monkeypatch.setattr(type(wb.session), "spark", property(start_spark))
    asked = {text: answered_without_spark(wb, text) for text in displayed_selects()}
    selects = [text for text, answered in asked.items() if answered is not None]
    assert len(selects) >= 40
    left = [text for text in selects if not asked[text]]
    share = 1 - len(left) / len(selects)
    with capsys.disabled():
        print(f"\n{len(selects)} displayed SELECTs of notebooks/ and docs/: {share:.0%} need no JVM")
    assert share >= 0.95, left


def explained(wb: paimon_nb.Workbench, text: str) -> str:
    return str(wb.run(text).arrow.column("plan")[0].as_py())


def test_explain_says_which_engine_without_starting_spark(wb):
    scene(wb)
    assert "== Engine ==\ninline  answers  rows and columns of one table" in explained(
        wb, "EXPLAIN SELECT id FROM orders WHERE id > 1"
    )
    plan = explained(wb, "EXPLAIN SELECT customer, count(*) AS n FROM orders WHERE price > 3 GROUP BY customer LIMIT 2")
    assert "== Paimon: default.orders ==\nsnapshot: 2" in plan
    assert "\ninline    cannot   more than columns" in plan
    assert "\nembedded  answers  DuckDB reads orders (merged)" in plan
    assert "== Plan ==\nscan orders: customer, price (merged, 5 rows" in plan
    assert plan.endswith("filter: price > 3\ngroup by: customer\nselect: customer, count(*) AS n\nlimit: 2")
    assert explained(wb, "EXPLAIN FORMATTED SELECT count(*) AS n FROM orders") == explained(
        wb, "EXPLAIN SELECT count(*) AS n FROM orders"
    )
    plan = explained(wb, "EXPLAIN SELECT skewness(id) AS n FROM orders")
    assert "\nembedded  cannot   SKEWNESS is left to Spark\nspark     answers  " in plan
    assert plan.endswith("== Spark ==\nnot started: EXPLAIN EXTENDED starts it and shows its plan")
    with pytest.raises(PaimonError, match="prize"):
        wb.run("EXPLAIN SELECT sum(prize) FROM orders")
    assert not wb.session.spark_started


@pytest.mark.spark
def test_explain_shows_the_plan_of_spark(swb):
    scene(swb)
    assert "== Physical Plan ==" in explained(swb, "EXPLAIN FORMATTED SELECT skewness(id) AS n FROM orders")
    assert "== Spark ==" not in explained(swb, "EXPLAIN EXTENDED SELECT count(*) AS n FROM orders GROUP BY customer")


@pytest.mark.spark
def test_dataframes_come_from_spark(swb):
    """`wb.sql` gives PySpark DataFrames, and the frame of a displayed answer is that answer."""
    scene(swb)
    frame = swb.sql("SELECT customer, count(*) AS n FROM orders GROUP BY customer")
    assert sorted(r.n for r in frame.collect()) == [1, 1, 2]
    shown = swb.run("SELECT count(id) AS n FROM orders")
    swb.run("DELETE FROM orders WHERE id = 1")
    assert shown.arrow.to_pylist() == [r.asDict() for r in shown.frame.collect()] == [{"n": 4}]


@pytest.mark.spark
def test_random_queries_have_sparks_answers(swb):
    out = differences(swb, seed=1, count=30)
    assert out.found == []
    assert out.local > out.asked / 3


@pytest.mark.nightly
@pytest.mark.spark
def test_random_joins_subqueries_and_windows_have_sparks_answers(swb):
    out = differences(swb, seed=2, count=25, kind=Structures)
    assert out.found == []
    assert out.local > out.asked / 3


@pytest.mark.spark
def test_random_nested_values_times_and_patterns_have_sparks_answers(swb):
    out = differences(swb, seed=3, count=30, kind=Nested)
    assert out.found == []
    assert out.local > out.asked / 2


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata"])
@pytest.mark.parametrize("seed", range(300, 310))
def test_many_random_nested_values_times_and_patterns_have_sparks_answers(swb, seed, zone):
    swb.run(f"SET 'spark.sql.session.timeZone' = '{zone}'")
    try:
        out = differences(swb, seed, count=500, kind=Nested)
    finally:
        swb.run("RESET 'spark.sql.session.timeZone'")
    assert out.found == []
    assert out.local > out.asked / 2


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(200, 240))
def test_many_random_joins_subqueries_and_windows_have_sparks_answers(swb, seed):
    out = differences(swb, seed, count=400, kind=Structures)
    assert out.found == []
    assert out.local > out.asked / 3


@pytest.mark.spark
@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(100, 140))
def test_many_random_queries_have_sparks_answers(swb, seed):
    out = differences(swb, seed, count=500)
    assert out.found == []
    assert out.local > out.asked / 4
