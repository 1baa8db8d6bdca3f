"""Refreshing materialized tables: the rows are those of the query, exactly once, whatever happens in between. No JVM."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError, SchemaMismatch, TableNotFound
from paimon_nb.base.identifier import Identifier
from paimon_nb.incremental.positions import last_refresh
from paimon_nb.session.materialized import refresher
from paimon_nb.session.materialized.refresh import BY_ANOTHER, UNCHANGED, refresh
from paimon_nb.session.materialized.refresher import Refresher, all_materialized, in_order, name_of

BY_REGION = "SELECT region, count(*) AS n, sum(price) AS total FROM orders GROUP BY region"
INCREMENTAL = "incremental"
LAST_ERROR = "paimon-nb.materialized-table.last-error"


@pytest.fixture
def lake(wb, monkeypatch):
    """A table `orders`, and its totals in `m`. Nothing is refreshed in the background; starting Spark fails the test."""
    monkeypatch.setattr(type(wb.session), "spark", property(lambda _self: pytest.fail("Spark was started")))
    wb.run("""SET 'paimon-nb.materialized-table.auto-refresh' = 'false';
        CREATE TABLE orders (id INT NOT NULL, region STRING, price INT, PRIMARY KEY (id) NOT ENFORCED);
        INSERT INTO orders VALUES (1, 'eu', 5), (2, 'us', 7), (3, 'eu', 9)""")
    wb.run(f"CREATE MATERIALIZED TABLE m (PRIMARY KEY (region) NOT ENFORCED) AS {BY_REGION}")
    return wb


def rows(wb, name: str) -> list[tuple]:
    return sorted((tuple(r.values()) for r in wb.table(name).to_arrow().to_pylist()), key=repr)


def target(wb, name: str = "m"):
    return wb.session.find((name,))


def newest(wb, name: str = "m") -> int:
    return wb.table(name).store.snapshots.latest().id


def test_only_changed_rows_are_written(lake):
    lake.run("INSERT INTO orders VALUES (4, 'asia', 1)")
    done = refresh(lake.session, target(lake))
    assert (done.action, done.added, done.removed) == (INCREMENTAL, 1, 0)
    lake.table("orders").delete(where="region = 'us'")
    done = refresh(lake.session, target(lake))
    assert (done.action, done.added, done.removed) == (INCREMENTAL, 0, 1)
    assert rows(lake, "m") == [("asia", 1, 1), ("eu", 2, 14)]


def test_nothing_is_committed_without_a_change(lake):
    before = newest(lake)
    assert refresh(lake.session, target(lake)).action == UNCHANGED
    assert newest(lake) == before
    lake.run("CALL sys.compact('default.orders')")
    done = refresh(lake.session, target(lake))
    assert (done.added, done.removed) == (0, 0)


def test_a_change_that_the_query_leaves_out_moves_the_position_only(lake):
    lake.run(
        "CREATE MATERIALIZED TABLE dear AS SELECT id FROM orders WHERE price > 6; INSERT INTO orders VALUES (4, 'eu', 1)"
    )
    done = refresh(lake.session, target(lake, "dear"))
    assert (done.action, done.added, done.removed) == (INCREMENTAL, 0, 0)
    assert refresh(lake.session, target(lake, "dear")).action == UNCHANGED
    last = last_refresh(lake.table("dear"), lake.table("dear").latest_snapshot())
    assert last is not None
    assert last.positions is not None
    assert [position.snapshot for position in last.positions.inputs] == [newest(lake, "orders")]


def test_a_table_without_a_key_holds_equal_rows_as_often_as_the_query(lake):
    lake.run("CREATE MATERIALIZED TABLE r AS SELECT region FROM orders")
    lake.run("INSERT INTO orders VALUES (4, 'eu', 1), (5, NULL, 1), (6, NULL, 2)")
    assert refresh(lake.session, target(lake, "r")).added == 3
    assert rows(lake, "r") == [("eu",), ("eu",), ("eu",), ("us",), (None,), (None,)]
    lake.table("orders").delete(where="id = 5 OR id = 1")
    assert refresh(lake.session, target(lake, "r")).removed == 2
    assert rows(lake, "r") == [("eu",), ("eu",), ("us",), (None,)]


def test_an_input_that_is_empty_or_becomes_empty(lake):
    lake.run("CREATE TABLE e (id INT); CREATE MATERIALIZED TABLE c AS SELECT count(*) AS n FROM e")
    assert rows(lake, "c") == [(0,)]
    lake.run("INSERT INTO e VALUES (1)")
    refresh(lake.session, target(lake, "c"))
    assert rows(lake, "c") == [(1,)]
    lake.table("orders").truncate()
    refresh(lake.session, target(lake))
    assert rows(lake, "m") == []


def test_an_input_that_was_dropped_and_created_again_with_as_many_snapshots(lake):
    count = newest(lake, "orders")
    lake.run(
        "DROP TABLE orders; CREATE TABLE orders (id INT NOT NULL, region STRING, price INT, PRIMARY KEY (id) NOT ENFORCED)"
    )
    for number in range(count):
        lake.run(f"INSERT INTO orders VALUES ({number}, 'new', 1)")
    assert newest(lake, "orders") == count
    refresh(lake.session, target(lake))
    assert rows(lake, "m") == [("new", count, count)]


def test_an_input_that_was_rolled_back(lake):
    lake.run("INSERT INTO orders VALUES (4, 'asia', 1)")
    refresh(lake.session, target(lake))
    lake.run("CALL sys.rollback_to('default.orders', 1)")
    refresh(lake.session, target(lake))
    assert rows(lake, "m") == [("eu", 2, 14), ("us", 1, 7)]


def test_a_table_that_was_rolled_back_or_lost_its_positions(lake):
    lake.run("INSERT INTO orders VALUES (4, 'asia', 1)")
    refresh(lake.session, target(lake))
    lake.run("CALL sys.rollback_to('default.m', 1)")
    assert refresh(lake.session, target(lake)).added == 1
    lake.run("CALL sys.compact('default.m'); CALL sys.expire_snapshots('default.m', 1)")
    refresh(lake.session, target(lake))
    assert rows(lake, "m") == [("asia", 1, 1), ("eu", 2, 14), ("us", 1, 7)]


def test_the_whole_result_is_computed_again_on_request(lake):
    assert lake.run("REFRESH MATERIALIZED VIEW m FULL").arrow.to_pylist() == [
        {"result": "materialized table default.m refreshed (built: a rebuild was requested): 0 rows added, 0 removed"}
    ]


def test_one_partition_is_refreshed_with_the_others(lake):
    """A position is of the whole table."""
    lake.run("CREATE MATERIALIZED TABLE p PARTITIONED BY (region) AS SELECT region, id FROM orders")
    lake.run(
        "INSERT INTO orders VALUES (4, 'eu', 1), (5, 'us', 1); ALTER MATERIALIZED TABLE p REFRESH PARTITION (region = 'us')"
    )
    assert rows(lake, "p") == [("eu", 1), ("eu", 3), ("eu", 4), ("us", 2), ("us", 5)]
    with pytest.raises(PaimonError, match="no partition column 'id'"):
        lake.run("ALTER MATERIALIZED TABLE p REFRESH PARTITION (id = 1)")


def test_three_stages_follow_each_other(lake):
    lake.run("CREATE MATERIALIZED TABLE large AS SELECT region, total FROM m WHERE total > 6")
    lake.run("CREATE MATERIALIZED TABLE whole AS SELECT sum(total) AS total FROM large")
    lake.run("INSERT INTO orders VALUES (4, 'us', 100)")
    ordered = in_order(lake.session, reversed(all_materialized(lake.session)))
    assert [t.name.table for t in ordered] == ["m", "large", "whole"]
    for one in ordered:
        refresh(lake.session, one)
    assert rows(lake, "whole") == [(121,)]


# -- errors


def test_an_error_is_stored_until_a_refresh_succeeds(lake):
    lake.run("INSERT INTO orders VALUES (4, 'eu', 1); DROP TABLE orders")
    before = rows(lake, "m")
    for _ in range(2):
        with pytest.raises(TableNotFound):
            refresh(lake.session, target(lake))
    schema = lake.session.catalog.table(Identifier("default", "m")).schema
    assert "TableNotFound: no table default.orders" in schema.options[LAST_ERROR]
    assert (schema.id, rows(lake, "m")) == (1, before)  # the same error is stored once
    lake.run("UNDROP TABLE orders")
    refresh(lake.session, target(lake))
    assert LAST_ERROR not in lake.session.catalog.table(Identifier("default", "m")).schema.options
    assert rows(lake, "m") == [("eu", 3, 15), ("us", 1, 7)]


def test_a_result_that_does_not_fit_leaves_the_table(lake):
    lake.run("CREATE MATERIALIZED TABLE k (PRIMARY KEY (price) NOT ENFORCED) AS SELECT price, id FROM orders")
    lake.run("INSERT INTO orders VALUES (4, 'eu', 7)")
    with pytest.raises(SchemaMismatch, match="two rows of the result have the key"):
        refresh(lake.session, target(lake, "k"))
    assert rows(lake, "k") == [(5, 1), (7, 2), (9, 3)]


def test_a_changed_column_of_an_input(lake):
    lake.run("ALTER TABLE orders RENAME COLUMN price TO cents")
    with pytest.raises(PaimonError, match="price"):
        lake.run("SET 'paimon-nb.engine' = 'local'; ALTER MATERIALIZED TABLE m REFRESH")
    lake.run("ALTER TABLE orders RENAME COLUMN cents TO price; ALTER MATERIALIZED TABLE m REFRESH")
    assert rows(lake, "m") == [("eu", 2, 14), ("us", 1, 7)]


# -- two processes


def test_another_process_refreshes_between_reading_and_committing(lake, monkeypatch):
    """The second commit is refused: the rows are refreshed once."""
    from paimon_nb.table.write.commit import TableCommit

    lake.run("INSERT INTO orders VALUES (4, 'asia', 1)")
    commit, answers = TableCommit.commit, []

    def commit_later(self, *args, **terms):
        if self.store.root.endswith("/m") and not answers:
            command = [sys.executable, "-m", "paimon_nb.cli", "refresh", lake.session.catalog.warehouse, "m"]
            answers.append(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
        return commit(self, *args, **terms)

    monkeypatch.setattr(TableCommit, "commit", commit_later)
    done = refresh(lake.session, target(lake))
    assert ["default.m refreshed" in a for a in answers] == [True]
    assert done.action == BY_ANOTHER
    assert rows(lake, "m") == [("asia", 1, 1), ("eu", 2, 14), ("us", 1, 7)]
    lake.run("INSERT INTO orders VALUES (5, 'asia', 2)")
    refresh(lake.session, target(lake))
    assert rows(lake, "m") == [("asia", 2, 3), ("eu", 2, 14), ("us", 1, 7)]


def test_threads_that_refresh_one_table(lake):
    """Each change arrives, whoever commits it, and the table without a key has no row twice."""
    lake.run("CREATE MATERIALIZED TABLE r AS SELECT id, region FROM orders")
    warehouse, errors = lake.session.catalog.warehouse, []

    def refresh_often() -> None:
        try:
            with paimon_nb.connect(warehouse) as own:
                for _ in range(6):
                    refresh(own.session, target(own, "r"))
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=refresh_often) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(10, 20):
        lake.run(f"INSERT INTO orders VALUES ({number}, 'r{number}', 1)")
    for thread in threads:
        thread.join()
    refresh(lake.session, target(lake, "r"))
    assert errors == []
    assert rows(lake, "r") == sorted(((r[0], r[1]) for r in rows(lake, "orders")), key=repr)


# -- kept fresh


def test_the_session_refreshes_what_is_due(lake, monkeypatch):
    now = [1_000_000_000_000]
    monkeypatch.setattr(refresher.clock, "now_ms", lambda: now[0])
    keeper = Refresher(lake.session)
    monkeypatch.setattr(keeper, "_run", lambda: None)
    keeper.keep(name_of(target(lake)))
    lake.run("INSERT INTO orders VALUES (4, 'asia', 1)")
    assert keeper.refresh_due() == {}
    now[0] += 180_000
    assert [done.action for done in keeper.refresh_due().values()] == [INCREMENTAL]
    assert keeper.refresh_due() == {}
    lake.run("ALTER MATERIALIZED TABLE m SUSPEND; INSERT INTO orders VALUES (5, 'asia', 1)")
    now[0] += 180_000
    assert keeper.refresh_due() == {}
    lake.run("DROP MATERIALIZED TABLE m")
    now[0] += 180_000
    assert (keeper.refresh_due(), keeper.tables) == ({}, [])
    keeper.stop()


def test_a_failing_table_does_not_stop_the_others(lake, monkeypatch):
    lake.run(
        "CREATE TABLE other (id INT); CREATE MATERIALIZED TABLE o AS SELECT id FROM other; INSERT INTO other VALUES (1); DROP TABLE orders"
    )
    now = [10**13]
    monkeypatch.setattr(refresher.clock, "now_ms", lambda: now[0])
    keeper = Refresher(lake.session)
    monkeypatch.setattr(keeper, "_run", lambda: None)
    for one in all_materialized(lake.session):
        keeper.keep(name_of(one))
    now[0] += 180_000
    done = {name[2]: found for name, found in keeper.refresh_due().items()}
    assert isinstance(done["m"], TableNotFound)
    assert rows(lake, "o") == [(1,)]
    keeper.stop()


def test_the_thread_of_a_session_refreshes_and_ends_with_it(tmp_path):
    with paimon_nb.connect(str(tmp_path / "w")) as wb:
        wb.run(
            "CREATE TABLE s (id INT); CREATE MATERIALIZED TABLE m FRESHNESS = INTERVAL '1' SECOND AS SELECT id FROM s; INSERT INTO s VALUES (7)"
        )
        arrived = threading.Event()
        for _ in range(200):
            if rows(wb, "m") == [(7,)]:
                arrived.set()
                break
            threading.Event().wait(0.05)
        assert arrived.is_set()
        thread = wb.session.refresher._thread
    assert not thread.is_alive()
