"""Tables of real databases: every type, in parts, as a stream into a table, and looked up; what is wrong is said."""

from __future__ import annotations

import datetime as dt
import sqlite3
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from sql_servers import PASSWORD, USER, postgresql

from paimon_nb.base.errors import BadOptionValue, SchemaMismatch, SourceUnavailable
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.connectors.api import ConnectorTable
from paimon_nb.connectors.jdbc import Jdbc
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    from pathlib import Path

TYPES = {
    "id": "INT", "flag": "BOOLEAN", "big": "BIGINT", "real": "DOUBLE", "price": "DECIMAL(10, 2)", "name": "STRING", "raw": "BYTES",
    "day": "DATE", "clock": "TIME(0)", "at": "TIMESTAMP(6)",
}  # fmt: skip
FULL = (
    1, True, 1 << 40, 1.5, Decimal("12.30"), "Ünï", b"\x00\xff", dt.date(2026, 1, 2), dt.time(3, 4, 5),
    dt.datetime(2026, 1, 2, 3, 4, 5, 678901),
)  # fmt: skip
EMPTY = (2, *[None] * 9)


def source(url: str, table: str = "things", types: dict[str, str] = TYPES, **options: str) -> Jdbc:
    inputs = {"connector": "jdbc", "url": url, "table-name": table} | {k.replace("__", ".").replace("_", "-"): v for k, v in options.items()}  # fmt: skip
    return Jdbc(
        ConnectorTable("t", tuple(DataField(i, n, parse_type(t)) for i, (n, t) in enumerate(types.items())), inputs)
    )


def read(scan: Jdbc) -> list[tuple]:
    return sorted(tuple(r.values()) for rows in scan.scan.batches(0, scan.scan.pieces) for r in rows.to_pylist())


@pytest.mark.needs("postgresql")
def test_each_type_of_postgresql() -> None:
    with postgresql() as url:
        login = {"username": USER, "password": PASSWORD}
        database = Database.of(url, {"jdbc.user": USER, "jdbc.password": PASSWORD})
        database.execute('CREATE TABLE things (id INT, flag BOOLEAN, big BIGINT, "real" FLOAT8, price NUMERIC(10, 2), name TEXT, raw BYTEA, day DATE, clock TIME, at TIMESTAMP)')  # fmt: skip
        database.execute("CREATE SCHEMA other")
        database.execute('CREATE TABLE other."Odd t" (id INT, doc JSONB, tags INT[], z TIMESTAMPTZ)')
        for row in (FULL, EMPTY):
            database.execute(f"INSERT INTO things VALUES ({', '.join(f':{k}' for k in TYPES)})", **dict(zip(TYPES, row, strict=True)))  # fmt: skip
        database.execute("""INSERT INTO other."Odd t" VALUES (7, '{"a": [1]}', '{1,2}', '2026-01-02 03:04:05+02')""")
        assert read(source(url, **login)) == [FULL, EMPTY]
        unusual = {"id": "INT", "doc": "STRING", "tags": "ARRAY<INT>", "z": "TIMESTAMP_LTZ(3)"}
        assert read(source(url, "other.Odd t", unusual, **login)) == [
            (7, '{"a": [1]}', [1, 2], dt.datetime(2026, 1, 2, 1, 4, 5, tzinfo=dt.UTC))
        ]
        with pytest.raises(SourceUnavailable, match="password authentication") as refused:
            read(source(url, username=USER, password="hunter2"))
        assert "hunter2" not in str(refused.value)
        with pytest.raises(SourceUnavailable, match="nowhere"):
            read(source(url, "nowhere", **login))
        with pytest.raises(SchemaMismatch, match="'name' of 'things'"):
            read(source(url, types={"name": "INT"}, **login))


@pytest.fixture
def numbers(tmp_path: Path) -> str:
    file = tmp_path / "n.db"
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE n (id INTEGER, v TEXT, at TEXT)")
        connection.executemany("INSERT INTO n VALUES (?, ?, '2026-01-02 03:04:05')", [(i, f"v{i}") for i in range(100)])
    return f"jdbc:sqlite:{file}"


def test_parts_are_read_side_by_side_between_their_bounds(numbers: str) -> None:
    types = {"id": "INT", "at": "TIMESTAMP(0)"}
    parts = {"scan__partition__column": "id", "scan__partition__num": "3", "scan__partition__lower_bound": "10", "scan__partition__upper_bound": "19"}  # fmt: skip
    scan = source(numbers, "n", types, **parts, scan__fetch_size="2")
    assert scan.scan.bounds == ((10, 12), (13, 15), (16, 19))
    assert read(scan) == [(i, dt.datetime(2026, 1, 2, 3, 4, 5)) for i in range(10, 20)]
    for wrong in (
        {"scan__partition__num": "0"},
        {"scan__partition__column": "x"},
        {"scan__partition__upper_bound": "9"},
    ):
        with pytest.raises(BadOptionValue, match=r"scan\.partition"):
            source(numbers, "n", types, **{**parts, **wrong})
    with pytest.raises(BadOptionValue, match=r"scan\.partition\.num"):
        source(numbers, "n", types, scan__partition__column="id")


@pytest.mark.spark
@pytest.mark.nightly
def test_mariadb_in_batch_as_a_stream_and_looked_up(swb, mariadb) -> None:
    mariadb.run("CREATE OR REPLACE DATABASE lookups", "CREATE TABLE lookups.names (id INT, name VARCHAR(20), flag TINYINT(1))",
                "INSERT INTO lookups.names VALUES (1, 'one', 1), (2, 'two', NULL)")  # fmt: skip
    conf = mariadb.conf
    swb.run(f"""CREATE TEMPORARY TABLE names (id INT, name STRING, flag BOOLEAN, twice AS id * 2) WITH ('connector' = 'jdbc',
        'url' = 'jdbc:mysql://{conf["hostname"]}:{conf["port"]}/lookups', 'table-name' = 'names',
        'username' = '{conf["username"]}', 'password' = '{conf["password"]}')""")
    swb.run("SET 'execution.runtime-mode' = 'batch'")
    assert sorted(map(tuple, swb.sql("SELECT * FROM names").collect())) == [(1, "one", True, 2), (2, "two", None, 4)]
    swb.run("CREATE TABLE kept (id INT, name STRING); CREATE TABLE orders (id INT, k INT); CREATE TABLE wide (id INT, name STRING)")  # fmt: skip
    swb.run("SET 'execution.runtime-mode' = 'streaming'")
    jobs = [
        swb.sql("INSERT INTO kept SELECT id, name FROM names"),
        swb.sql("INSERT INTO wide SELECT o.id, n.name FROM (SELECT *, PROCTIME() AS at FROM orders) AS o "
                "LEFT JOIN names FOR SYSTEM_TIME AS OF o.at AS n ON o.k = n.id"),
    ]  # fmt: skip

    def rows(table: str) -> list[tuple]:
        return sorted(tuple(r.values()) for r in swb.table(table).to_arrow().to_pylist())

    assert jobs[0].wait_for(lambda: rows("kept") == [(1, "one"), (2, "two")])
    swb.run("INSERT INTO orders VALUES (10, 1), (11, 3)")
    assert jobs[1].wait_for(lambda: rows("wide") == [(10, "one"), (11, None)])
    mariadb.run("INSERT INTO lookups.names VALUES (3, 'three', 0)")
    swb.run("INSERT INTO orders VALUES (12, 3)")
    assert jobs[1].wait_for(lambda: rows("wide") == [(10, "one"), (11, None), (12, "three")])
    assert rows("kept") == [(1, "one"), (2, "two")]
    swb.session.jobs.stop_all()
