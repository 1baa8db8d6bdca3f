"""The same life stories of a streaming INSERT in real Flink and here: the targets have equal rows. See `story_kit`."""

from __future__ import annotations

import json
import random
import subprocess
from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from story_kit import SOURCES, seeds

import paimon_nb

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.java, pytest.mark.spark, pytest.mark.nightly]
AT_ONCE = 6
"""Stories in one JVM of Flink: its cluster has eight slots, and a batch statement needs one."""
STEPS = {"insert": 20, "delete": 6, "compact": 4, "add_column": 2, "tag": 1, "expire": 2}
_LATE = ("lookup", "full", "vectors", "first-row", "partial", "sum")
"""Kinds of sources whose changes come with a compaction."""


class Told:
    """The statements of one story, over the tables `s<seed>` and `t<seed>`."""

    def __init__(self, seed: int) -> None:
        chance = self.chance = random.Random(seed)
        self.source, self.target, self.extra = f"s{seed}", f"t{seed}", 0
        self.kind = chance.choice(list(SOURCES))
        append = self.kind.startswith("append")
        grouped = chance.random() < 0.3
        kinds = ("append", "sum") if append and not grouped else ("upsert", "dynamic", "input", "lookup")
        self.create = [_create(self.source, self.kind), _create(self.target, chance.choice(kinds)), self.insert()]
        where = chance.choice(("", "", " WHERE k >= 10"))
        columns = "k, CAST(SUM(v) AS INT) AS v" if grouped else "k, v"
        self.job = f"INSERT INTO {self.target} (k, v) SELECT {columns} FROM {self.source}{where}{' GROUP BY k' if grouped else ''}"
        steps = self.steps_of_story
        self.names = chance.choices(list(steps), list(steps.values()), k=chance.randrange(3, 9))
        self.steps = self.told(self.names) if type(self) is Told else []

    steps_of_story = STEPS

    def told(self, names: Iterable[str]) -> list[str]:
        found = [text for name in names if (text := getattr(self, name)())]
        return [*found, self.compact()] if self.kind in _LATE else found

    def insert(self) -> str:
        return self._insert_into(self.source)

    def _insert_into(self, table: str) -> str:
        # Distinct keys: the order of rows within a commit is not part of a story.
        keys = self.chance.sample(range(20), self.chance.choice((1, 3, 12)))
        value = lambda: self.chance.choice(("CAST(NULL AS INT)", *map(str, range(9))))  # noqa: E731
        return f"INSERT INTO {table} (k, v) VALUES {', '.join(f'({k}, {value()})' for k in keys)}"

    def delete(self) -> str | None:
        if self.kind.startswith("append") or "merge-engine" in SOURCES[self.kind]:
            return None
        return f"DELETE FROM {self.source} WHERE k = {self.chance.randrange(20)}"

    def compact(self) -> str:
        return f"CALL sys.compact(`table` => 'd.{self.source}')"

    def add_column(self) -> str:
        self.extra += 1
        return f"ALTER TABLE {self.source} ADD x{self.extra} INT"

    def tag(self) -> str:
        return f"CALL sys.create_tag(`table` => 'd.{self.source}', tag => 'g{self.chance.randrange(10**9)}')"

    def expire(self) -> str:
        """Keeps what the job has not read."""
        return f"CALL sys.expire_snapshots(`table` => 'd.{self.source}', retain_max => 10)"


MORE_STEPS = STEPS | {"insert_right": 6, "widen": 1, "rename": 1, "drop": 1, "target_column": 2}


class MoreTold(Told):
    """Joins, lookup joins and DISTINCT as well, over `r<seed>` or `d<seed>`; ALTER of source and target while the job runs."""

    steps_of_story = MORE_STEPS

    def __init__(self, seed: int) -> None:
        self.right, self.columns_of_target, self.named = f"r{seed}", 0, list[str]()
        super().__init__(seed)
        append = self.kind.startswith("append")
        shape = self.chance.choice(("join", "lookup", "distinct") if append else ("join", "join", "distinct"))
        first, where = f"INSERT INTO {self.target} (k, v) SELECT", self.chance.choice(("", " WHERE s.k >= 10"))
        self.has_right = shape == "join"
        if shape == "distinct":
            if append:  # a target without a key takes no updates
                self.create[1] = _create(self.target, "upsert")
            self.job = f"{first} DISTINCT k, CAST(k % 3 AS INT) FROM {self.source} AS s{where}"
        else:
            self.create[1] = _create(
                self.target, "append" if append else self.chance.choice(("upsert", "input", "lookup"))
            )
            self.create += [
                _create(self.right, "append" if append and shape == "join" else "upsert"),
                self._insert_into(self.right),
            ]
            of = f"(SELECT *, PROCTIME() AS pt FROM {self.source})" if shape == "lookup" else self.source
            at = " FOR SYSTEM_TIME AS OF s.pt" if shape == "lookup" else ""
            self.job = (
                f"{first} s.k, r.v FROM {of} AS s {'LEFT ' if at else ''}JOIN {self.right}{at} AS r ON s.k = r.k{where}"
            )
        names = [n for n in self.names if n != "insert_right" or self.has_right]
        self.steps = self.told(names)

    def insert_right(self) -> str:
        return self._insert_into(self.right)

    def add_column(self) -> str:
        text = super().add_column()
        self.named.append(f"x{self.extra}")
        return text

    def widen(self) -> str | None:
        return f"ALTER TABLE {self.source} MODIFY {self.named[-1]} BIGINT" if self.named else None

    def rename(self) -> str | None:
        if not self.named:
            return None
        old, self.named[0] = self.named[0], f"{self.named[0]}_"
        return f"ALTER TABLE {self.source} RENAME {old} TO {self.named[0]}"

    def drop(self) -> str | None:
        return f"ALTER TABLE {self.source} DROP {self.named.pop()}" if self.named else None

    def target_column(self) -> str:
        self.columns_of_target += 1
        return f"ALTER TABLE {self.target} ADD z{self.columns_of_target} INT"


