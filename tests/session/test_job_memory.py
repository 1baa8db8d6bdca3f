"""What a job keeps in memory after N commits, and after twice as many: objects are counted, not bytes or seconds."""

from __future__ import annotations

import gc
import json
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base import clock
from paimon_nb.fs.file_cache import IDLE_S, LruCache

if TYPE_CHECKING:
    from collections.abc import Callable

COMMITS = 36
COMMITS_IN_WINDOW = 12
"""Commits of the jobs in the time after which unused values go."""


@pytest.fixture
def commits(monkeypatch) -> list[int]:
    """How many there were: the clock of the caches goes by them."""
    for cache in _all_caches():  # what other tests left has another clock
        cache.clear()
    made, begun = [0], clock.monotonic_s()
    monkeypatch.setattr(clock, "monotonic_s", lambda: begun + made[0] * IDLE_S / COMMITS_IN_WINDOW)
    return made


def _all_caches() -> list[LruCache[Any, Any]]:
    gc.unfreeze()  # what was loaded before the tests is left out else
    return [o for o in gc.get_objects() if type(o) is LruCache]


def kept() -> Counter[str]:
    """Values in caches, and our objects by class. No other thread may work: Python shows it half-made objects."""
    gc.collect()
    caches = _all_caches()
    everything = gc.get_objects()
    found = Counter(type(o).__qualname__ for o in everything if str(type(o).__module__).startswith("paimon_nb."))
    found["values in caches"] = sum(map(len, caches))
    # The list of the newest commits, for undo: at most a thousand.
    found.pop("ObservedCommit", None)
    return found


def assert_flat(commits: list[int], run: Callable[[int], None], looks: int) -> None:
    """`run`: makes so many commits, waits for them, and leaves no thread at work. Manifests come and go: the most of each counts."""
    most = []
    for _ in range(3):  # everything is loaded after the first
        seen: Counter[str] = Counter()
        for _ in range(looks):
            run(COMMITS // looks)
            seen |= kept()
        most.append(seen)
    assert commits[0] == 3 * COMMITS
    assert most[0]["values in caches"]
    assert {name: n for name, n in (most[2] - most[1]).items() if n > COMMITS // 2} == {}


@pytest.mark.parametrize(
    "options",
    ["'bucket' = '1'", pytest.param("'bucket' = '1', 'changelog-producer' = 'lookup'", marks=pytest.mark.nightly)],
)
def test_a_stream_that_is_polled(tmp_path, commits, options):
    wb = paimon_nb.connect(str(tmp_path))
    wb.run(f"CREATE TABLE t (k INT, v INT, PRIMARY KEY (k) NOT ENFORCED) WITH ({options})")
    with wb.table("t").stream({"consumer-id": "me"}) as stream:

        def run(count: int) -> None:
            for _ in range(count):
                commits[0] += 1
                wb.table("t").append(pa.table({"k": [commits[0] % 7], "v": [commits[0]]}))
                while stream.poll() is not None:
                    pass

        assert_flat(commits, run, 4)


@pytest.mark.nightly
def test_a_sync(tmp_path, commits):
    pytest.importorskip("confluent_kafka")
    from mock_broker import MockBroker

    broker = MockBroker()
    wb = paimon_nb.connect(str(tmp_path))
    conf = f"properties.bootstrap.servers={broker.address},topic=t,value.format=canal-json,scan.startup.mode=earliest-offset"
    call = f"CALL sys.kafka_sync_table(`table` => 't', kafka_conf => '{conf}', interval => '1 ms')"

    def send(k: int) -> None:
        row: dict[str, Any] = {"k": k, "v": commits[0]}
        types = {"mysqlType": {"k": "int", "v": "int"}, "pkNames": ["k"]}
        text = json.dumps(
            {"database": "d", "table": "t", "type": "INSERT", "isDdl": False, "data": [row], "old": None, **types}
        )
        broker.send("t", [(str(k), text)])

    send(0)

    def run(count: int) -> None:
        (row,) = wb.run(call).arrow.to_pylist()
        job = wb.session.jobs.find(row["job"])
        for _ in range(count):
            commits[0], before = commits[0] + 1, job.rows
            send(commits[0] % 7)
            job.wait_for(partial(_is_past, job, before), 60)
        job.stop()

    assert_flat(commits, run, 1)


def _is_past(job: Any, rows: int) -> bool:
    return bool(job.rows > rows)
