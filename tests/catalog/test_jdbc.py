"""What is particular to the JDBC catalog: addresses, Java's table layout, the lock, and what happens when a step fails."""

from __future__ import annotations

import sqlite3
import threading
import time
from dataclasses import replace

import pytest
from catalog_kit import catalog_options, schema
from sql_servers import PASSWORD, rows_of

import paimon_nb
from paimon_nb.base.errors import (
    AlreadyExists,
    BadOptionValue,
    CommitGaveUp,
    StoreError,
    TableNotFound,
    UnsupportedOperation,
)
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.catalog.jdbc.lock import JdbcLock, create_lock_table
from paimon_nb.catalog.locks import LockWait
from paimon_nb.table.write.maintenance.branches import create_branch

T = Identifier("default", "t")


@pytest.fixture(params=["sqlite", "postgresql", "mariadb"])
def options(request, tmp_path) -> dict[str, str]:
    return catalog_options(request.param, tmp_path, request)


@pytest.fixture
def sqlite(tmp_path) -> dict[str, str]:
    return {"metastore": "jdbc", "uri": f"jdbc:sqlite:{tmp_path}/c.db", "warehouse": str(tmp_path / "w")}


def locked(options: dict[str, str], **more: str) -> dict[str, str]:
    return {**options, "lock.enabled": "true", **{k.replace("_", "-"): v for k, v in more.items()}}


# -- layout


def test_the_layout_is_javas(options, tmp_path):
    catalog = open_catalog("c", locked(options))
    catalog.create_database("d")
    catalog.create_table(Identifier("d", "t"), schema())
    key = options.get("catalog-key", "jdbc")
    where = f"{tmp_path}/w"
    assert rows_of(options, "paimon_tables") == [(key, "d", "t")]
    assert rows_of(options, "paimon_database_properties") == [
        (key, "d", "exists", "true"),
        (key, "d", "location", f"{where}/d.db"),
        (key, "default", "exists", "true"),
        (key, "default", "location", f"{where}/default.db"),
    ]
    assert rows_of(options, "paimon_distributed_locks") == []


