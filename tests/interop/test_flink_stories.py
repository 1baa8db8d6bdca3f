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
        names = chance.choices(list(STEPS), list(STEPS.values()), k=chance.randrange(3, 9))
        self.steps = [text for name in names if (text := getattr(self, name)())]
        self.steps += [self.compact()] if self.kind in _LATE else []

    def insert(self) -> str:
        # Distinct keys: the order of rows within a commit is not part of a story.
        keys = self.chance.sample(range(20), self.chance.choice((1, 3, 12)))
        value = lambda: self.chance.choice(("CAST(NULL AS INT)", *map(str, range(9))))  # noqa: E731
        return f"INSERT INTO {self.source} (k, v) VALUES {', '.join(f'({k}, {value()})' for k in keys)}"

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
    stories = [Told(group * AT_ONCE + i) for i in range(AT_ONCE)]
    ours = here(spark, tmp_path, stories)
    flink = in_flink(shared, tmp_path / "flink-5", stories, 5)
    if flink != ours:  # a stream has no end: on a busy machine not all has come by then
        flink = in_flink(shared, tmp_path / "flink-60", stories, 60)
    different = {t: (ours[t], flink[t]) for t in ours if ours[t] != flink[t]}
    assert different == {}, [(s.create, s.job, s.steps) for s in stories if s.target in different]
