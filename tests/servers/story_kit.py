"""Random life stories of a streaming job: what happens to its tables, and the rows that the model expects at the end.

A story is drawn from its seed. At the end the target has the rows of the model, or the job stopped with an error that says
why and what to do next, and something happened in the story that explains it.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from process_tree import below

import paimon_nb
from paimon_nb.base import clock
from paimon_nb.base.errors import PaimonError
from paimon_nb.statements.ddl import AddColumn, AlterColumn, DropColumn, RenameColumn
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot, rollback_to_tag
from paimon_nb.table.write.maintenance.expire import ExpireLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    import pytest

    from paimon_nb.table.tables.table import Table

SOURCES: dict[str, dict[str, str]] = {
    "append": {"bucket": "-1"},
    "append-bucket": {"bucket": "2", "bucket-key": "k"},
    "upsert": {"bucket": "1"},
    "dynamic": {"bucket": "-1"},
    "input": {"bucket": "2", "changelog-producer": "input"},
    "lookup": {"bucket": "1", "changelog-producer": "lookup"},
    "full": {"bucket": "1", "changelog-producer": "full-compaction"},
    "vectors": {"bucket": "1", "deletion-vectors.enabled": "true", "changelog-producer": "lookup"},
    "first-row": {"bucket": "1", "merge-engine": "first-row", "changelog-producer": "lookup"},
    "partial": {"bucket": "1", "merge-engine": "partial-update", "changelog-producer": "lookup"},
    "sum": {"bucket": "1", "merge-engine": "aggregation", "fields.v.aggregate-function": "sum", "changelog-producer": "lookup"},
}  # fmt: skip
"""Kinds of tables with columns k and v; those of `append` have no key."""
MORE_KINDS: dict[str, dict[str, str]] = {
    "append-partitions": {"bucket": "-1"},
    "moving": {"bucket": "-1"},
    "postponed": {"bucket": "-2"},
    "input-vectors": {"bucket": "2", "deletion-vectors.enabled": "true", "changelog-producer": "input"},
}  # fmt: skip
"""Kinds that the seeds of earlier stories do not draw."""
_PARTITIONS = {"append-partitions": "k", "moving": "v"}
"""The partition column; a row of `moving` moves to another partition when v changes."""
Rows = list[tuple[int, int | None]]


def create(wb: paimon_nb.Workbench, name: str, kind: str, **more: str) -> None:
    """A table (k INT, v INT) of a kind. `more`: further options, with _ for -."""
    given = (SOURCES | MORE_KINDS)[kind] | {k.replace("_", "-"): v for k, v in more.items()}
    options = ", ".join(f"'{k}' = '{v}'" for k, v in given.items())
    key = "" if kind.startswith("append") else ", PRIMARY KEY (k) NOT ENFORCED"
    partitions = f" PARTITIONED BY ({_PARTITIONS[kind]})" if kind in _PARTITIONS else ""
    wb.run(f"CREATE TABLE {name} (k INT, v INT{key}){partitions} WITH ({options})")


class Model:
    """The rows of a table by what was written to it, without reading the table."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.log: list[tuple[int, str, Rows]] = []
        """Snapshot, 'write' or 'delete', rows."""

    @property
    def keyed(self) -> bool:
        return not self.kind.startswith("append")

    def rolled_back_to(self, snapshot: int) -> None:
        self.log = [entry for entry in self.log if entry[0] <= snapshot]

    def row(self, k: int) -> tuple[int, Any] | None:
        """The row of a key."""
        return next((row for row in self.rows() if row[0] == k), None)

    def rows(self) -> list[tuple[int, Any]]:
        """All rows, sorted."""
        if not self.keyed:
            return sorted((row for _, _, rows in self.log for row in rows), key=repr)
        found: dict[int, Any] = {}
        for _, what, rows in self.log:
            for k, v in rows:
                if what == "delete":
                    found.pop(k, None)
                elif self.kind == "first-row":
                    found.setdefault(k, v)
                elif self.kind == "partial":
                    found[k] = found.get(k) if v is None else v
                elif self.kind == "sum":
                    before = found.get(k)
                    found[k] = v if before is None else before if v is None else before + v
                else:
                    found[k] = v
        return sorted(found.items(), key=repr)


