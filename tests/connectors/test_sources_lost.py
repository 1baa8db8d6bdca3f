"""Sources that lose what a sync has not read, and two writers of one stream: each stops with its reason and the way to continue."""

from __future__ import annotations

import time
import uuid
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from registry_server import Registry
from test_cdc_target import columns, opened, put

import paimon_nb
from paimon_nb.base.errors import CommitConflict, SourceLost
from paimon_nb.connectors.cdc.mysql_sync import MySqlSync
from paimon_nb.connectors.kafka.client import check_offsets_exist

if TYPE_CHECKING:
    from pathlib import Path


_DROP_SLOT = """
DO $$ BEGIN
    FOR i IN 1..200 LOOP  -- the sync may hold it for a moment
        BEGIN PERFORM pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = %s; EXIT;
        EXCEPTION WHEN object_in_use THEN PERFORM pg_sleep(0.05); END;
    END LOOP;
END $$"""


@pytest.fixture
def wb(tmp_path: Path):
    workbench = paimon_nb.connect(str(tmp_path / "w"))
    yield workbench
    workbench.session.jobs.stop_all()


def test_two_syncs_of_one_source_into_one_table_are_noticed(tmp_path):
    first, second = opened(tmp_path), opened(tmp_path)
    put(first, 1, "at 1")
    with pytest.raises(CommitConflict, match="snapshot 1 has its commit user cdc-me"):
        put(second, 1, "at 1")
    second.abort()
    put(first, 2, "at 2")
    rows = first.table.refresh().to_arrow(options={"scan.mode": "latest-full"})
    assert sorted(rows.column("k").to_pylist()) == [1, 2]


def test_commits_of_others_do_not_stop_a_sync(tmp_path):
    target = opened(tmp_path)
    for k in range(3):
        put(target, k, f"at {k}")
        target.table.refresh().append(pa.table({"k": pa.array([10 + k], pa.int32()), "v": ["other"]}))
    assert opened(tmp_path).position == "at 2"


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [({"t": {"0": 4}}, {"t": {"0": 9}}, "deleted records of t-0 from offset 3"),
     ({"t": {"0": 0}}, {"t": {"0": 2}}, "t-0 ends at offset 2, but offset 3 was reached before"),
     ({}, {}, "deleted records of t-0 from offset 3")],
    ids=["retention", "created again", "gone"],
)  # fmt: skip
def test_records_of_kafka_that_are_gone(low, high, words):
    with pytest.raises(SourceLost, match=words) as lost:
        check_offsets_exist({"t": {"0": 3}}, low, high)
    assert "dropping its target tables" in lost.value.hint


def test_a_schema_registry_that_answers_late(wb):
    """The sync waits, and stores each change once."""
    from mock_broker import MockBroker
    from test_avro_registry import ENVELOPE, ROW, SOURCE, message
    from test_kafka_sync import until

    pytest.importorskip("confluent_kafka")
    registry, broker = Registry(), MockBroker()
    try:
        rows = [{**ROW, "id": i} for i in range(3)]
        broker.send("t", [(None, message(registry, ENVELOPE, {"before": None, "after": r, "source": SOURCE, "op": "c", "ts_ms": 1})) for r in rows[:2]])  # fmt: skip
        conf = f"properties.bootstrap.servers={broker.address},topic=t,value.format=debezium-avro,scan.startup.mode=earliest-offset"
        call = f"CALL sys.kafka_sync_table(`table` => 't', kafka_conf => '{conf},schema.registry.url={registry.url}', primary_keys => 'id', interval => '20 ms')"  # fmt: skip
        (row,) = wb.run(call).arrow.to_pylist()
        job = wb.session.jobs.find(row["job"])
        until(job, lambda: job.rows == 2)
        newer = {**ENVELOPE, "doc": "another schema, which the registry knows later"}
        late = message(registry, newer, {"before": None, "after": rows[2], "source": SOURCE, "op": "c", "ts_ms": 2})
        registry.late = 2
        broker.send("t", [(None, late)])
        until(job, lambda: sorted(wb.table("t").to_arrow().column("id").to_pylist()) == [0, 1, 2])
        counts = [s["delta_record_count"] for s in wb.table("t").snapshots().to_pylist() if s["delta_record_count"]]
        assert counts in ([2, 1], [1, 1, 1])  # the broker may give the first two one after the other
    finally:
        wb.session.jobs.stop_all()
        registry.close()