def _create(name: str, kind: str) -> str:
    options = SOURCES[kind] | {"continuous.discovery-interval": "100 ms"}
    given = ", ".join(f"'{k}' = '{v}'" for k, v in options.items())
    key = "" if kind.startswith("append") else ", PRIMARY KEY (k) NOT ENFORCED"
    return f"CREATE TABLE {name} (k INT, v INT{key}) WITH ({given})"


def _in_turns(stories: Iterable[Told]) -> Iterator[str]:
    """The first step of each story, then the second of each."""
    waiting = [list(s.steps) for s in stories]
    while any(waiting):
        for steps in waiting:
            if steps:
                yield steps.pop(0)


def in_flink(shared: Path, place: Path, stories: list[Told], seconds: int) -> dict[str, Counter[Any]]:
    """The rows of the targets after so many seconds without a step. The jobs have no end, and no statement waits for them."""
    place.mkdir()
    statements = [
        f"CREATE CATALOG p WITH ('type' = 'paimon', 'warehouse' = '{place / 'w'}')", "USE CATALOG p", "CREATE DATABASE d", "USE d",
        f"CREATE TEMPORARY TABLE tick (x INT) WITH ('connector' = 'datagen', 'rows-per-second' = '1', 'number-of-rows' = '{seconds}')",
        *(text for s in stories for text in s.create),
        "SET 'table.dml-sync' = 'false'", "SET 'execution.checkpointing.interval' = '200ms'", "SET 'execution.runtime-mode' = 'streaming'",
        *(s.job for s in stories), "SET 'execution.runtime-mode' = 'batch'", "RESET 'execution.checkpointing.interval'", "SET 'table.dml-sync' = 'true'",
        *_in_turns(stories), "SELECT COUNT(*) FROM tick",
        *(f"-- @q {s.target}\nSELECT k, v FROM {s.target}" for s in stories),
    ]  # fmt: skip
    script = place / "stories.sql"
    script.write_text(";\n".join(statements) + ";\n")
    flink = subprocess.run(
        [str(shared / "oracle" / "run_flink_sql.sh"), "--out", str(place / "out"), str(script)],
        capture_output=True, text=True, timeout=900, check=False,
    )  # fmt: skip
    assert "err=0" in flink.stdout, flink.stdout[-3000:] + flink.stderr[-2000:]
    lines = {s.target: (place / "out" / f"{s.target}.jsonl").read_text().splitlines() for s in stories}
    return {t: Counter(tuple(json.loads(line).values()) for line in found) for t, found in lines.items()}


def here(spark: Any, place: Path, stories: list[Told]) -> dict[str, Counter[Any]]:
    wb = paimon_nb.connect(str(place / "ours"), spark=spark)
    wb.run("CREATE DATABASE d; USE d")
    found = {}
    try:
        for told in stories:
            for text in told.create:
                wb.run(text)
            wb.run("SET 'execution.runtime-mode' = 'streaming'")
            job = wb.sql(told.job)
            wb.run("SET 'execution.runtime-mode' = 'batch'")
            for text in told.steps:
                wb.run(text)
                if told.chance.random() < 0.7:
                    assert job.process_available(180), (told.create, told.steps, job)
            assert job.process_available(180), (told.create, told.steps, job)
            job.stop()
            rows = wb.table(told.target).to_arrow(["k", "v"]).to_pylist()
            found[told.target] = Counter(tuple(r.values()) for r in rows)
    finally:
        wb.session.jobs.stop_all()
    return found


@pytest.mark.parametrize("group", seeds(0, 6))
def test_stories_end_as_in_flink(shared: Path, tmp_path: Path, spark: Any, group: int) -> None:
    _compare(shared, tmp_path, spark, [Told(group * AT_ONCE + i) for i in range(AT_ONCE)])


@pytest.mark.parametrize("group", seeds(0, 6))
def test_more_stories_end_as_in_flink(shared: Path, tmp_path: Path, spark: Any, group: int) -> None:
    _compare(shared, tmp_path, spark, [MoreTold(group * AT_ONCE + i) for i in range(AT_ONCE)])


def _compare(shared: Path, tmp_path: Path, spark: Any, stories: list[Told]) -> None:
    ours = here(spark, tmp_path, stories)
    flink = in_flink(shared, tmp_path / "flink-5", stories, 5)
    if flink != ours:  # a stream has no end: on a busy machine not all has come by then
        flink = in_flink(shared, tmp_path / "flink-60", stories, 60)
    different = {t: (ours[t], flink[t]) for t in ours if ours[t] != flink[t]}
    assert different == {}, [(s.create, s.job, s.steps) for s in stories if s.target in different]