class Story:
    """A source table with its model. Subclasses have the job and its target."""

    def __init__(self, wb: paimon_nb.Workbench, seed: int, kinds: Iterable[str] = SOURCES) -> None:
        self.wb, self.chance = wb, random.Random(seed)
        self.log: list[str] = []
        """What happened, for the message of a failure."""
        self.excuses: set[str] = set()
        """Events after which the job may stop."""
        self.kind = self.chance.choice(list(kinds))
        self.model = Model(self.kind)
        self.extra: list[str] = []
        """Columns of the source beyond k and v."""
        self.wide: set[str] = set()
        """Those of them that are BIGINT; the others are INT."""
        create(wb, "s", self.kind)

    @property
    def source(self) -> Table:
        return self.wb.table("s")

    def with_extra_columns(self, rows: Rows) -> pa.Table:
        columns: dict[str, Any] = {n: pa.array([r[i] for r in rows], pa.int32()) for i, n in enumerate("kv")}
        types = {name: pa.int64() if name in self.wide else pa.int32() for name in self.extra}
        return pa.table(columns | {name: pa.nulls(len(rows), t) for name, t in types.items()})

    # -- what happens to the source

    def commit(self) -> None:
        values = (None, *range(50))
        # Distinct keys: the order of rows within a commit is not part of the model.
        keys = self.chance.sample(range(30), self.chance.choice((1, 1, 3, 20)))
        rows: Rows = [(k, self.chance.choice(values)) for k in keys]
        self.will_write("write", rows)
        self.source.append(self.with_extra_columns(rows))

    def will_write(self, what: str, rows: Rows) -> None:
        # A commit may be two snapshots; the rows are in the first, the second compacts.
        self.model.log.append(((self.source.store.snapshots.latest_id() or 0) + 1, what, rows))

    def delete(self) -> None:
        if self.model.keyed and "merge-engine" not in SOURCES.get(self.kind, {}):
            key = self.chance.randrange(30)
            self.will_write("delete", [(key, None)])
            self.source.delete(pa.table({"k": pa.array([key], pa.int32())}))

    def compact(self) -> None:
        self.source.compact(full=self.chance.random() < 0.5)

    def alter(self, change: Any) -> None:
        self.wb.session.catalog.alter_table(self.source.name, [change])

    def add_column(self) -> None:
        if len(self.extra) < 3:
            name = f"x{len(self.extra)}"
            if name in self.extra:  # after a drop
                name = f"x{len(self.log)}n"
            self.alter(AddColumn((name,), "INT", None))
            self.extra.append(name)

    def rename_extra_column(self) -> None:
        if self.extra and not self.extra[0].endswith("_"):
            renamed = f"{self.extra[0]}_"
            self.alter(RenameColumn((self.extra[0],), renamed))
            self.wide = {renamed if name == self.extra[0] else name for name in self.wide}
            self.extra[0] = renamed

    def drop_extra_column(self) -> None:
        if self.extra:
            name = self.extra.pop(self.chance.randrange(len(self.extra)))
            self.wide.discard(name)
            self.alter(DropColumn((name,)))

    def widen_extra_column(self) -> None:
        if narrow := [name for name in self.extra if name not in self.wide]:
            self.alter(AlterColumn((narrow[0],), type="BIGINT"))
            self.wide.add(narrow[0])

    def rename_and_back(self) -> None:
        """The source has another name for a while. A job that looks at it then may stop."""
        self.excuses.add("renamed")
        self.wb.run("ALTER TABLE s RENAME TO away")
        try:
            if self.chance.random() < 0.6:
                self.look()
        finally:
            self.wb.run("ALTER TABLE away RENAME TO s")

    def look(self) -> None:
        """Let the job look at its source, which may have another name now."""

    def expire(self) -> None:
        snapshots = self.source.store.snapshots
        before = snapshots.earliest_id()
        expire_snapshots(self.source.store, ExpireLimits(1, 1, 0, 50))
        if snapshots.earliest_id() != before:
            self.excuses.add("expired")

    def tag(self) -> None:
        latest = self.source.store.snapshots.latest_id()
        if latest is not None:
            self.source.tags.create(f"tag{len(self.log)}", latest)

    def rollback_to_tag(self) -> None:
        if tags := list(self.source.store.tags.readable()):
            name = self.chance.choice(tags).name
            self.model.rolled_back_to(rollback_to_tag(self.source.store, name).id)
            self.excuses.add("rolled back")

    def jump_of_the_clock(self) -> None:
        offset, real = self.chance.choice((-86_400_000, 86_400_000)), clock.now_ms
        self.patch.setattr(clock, "now_ms", lambda: real() + offset)

    patch: pytest.MonkeyPatch

    def rollback(self) -> None:
        ids = self.source.store.snapshots.ids()
        if len(ids) > 1:
            to = self.chance.choice(ids[:-1])
            rollback_to_snapshot(self.source.store, to)
            self.model.rolled_back_to(to)
            self.excuses.add("rolled back")

    def recreate(self) -> None:
        self.wb.run("DROP TABLE s")
        create(self.wb, "s", self.kind)
        self.extra, self.wide, self.model = [], set(), Model(self.kind)
        self.excuses.add("recreated")

    # -- the story

    def run(self, steps: dict[str, int], most: int = 20) -> str:
        """Draw steps by their weights, then look at the end. Returns 'equal' or 'stopped'."""
        for name in self.chance.choices(list(steps), list(steps.values()), k=self.chance.randrange(4, most)):
            self.log.append(name)
            if self.stops(getattr(self, name)):
                return "stopped"
        self.log.append("end")
        return "stopped" if self.stops(self.finish) else "equal"

    def finish(self) -> None:
        """Process all input and compare the target with the model."""
        raise NotImplementedError

    def stops(self, step: Callable[[], None]) -> bool:
        """Whether the job stops in a step: only with an error of ours, its next step, and after an event that explains it."""
        error = error_of(step)
        assert error is None or (error.hint and self.excuses), (self.kind, self.log, error)
        return error is not None

    def expect(self, found: Iterable[tuple[Any, ...]], wanted: Iterable[tuple[Any, ...]]) -> None:
        mine, theirs = Counter(found), Counter(wanted)
        assert mine == theirs, (
            self.kind,
            self.log,
            f"missing {dict(theirs - mine)}",
            f"too many {dict(mine - theirs)}",
        )


