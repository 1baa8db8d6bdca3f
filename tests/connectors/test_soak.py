"""A sync of a real broker for a long time: changes without a pause, a kill every 30 seconds, a new column every 2 minutes.

SOAK_S: how many seconds.
"""

from __future__ import annotations

import json
import os
import random
import signal
import statistics
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from story_kit import RunProcess

import paimon_nb

if TYPE_CHECKING:
    from kafka_server import KafkaServer

pytest.importorskip("confluent_kafka")
KILL_EVERY_S, COLUMN_EVERY_S, KEYS = 30, 120, 2000


class Shop:
    """The source: rows by key, whose changes go to a topic."""

    def __init__(self, broker: KafkaServer, chance: random.Random) -> None:
        self.broker, self.chance, self.topic = broker, chance, broker.topic("soak", 2)
        self.rows: dict[int, dict[str, Any]] = {}
        self.types = {"k": "int", "v": "varchar(20)", "n": "int"}

    def add_column(self) -> None:
        self.types[f"x{len(self.types)}"] = "bigint"

    def change(self, count: int) -> None:
        messages = []
        for _ in range(count):
            k = self.chance.randrange(KEYS)
            old = self.rows.get(k)
            if old is not None and self.chance.random() < 0.2:
                messages.append(self._message(k, "DELETE", old, None))
                del self.rows[k]
                continue
            new = {
                n: k if n == "k" else f"{self.chance.random():.9f}" if n == "v" else self.chance.randrange(10**6)
                for n in self.types
            }
            messages.append(self._message(k, "INSERT" if old is None else "UPDATE", new, old))
            self.rows[k] = new
        self.broker.send(self.topic, messages)

    def _message(self, k: int, kind: str, row: dict[str, Any], old: dict[str, Any] | None) -> dict[str, Any]:
        value = json.dumps({"database": "shop", "table": "t", "type": kind, "isDdl": False, "mysqlType": self.types, "pkNames": ["k"],
                                   "data": [row], "old": None if old is None else [old]})  # fmt: skip
        return {"key": str(k), "value": value, "partition": k % 2}


def plain(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted((n, v) for n, v in row.items() if v is not None))


@pytest.mark.nightly
@pytest.mark.parametrize("options", ["bucket=2", "bucket=1,changelog-producer=lookup"], ids=["upserts", "lookup"])
def test_a_sync_that_is_killed_again_and_again(tmp_path, broker, options):
    """Exact at the end, and the last process needs no more memory than the first ones."""
    seconds = float(os.environ.get("SOAK_S", "600"))
    chance = random.Random(7)
    shop = Shop(broker, chance)
    shop.change(100)
    conf = f"properties.bootstrap.servers={broker.address},topic={shop.topic},value.format=canal-json,scan.startup.mode=earliest-offset"
    call = f"CALL sys.kafka_sync_table(`table` => 't', kafka_conf => '{conf}', interval => '200 ms', table_conf => '{options}')"
    wb, process = paimon_nb.connect(str(tmp_path / "w")), RunProcess(tmp_path, tmp_path / "w", 600)
    begun = killed = altered = time.monotonic()
    memory: list[int] = []
    try:
        while time.monotonic() - begun < seconds:
            process.start(call)
            shop.change(chance.choice((1, 10, 60)))
            time.sleep(0.2)  # the pace of the source
            process.check(lambda: len(memory))
            if time.monotonic() - killed > KILL_EVERY_S:
                memory.append(process.resident_kib())
                process.end(signal.SIGKILL)
                killed = time.monotonic()
            if time.monotonic() - altered > COLUMN_EVERY_S:
                shop.add_column()
                altered = time.monotonic()
        process.start(call)
        wanted = Counter(map(plain, shop.rows.values()))

        def found() -> Counter[Any]:
            exists = wb.session.exists(("t",))
            return Counter(map(plain, wb.table("t").to_arrow().to_pylist())) if exists else Counter()

        process.until(lambda: found() == wanted, lambda: (wanted - found(), found() - wanted))
        running = [m for m in memory if m]
        print(
            f"{seconds:.0f} s, {len(memory)} kills, {len(shop.types)} columns, {len(wanted)} rows, KiB at the kills: {memory}"
        )
        assert not running or running[-1] < 1.5 * statistics.median(running)
    finally:
        process.end(signal.SIGKILL)
