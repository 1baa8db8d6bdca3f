"""A real MariaDB kept in tables: its rows, every change, new and wider columns, shards, whole databases, restarts."""

from __future__ import annotations

import datetime as dt
import os
import random
import subprocess
import sys
import time
import uuid
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import (
    BadOptionValue,
    ColumnNotFound,
    SchemaChangeError,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.connectors.cdc.computed import parse_computed
from paimon_nb.connectors.cdc.mysql_types import MySqlType, paimon_type, parse_modes
from paimon_nb.connectors.cdc.type_widening import common_wider_type
from paimon_nb.format.types import parse_type

if TYPE_CHECKING:
    from collections.abc import Callable

OperationalError = pytest.importorskip("pymysql").err.OperationalError


@pytest.fixture
def wb(tmp_path: Path):
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()


@pytest.fixture
def shop(mariadb):
    """A new database. Returns its name."""
    name = f"shop_{uuid.uuid4().hex[:6]}"
    mariadb.run(f"CREATE DATABASE {name}")
    yield name
    mariadb.run(f"DROP DATABASE {name}")


def conf(mariadb, database: str, table: str = "", **more: str) -> str:
    inputs = mariadb.conf | {"database-name": database} | ({"table-name": table} if table else {}) | more
    return ",".join(f"{k}={v}" for k, v in inputs.items())


def start(wb, call: str):
    """The job that a CALL starts."""
    (row,) = wb.run(call).arrow.to_pylist()
    return wb.session.jobs.find(row["job"])


def rows(wb, table: str) -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def until(job, condition: Callable[[], bool]) -> None:
    assert job.wait_for(condition, 120), (job.status, job.error)


def test_rows_then_changes_then_a_table_that_grows(wb, mariadb, shop):
    mariadb.run(
        f"CREATE TABLE {shop}.orders (id INT PRIMARY KEY, customer VARCHAR(5), amount DECIMAL(6, 2), at DATETIME)",
        f"INSERT INTO {shop}.orders VALUES (1, 'ann', 1.50, '2026-01-02 03:04:05'), (2, 'bob', 2, NULL)",
    )
    job = start(wb, f"""CALL sys.mysql_sync_table(`table` => 'lake.orders', mysql_conf => '{conf(mariadb, shop, "orders")}', interval => '50 ms',
        computed_column => 'day=date_format(at,yyyy-MM-dd);who=upper(customer)', table_conf => 'bucket=1,changelog-producer=input')""")  # fmt: skip
    at = dt.datetime(2026, 1, 2, 3, 4, 5)
    first = [(1, "ann", Decimal("1.50"), at, "2026-01-02", "ANN"), (2, "bob", Decimal("2.00"), None, None, "BOB")]
    until(job, lambda: job.rows == 2 and rows(wb, "lake.orders") == first)
    mariadb.run(
        f"UPDATE {shop}.orders SET amount = 9.99 WHERE id = 1",
        f"ALTER TABLE {shop}.orders ADD COLUMN note TEXT AFTER id, MODIFY customer VARCHAR(50), MODIFY amount DECIMAL(12, 4)",
        f"INSERT INTO {shop}.orders (id, customer, amount, note) VALUES (3, '{'x' * 50}', 12345678.1234, 'new')",
        f"DELETE FROM {shop}.orders WHERE id = 2",
        f"UPDATE {shop}.orders SET id = 30 WHERE id = 3",
    )
    later = [
        (1, "ann", Decimal("9.9900"), at, "2026-01-02", "ANN", None),
        (30, "x" * 50, Decimal("12345678.1234"), None, None, "X" * 50, "new"),
    ]
    until(job, lambda: rows(wb, "lake.orders") == later)
    job.stop()
    schema = wb.table("lake.orders").schema
    assert {f.name: str(f.type) for f in schema.fields} == {
        "id": "INT NOT NULL", "customer": "VARCHAR(50)", "amount": "DECIMAL(12, 4)", "at": "TIMESTAMP(0)", "day": "STRING", "who": "STRING", "note": "STRING",
    }  # fmt: skip
    assert (schema.primary_keys, schema.options["changelog-producer"]) == (("id",), "input")


def test_a_sync_goes_on_where_it_was_stopped_and_waits_for_the_server(wb, mariadb, shop):
    mariadb.run(f"CREATE TABLE {shop}.t (id INT PRIMARY KEY, v INT)", f"INSERT INTO {shop}.t VALUES (1, 1), (2, 2)")
    call = f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{conf(mariadb, shop)}', interval => '50 ms')"
    job = start(wb, call)
    until(job, lambda: rows(wb, "t") == [(1, 1), (2, 2)])
    job.stop()
    mariadb.run(f"UPDATE {shop}.t SET v = v + 10", f"DELETE FROM {shop}.t WHERE id = 2")
    job = start(wb, call)
    until(job, lambda: rows(wb, "t") == [(1, 11)])
    until(job, lambda: job.rows == 5)  # the changes alone, not the rows again
    mariadb.stop()
    time.sleep(0.5)
    assert job.isActive, job.error
    mariadb.start()
    mariadb.run(f"INSERT INTO {shop}.t VALUES (3, 3)")
    until(job, lambda: rows(wb, "t") == [(1, 11), (3, 3)])
    until(job, lambda: job.rows == 6)


@pytest.mark.nightly
def test_a_backlog_larger_than_the_sockets_buffers_is_read_once(wb, mariadb, shop):
    mariadb.run(f"CREATE TABLE {shop}.t (id INT PRIMARY KEY, s VARCHAR(400))")
    call = f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{conf(mariadb, shop)}', interval => '50 ms')"
    job = start(wb, call)
    until(job, lambda: "t" in wb.session.catalog.tables("default"))
    job.stop()
    with mariadb.connect() as connection, connection.cursor() as cursor:
        connection.autocommit(False)
        for key in range(6000):
            cursor.execute(f"INSERT INTO {shop}.t VALUES (%s, REPEAT('x', 400))", (key,))
            if key % 50 == 49:
                connection.commit()
    job = start(wb, call)
    until(job, lambda: wb.table("t").to_arrow().num_rows == 6000)
    until(job, lambda: job.rows == 6000)


def test_every_type_arrives_the_same_from_the_rows_and_from_the_binlog(wb, mariadb, shop):
    columns = {
        "b1": ("TINYINT(1)", "1", True), "t": ("TINYINT", "-5", -5), "tu": ("TINYINT UNSIGNED", "255", 255), "s": ("SMALLINT UNSIGNED", "65535", 65535),
        "m": ("MEDIUMINT", "-8388608", -8388608), "u": ("INT UNSIGNED", "4294967295", 4294967295), "bu": ("BIGINT UNSIGNED", "18446744073709551615", Decimal(18446744073709551615)),
        "f": ("FLOAT", "1.5", 1.5), "d": ("DOUBLE", "1e300", 1e300), "n": ("DECIMAL(38, 10)", "1234567890.0123456789", Decimal("1234567890.0123456789")),
        "y": ("YEAR", "2026", 2026), "dd": ("DATE", "'2026-02-28'", dt.date(2026, 2, 28)), "tm": ("TIME(3)", "'11:12:13.456'", dt.time(11, 12, 13, 456000)),
        "dt": ("DATETIME(6)", "'2026-01-02 03:04:05.123456'", dt.datetime(2026, 1, 2, 3, 4, 5, 123456)),
        "ts": ("TIMESTAMP(3) NULL", "'2026-01-02 03:04:05.678'", dt.datetime(2026, 1, 2, 3, 4, 5, 678000, tzinfo=dt.UTC)),
        "c": ("CHAR(3)", "'äbc'", "äbc"), "v": ("VARCHAR(20)", "'ü€😀'", "ü€😀"), "x": ("LONGTEXT", "'long'", "long"), "bi": ("BINARY(2)", "x'0001'", b"\0\1"),
        "vb": ("VARBINARY(5)", "x'ff00'", b"\xff\0"), "bl": ("BLOB", "x'00ff'", b"\0\xff"), "b": ("BIT(10)", "b'1000000001'", b"\2\1"), "b0": ("BIT(1)", "b'1'", True),
        "e": ("ENUM('p','q')", "'q'", "q"), "st": ("SET('x','y','z')", "'z,x'", ["x", "z"]), "j": ("JSON", "'{\"k\": [1, null]}'", '{"k": [1, null]}'),
    }  # fmt: skip
    mariadb.run(
        f"CREATE TABLE {shop}.a (id INT PRIMARY KEY, {', '.join(f'`{n}` {t}' for n, (t, _, _) in columns.items())}) CHARACTER SET utf8mb4",
        f"INSERT INTO {shop}.a VALUES (1, {', '.join(text for _, text, _ in columns.values())}), (2{', NULL' * len(columns)})",
   )  # fmt: skip
    job = start(
        wb, f"CALL sys.mysql_sync_table(`table` => 'a', mysql_conf => '{conf(mariadb, shop)}', interval => '50 ms')"
    )
    until(job, lambda: job.rows == 2)
    mariadb.run(f"INSERT INTO {shop}.a SELECT id + 2, {', '.join(f'`{n}`' for n in columns)} FROM {shop}.a")
    until(job, lambda: job.rows == 4)
    until(job, lambda: len(rows(wb, "a")) == 4)
    full, empty = tuple(value for *_, value in columns.values()), (None,) * len(columns)
    found = [
        (r[0], *(v.replace(tzinfo=dt.UTC) if isinstance(v, dt.datetime) and v.tzinfo else v for v in r[1:]))
        for r in rows(wb, "a")
    ]
    assert found == [(1, *full), (2, *empty), (3, *full), (4, *empty)]


def test_a_value_that_does_not_fit_arrives_the_same_from_the_rows_and_from_the_binlog(wb, mariadb, shop):
    columns = {
        "t": ("TIME(1)", ["'838:59:59.9'", "'-00:00:01.1'", "'100:00'", "'00:00:00.1'"]), "s": ("SET('x','y')", ["''", "NULL", "'y'", "'x,y'"]),
        "d": ("DATE", ["'0000-00-00'", "'2024-00-15'", "NULL", "'1000-01-01'"]), "dt": ("DATETIME", ["'0000-00-00'", "'2024-00-15'", "NULL", "'9999-12-31'"]),
        "ts": ("TIMESTAMP NULL", ["'0000-00-00'", "'1970-01-01 00:00:01'", "NULL", "'2038-01-19 03:14:07'"]), "y": ("YEAR", ["0000", "1901", "NULL", "2155"]),
        "e": ("ENUM('p','q')", ["''", "'p'", "NULL", "'q'"]),
    }  # fmt: skip
    lines = [f"({i + 1}, {', '.join(values[i] for _, values in columns.values())})" for i in range(4)]
    with mariadb.connect() as connection, connection.cursor() as cursor:
        cursor.execute("SET SESSION sql_mode = '', time_zone = '+00:00'")
        cursor.execute(
            f"CREATE TABLE {shop}.a (id INT PRIMARY KEY, {', '.join(f'`{n}` {t}' for n, (t, _) in columns.items())})"
        )
        cursor.execute(f"INSERT INTO {shop}.a VALUES {', '.join(lines)}")
        connection.commit()
        job = start(
            wb, f"CALL sys.mysql_sync_table(`table` => 'a', mysql_conf => '{conf(mariadb, shop)}', interval => '50 ms')"
        )
        until(job, lambda: job.rows == 4)
        cursor.execute(f"INSERT INTO {shop}.a SELECT id + 10, {', '.join(f'`{n}`' for n in columns)} FROM {shop}.a")
        connection.commit()
    until(job, lambda: len(rows(wb, "a")) == 8)
    found = rows(wb, "a")
    assert [r[1:] for r in found[:4]] == [r[1:] for r in found[4:]]
    utc = dt.UTC
    assert [r[1:3] for r in found[:4]] == [
        (dt.time(22, 59, 59, 900000), []), (dt.time(23, 59, 58, 900000), None), (dt.time(4), ["y"]), (dt.time(0, 0, 0, 100000), ["x", "y"]),
    ]  # fmt: skip
    assert [r[3] for r in found[:4]] == [None, None, None, dt.date(1000, 1, 1)]
    assert [r[4] for r in found[:4]] == [None, None, None, dt.datetime(9999, 12, 31)]
    assert [None if r[5] is None else r[5].astimezone(utc) for r in found[:4]] == [None, dt.datetime(1970, 1, 1, 0, 0, 1, tzinfo=utc), None, dt.datetime(2038, 1, 19, 3, 14, 7, tzinfo=utc)]  # fmt: skip
    assert [r[6:] for r in found[:4]] == [(0, ""), (1901, "p"), (None, None), (2155, "q")]
    (listed,) = wb.run("SHOW JOBS").arrow.to_pylist()
    assert (listed["status"], listed["changed values"]) == ("RUNNING", 16)


def test_geometry_is_geojson_and_a_target_of_java_s_sync_is_continued(wb, mariadb, shop):
    wb.run("CREATE TABLE a (id INT, g STRING, ts TIMESTAMP(0), PRIMARY KEY (id) NOT ENFORCED) WITH ('bucket' = '1')")
    shapes = {
        "POINT(1 2.5)": '{"coordinates":[1,2.5],"type":"Point","srid":0}',
        "POLYGON((1 1,2 1,2 2,1 1))": '{"coordinates":[[[1,1],[2,1],[2,2],[1,1]]],"type":"Polygon","srid":0}',
        "MULTILINESTRING((0 0,1 1),(2 2,3 3))": '{"coordinates":[[[0,0],[1,1]],[[2,2],[3,3]]],"type":"MultiLineString","srid":0}',
        "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,1 1))": '{"geometries":[{"type":"Point","coordinates":[1,1]},{"type":"LineString","coordinates":[[0,0],[1,1]]}],"type":"GeometryCollection","srid":0}',
    }  # fmt: skip
    lines = ", ".join(f"({i}, ST_GeomFromText('{text}'), '2026-07-01 12:00:00')" for i, text in enumerate(shapes))
    mariadb.run(
        f"CREATE TABLE {shop}.a (id INT PRIMARY KEY, g GEOMETRY, ts TIMESTAMP)", f"INSERT INTO {shop}.a VALUES {lines}"
    )
    inputs = conf(mariadb, shop, **{"server-time-zone": "Europe/Berlin"})
    job = start(
        wb,
        f"CALL sys.mysql_sync_table(`table` => 'a', mysql_conf => '{inputs}', interval => '50 ms', metadata_column => 'database_name,op_ts')",
    )
    until(job, lambda: job.rows == 4)
    mariadb.run(f"INSERT INTO {shop}.a SELECT id + 10, g, ts FROM {shop}.a")
    until(job, lambda: len(rows(wb, "a")) == 8)
    berlin = dt.datetime(2026, 7, 1, 14)
    assert [r[3] for r in rows(wb, "a")] == [shop] * 8
    assert [r[4] > dt.datetime(1970, 1, 1, tzinfo=dt.UTC) for r in rows(wb, "a")] == [False] * 4 + [True] * 4
    assert [r[:3] for r in rows(wb, "a")] == [
        (i + more, text, berlin) for more in (0, 10) for i, text in enumerate(shapes.values())
    ]


def test_a_database_and_its_shards(wb, mariadb, shop):
    mariadb.run(
        f"CREATE TABLE {shop}.a (id INT PRIMARY KEY, v INT)", f"CREATE TABLE {shop}.b (x VARCHAR(3), y INT, PRIMARY KEY (x, y))",
        f"CREATE TABLE {shop}.log (text VARCHAR(5))", f"CREATE TABLE {shop}.skip_me (id INT PRIMARY KEY)",
        f"CREATE DATABASE {shop}_2", f"CREATE TABLE {shop}_2.a (id INT PRIMARY KEY, v BIGINT, w INT)",
        f"INSERT INTO {shop}.a VALUES (1, 1)", f"INSERT INTO {shop}.b VALUES ('k', 1)", f"INSERT INTO {shop}_2.a VALUES (2, 2, 3)",
   )  # fmt: skip
    try:
        result = wb.run(f"CALL sys.mysql_sync_database(database => 'ods', mysql_conf => '{conf(mariadb, shop + '(_2)?')}', table_prefix => 'o_', excluding_tables => 'skip.*', interval => '50 ms')")  # fmt: skip
        (row,) = result.arrow.to_pylist()
        job = wb.session.jobs.find(row["job"])
        assert row["tables"] == "ods.o_a, ods.o_b"
        assert [n for n in result.notes if "left out" in n] == [f"left out: {shop}.log: the source of ods.o_log has no primary key"]  # fmt: skip
        until(job, lambda: rows(wb, "ods.o_a") == [(1, 1, None), (2, 2, 3)] and rows(wb, "ods.o_b") == [("k", 1)])
        assert str(wb.table("ods.o_a").schema.field("v").type) == "BIGINT"
        mariadb.run(
            f"INSERT INTO {shop}.a VALUES (3, 3)", f"UPDATE {shop}_2.a SET w = 4", f"CREATE TABLE {shop}.born (id INT PRIMARY KEY) SELECT 6 AS id",
            f"INSERT INTO {shop}.born VALUES (7)", f"UPDATE {shop}.b SET y = 2",
       )  # fmt: skip
        until(job, lambda: rows(wb, "ods.o_a") == [(1, 1, None), (2, 2, 4), (3, 3, None)])
        until(job, lambda: "o_born" in wb.session.catalog.tables("ods") and rows(wb, "ods.o_born") == [(6,), (7,)])
        until(job, lambda: rows(wb, "ods.o_b") == [("k", 2)])
    finally:
        mariadb.run(f"DROP DATABASE {shop}_2")


def churn(mariadb, table: str, count: int, chance: random.Random) -> None:
    """Random changes in transactions of random sizes, some of them rolled back; half-way the table takes another shape."""
    with mariadb.connect() as connection, connection.cursor() as cursor:
        connection.autocommit(False)
        reshaped, done = False, 0
        while done < count:
            for _ in range(chance.randint(1, 40)):
                change(cursor, table, chance)
                done += 1
            connection.rollback() if chance.random() < 0.1 else connection.commit()
            if not reshaped and done > count / 2:
                reshaped = True
                reshape(cursor, table, chance)
                connection.commit()


def change(cursor, table: str, chance: random.Random) -> None:
    key, value = chance.randint(1, 500), chance.randint(-(10**6), 10**6)
    kind = chance.random()
    if kind < 0.5:
        cursor.execute(f"REPLACE INTO {table} (id, v, s) VALUES (%s, %s, %s)", (key, value, str(value)[:5]))
    elif kind < 0.8:
        cursor.execute(f"UPDATE {table} SET v = v + 1 WHERE id BETWEEN %s AND %s", (key, key + 3))
    else:
        cursor.execute(f"DELETE FROM {table} WHERE id = %s", (key,))


def reshape(cursor, table: str, chance: random.Random) -> None:
    """A column comes, sometimes one goes; others get wider."""
    cursor.execute(f"SHOW COLUMNS FROM {table}")
    types = {name: type_ for name, type_, *_ in cursor.fetchall()}
    there, width = [n for n in types if n.startswith("c")], int(types["s"].strip("varch()")) + 60
    new = f"c{chance.randrange(10**6)}"
    cursor.execute(f"ALTER TABLE {table} ADD COLUMN {new} INT, MODIFY v BIGINT, MODIFY s VARCHAR({width})")
    cursor.execute(f"UPDATE {table} SET {new} = v % 7, s = REPEAT('s', 60) WHERE id % 3 = 0")
    if len(there) > 2:
        cursor.execute(f"ALTER TABLE {table} DROP COLUMN {chance.choice(there)}")


def equal_at_the_end(wb, mariadb, shop, count: int, seed: int, kills: int) -> None:
    """The sync runs as the command line's process, killed hard some times while the database changes.

    MariaDB 10.11 itself dies now and then when readers of its binlog are killed; then both are started again.
    """
    table = f"{shop}.t"
    mariadb.run(f"CREATE TABLE {table} (id INT PRIMARY KEY, v INT, s VARCHAR(5))", f"INSERT INTO {table} VALUES (1, 1, 'a'), (1000, 5, NULL)")  # fmt: skip
    command = [sys.executable, "-m", "paimon_nb.cli", "mysql_sync_table", "--warehouse", wb.session.catalog.warehouse, "--table", "t",
               *[w for k, v in (mariadb.conf | {"database-name": shop, "table-name": "t"}).items() for w in ("--mysql_conf", f"{k}={v}")],
               "--table_conf", "bucket=2", "--interval", "50 ms" if count < 10_000 else "1 s"]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(Path(paimon_nb.__file__).parents[1])}
    chance = random.Random(seed)
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)

    def stored(columns: list[str]) -> list[tuple]:
        try:
            found = wb.table("t").to_arrow()
        except TableNotFound:
            return []
        there = [c for c in columns if c in found.column_names]
        return sorted((tuple(r.values()) for r in found.select(there).to_pylist()), key=lambda row: row[0])

    try:
        for part in range(kills + 1):
            try:
                churn(mariadb, table, count // (kills + 1), chance)
            except OperationalError:
                mariadb.stop()
                mariadb.start()
            if part < kills or process.poll() is not None:
                time.sleep(chance.random())
                process.kill()
                process.wait()
                process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        columns = [name for name, *_ in mariadb.run(f"SHOW COLUMNS FROM {table}")]
        expected = sorted(mariadb.run(f"SELECT * FROM {table}"))
        deadline = time.monotonic() + 600
        while stored(columns) != expected and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.2)
        assert process.poll() is None
        assert len(columns) > 3
        assert stored(columns) == expected
    finally:
        process.kill()
        process.wait()