def test_a_topic_that_is_created_again_under_a_sync(wb, broker):
    from test_kafka_sync import conf, start, until

    topic = broker.topic("lost")
    row = '{"op": "c", "after": {"id": 1}, "source": {"db": "d", "table": "t"}}'
    broker.send(topic, [row, row, row])
    job = start(wb, "kafka_sync_table", "t", conf(broker, topic, "debezium-json"), primary_keys="id")
    until(job, lambda: job.rows == 3)
    admin = broker.admin()  # held until it has answered
    (gone,) = admin.delete_topics([topic]).values()
    gone.result(90)
    broker.topic(topic, exact=True)
    broker.send(topic, [row])
    with pytest.raises(paimon_nb.PaimonError) as stopped:
        job.wait_for(lambda: False, 60)
    assert topic in stopped.value.message
    assert stopped.value.hint


@pytest.mark.parametrize("again", [False, True], ids=["dropped", "created again"])
def test_a_slot_that_is_dropped_under_a_sync(wb, postgres, again):
    name = f"lost_{uuid.uuid4().hex[:6]}"
    postgres.run(f"CREATE TABLE {name} (id INT PRIMARY KEY)", f"ALTER TABLE {name} REPLICA IDENTITY FULL", f"INSERT INTO {name} VALUES (1)")  # fmt: skip
    text = ",".join(f"{k}={v}" for k, v in (postgres.conf | {"table-name": name, "slot.name": name}).items())
    call = f"CALL sys.postgres_sync_table(`table` => 't', postgres_conf => '{text}', interval => '50 ms')"
    try:
        (row,) = wb.run(call).arrow.to_pylist()
        job = wb.session.jobs.find(row["job"])
        assert job.wait_for(lambda: job.rows == 1, 60)
        with postgres.connect() as connection:
            connection.execute(_DROP_SLOT.replace("%s", f"'{name}'"))
            connection.execute(f"INSERT INTO {name} VALUES (2)")
            if again:
                connection.execute(f"SELECT pg_create_logical_replication_slot('{name}', 'pgoutput')")
        with pytest.raises(SourceLost, match="the slot was dropped"):
            job.wait_for(lambda: False, 60)
        with pytest.raises(SourceLost, match="the slot was dropped") as lost:
            wb.run(call)
        assert "Drop the target tables" in lost.value.hint
        wb.run("DROP TABLE t")
        if again:  # what the hint says
            (row,) = wb.run(call).arrow.to_pylist()
            job = wb.session.jobs.find(row["job"])
            assert job.wait_for(lambda: job.rows == 2, 60)
    finally:
        wb.session.jobs.stop_all()
        postgres.run(f"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '{name}'", f"DROP TABLE {name}", f"DROP PUBLICATION IF EXISTS {name}_tables")  # fmt: skip


def purge(mariadb: Any) -> None:
    """Remove all binlogs but the newest one."""
    newest = mariadb.run("SHOW BINARY LOGS")[-1][0]
    while (
        mariadb.run("SHOW BINARY LOGS")[0][0] != newest
    ):  # a connection that has just ended holds its log for a moment
        mariadb.run(f"PURGE BINARY LOGS TO '{newest}'")
        time.sleep(0.1)


