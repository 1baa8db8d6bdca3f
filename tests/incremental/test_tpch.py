"""The 22 queries of TPC-H as incremental tables: all have rules, and follow the refresh streams of the benchmark exactly."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from incremental_kit import create_target, difference_from_batch, refreshed

from benchmarks.tpch_queries import QUERIES
from paimon_nb import incremental

if TYPE_CHECKING:
    from collections.abc import Iterable

    import paimon_nb

pytest.importorskip("duckdb")

TABLES = {
    "region": "r_regionkey BIGINT, r_name STRING, r_comment STRING, PRIMARY KEY (r_regionkey) NOT ENFORCED",
    "nation": "n_nationkey BIGINT, n_name STRING, n_regionkey BIGINT, n_comment STRING, PRIMARY KEY (n_nationkey) NOT ENFORCED",
    "supplier": """s_suppkey BIGINT, s_name STRING, s_address STRING, s_nationkey BIGINT, s_phone STRING, s_acctbal DECIMAL(15, 2),
        s_comment STRING, PRIMARY KEY (s_suppkey) NOT ENFORCED""",
    "customer": """c_custkey BIGINT, c_name STRING, c_address STRING, c_nationkey BIGINT, c_phone STRING, c_acctbal DECIMAL(15, 2),
        c_mktsegment STRING, c_comment STRING, PRIMARY KEY (c_custkey) NOT ENFORCED""",
    "part": """p_partkey BIGINT, p_name STRING, p_mfgr STRING, p_brand STRING, p_type STRING, p_size INT, p_container STRING,
        p_retailprice DECIMAL(15, 2), p_comment STRING, PRIMARY KEY (p_partkey) NOT ENFORCED""",
    "partsupp": """ps_partkey BIGINT, ps_suppkey BIGINT, ps_availqty INT, ps_supplycost DECIMAL(15, 2), ps_comment STRING,
        PRIMARY KEY (ps_partkey, ps_suppkey) NOT ENFORCED""",
    "orders": """o_orderkey BIGINT, o_custkey BIGINT, o_orderstatus STRING, o_totalprice DECIMAL(15, 2), o_orderdate DATE, o_orderpriority STRING,
        o_clerk STRING, o_shippriority INT, o_comment STRING, PRIMARY KEY (o_orderkey) NOT ENFORCED""",
    "lineitem": """l_orderkey BIGINT, l_partkey BIGINT, l_suppkey BIGINT, l_linenumber INT, l_quantity DECIMAL(15, 2),
        l_extendedprice DECIMAL(15, 2), l_discount DECIMAL(15, 2), l_tax DECIMAL(15, 2), l_returnflag STRING, l_linestatus STRING,
        l_shipdate DATE, l_commitdate DATE, l_receiptdate DATE, l_shipinstruct STRING, l_shipmode STRING, l_comment STRING,
        PRIMARY KEY (l_orderkey, l_linenumber) NOT ENFORCED""",
}
NATIONS = ("FRANCE", "GERMANY", "BRAZIL", "SAUDI ARABIA", "CANADA", "INDIA", "JAPAN", "CHINA")
REGIONS = ("AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")


class Data:
    """Few rows whose values meet the queries' conditions often."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int) -> None:
        self.wb, self.random, self.orders = wb, random.Random(seed), 0

    def _money(self, low: int, high: int) -> Decimal:
        return Decimal(self.random.randint(low * 100, high * 100)) / 100

    def _day(self) -> dt.date:
        return dt.date(1993, 1, 1) + dt.timedelta(self.random.randint(0, 1500))

    def add(self, table: str, rows: list[tuple[object, ...]]) -> None:
        """Rows in the order of the columns."""
        handle = self.wb.table(table)
        schema = handle.to_arrow().schema
        columns = [pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), schema, strict=True)]
        handle.append(pa.table(columns, names=schema.names))

    def create(self) -> None:
        """The tables; all but orders and lineitem are full."""
        r, pick = self.random, self.random.choice
        for name, columns in TABLES.items():
            self.wb.run(f"CREATE TABLE {name} ({columns}) WITH ('bucket' = '1')")
        self.add("region", [(i, n, "") for i, n in enumerate(REGIONS)])
        self.add("nation", [(i, n, i % 4, "") for i, n in enumerate(NATIONS)])
        self.add(
            "supplier",
            [
                (i, f"S{i}", "", i % 8, "", self._money(-99, 999), pick(["", "x Customer y Complaints z"]))
                for i in range(12)
            ],
        )
        self.add("customer", [(i, f"C{i}", "", i % 8, f"{pick([13, 31, 23, 29, 30, 18, 17])}-1", self._money(-99, 999), pick(["BUILDING", "AUTOMOBILE"]), "") for i in range(30)])  # fmt: skip
        brands, containers = (
            ["Brand#12", "Brand#23", "Brand#34", "Brand#45"],
            ["SM CASE", "MED BOX", "LG PACK", "MED BAG"],
        )
        types = ["ECONOMY ANODIZED STEEL", "PROMO BURNISHED COPPER", "SMALL PLATED BRASS", "MEDIUM POLISHED TIN"]
        self.add("part", [(i, pick(["green x", "forest y", "z"]), "M", pick(brands), pick(types), pick([3, 9, 14, 15, 19, 23, 36, 45, 49]), pick(containers), self._money(1, 99), "") for i in range(24)])  # fmt: skip
        self.add(
            "partsupp",
            [(p, (p + k) % 12, r.randint(1, 9999), self._money(1, 999), "") for p in range(24) for k in (0, 5)],
        )

    def new_orders(self, count: int) -> None:
        """RF1: new orders and their lines."""
        pick, orders, lines = self.random.choice, [], []
        for _ in range(count):
            self.orders += 1
            day = self._day()
            orders.append((self.orders, self.random.randrange(30), pick("FOP"), self._money(1, 999), day, pick(["1-URGENT", "2-HIGH", "5-LOW"]), "", 0, pick(["", "special x requests"])))  # fmt: skip
            for line in range(self.random.randint(1, 5)):
                part = self.random.randrange(24)
                ship = day + dt.timedelta(self.random.randint(1, 90))
                lines.append(
                    (self.orders, part, (part + pick([0, 5])) % 12, line, Decimal(self.random.randint(1, 120)), self._money(10, 9999),
                     Decimal(self.random.randint(4, 8)) / 100, Decimal("0.02"), pick("ANR"), pick("OF"), ship, ship + dt.timedelta(pick([-9, 9])),
                     ship + dt.timedelta(pick([3, 20])), pick(["DELIVER IN PERSON", "NONE"]), pick(["AIR", "AIR REG", "MAIL", "SHIP"]), "")
                )  # fmt: skip
        self.add("orders", orders)
        self.add("lineitem", lines)

    def old_orders(self, count: int) -> None:
        """RF2: orders that are removed with their lines."""
        keys = ", ".join(map(str, self.random.sample(range(1, self.orders + 1), count)))
        for table, column in (("orders", "o_orderkey"), ("lineitem", "l_orderkey")):
            self.wb.table(table).delete(where=f"{column} IN ({keys})")


