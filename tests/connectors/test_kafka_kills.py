"""Kafka -> Paimon -> lookup join -> Paimon, and Kafka -> Kafka, while drivers, JVMs and Python workers are killed at any
moment: each record is there once, everywhere."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import kafka_job
import pytest
from process_tree import below, kill_one, kill_workers

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.spark
NAMES = {k: f"name {k % 4}" for k in range(10)}


class Driver:
    """The driver, its JVM and their Python workers."""

    def __init__(self, location: Path, *arguments: str) -> None:
        self.command = [sys.executable, kafka_job.__file__, str(location), *arguments]
        self.environment = os.environ | {"PYTHONPATH": str(Path(paimon_nb.__file__).parents[1])}
        self.log = location / "driver.log"
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(self.command, env=self.environment, stdout=out, stderr=out, start_new_session=True)  # fmt: skip

    def kill(self) -> None:
        """The driver and its JVM at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def kill_jvm(self) -> None:
        for pid in below(self.running.pid, "java"):
            os.kill(pid, signal.SIGKILL)

    def kill_workers(self) -> None:
        kill_workers(self.running.pid)

    def kill_one(self, chance: random.Random) -> None:
        kill_one(self.running.pid, chance)

    @property
    def running(self) -> subprocess.Popen[bytes]:
        assert self.process is not None
        return self.process

    def until(self, condition: Callable[[], bool]) -> None:
        """Wait; a driver that ended because of what was killed is started again, as a supervisor would."""
        deadline = time.monotonic() + 1800
        while not condition():
            if self.running.poll() is not None:
                self.start()
            assert time.monotonic() < deadline, self.log.read_text()[-3000:]
            time.sleep(0.1)


class Here:
    """The same in this process: only its Python workers can be killed."""

    def __init__(self, wb: paimon_nb.Workbench, location: Path, *arguments: str) -> None:
        self._given = (wb, str(location), *arguments)
        self.kill = wb.session.jobs.stop_all

    def start(self) -> None:
        self.jobs = kafka_job.Jobs(*self._given)

    def kill_workers(self) -> None:
        kill_workers(os.getpid())

    def kill_one(self, chance: random.Random) -> None:
        kill_one(os.getpid(), chance)

    def until(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 1800
        while not condition():
            self.jobs.mend()
            assert time.monotonic() < deadline, self.jobs.running
            time.sleep(0.1)


def equal_at_the_end(broker, wb, make: Callable[..., Driver | Here], location: Path, ways: str, *, sinks: bool) -> None:
    """`ways`: what is killed, one after the other: d(river and JVM), j(vm), w(orkers, all at once) or o(ne of them)."""
    source, sink = broker.topic("in", 2), broker.topic("out") if sinks else "-"
    seed = uuid.uuid4().int
    chance = random.Random(seed)
    print("seed", seed)
    wb.run(kafka_job.TABLES)
    wb.run(f"INSERT INTO names VALUES {', '.join(f'({k}, {name!r})' for k, name in NAMES.items())}")
    sent: list[tuple[int, int, int]] = []

    def send(count: int) -> None:
        records = [(len(sent) + i, chance.randrange(10), chance.randrange(-1000, 1000)) for i in range(count)]
        for partition in (0, 1):
            values = [json.dumps({"id": i, "k": k, "v": v}) for i, k, v in records[partition::2]]
            broker.send(source, values, partition=partition)
        sent.extend(records)

    def stored(table: str) -> list[tuple]:
        return sorted(tuple(r.values()) for r in wb.table(table).to_arrow().to_pylist())

    def at(which: int) -> int:
        """How far the first table, the second, or the topic is."""
        if which == 0:
            newest = wb.table("records").latest_snapshot()
            return 0 if newest is None else newest.total_record_count or 0
        return sum(n for _, n, _ in stored("sums")) if which == 1 else broker.ends(sink)[0]

    driver = make(location, broker.address, source, sink)
    try:
        driver.start()
        for number, way in enumerate(ways):
            which = chance.randrange(3 if sinks else 2)
            before = at(which)
            send(300)
            driver.until(lambda: at(which) > before)  # noqa: B023
            time.sleep(chance.random() * 0.7)  # then at any moment
            match way:
                case "d":
                    driver.kill()
                case "j":
                    driver.kill_jvm()
                case "w":
                    driver.kill_workers()
                case _:
                    driver.kill_one(chance)
            print(number, way, len(sent), flush=True)
        send(300)
        driver.until(lambda: at(0) >= len(sent) and at(1) >= len(sent))
        assert stored("records") == sorted(sent)
        counts = Counter(NAMES[k] for _, k, _ in sent)
        assert stored("sums") == sorted((n, c, sum(v for _, k, v in sent if NAMES[k] == n)) for n, c in counts.items())
        if sinks:
            assert passed_on(broker, sink, driver, len(sent)) == Counter(sent)
    finally:
        driver.kill()


def passed_on(broker, sink: str, driver: Driver | Here, count: int) -> Counter:
    """The committed records of a topic, once there are as many as there should be."""
    taken: list[tuple[bytes | None, bytes | None]] = []

    def all_taken() -> bool:
        taken[:] = broker.take(sink, count + 1, idle_s=2)
        return len(taken) >= count

    driver.until(all_taken)
    return Counter(tuple(json.loads(value or b"").values()) for _, value in taken)


@pytest.mark.nightly
def test_each_record_is_there_once_after_workers_were_killed(swb, broker, tmp_path):
    here: list[Here] = []

    def make(*arguments: str) -> Here:
        here.append(Here(swb, *arguments))
        return here[0]

    equal_at_the_end(broker, swb, make, tmp_path, "w", sinks=False)
    assert here[0].jobs.again >= 1


@pytest.mark.nightly
def test_each_record_is_there_once_after_50_kills(broker, tmp_path):
    ways = [*"d" * 5, *"j" * 2, *"w" * 8, *"o" * 35]  # a new JVM costs seconds
    random.shuffle(ways)
    wb = paimon_nb.connect(str(tmp_path / "w"))
    equal_at_the_end(broker, wb, Driver, tmp_path, "".join(ways), sinks=True)
