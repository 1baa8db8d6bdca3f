"""Life stories of streams: random commits, rollbacks, expiry, tags, ALTER, compactions and restarts, against a model.

At the end the reader has exactly the rows of the table, or its stream stopped with a sentence that says why and what to do.
A story is drawn from its seed: `story(tmp_path, seed)` runs it again.
"""

from __future__ import annotations

import os
import random
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

from paimon_nb.base.errors import SnapshotExpired, TimeTravelError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog import open_catalog
from paimon_nb.format.schema import create_schema
from paimon_nb.format.types import parse_type
from paimon_nb.statements.ddl import AddColumn
from paimon_nb.table.read.stream import ChangelogNormalize, StreamOffset
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot
from paimon_nb.table.write.maintenance.expire import ExpireLimits

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb.base.errors import PaimonError
    from paimon_nb.table.tables.table import Table

NAME = Identifier("d", "t")
KINDS = (
    {}, {"keys": "k"}, {"keys": "k", "changelog-producer": "input"}, {"keys": "k", "changelog-producer": "lookup"},
    {"keys": "k", "changelog-producer": "full-compaction"}, {"keys": "k", "bucket": "3"}, {"keys": "k", "deletion-vectors.enabled": "true"},
    {"keys": "k", "merge-engine": "first-row", "changelog-producer": "lookup"},
    {"keys": "k", "merge-engine": "partial-update", "changelog-producer": "lookup"},
)  # fmt: skip


class Story:
    """A table, one reader of its stream, and what the reader has made of the changes."""

    def __init__(self, where: Path, seed: int) -> None:
        self.chance = random.Random(seed)
        self.kind = dict(self.chance.choice(KINDS))
        keys = tuple(filter(None, self.kind.pop("keys", "").split(",")))
        self.catalog = open_catalog("here", {"warehouse": str(where)})
        self.catalog.create_database("d", if_not_exists=True)
        options = {"bucket": "1", **({} if keys else {"bucket-key": "k"}), **self.kind}
        columns = [("k", parse_type("INT NOT NULL"), None, None), ("v", parse_type("INT"), None, None)]
        self.catalog.create_table(NAME, create_schema(columns, (), keys, options, None))
        self.keys, self.extra = keys, 0
        self.rolled_back = self.expired = False
        """Whether snapshots that the reader has read were rolled back, or ones that it needs have expired."""
        self.passed_was_rolled_back = False
        """Whether snapshots without rows that the reader has passed were rolled back: it may stop, and has nothing to notice."""
        self.read_up_to = self.passed = 0
        self.rows: dict[Any, Any] = {}
        self.list: list[tuple[Any, ...]] = []
        self.with_consumer = bool(keys) and self.chance.random() < 0.3
        self.log: list[str] = []
        self.position: StreamOffset | None = None
        self.open_stream()

    @property
    def table(self) -> Table:
        return self.catalog.table(NAME)

    def open_stream(self) -> None:
        options = {"consumer-id": "me", "consumer.expiration-time": "1 d"} if self.with_consumer else {}
        self.stream = self.table.stream(options, columns=["k", "v"], position=self.position)
        self.normalize = ChangelogNormalize([self.table.schema.field("k")]) if self.keys else None

    # -- what happens

    def commit(self) -> None:
        count = self.chance.choice((1, 1, 3, 20))
        keys = [self.chance.randrange(12) for _ in range(count)]
        columns: dict[str, Any] = {
            "k": pa.array(keys, pa.int32()),
            "v": pa.array([self.chance.randrange(100) for _ in keys], pa.int32()),
        }
        columns |= {f"x{i}": pa.array([None] * count, pa.int32()) for i in range(self.extra)}
        self.table.append(pa.table(columns))

    def delete(self) -> None:
        if self.keys and not self.kind.get("merge-engine"):
            self.table.delete(pa.table({"k": pa.array([self.chance.randrange(12)], pa.int32())}))

    def compact(self) -> None:
        self.table.compact(full=self.chance.random() < 0.5)

    def alter(self) -> None:
        if self.extra < 3:
            self.catalog.alter_table(NAME, [AddColumn((f"x{self.extra}",), "INT", None)])
            self.extra += 1

    def rollback(self) -> None:
        ids = self.table.store.snapshots.ids()
        if len(ids) > 1:
            to = self.chance.choice(ids[:-1])
            rollback_to_snapshot(self.table.store, to)
            self.rolled_back = self.rolled_back or to < self.read_up_to
            self.passed_was_rolled_back = self.passed_was_rolled_back or to < self.passed

    def expire(self) -> None:
        store = self.table.store
        expire_snapshots(store, ExpireLimits(1, 1, 0, 50))
        earliest = store.snapshots.earliest_id()
        self.expired = self.expired or bool(earliest and earliest > self.read_up_to + 1)

    def restart(self) -> None:
        """The process of the reader ends and another one continues, from the position or from the consumer."""
        self.stream.close()
        self.position = None if self.position is None else StreamOffset.from_json(self.position.to_json())
        self.open_stream()

    def read(self) -> None:
        while (batch := self.stream.poll()) is not None:
            self.position, self.read_up_to = batch.position, batch.snapshot_id
            for kind, k, v in (tuple(r.values())[:3] for r in batch.rows.to_pylist()):
                if not self.keys:
                    self.list.append((k, v))
                elif kind in ("+I", "+U"):
                    self.rows[k] = v
                elif kind == "-D":
                    self.rows.pop(k, None)
        # Snapshots without rows, such as a compaction's, are passed without a batch.
        self.passed = max(self.read_up_to, 0 if self.stream.position is None else self.stream.position.next - 1)

    # -- the end

    def stops(self, step: Callable[[], None]) -> bool:
        """Whether the stream stops in a step, as it must after a rollback or an expiry, with a sentence and the next step."""
        found: PaimonError | None = None
        try:
            step()
        except (TimeTravelError, SnapshotExpired) as error:
            found = error
        explained = self.rolled_back or self.passed_was_rolled_back or self.expired
        assert found is None or (explained and found.hint), (self.log, found)
        return found is not None

    def check(self) -> None:
        found = [(r["k"], r["v"]) for r in self.table.to_arrow().to_pylist()]
        mine = sorted(self.rows.items()) if self.keys else sorted(self.list)
        assert mine == sorted(found), self.log