def test_every_query_of_tpch_is_incremental(wb: paimon_nb.Workbench) -> None:
    Data(wb, 0).create()
    reasons = {n: incremental.analyse(wb.session, text).reason for n, text in QUERIES.items()}
    assert reasons == dict.fromkeys(QUERIES, "")


def follow(wb: paimon_nb.Workbench, seed: int, orders: int, refreshes: int, numbers: Iterable[int]) -> None:
    """Each refresh of each query is incremental, and its target has the batch answer."""
    data = Data(wb, seed)
    data.create()
    data.new_orders(orders)
    queries = {n: QUERIES[n] for n in numbers}
    for number, text in queries.items():
        create_target(wb, f"q{number}", incremental.analyse(wb.session, text))
        assert refreshed(wb, f"q{number}", text).action == "built"
    for _ in range(refreshes):
        data.new_orders(3)
        data.old_orders(3)
        for number, text in queries.items():
            assert refreshed(wb, f"q{number}", text).action in ("incremental", "unchanged")
            assert difference_from_batch(wb, f"q{number}", text) == "", number


def test_some_queries_follow_two_refreshes(wb: paimon_nb.Workbench) -> None:
    follow(wb, 7, orders=40, refreshes=2, numbers=(1, 13, 22))


@pytest.mark.nightly
@pytest.mark.parametrize("number", QUERIES)
def test_every_query_follows_fifty_refreshes(wb: paimon_nb.Workbench, number: int) -> None:
    follow(wb, 0, orders=150, refreshes=50, numbers=[number])