@pytest.mark.nightly
def test_a_binlog_that_was_purged_while_the_sync_was_stopped(wb, mariadb):
    """The sentence says what to do, and after that no row is missing."""
    shop = f"lost_{uuid.uuid4().hex[:6]}"
    mariadb.run(f"CREATE DATABASE {shop}", f"CREATE TABLE {shop}.t (id INT PRIMARY KEY)", f"INSERT INTO {shop}.t VALUES (1)")  # fmt: skip
    text = ",".join(f"{k}={v}" for k, v in (mariadb.conf | {"database-name": shop}).items())
    call = f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{text}', interval => '50 ms')"

    def sync() -> Any:
        (row,) = wb.run(call).arrow.to_pylist()
        return wb.session.jobs.find(row["job"])

    try:
        job = sync()
        assert job.wait_for(lambda: job.rows == 1, 120)
        job.stop()
        mariadb.run(f"INSERT INTO {shop}.t VALUES (2)", "FLUSH BINARY LOGS")
        purge(mariadb)
        with pytest.raises(SourceLost, match="has purged the binlog after") as lost:
            sync().wait_for(lambda: False, 120)
        assert "drop the table and start the sync again" in lost.value.hint
        wb.run("DROP TABLE t")
        job = sync()
        assert job.wait_for(lambda: job.rows == 2, 120)
        job.stop()
        assert sorted(wb.table("t").to_arrow().column("id").to_pylist()) == [1, 2]
    finally:
        wb.session.jobs.stop_all()
        mariadb.run(f"DROP DATABASE {shop}")


@pytest.mark.nightly
def test_a_table_without_changes_does_not_need_a_binlog_that_was_purged(wb, mariadb, monkeypatch):
    """Its target stores the position of the sync from time to time."""
    monkeypatch.setattr(MySqlSync, "save_position_s", 0.0)
    shop = f"lost_{uuid.uuid4().hex[:6]}"
    mariadb.run(
        f"CREATE DATABASE {shop}", *(f"CREATE TABLE {shop}.{t} (id INT PRIMARY KEY)" for t in ("quiet", "busy"))
    )
    text = ",".join(f"{k}={v}" for k, v in (mariadb.conf | {"database-name": shop}).items())
    call = f"CALL sys.mysql_sync_database(database => 'lake', mysql_conf => '{text}', interval => '50 ms')"

    def sync() -> Any:
        (row,) = wb.run(call).arrow.to_pylist()
        return wb.session.jobs.find(row["job"])

    def ids(table: str) -> list[int]:
        return sorted(wb.table(f"lake.{table}").to_arrow().column("id").to_pylist())

    try:
        job = sync()
        for n in (1, 2):
            mariadb.run(f"INSERT INTO {shop}.busy VALUES ({n})")
            assert job.wait_for(lambda n=n: n in ids("busy"), 120)
        assert job.wait_for(lambda: len({t.stored_position for t in job.running.targets.values()}) == 1, 120)
        job.stop()
        mariadb.run("FLUSH BINARY LOGS")
        purge(mariadb)
        job = sync()
        mariadb.run(f"INSERT INTO {shop}.quiet VALUES (1)")
        assert job.wait_for(lambda: ids("quiet") == [1], 120)
        job.stop()
        assert ids("busy") == [1, 2]
    finally:
        wb.session.jobs.stop_all()
        mariadb.run(f"DROP DATABASE {shop}")


@pytest.mark.parametrize("when", ["between commits", "between write and commit"])
def test_a_target_that_is_overwritten_keeps_its_sync(tmp_path, when):
    """The rows of the overwrite and the later changes are there; compactions that lost their files do not end the sync."""
    target = opened(tmp_path)
    for k in range(4):
        put(target, k, f"at {k}")
    theirs = pa.table({"k": pa.array([100], pa.int32()), "v": ["other"]})
    if when == "between commits":
        target.table.refresh().overwrite(theirs)
        put(target, 5, "at 5")
    else:
        target.buffer_change("+I", {"k": 5, "v": "a"}, columns)
        target.buffer_change(
            "+I", {"k": 5, "v": "a"}, lambda *value: columns(*value)
        )  # rows of another form: writes the first
        target.table.refresh().overwrite(theirs)
        target.commit("at 5")
    put(target, 6, "at 6")
    target.table.refresh().compact(full=True)
    assert sorted(target.table.refresh().to_arrow().column("k").to_pylist()) == [5, 6, 100]
    assert opened(tmp_path).position == "at 6"