class RunProcess:
    """`paimon-nb run` of one statement in a process of its own, which may be killed with signal 9."""

    def __init__(self, folder: Path, warehouse: Path, patience_s: float, restarts: int = 0) -> None:
        """`patience_s`: how long `until` waits. `restarts`: how often in a row it starts a failed job again."""
        self._restarts = restarts
        self._file, self.log, self._warehouse, self._patience_s = (
            folder / "job.sql",
            folder / "job.log",
            warehouse,
            patience_s,
        )
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, statements: str) -> None:
        """Start it unless it runs."""
        if self._process is not None and self._process.poll() is None:
            return
        self._file.write_text(statements)
        command = [sys.executable, "-m", "paimon_nb.cli", "run", str(self._file), "--warehouse", str(self._warehouse), "--max-restarts", str(self._restarts)]  # fmt: skip
        environment = os.environ | {"PYTHONPATH": str(Path(paimon_nb.__file__).parents[1])}
        with self.log.open("wb") as out:
            self._process = subprocess.Popen(command, env=environment, stdout=out, stderr=out, start_new_session=True)

    def end(self, number: int) -> None:
        """Send it a signal; it and what it started have ended afterwards."""
        process, self._process = self._process, None
        if process is None:
            return
        if number == signal.SIGKILL:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, number)  # its JVM, too
        else:
            process.send_signal(number)
        process.wait(self._patience_s)

    def kill_jvm(self) -> None:
        """Kill its JVM if it has one; its driver goes on."""
        if self._process is not None:
            for pid in below(self._process.pid, "java"):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """The process and its JVM do nothing for a while, as on a machine that is suspended."""
        process = self._process
        if process is not None and process.poll() is None:
            os.killpg(process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            if process is not None:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGCONT)

    def resident_kib(self) -> int:
        """Its memory; 0 if it does not run."""
        if self._process is None or self._process.poll() is not None:
            return 0
        lines = Path(f"/proc/{self._process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))

    def check(self, scene: Callable[[], Any]) -> None:
        """Raises PaimonError: the process ended by itself; what it said is its message and its hint."""
        if self._process is not None and self._process.poll() is not None:
            self._process = None
            said = self.log.read_text()
            assert "Traceback" not in said, (scene(), said)
            raise PaimonError(said, hint=said)

    def until(self, condition: Callable[[], bool], scene: Callable[[], Any]) -> None:
        """Wait for a condition. Raises PaimonError as `check` does."""
        assert self._process is not None
        deadline = time.monotonic() + self._patience_s
        while not condition():
            self.check(scene)
            assert time.monotonic() < deadline, (scene(), self.log.read_text())
            time.sleep(0.05)


class _Killed(BaseException):
    """The process has ended."""


def ends_the_process(*_: Any) -> None:
    """In place of what a sync of this process writes with: what a kill leaves."""
    raise _Killed


def error_of(step: Callable[[], None]) -> PaimonError | None:
    """The error of ours that a step raises."""
    try:
        step()
    except PaimonError as error:
        return error
    return None


def seeds(start: int, count: int) -> Iterable[int]:
    """The seeds of a long run; STORIES_FROM is the first, so that a run can be continued."""
    first = int(os.environ.get("STORIES_FROM", str(start)))
    return range(first, first + int(os.environ.get("STORIES", str(count))))


def room(where: Path, seed: int) -> str:
    """A warehouse for one story."""
    return str(where / f"story-{seed}")
