"""Locks of a Hive metastore, on a real one: who waits for whom, and what becomes of the locks of those that died."""

from __future__ import annotations

import multiprocessing
import os
import signal
import socket
import threading
import time
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest
from catalog_kit import at_once, catalog_options, schema
from hive_server import hive_metastore

from paimon_nb.base.errors import BadOptionValue, CommitGaveUp, StoreError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.catalog.hive.client import HiveMetastoreClient
from paimon_nb.statements.ddl import AddColumn
from paimon_nb.table.write.maintenance.branches import create_branch

if TYPE_CHECKING:
    from collections.abc import Iterator

ttypes = pytest.importorskip("hive_metastore.ttypes")
T = Identifier("d", "t")
pytestmark = pytest.mark.needs("java")


# Hive 4 stands still when locks in a Derby are asked for at the same time; those of the other test come one by one.
EACH_HIVE = pytest.mark.parametrize(
    "options", ["hive", pytest.param("hive 4", marks=pytest.mark.nightly)], indirect=True
)


@pytest.fixture
def options(request, tmp_path) -> dict[str, str]:
    made = {**catalog_options(getattr(request, "param", "hive"), tmp_path, request), "lock.enabled": "true"}
    catalog = open_catalog("c", made)
    catalog.create_database("d")
    catalog.create_table(T, schema())
    return made


def opened(options: dict[str, str], **more: str):
    return open_catalog("c", {**options, **{k.replace("_", "-"): v for k, v in more.items()}})


def row(key: int = 1) -> pa.Table:
    return pa.table({"id": pa.array([key], pa.int32()), "v": ["a"]})


def queue(options: dict[str, str]) -> list:
    """All locks of the metastore and those that wait for one."""
    return (
        HiveMetastoreClient.of({"hive.metastore.uris": options["uri"]}, 1)
        .query("show_locks", ttypes.ShowLocksRequest())
        .locks
    )


@contextmanager
def locked(options: dict[str, str], table: str = "t") -> Iterator[int]:
    """The lock, taken by the calls of Java's HiveCatalogLock."""
    metastore = HiveMetastoreClient.of({"hive.metastore.uris": options["uri"]}, 1)
    what = ttypes.LockComponent(
        type=ttypes.LockType.EXCLUSIVE, level=ttypes.LockLevel.TABLE, dbname="d", tablename=table
    )
    answer = metastore.execute("lock", ttypes.LockRequest(component=[what], user="java", hostname="elsewhere"))
    assert answer.state == ttypes.LockState.ACQUIRED
    try:
        yield answer.lockid
    finally:
        with suppress(StoreError):
            metastore.execute("unlock", ttypes.UnlockRequest(lockid=answer.lockid))


def test_a_commit_waits_for_a_lock_that_java_holds(options):
    table, committed = opened(options, lock_check_max_sleep="100 ms").table(T), threading.Event()

    def commit() -> None:
        table.upsert(row())
        committed.set()

    with locked(options) as number:
        thread = threading.Thread(target=commit)
        thread.start()
        while len(queue(options)) < 2:
            assert not committed.wait(0.1)
        assert [(lock.lockid == number, lock.state) for lock in queue(options)] == [
            (True, ttypes.LockState.ACQUIRED), (False, ttypes.LockState.WAITING),
        ]  # fmt: skip
        assert table.snapshots().num_rows == 0
    assert committed.wait(60)
    thread.join()
    assert (table.snapshots().num_rows, queue(options)) == (1, [])


def test_our_writers_have_the_lock_one_at_a_time(options):
    catalogs = [opened(options, lock_check_max_sleep="100 ms") for _ in range(4)]
    inside: list[int] = []

    def work(writer: int) -> None:
        table, lock = catalogs[writer].table(T), catalogs[writer]._lock_of(T)
        for i in range(3):
            table.upsert(row(10 * writer + i))
            with lock.held():
                inside.append(writer)
                time.sleep(0.01)
                assert inside.pop() == writer
                assert inside == []

    assert at_once([partial(work, writer) for writer in range(4)]) == [None] * 4

    keys = catalogs[0].table(T).to_arrow()["id"].to_pylist()
    assert sorted(keys) == [10 * writer + i for writer in range(4) for i in range(3)]
    assert queue(options) == []


