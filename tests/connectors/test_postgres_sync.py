"""A real PostgreSQL kept in tables by its logical log: rows, every change, new and wider columns, restarts, a server that goes away."""

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

import paimon_nb
from paimon_nb.base.errors import (
    BadOptionValue,
    BadSourceValue,
    DatabaseNotFound,
    SourceLost,
    SourceUnavailable,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.connectors.cdc.pgoutput import Transaction
from paimon_nb.connectors.cdc.postgres_client import PostgresClient, PostgresConf, SnapshotPoint, SyncPosition
from paimon_nb.connectors.cdc.postgres_types import PostgresType, array_elements, paimon_type
from paimon_nb.table.write.maintenance import rollback_to_snapshot

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.fixture
def wb(tmp_path: Path):
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()


@pytest.fixture
def name(postgres):
    """Of a table that is not there yet, and of its slot."""
    found = f"t_{uuid.uuid4().hex[:6]}"
    yield found
    postgres.run(f"DROP TABLE IF EXISTS {found}", f"DROP PUBLICATION IF EXISTS {found}_tables")
    postgres.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")


@pytest.fixture
def shop(postgres):
    """An empty schema, whose name is its slot's, too."""
    found = f"s_{uuid.uuid4().hex[:6]}"
    postgres.run(f"CREATE SCHEMA {found}")
    yield found
    postgres.run(f"DROP SCHEMA {found} CASCADE", f"DROP PUBLICATION IF EXISTS {found}_tables")
    postgres.run("SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE NOT active")


def make(postgres, name: str, columns: str, *rows: str) -> None:
    postgres.run(f"CREATE TABLE {name} ({columns})", f"ALTER TABLE {name} REPLICA IDENTITY FULL")
    for row in rows:
        postgres.run(f"INSERT INTO {name} VALUES {row}")


def call(postgres, name: str, more: str = "", **conf: str) -> str:
    inputs = postgres.conf | {"table-name": name, "slot.name": name} | {k.replace("_", "-"): v for k, v in conf.items()}
    text = ",".join(f"{k}={v}" for k, v in inputs.items() if v)
    return f"CALL sys.postgres_sync_table(`table` => 't', postgres_conf => '{text}', interval => '50 ms'{more})"


def start(wb, text: str):
    (row,) = wb.run(text).arrow.to_pylist()
    return wb.session.jobs.find(row["job"])


def rows(wb, table: str = "t") -> list[tuple]:
    return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())


def until(job, condition: Callable[[], bool]) -> None:
    assert job.wait_for(condition, 120), (job.status, job.error)


def test_rows_then_changes_over_a_stop_and_a_server_that_goes_away(wb, postgres, name):
    """Each change once: the jobs count them."""
    make(postgres, name, "id INT PRIMARY KEY, v INT, s TEXT", "(1, 1, 'a')", "(2, 2, NULL)")
    job = start(wb, call(postgres, name))
    until(job, lambda: rows(wb) == [(1, 1, "a"), (2, 2, None)])
    until(job, lambda: job.rows == 2)
    job.stop()
    job = start(wb, call(postgres, name))
    postgres.run(f"UPDATE {name} SET v = 10 WHERE id = 1", f"DELETE FROM {name} WHERE id = 2", f"UPDATE {name} SET id = 7 WHERE id = 1")  # fmt: skip
    until(job, lambda: rows(wb) == [(7, 10, "a")])
    until(job, lambda: job.rows == 2 + 1 + 2)  # the changes alone, not the rows again
    job.stop()
    postgres.run(f"INSERT INTO {name} VALUES (3, 3, '{'long ' * 2000}')")
    job = start(wb, call(postgres, name))
    until(job, lambda: len(rows(wb)) == 2)
    postgres.stop()
    time.sleep(0.5)
    assert job.isActive, job.error
    postgres.start()
    postgres.run(f"UPDATE {name} SET v = 4 WHERE id = 3")  # the long text is told by the old row alone
    until(job, lambda: rows(wb) == [(3, 4, "long " * 2000), (7, 10, "a")])
    until(job, lambda: job.rows == 1 + 2)
    job.stop()
    postgres.run(f"SELECT pg_drop_replication_slot('{name}')", f"INSERT INTO {name} VALUES (9, 9, 'lost')")
    with pytest.raises(SourceLost, match="has no log after"):
        start(wb, call(postgres, name))