STEPS = (
    "commit",
    "commit",
    "commit",
    "commit",
    "delete",
    "compact",
    "alter",
    "read",
    "read",
    "restart",
    "expire",
    "rollback",
)


def story(where: Path, seed: int) -> str:
    """Run a story. Returns how it ended."""
    told = Story(where, seed)
    steps = told.chance.randrange(5, 25)
    for _ in range(steps):
        step = told.chance.choice(STEPS)
        if step in ("rollback", "expire") and told.chance.random() < 0.6:
            step = "commit"
        told.log.append(step)
        if told.stops(getattr(told, step)):
            return "stopped"
    if told.kind.keys() & {"changelog-producer", "deletion-vectors.enabled"}:
        told.table.compact(
            full=True
        )  # emits the changes of young files; a batch read of such tables leaves them out until then
    if told.stops(told.read):
        return "stopped"
    assert not told.rolled_back, (told.log, "the stream did not notice the rollback")
    told.check()
    return "equal"


def test_stories_of_streams(tmp_path):
    """25 and 109 are stories that once failed; in 5082 and 5482 snapshots without rows are rolled back and expire; in 20031 the
    one that was read last is rolled back, and the one in its place expires before the stream looks."""
    ends = [story(tmp_path / str(seed), seed) for seed in (0, 1, 2, 3, 4, 5, 6, 7, 25, 109, 5082, 5482, 20031)]
    assert {"equal", "stopped"} == set(ends)


@pytest.mark.nightly
def test_more_stories_of_streams(tmp_path):
    """Resumable: STORIES_FROM is the first seed."""
    first = int(os.environ.get("STORIES_FROM", "8"))
    for seed in range(first, first + 600):
        story(tmp_path / str(seed), seed)