@pytest.mark.nightly
def test_a_sync_that_is_killed_loses_nothing_and_takes_nothing_twice(wb, mariadb, shop):
    equal_at_the_end(wb, mariadb, shop, 2_000, 1, kills=1)


@pytest.mark.nightly
def test_after_100_000_changes_and_many_kills_the_table_equals_the_database(wb, mariadb, shop):
    equal_at_the_end(wb, mariadb, shop, 100_000, 7, kills=10)


def test_what_is_wrong_is_said_before_anything_runs(wb, mariadb, shop):
    mariadb.run(f"CREATE TABLE {shop}.t (id INT PRIMARY KEY, v INT)", f"CREATE TABLE {shop}.n (v INT)")
    cases = [
        (conf(mariadb, shop, "absent"), TableNotFound, "absent"),
        (conf(mariadb, shop, "n"), UnsupportedOperation, "no primary key"),
        (conf(mariadb, shop, "t", colour="red"), BadOptionValue, "colour"),
        (conf(mariadb, shop, "t", password="wrong-secret"), SourceUnavailable, "Access denied"),
        (conf(mariadb, shop, "t", port="1"), SourceUnavailable, "127.0.0.1:1"),
        ("hostname=x", BadOptionValue, "username"),
    ]
    for inputs, kind, word in cases:
        with pytest.raises(kind, match=word) as refused:
            wb.run(f"CALL sys.mysql_sync_table(`table` => 'r', mysql_conf => '{inputs}')")
        assert "secret" not in str(refused.value)
    for argument, kind in (("computed_column => 'y=yeer(v)'", BadOptionValue), ("computed_column => 'y=year(w)'", ColumnNotFound), ("type_mapping => 'to-strin'", BadOptionValue)):  # fmt: skip
        with pytest.raises(kind):
            wb.run(f"CALL sys.mysql_sync_table(`table` => 'r', mysql_conf => '{conf(mariadb, shop, 't')}', {argument})")
    assert wb.session.jobs.all == {}
    assert wb.session.catalog.tables("default") == []
    job = start(
        wb,
        f"CALL sys.mysql_sync_table(`table` => 'r', mysql_conf => '{conf(mariadb, shop, 't')}', interval => '50 ms')",
    )
    mariadb.run(f"ALTER TABLE {shop}.t MODIFY v DATE")
    with pytest.raises(SchemaChangeError, match="INT and cannot also hold DATE"):
        job.wait_for(lambda: False, 60)