def test_the_columns_are_javas(sqlite, tmp_path):
    open_catalog("c", locked(sqlite))
    with sqlite3.connect(tmp_path / "c.db") as connection:
        found = {
            table: [(name, kind, pk) for _, name, kind, _, _, pk in connection.execute(f"PRAGMA table_info({table})")]
            for (table,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        }
    assert found == {
        "paimon_tables": [
            ("catalog_key", "VARCHAR(255)", 1), ("database_name", "VARCHAR(255)", 2), ("table_name", "VARCHAR(255)", 3),
        ],
        "paimon_database_properties": [
            ("catalog_key", "VARCHAR(255)", 1), ("database_name", "VARCHAR(255)", 2), ("property_key", "VARCHAR(255)", 3),
            ("property_value", "VARCHAR(1000)", 0),
        ],
        "paimon_views": [
            ("catalog_key", "VARCHAR(255)", 1), ("database_name", "VARCHAR(255)", 2), ("view_name", "VARCHAR(255)", 3),
            ("view_schema", "TEXT", 0),
        ],
        "paimon_distributed_locks": [
            ("lock_id", "VARCHAR(255)", 1), ("acquired_at", "TIMESTAMP", 0), ("expire_time_seconds", "BIGINT", 0),
        ],
    }  # fmt: skip


def test_catalogs_with_other_keys_share_a_database_and_no_names(options):
    one, two = (open_catalog("c", {**options, "catalog-key": f"{options.get('catalog-key')}{i}",
                                   "warehouse": f"{options['warehouse']}{i}"}) for i in (1, 2))  # fmt: skip
    for catalog in (one, two):
        catalog.create_database("d")
        catalog.create_table(Identifier("d", "t"), schema())
    one.drop_database("d", cascade=True)
    assert (one.databases(), two.databases(), two.tables("d")) == (["default"], ["d", "default"], ["t"])


def test_a_name_in_another_case_is_no_match(options):
    catalog = open_catalog("c", options)
    catalog.create_table(Identifier("default", "People"), schema())
    other = Identifier("default", "people")
    with pytest.raises(TableNotFound):
        catalog.table(other)
    assert catalog.drop_table(other, if_exists=True) is False
    if options["uri"].startswith("jdbc:mysql:"):  # its keys ignore case
        with pytest.raises(AlreadyExists) as caught:
            catalog.create_table(other, schema("newer"))
        assert "case" in caught.value.hint
        assert not catalog.fs.exists(catalog.table_path(other))
    else:
        catalog.create_table(other, schema("newer"))
        assert catalog.tables("default") == ["People", "people"]
    assert catalog.table(Identifier("default", "People")).schema.names == ("id", "v")


def test_files_that_the_catalog_does_not_know_are_not_written_over(sqlite):
    known = open_catalog("c", sqlite)
    open_catalog("f", {"warehouse": sqlite["warehouse"]}).create_table(T, schema("theirs"))
    with pytest.raises(TableNotFound):
        known.table(T)
    with pytest.raises(AlreadyExists):
        known.create_table(T, schema())
    assert known.fs.read(f"{known.table_path(T)}/schema/schema-0").count(b"theirs") == 1


# -- the lock


def test_a_commit_waits_for_the_lock(options):
    options = locked(options)
    catalog = open_catalog("c", options)
    catalog.create_table(T, schema())
    table = catalog.table(T)
    lock = JdbcLock(
        Database.of(options["uri"], options), f"{options.get('catalog-key', 'jdbc')}.default.t", LockWait(60_000, 100)
    )
    committed = threading.Event()

    def commit() -> None:
        table.upsert(_one_row())
        committed.set()

    with lock.held():
        thread = threading.Thread(target=commit)
        thread.start()
        assert not committed.wait(0.5)
        assert table.snapshots().num_rows == 0
    assert committed.wait(90)
    thread.join()
    assert (table.snapshots().num_rows, rows_of(options, "paimon_distributed_locks")) == (1, [])


def test_a_lock_that_stays_taken_is_given_up_and_nothing_is_published(options):
    options = locked(options, lock_acquire_timeout="0 s")
    catalog = open_catalog("c", options)
    catalog.create_table(T, schema())
    table = catalog.table(T)
    key = f"{options.get('catalog-key', 'jdbc')}.default.t"
    with JdbcLock(Database.of(options["uri"], options), key, LockWait(60_000, 100)).held():
        with pytest.raises(CommitGaveUp) as caught:
            table.upsert(_one_row())
        assert caught.value.lock == key
    assert table.snapshots().num_rows == 0
    table.upsert(_one_row())
    assert table.snapshots().num_rows == 1


def test_a_branch_has_a_lock_of_its_own(sqlite):
    catalog = open_catalog("c", locked(sqlite, lock_acquire_timeout="0 s"))
    catalog.create_table(T, schema())
    create_branch(catalog.table(T).store, "b")
    branch = catalog.table(replace(T, branch="b"))
    key = "jdbc.default.t$branch_b"
    with JdbcLock(Database.of(sqlite["uri"], sqlite), key, LockWait(60_000, 100)).held():
        with pytest.raises(CommitGaveUp) as caught:
            branch.upsert(_one_row())
        catalog.table(T).upsert(_one_row())
    assert caught.value.lock == key
    assert (branch.snapshots().num_rows, catalog.table(T).snapshots().num_rows) == (0, 1)


def test_the_lock_of_a_writer_that_died_goes_by_itself(options):
    database = Database.of(options["uri"], options)
    create_lock_table(database, 255)
    dead = JdbcLock(database, f"{options.get('catalog-key')}.d.dead", LockWait(1_000, 100))
    assert dead._try_acquire()  # and never released
    start = time.monotonic()
    with JdbcLock(database, dead.lock_id, LockWait(60_000, 100)).held():
        assert time.monotonic() - start > 0.9
    assert rows_of({**options, "catalog-key": f"{options.get('catalog-key')}.d"}, "paimon_distributed_locks") == []


def test_a_name_too_long_for_the_lock_is_refused(sqlite):
    catalog = open_catalog("c", locked(sqlite, lock_key_max_length="20"))
    with pytest.raises(BadOptionValue, match="longer than 20"):
        catalog.create_table(Identifier("default", "a_rather_long_name"), schema())
    assert catalog.tables("default") == []


def _one_row():
    import pyarrow as pa

    return pa.table({"id": pa.array([1], pa.int32()), "v": ["a"]})


# -- addresses


@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("jdbc:oracle:thin:@h:1/x", BadOptionValue),
        ("postgresql://h/x", BadOptionValue),
        ("jdbc:sqlite::memory:", BadOptionValue),
        ("jdbc:postgresql://a:1,b:2/x", UnsupportedOperation),
        ("jdbc:mysql://127.0.0.1:1/x?sslMode=REQUIRED", UnsupportedOperation),
        ("jdbc:postgresql://127.0.0.1:1/x", StoreError),
        ("jdbc:mysql://127.0.0.1:1/x", StoreError),
    ],
)
def test_an_address_that_leads_nowhere_is_told(tmp_path, uri, error):
    with pytest.raises(error) as caught:
        open_catalog("c", {"metastore": "jdbc", "uri": uri, "warehouse": str(tmp_path)})
    assert caught.value.hint