def test_a_table_that_is_rewritten_while_its_rows_are_copied(postgres, name):
    """Found by a story: for a snapshot before the rewrite the table would be empty, and the sync would lose all rows."""
    not_available = pytest.importorskip("psycopg").errors.LockNotAvailable
    make(postgres, name, "id INT PRIMARY KEY, v SMALLINT", "(1, 1)", "(2, 2)")
    conf = PostgresConf.of(postgres.conf | {"table-name": name, "slot.name": name})
    with PostgresClient(conf) as client:
        client.begin_snapshot()
        with pytest.raises(not_available):
            postgres.run("SET lock_timeout = '50ms'", f"ALTER TABLE {name} ALTER v TYPE BIGINT")
        (table,) = client.tables()
        assert sorted(client.rows(table)) == [("1", "1"), ("2", "2")]
    postgres.run(f"ALTER TABLE {name} ALTER v TYPE BIGINT")


def test_a_table_that_grows_in_the_middle_of_a_transaction(wb, postgres, name):
    make(postgres, name, "id INT PRIMARY KEY, v INT, n NUMERIC(6, 2), s VARCHAR(3)", "(1, 1, 1.50, 'a')")
    job = start(wb, call(postgres, name, ", computed_column => 'u=upper(s)', table_conf => 'bucket=2'"))
    until(job, lambda: rows(wb) == [(1, 1, Decimal("1.50"), "a", "A")])
    postgres.run(f"BEGIN; INSERT INTO {name} VALUES (2, 2, 2, 'b'); ALTER TABLE {name} ADD COLUMN w BOOL DEFAULT TRUE, ALTER v TYPE BIGINT, ALTER n TYPE NUMERIC(12, 4); "
                 f"INSERT INTO {name} VALUES (3, 5000000000, 12345678.1234, 'c', FALSE); COMMIT")  # fmt: skip
    postgres.run(f"ALTER TABLE {name} DROP COLUMN s", f"UPDATE {name} SET v = 6 WHERE id = 1")
    until(job, lambda: rows(wb) == [
        (1, 6, Decimal("1.5000"), None, None, True), (2, 2, Decimal("2.0000"), "b", "B", None), (3, 5000000000, Decimal("12345678.1234"), "c", "C", False),
    ])  # fmt: skip


