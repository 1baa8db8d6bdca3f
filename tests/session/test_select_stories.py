"""Life stories of a streaming SELECT that needs no Spark, against a model: see `story_kit`."""

from __future__ import annotations

import random
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from memory_s3 import MemoryS3, Processes
from story_kit import Story, room, seeds

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from paimon_nb.session.core.live_result import LiveResult

STEPS = {
    "commit": 30, "delete": 8, "compact": 6, "add_column": 3, "rename_extra_column": 1, "expire": 3, "tag": 2, "rollback": 1,
    "recreate": 1, "read": 15, "restart": 5, "stop_and_wait": 3, "jump_of_the_clock": 2,
}  # fmt: skip
MORE_STEPS = STEPS | {"drop_extra_column": 2, "widen_extra_column": 2, "rename_and_back": 2, "rollback_to_tag": 1}
"""The seeds of stories that once failed were drawn without these."""


class SelectStory(Story):
    """`SELECT k, v FROM s [WHERE ...]` in streaming mode. The reader applies the changes that it gets."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int) -> None:
        super().__init__(wb, seed)
        self.least = self.chance.choice((None, None, 10))
        self.consumer = self.chance.random() < 0.4
        # The changes of `input` are what was written, here without the rows that they replace. A stream that starts again at a
        # consumer does not know the rows that came before.
        self.by_key = self.kind == "input" or (self.consumer and self.kind in ("upsert", "dynamic"))
        wb.run("SET 'execution.runtime-mode' = 'streaming'")
        self.live: LiveResult | None = None
        self.have: Counter[tuple[Any, ...]] = Counter()
        self.open()

    def open(self) -> None:
        hint = "/*+ OPTIONS('consumer-id' = 'me', 'consumer.expiration-time' = '1 d') */" if self.consumer else ""
        where = "" if self.least is None else f" WHERE k >= {self.least}"
        self.live = self.wb.stream(f"SELECT k, v FROM s {hint}{where}").start()
        assert not self.wb.session.spark_started

    def read(self) -> None:
        if self.live is None:
            self.open()
        assert self.live is not None
        assert self.live.job.process_available(60)
        for changes in self.live.take(0):
            for op, k, v in (tuple(r.values()) for r in changes.to_pylist()):
                if self.by_key:
                    for old in [pair for pair in self.have if pair[0] == k]:
                        del self.have[old]
                if op[0] == "+" or not self.by_key:
                    self.have[k, v] += 1 if op[0] == "+" else -1

    def restart(self) -> None:
        """A stream without consumer begins again with the whole table; with one it goes on behind what was acknowledged."""
        self.stop_and_wait()
        self.open()

    def stop_and_wait(self) -> None:
        if self.live is None:
            return
        if self.consumer:
            self.read()  # a live SELECT has delivered what it acknowledges
        self.live.stop()
        self.live = None
        if not self.consumer:
            self.have.clear()

    def recreate(self) -> None:
        if self.live is not None:
            self.read()  # a stream that has not begun yet would begin in the new table
        super().recreate()
        if self.live is None:
            self.have.clear()  # the consumer is gone with the old table: the next stream begins with all rows of the new one

    def delete(self) -> None:
        """A stream that starts again at a consumer leaves out the delete of a key that it does not know, as in Flink."""
        if self.consumer and self.kind in ("upsert", "dynamic"):
            self.chance.randrange(30)
        else:
            super().delete()

    def look(self) -> None:
        if self.live is not None and not self.consumer:
            self.read()

    def finish(self) -> None:
        if self.kind in ("lookup", "full", "vectors", "first-row", "partial", "sum"):
            self.source.compact(full=True)  # the changes of young files come with their compaction
        self.read()
        wanted = [r for r in self.model.rows() if self.least is None or r[0] >= self.least]
        self.expect((+self.have).elements(), wanted)
        assert min(self.have.values(), default=0) >= 0, (self.kind, self.log, self.have)


def story(where: Path, seed: int, steps: Mapping[str, int] = STEPS, *, slow: bool = False) -> str:
    """`slow`: the tables are in a store whose requests take up to 10 ms."""
    with pytest.MonkeyPatch.context() as patch:
        if slow:
            wb, client = Processes(patch).start(MemoryS3())
            pauses = random.Random(seed)
            client.at = lambda *_: time.sleep(pauses.random() / 100)
        else:
            wb = paimon_nb.connect(room(where, seed))
        told = SelectStory(wb, seed)
        told.patch = patch
        try:
            return told.run(dict(steps))
        finally:
            wb.session.jobs.stop_all()


def test_stories_of_selects(tmp_path):
    assert {story(tmp_path, seed) for seed in (1, 2, 3, 5, 6, 7)} <= {"equal", "stopped"}


@pytest.mark.nightly
@pytest.mark.parametrize("seed", [0, 4, 40, 411])
def test_stories_that_once_failed(tmp_path, seed):
    """An empty table that is created again, a rollback that is not noticed."""
    assert story(tmp_path, seed) in ("equal", "stopped")


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(10, 600))
def test_more_stories_of_selects(tmp_path, seed):
    story(tmp_path, seed, MORE_STEPS, slow=seed % 5 == 0)