@EACH_HIVE
def test_a_lock_that_stays_taken_is_given_up_and_nothing_is_published(options):
    impatient = opened(options, lock_acquire_timeout="0 s")
    table = impatient.table(T)
    create_branch(table.store, "b")
    branch = impatient.table(replace(T, branch="b"))
    acts = {
        "t": [lambda: table.upsert(row()), lambda: impatient.alter_table(T, [AddColumn(("n",), "INT")])],
        "t$branch_b": [lambda: branch.upsert(row())],
        "u": [lambda: impatient.create_table(Identifier("d", "u"), schema())],
    }
    for name, blocked in acts.items():
        with locked(options, name) as number:
            for act in blocked:
                with pytest.raises(CommitGaveUp, match=r"could not be acquired in 0 s") as caught:
                    act()
                assert caught.value.lock == f"d.{name}"
                assert f"held by java on elsewhere (lock {number})" in caught.value.hint
            # Who gave up stands in nobody's way.
            assert [lock.lockid for lock in queue(options)] == [number]
    assert (table.snapshots().num_rows, branch.snapshots().num_rows, impatient.tables("d")) == (0, 0, ["t"])
    assert impatient.table(T).schema.names == ("id", "v")
    for act in (act for blocked in acts.values() for act in blocked):
        act()
    assert (table.snapshots().num_rows, branch.snapshots().num_rows, impatient.tables("d")) == (1, 1, ["t", "u"])
    assert queue(options) == []


def test_where_the_lock_is_taken(options, tmp_path, request):
    s3 = {**options, **catalog_options("s3", tmp_path, request), "metastore": "hive", "location-in-properties": "true"}
    del s3["lock.enabled"]
    on_s3 = opened(s3, lock_acquire_timeout="0 s")
    on_s3.create_database("e")
    on_s3.create_table(Identifier("e", "t"), schema())
    with pytest.raises(BadOptionValue, match="no lock of type 'jdbc'"):
        opened({**options, "lock.type": "jdbc"})
    unlocked = opened({**options, "lock.enabled": "false"})
    unlocked.create_table(Identifier("d", "other"), schema())

    with locked(options):
        unlocked.table(T).upsert(row())
        opened({k: v for k, v in options.items() if k != "lock.enabled"}).table(T).upsert(row(2))
    assert unlocked.table(T).snapshots().num_rows == 2
    with on_s3._lock_of(Identifier("e", "t")).held(), pytest.raises(CommitGaveUp):
        on_s3.table(Identifier("e", "t")).upsert(row())


def test_a_lock_whose_reply_was_lost_is_given_back(options):
    host, port = options["uri"].removeprefix("thrift://").split(":")
    with _cut_after(b"\x00\x00\x00\x04lock", host, int(port)) as (relay, cut):
        table = opened({**options, "uri": relay}, lock_acquire_timeout="0 s").table(T)
        assert not cut.is_set()

        table.upsert(row())  # asks again, and would wait behind itself

        assert cut.is_set()
    assert (table.snapshots().num_rows, queue(options)) == (1, [])


@contextmanager
def _cut_after(call: bytes, host: str, port: int) -> Iterator[tuple[str, threading.Event]]:
    """Address of a relay to the metastore that hangs up instead of passing on the first answer to a call; whether it has."""
    listener, cut, sides = socket.create_server(("127.0.0.1", 0)), threading.Event(), []

    def relay() -> None:
        with suppress(OSError):
            while True:
                client = listener.accept()[0]
                sides.extend((client, server := socket.create_connection((host, port))))
                threading.Thread(target=serve, args=(client, server)).start()

    def serve(client: socket.socket, server: socket.socket) -> None:
        with suppress(OSError), client, server:
            while requested := client.recv(65536):
                server.sendall(requested)
                answer = server.recv(65536)
                if call in requested and not cut.is_set():
                    cut.set()
                    return
                client.sendall(answer)

    thread = threading.Thread(target=relay)
    thread.start()
    try:
        yield f"thrift://127.0.0.1:{listener.getsockname()[1]}", cut
    finally:
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        for side in sides:
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)  # closing alone wakes nobody who reads
        thread.join()


@pytest.mark.nightly
def test_the_lock_of_a_writer_that_was_killed_goes_by_itself(tmp_path):
    clears_up = {
        "hive.txn.timeout": "3s", "hive.compactor.initiator.on": "true", "hive.support.concurrency": "true",
        "hive.txn.manager": "org.apache.hadoop.hive.ql.lockmgr.DbTxnManager",
        "hive.timedout.txn.reaper.start": "1s", "hive.timedout.txn.reaper.interval": "1s",
    }  # fmt: skip
    with hive_metastore(tmp_path, more=clears_up) as address:
        options = {"type": "paimon", "metastore": "hive", "uri": address, "warehouse": str(tmp_path / "w")}
        catalog = open_catalog("c", options := {**options, "lock.enabled": "true"})
        catalog.create_database("d")
        catalog.create_table(T, schema())
        context = multiprocessing.get_context("spawn")
        holds = context.Event()
        writer = context.Process(target=_hold, args=(options, holds))
        writer.start()
        assert holds.wait(60)
        os.kill(writer.pid, signal.SIGKILL)
        writer.join()
        assert [lock.state for lock in queue(options)] == [ttypes.LockState.ACQUIRED]

        catalog.table(T).upsert(row())

        assert (catalog.table(T).snapshots().num_rows, queue(options)) == (1, [])


def _hold(options: dict[str, str], holds) -> None:
    with open_catalog("c", options)._lock_of(T).held():
        holds.set()
        threading.Event().wait()