def test_a_column_that_comes_while_a_sync_starts_is_not_missed(wb, mariadb, shop, monkeypatch):
    from paimon_nb.connectors.cdc.mysql_client import MySqlClient

    mariadb.run(f"CREATE TABLE {shop}.t (id INT PRIMARY KEY)", f"INSERT INTO {shop}.t VALUES (1)")
    began = MySqlClient.begin_snapshot

    def late(client):
        mariadb.run(f"ALTER TABLE {shop}.t ADD COLUMN v INT", f"INSERT INTO {shop}.t VALUES (2, 20)")
        return began(client)

    monkeypatch.setattr(MySqlClient, "begin_snapshot", late)
    job = start(wb, f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{conf(mariadb, shop)}')")
    until(job, lambda: rows(wb, "t") == [(1, None), (2, 20)])


@pytest.mark.parametrize("change", sampled(["ADD COLUMN v INT", "DROP COLUMN old", "MODIFY old BIGINT"], 3))
def test_a_table_that_changes_under_the_snapshot_is_read_again(wb, mariadb, shop, monkeypatch, change):
    from paimon_nb.connectors.cdc.mysql_client import MySqlClient

    mariadb.run(f"CREATE TABLE {shop}.t (id INT PRIMARY KEY, old INT)", f"INSERT INTO {shop}.t (id) VALUES (1)")
    changes, read = [f"ALTER TABLE {shop}.t {change}", f"INSERT INTO {shop}.t (id) VALUES (2)"], MySqlClient.rows

    def just_before(client, table):
        while changes:
            mariadb.run(changes.pop(0))
        return read(client, table)

    monkeypatch.setattr(MySqlClient, "rows", just_before)
    job = start(wb, f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{conf(mariadb, shop)}')")
    until(job, lambda: [r[0] for r in rows(wb, "t")] == [1, 2])


def test_types_as_paimon_maps_them():
    told = {
        "tinyint(1)": "BOOLEAN", "tinyint(4)": "TINYINT", "tinyint(3) unsigned": "SMALLINT", "int(10) unsigned": "BIGINT", "bigint(20)": "BIGINT",
        "bigint(20) unsigned": "DECIMAL(20, 0)", "decimal(39,2)": "STRING", "decimal(10,2)": "DECIMAL(10, 2)", "bit(1)": "BOOLEAN", "bit(9)": "BINARY(2)",
        "datetime": "TIMESTAMP(0)", "timestamp(6)": "TIMESTAMP(6) WITH LOCAL TIME ZONE", "enum('a','it''s')": "STRING", "set('a')": "ARRAY<STRING>",
        "varchar(5)": "VARCHAR(5)", "char(5)": "CHAR(5)", "longtext": "STRING", "year(4)": "INT", "varbinary(7)": "VARBINARY(7)", "double": "DOUBLE",
    }  # fmt: skip
    assert {t: str(paimon_type(MySqlType.parse(t))) for t in told} == told
    assert MySqlType.parse("enum('a','it''s')").words == ("a", "it's")
    modes = {
        ("tinyint(1)", "tinyint1-not-bool"): "TINYINT", ("char(5)", "char-to-string"): "STRING", ("longtext", "longtext-to-bytes"): "BYTES",
        ("bigint(20) unsigned", "bigint-unsigned-to-bigint"): "BIGINT", ("int(11)", "to-string"): "STRING",
    }  # fmt: skip
    assert {k: str(paimon_type(MySqlType.parse(k[0]), parse_modes(k[1]))) for k in modes} == modes
    assert str(paimon_type(MySqlType.parse("polygon"))) == "STRING"  # GeoJSON
    with pytest.raises(UnsupportedOperation, match="vector"):
        paimon_type(MySqlType.parse("vector(3)"))


def test_columns_grow_and_never_shrink():
    told = {
        ("INT", "BIGINT"): "BIGINT", ("BIGINT", "INT"): "BIGINT", ("VARCHAR(5)", "VARCHAR(3)"): "VARCHAR(5)", ("CHAR(3)", "VARCHAR(5)"): "VARCHAR(5)",
        ("DECIMAL(6, 2)", "DECIMAL(5, 4)"): "DECIMAL(8, 4)", ("FLOAT", "DOUBLE"): "DOUBLE", ("TIMESTAMP(3)", "TIMESTAMP(0)"): "TIMESTAMP(3)", ("INT NOT NULL", "INT"): "INT NOT NULL",
        ("STRING", "VARCHAR(9)"): "STRING", ("BINARY(2)", "BYTES"): "BYTES",
    }  # fmt: skip
    assert {k: str(common_wider_type(parse_type(k[0]), parse_type(k[1]), "c")) for k in told} == told
    for a, b in (
        ("INT", "STRING"),
        ("DATE", "INT"),
        ("DECIMAL(38, 0)", "DECIMAL(38, 5)"),
        ("TIMESTAMP(3)", "TIMESTAMP(3) WITH LOCAL TIME ZONE"),
    ):
        with pytest.raises(SchemaChangeError):
            common_wider_type(parse_type(a), parse_type(b), "c")


def test_computed_columns():
    columns = {
        "at": parse_type("TIMESTAMP(3)"),
        "n": parse_type("INT"),
        "s": parse_type("STRING"),
        "d": parse_type("DECIMAL(5, 2)"),
    }
    row = {"at": dt.datetime(2026, 3, 4, 5, 6, 7), "n": 1234, "s": " Hello ", "d": Decimal("12.34")}
    told = {
        "year(at)": 2026, "month(at)": 3, "day(at)": 4, "hour(at)": 5, "minute(at)": 6, "second(at)": 7, "date_format(at,yyyyMMdd HH)": "20260304 05",
        "substring(s,1,3)": "He", "substring(s,3)": "llo ", "truncate(n,100)": 1200, "truncate(s,3)": " He", "truncate(d,50)": Decimal("12.00"),
        "upper(s)": " HELLO ", "lower(s)": " hello ", "trim(s)": "Hello", "cast(7,INT)": 7, "cast(x)": "x", "year(n,0)": 1970,
    }  # fmt: skip
    assert {text: parse_computed([f"c={text}"], columns)[0].of(row) for text in told} == told
    assert parse_computed(["c=year(at)"], columns)[0].of({"at": None}) is None