@pytest.mark.parametrize("missing", ["uri", "warehouse"])
def test_what_the_catalog_needs_is_named(sqlite, missing):
    with pytest.raises(BadOptionValue, match=f"'{missing}'"):
        open_catalog("c", {k: v for k, v in sqlite.items() if k != missing})


@pytest.mark.parametrize("server", ["postgresql", "mariadb"])
def test_a_wrong_password_is_told_and_never_shown(request, tmp_path, server):
    options = {**catalog_options(server, tmp_path, request), "jdbc.password": "wr0ng"}
    with pytest.raises(StoreError) as caught:
        open_catalog("c", options)
    assert "jdbc.password" in caught.value.hint
    assert "wr0ng" not in str(caught.value)


@pytest.mark.needs("postgresql")
def test_settings_may_stand_in_the_address(request, tmp_path):
    options = catalog_options("postgresql", tmp_path, request)
    user, password = options.pop("jdbc.user"), options.pop("jdbc.password")
    inputs = f"user={user}&password={password.replace('%', '%25').replace('/', '%2F')}&sslmode=prefer"
    assert open_catalog("c", {**options, "uri": f"{options['uri']}?{inputs}"}).databases() == ["default"]


# -- in SQL


def test_a_jdbc_catalog_in_sql(options):
    with_ = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    with paimon_nb.connect(f"{options['warehouse']}-other") as wb:
        wb.run(f"CREATE CATALOG lake WITH ({with_}); USE CATALOG lake; CREATE DATABASE shop; USE shop")
        wb.run("CREATE TABLE t (id INT, v STRING, PRIMARY KEY (id) NOT ENFORCED); INSERT INTO t VALUES (1, 'a')")
        assert wb.table("lake.shop.t").to_arrow().to_pylist() == [{"id": 1, "v": "a"}]
        displayed = wb.session.catalog
        assert (displayed.databases(), displayed.tables("shop")) == (["default", "shop"], ["t"])
        assert PASSWORD not in repr(wb)
    assert rows_of(options, "paimon_tables") == [(options.get("catalog-key", "jdbc"), "shop", "t")]


def test_files_without_an_entry_are_named_with_the_statement_that_adds_it(sqlite):
    """The process of a CREATE or DROP TABLE was killed between the files and the entry."""
    catalog = open_catalog("c", sqlite)
    catalog.create_database("d")
    catalog.create_table(Identifier("d", "t"), schema())
    catalog.metastore.remove_table(Identifier("d", "t"))

    with pytest.raises(AlreadyExists, match=r"no table d\.t\n.*CALL sys\.repair\('d\.t'\)"):
        catalog.create_table(Identifier("d", "t"), schema())

    catalog.repair("d", "t")
    assert catalog.tables("d") == ["t"]