def test_every_type_arrives_the_same_from_the_rows_and_from_the_log(wb, postgres, name):
    columns = {
        "b": ("BOOL", "TRUE", True), "s": ("SMALLINT", "-5", -5), "i": ("INT", "2147483647", 2147483647), "l": ("BIGINT", "-9223372036854775808", -9223372036854775808),
        "f": ("REAL", "1.5", 1.5), "d": ("DOUBLE PRECISION", "1e300", 1e300), "n": ("NUMERIC(38, 10)", "1234567890.0123456789", Decimal("1234567890.0123456789")),
        "nn": ("NUMERIC", "1.5", Decimal("1.5").quantize(Decimal("1e-18"))), "dd": ("DATE", "'2026-02-28'", dt.date(2026, 2, 28)), "tm": ("TIME(3)", "'11:12:13.456'", dt.time(11, 12, 13, 456000)),
        "ts": ("TIMESTAMP", "'2026-01-02 03:04:05.123456'", dt.datetime(2026, 1, 2, 3, 4, 5, 123456)),
        "tz": ("TIMESTAMPTZ(3)", "'2026-01-02 03:04:05.678+02'", dt.datetime(2026, 1, 2, 1, 4, 5, 678000, tzinfo=dt.UTC)),
        "c": ("CHAR(4)", "'äb'", "äb  "), "v": ("VARCHAR(20)", "E'ü€😀\\t\\\\'", "ü€😀\t\\"), "x": ("TEXT", "''", ""), "by": ("BYTEA", "'\\x00ff'", b"\0\xff"),
        "u": ("UUID", "'a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11'", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"), "j": ("JSONB", "'{\"k\": [1, null]}'", '{"k": [1, null]}'),
        "b1": ("BIT(1)", "B'1'", True), "b9": ("BIT(9)", "B'100000001'", b"\1\1"), "a": ("INT[]", "'{1,NULL,3}'", [1, None, 3]), "at": ("TEXT[]", "ARRAY['a,b', NULL, 'q\"']", ["a,b", None, 'q"']),
    }  # fmt: skip
    make(
        postgres, name, f"id INT PRIMARY KEY, {', '.join(f'{n} {t}' for n, (t, _, _) in columns.items())}",
        f"(1, {', '.join(text for _, text, _ in columns.values())})", f"(2{', NULL' * len(columns)})",
   )  # fmt: skip
    job = start(wb, call(postgres, name))
    until(job, lambda: job.rows == 2)
    postgres.run(f"INSERT INTO {name} SELECT id + 2, {', '.join(columns)} FROM {name}")
    until(job, lambda: len(rows(wb)) == 4)
    full, empty = tuple(value for *_, value in columns.values()), (None,) * len(columns)
    found = [
        (r[0], *(v.replace(tzinfo=dt.UTC) if isinstance(v, dt.datetime) and v.tzinfo else v for v in r[1:]))
        for r in rows(wb)
    ]
    assert found == [(1, *full), (2, *empty), (3, *full), (4, *empty)]


def test_a_value_that_does_not_fit_ends_no_sync_and_is_counted(wb, postgres, name):
    columns = "id INT PRIMARY KEY, t TIME, n NUMERIC, a INT[], d DATE"
    bad = "'24:00:00', 123456789012345678901234567890.5, '{{1,2},{3,4}}', 'infinity'"
    make(postgres, name, columns, f"(1, {bad})", "(2, '01:02:03.004', 1.5, '{1}', '2026-01-02')")
    job = start(wb, call(postgres, name))
    postgres.run(f"INSERT INTO {name} SELECT id + 10, t, n, a, d FROM {name}")
    until(job, lambda: len(rows(wb)) == 4)
    wrapped, plain = (dt.time(0), None, None, None), (dt.time(1, 2, 3, 4000), Decimal("1.5").quantize(Decimal("1e-18")), [1], dt.date(2026, 1, 2))  # fmt: skip
    assert rows(wb) == [(1, *wrapped), (2, *plain), (11, *wrapped), (12, *plain)]
    (listed,) = wb.run("SHOW JOBS").arrow.to_pylist()
    assert (listed["status"], listed["changed values"], listed["dead letters"], listed["skipped"]) == (
        "RUNNING",
        8,
        0,
        0,
    )
    assert "t.a: 2 values did not fit: an array of several dimensions" in listed["message"]
    assert listed["last commit"] is not None
    assert listed["position"] is not None


def test_a_sync_that_stopped_at_a_value_steps_over_one_record(wb, postgres, name):
    make(postgres, name, "id INT PRIMARY KEY, n NUMERIC(5, 2)", "(1, 1)")
    job = start(wb, call(postgres, name, ", on_value_error => 'fail'"))
    until(job, lambda: len(rows(wb)) == 1)
    postgres.run(f"INSERT INTO {name} VALUES (2, 'NaN')", f"INSERT INTO {name} VALUES (3, 3)")
    with pytest.raises(BadSourceValue, match=r"column 'n'.*'NaN' of the row with key id=2") as stopped:
        job.awaitTermination(60)
    (listed,) = wb.run("SHOW JOBS").arrow.to_pylist()
    assert "skip_record =>" in listed["message"]
    assert "resume with: CALL sys.postgres_sync_table" in listed["message"]
    assert postgres.conf["password"] not in listed["message"]
    again = start(wb, call(postgres, name, f", on_value_error => 'fail', skip_record => '{stopped.value.record}'"))
    until(again, lambda: rows(wb) == [(1, Decimal("1.00")), (3, Decimal("3.00"))])
    assert again.running.value_counts.skipped == 1


def test_a_partitioned_table_is_one_table(wb, postgres, name):
    postgres.run(f"CREATE TABLE {name} (id INT, d INT, v TEXT, PRIMARY KEY (id, d)) PARTITION BY RANGE (d)")
    for n in (1, 2):
        postgres.run(f"CREATE TABLE {name}_{n} PARTITION OF {name} FOR VALUES FROM ({n}) TO ({n + 1})")
    with pytest.raises(UnsupportedOperation, match="does not log old rows"):
        start(wb, call(postgres, name))
    postgres.run(
        *(f"ALTER TABLE {name}_{n} REPLICA IDENTITY FULL" for n in (1, 2)),
        f"INSERT INTO {name} VALUES (1, 1, 'a'), (2, 2, 'b')",
    )
    metadata = ", metadata_column => 'schema_name,table_name,op_ts', metadata_column_prefix => 'm_'"
    job = start(wb, call(postgres, name, metadata, table_name=f"{name}.*"))
    epoch = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
    until(job, lambda: rows(wb) == [(1, 1, "a", "public", name, epoch), (2, 2, "b", "public", name, epoch)])
    postgres.run(
        f"UPDATE {name} SET d = 2, v = 'moved' WHERE id = 1",
        f"DELETE FROM {name} WHERE id = 2",
        f"INSERT INTO {name} VALUES (3, 1, 'c')",
    )
    until(job, lambda: [r[:3] for r in rows(wb)] == [(1, 2, "moved"), (3, 1, "c")])
    assert all(r[3:5] == ("public", name) and r[5] > epoch for r in rows(wb))
    with pytest.raises(BadOptionValue, match="unknown metadata_column 'topic'"):
        start(wb, call(postgres, name, ", metadata_column => 'topic'"))
    postgres.run(f"ALTER TABLE {name} ADD COLUMN table_name TEXT")
    with pytest.raises(BadOptionValue, match="the source has a column 'table_name', too"):
        start(wb, call(postgres, name, ", metadata_column => 'table_name'"))


def equal_at_the_end(
    wb, postgres, tables: dict[str, str], arguments: list[str], count: int, seed: int, kills: int
) -> None:
    """The sync runs as the command line's process, killed hard some times while the tables change; half-way they get a column.

    Args: tables: where each of PostgreSQL's tables is kept.
    """
    for table in tables:
        make(postgres, table, "id INT PRIMARY KEY, v BIGINT, s TEXT", "(1, 1, 'a')", "(1000, 5, NULL)")
    command = [sys.executable, "-m", "paimon_nb.cli", *arguments, "--warehouse", wb.session.catalog.warehouse,
               *[w for k, v in postgres.conf.items() for w in ("--postgres_conf", f"{k}={v}")], "--table_conf", "bucket=2", "--interval", "50 ms"]  # fmt: skip
    environment = os.environ | {"PYTHONPATH": str(Path(paimon_nb.__file__).parents[1])}
    chance = random.Random(seed)

    def stored(target: str) -> list[tuple]:
        try:
            return rows(wb, target)
        except (TableNotFound, DatabaseNotFound):
            return []

    def state() -> dict[str, list[tuple]]:
        return {target: stored(target) for target in tables.values()}

    def wait(done: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 600
        while not done() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        assert process.poll() is None
        assert done()

    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    try:
        for part in range(kills + 1):
            with postgres.connect() as connection:
                before = state()
                if part == (kills + 1) // 2:
                    for table in tables:
                        connection.execute(f"ALTER TABLE {table} ADD COLUMN w INT")
                        connection.execute(f"UPDATE {table} SET w = v % 7 WHERE id % 3 = 0")
                churn(connection, list(tables), count // (kills + 1) // 2, chance)
                wait(lambda before=before: state() != before)  # it is at work
                churn(connection, list(tables), count // (kills + 1) // 2, chance)
            if part < kills:
                time.sleep(chance.random() / 5)
                process.kill()
                process.wait()
                process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
        expected = {target: sorted(postgres.run(f"SELECT * FROM {table}")) for table, target in tables.items()}
        wait(lambda: state() == expected)
    finally:
        process.kill()
        process.wait()


def churn(connection, tables: list[str], count: int, chance: random.Random) -> None:
    """Random changes in transactions of random sizes over all tables, some of them rolled back."""
    done = 0
    while done < count:
        with connection.transaction(force_rollback=chance.random() < 0.1):
            for _ in range(chance.randint(1, 40)):
                key, value = chance.randint(1, 500), chance.randint(-(10**6), 10**6)
                table, kind = chance.choice(tables), chance.random()
                if kind < 0.5:
                    connection.execute(f"INSERT INTO {table} (id, v, s) VALUES (%s, %s, %s) ON CONFLICT (id) DO UPDATE SET v = excluded.v", (key, value, str(value)))  # fmt: skip
                elif kind < 0.8:
                    connection.execute(f"UPDATE {table} SET v = v + 1 WHERE id BETWEEN %s AND %s", (key, key + 3))
                else:
                    connection.execute(f"DELETE FROM {table} WHERE id = %s", (key,))
                done += 1


def of_table(name: str) -> tuple[dict[str, str], list[str]]:
    """A table and how it is synced."""
    return {name: "t"}, ["postgres_sync_table", "--table", "t", "--postgres_conf", f"table-name={name}", "--postgres_conf", f"slot.name={name}"]  # fmt: skip


def of_database(schema: str) -> tuple[dict[str, str], list[str]]:
    """Three tables of a schema and how they are synced."""
    arguments = ["postgres_sync_database", "--database", "ods", "--table_prefix", "o_", "--table_suffix", "_v",
                 "--postgres_conf", f"schema-name={schema}", "--postgres_conf", f"slot.name={schema}"]  # fmt: skip
    return {f"{schema}.{t}": f"ods.o_{t}_v" for t in ("a", "b", "c")}, arguments


def test_a_sync_that_is_killed_loses_nothing_and_takes_nothing_twice(wb, postgres, name):
    equal_at_the_end(wb, postgres, *of_table(name), 2_000, 1, kills=1)


@pytest.mark.nightly
def test_a_sync_of_a_database_that_is_killed_loses_nothing_and_takes_nothing_twice(wb, postgres, shop):
    equal_at_the_end(wb, postgres, *of_database(shop), 2_000, 1, kills=1)


@pytest.mark.nightly
def test_after_50_000_changes_and_many_kills_the_table_equals_the_database(wb, postgres, name):
    equal_at_the_end(wb, postgres, *of_table(name), 50_000, 7, kills=10)


@pytest.mark.nightly
def test_after_50_000_changes_and_many_kills_all_tables_equal_the_database(wb, postgres, shop):
    equal_at_the_end(wb, postgres, *of_database(shop), 50_000, 7, kills=10)


def test_a_database(wb, postgres, shop):
    for table in ("a", "skipped", "other"):
        make(postgres, f"{shop}.{table}", "id INT PRIMARY KEY, v INT", "(1, 1)", "(2, NULL)")
    make(postgres, f"{shop}.b", "x VARCHAR(3), y INT, PRIMARY KEY (x, y)", "('k', 1)")
    make(postgres, f"{shop}.log", "text VARCHAR(5)", "('lost')")
    postgres.run(f"CREATE TABLE {shop}.short (id INT PRIMARY KEY)")  # and no REPLICA IDENTITY FULL
    conf = ",".join(f"{k}={v}" for k, v in (postgres.conf | {"schema-name": shop, "slot.name": shop}).items())
    text = (f"CALL sys.postgres_sync_database(database => 'ods', postgres_conf => '{conf}', table_prefix => 'o_', table_suffix => '_v', "
            "including_tables => 'a|b|log|s.*|late', excluding_tables => 'skip.*', interval => '50 ms')")  # fmt: skip

    result = wb.run(text)
    (row,) = result.arrow.to_pylist()
    job = wb.session.jobs.find(row["job"])
    until(job, lambda: rows(wb, "ods.o_a_v") == [(1, 1), (2, None)] and rows(wb, "ods.o_b_v") == [("k", 1)])
    postgres.run(
        f"BEGIN; INSERT INTO {shop}.a VALUES (3, 3); ALTER TABLE {shop}.a ADD COLUMN w TEXT; UPDATE {shop}.a SET w = 'x' WHERE id > 1; "
        f"DELETE FROM {shop}.b; INSERT INTO {shop}.b VALUES ('m', 2); INSERT INTO {shop}.other VALUES (3, 3); COMMIT",
   )  # fmt: skip
    until(job, lambda: rows(wb, "ods.o_a_v") == [(1, 1, None), (2, None, "x"), (3, 3, "x")])
    until(job, lambda: rows(wb, "ods.o_b_v") == [("m", 2)])
    job.stop()
    make(postgres, f"{shop}.late", "id INT PRIMARY KEY", "(7)")
    postgres.run(f"UPDATE {shop}.a SET v = 4 WHERE id = 3")
    (again,) = wb.run(text).arrow.to_pylist()
    job = wb.session.jobs.find(again["job"])
    postgres.run(f"INSERT INTO {shop}.late VALUES (8)", f"DELETE FROM {shop}.a WHERE id = 1")

    until(job, lambda: rows(wb, "ods.o_late_v") == [(7,), (8,)])
    until(job, lambda: rows(wb, "ods.o_a_v") == [(2, None, "x"), (3, 4, "x")])
    assert (row["tables"], again["tables"]) == ("ods.o_a_v, ods.o_b_v", "ods.o_a_v, ods.o_b_v, ods.o_late_v")
    assert wb.session.catalog.tables("ods") == ["o_a_v", "o_b_v", "o_late_v"]
    assert rows(wb, "ods.o_b_v") == [("m", 2)]
    assert [n for n in result.notes if "left out" in n] == [
        f"left out: {shop}.log: the source of ods.o_log_v has no primary key",
        f"left out: {shop}.short: {shop}.short does not log old rows",
    ]


def test_a_table_without_changes_does_not_need_the_log_again(wb, postgres, shop):
    """The slot was advanced with the other table's changes. A table that was rolled back needs the log from its older position."""
    for table in ("quiet", "busy"):
        make(postgres, f"{shop}.{table}", "id INT PRIMARY KEY", "(1)")
    inputs = postgres.conf | {"schema-name": shop, "slot.name": shop}
    text = f"CALL sys.postgres_sync_database(database => 'lake', postgres_conf => '{','.join(f'{k}={v}' for k, v in inputs.items())}', interval => '50 ms')"
    job = start(wb, text)
    for n in (2, 3):  # after the second one is there, the slot was advanced behind the first one
        postgres.run(f"INSERT INTO {shop}.busy VALUES ({n})")
        until(job, lambda n=n: (n,) in rows(wb, "lake.busy"))
    job.stop()
    job = start(wb, text)
    postgres.run(f"INSERT INTO {shop}.quiet VALUES (2)")
    until(job, lambda: rows(wb, "lake.quiet") == [(1,), (2,)])
    assert rows(wb, "lake.busy") == [(1,), (2,), (3,)]
    postgres.run(f"INSERT INTO {shop}.quiet VALUES (3)")
    until(job, lambda: (3,) in rows(wb, "lake.quiet"))
    job.stop()
    store = wb.table("lake.busy").store
    rollback_to_snapshot(store, store.snapshots.ids()[0])
    with pytest.raises(SourceLost, match="has no log after"):  # its rows are gone, and the slot has no changes of them
        start(wb, text)


def test_what_is_wrong_is_said_before_anything_runs(wb, postgres, name):
    make(postgres, name, "id INT PRIMARY KEY, v INT")
    cases: list[tuple[str, type[Exception], str]] = [
        (call(postgres, "absent"), TableNotFound, "absent"),
        (call(postgres, name, password="wrong-secret"), SourceUnavailable, "password authentication failed"),
        (call(postgres, name, port="1"), SourceUnavailable, "127.0.0.1:1"),
        (call(postgres, name, colour="red"), BadOptionValue, "colour"),
        (call(postgres, name, username=""), BadOptionValue, "username"),
        (call(postgres, name).replace(f"slot.name={name}", "slot.name=A-b"), BadOptionValue, "slot.name"),
    ]
    for text, kind, word in cases:
        with pytest.raises(kind, match=word) as refused:
            wb.run(text)
        assert "secret" not in str(refused.value)
    postgres.run(f"ALTER TABLE {name} REPLICA IDENTITY DEFAULT")
    with pytest.raises(UnsupportedOperation, match="does not log old rows") as refused:
        wb.run(call(postgres, name))
    assert f"ALTER TABLE public.{name} REPLICA IDENTITY FULL" in refused.value.hint
    assert wb.session.jobs.all == {}


def test_types_as_paimon_maps_them():
    relation = {
        ("int2", -1): "SMALLINT", ("numeric", -1): "DECIMAL(38, 18)", ("numeric", 4 + (10 << 16) + 2): "DECIMAL(10, 2)", ("numeric", 4 + (40 << 16)): "STRING",
        ("timestamp", -1): "TIMESTAMP(6)", ("timestamptz", 3): "TIMESTAMP(3) WITH LOCAL TIME ZONE", ("time", 0): "TIME(0)", ("varchar", 9): "VARCHAR(5)", ("bpchar", 14): "CHAR(10)", ("varchar", -1): "STRING", ("_varchar", 9): "ARRAY<VARCHAR(5)>",
        ("_int4", -1): "ARRAY<INT>", ("bit", 1): "BOOLEAN", ("bit", 9): "BINARY(2)", ("enum", -1): "STRING",
    }  # fmt: skip
    assert {k: str(paimon_type(PostgresType(*k))) for k in relation} == relation
    assert str(paimon_type(PostgresType("point"), {"to-string"})) == "STRING"
    with pytest.raises(UnsupportedOperation, match="point"):
        paimon_type(PostgresType("point"))
    assert array_elements('{a,"b,\\"c\\\\",NULL,"NULL",""}') == ["a", 'b,"c\\', None, "NULL", ""]
    assert array_elements("{}") == []


def test_what_a_snapshot_has_is_not_taken_again():
    """Numbers of transactions go round at 2**32."""
    snapshot_point = SnapshotPoint(
        "4294967290:4294967300:4294967295", until=100
    )  # 4294967300 is number 4 of the next round

    def has(xid: int, lsn: int = 50) -> bool:
        return snapshot_point.contains_transaction(Transaction(lsn, xid, 0))

    assert [has(x) for x in (4294967280, 4294967294, 4294967295, 0, 3, 4, 900)] == [True, True, False, True, True, False, False]  # fmt: skip
    assert not has(4294967280, lsn=100)
    sync_position = SyncPosition(70, snapshot_point)
    assert SyncPosition.from_text(sync_position.to_text()) == sync_position
    assert SyncPosition.from_text(SyncPosition(100, snapshot_point).to_text()) == SyncPosition(100)
