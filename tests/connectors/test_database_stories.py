"""Life stories of syncs of PostgreSQL and MariaDB, without Spark: the source is the model. See `story_kit`.

The sync runs in this process, or in `paimon-nb run` in a process that is killed with signal 9.
"""

from __future__ import annotations

import random
import signal
import time
import uuid
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from story_kit import RunProcess, ends_the_process, error_of, seeds

import paimon_nb
from paimon_nb.base.errors import CommitConflict, PaimonError, SourceLost
from paimon_nb.statements.ddl import AddColumn
from paimon_nb.table.write.maintenance import expire_snapshots, rollback_to_snapshot, rollback_to_tag
from paimon_nb.table.write.maintenance.expire import ExpireLimits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from paimon_nb.table.tables.table import Table

TABLES = (
    "bucket=1", "bucket=3", "bucket=-1", "bucket=1,changelog-producer=input", "bucket=1,changelog-producer=lookup",
    "bucket=1,deletion-vectors.enabled=true", "bucket=1,changelog-producer=full-compaction,full-compaction.delta-commits=2",
)  # fmt: skip
_PATIENCE_S = 100
"""How long a story waits for what must come; a slow machine needs some of it."""


class Source:
    """A table of a database: `id`, `v`, `n`, and columns that are added later."""

    def __init__(self, server: Any, chance: random.Random) -> None:
        self.server, self.chance = server, chance
        self.columns = ["id", "v", "n"]
        self.wide = False
        self.ids: set[int] = set()

    name: str

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        return list(self.server.run(*statements))

    def rows(self) -> Counter[Any]:
        return Counter(
            _plain(dict(zip(self.columns, row, strict=True)))
            for row in self.run(f"SELECT {', '.join(self.columns)} FROM {self.name}")
        )

    def transaction(self, statements: list[str], *, commit: bool) -> None:
        self.run("BEGIN", *statements, "COMMIT" if commit else "ROLLBACK")

    def change(self) -> None:
        """One transaction of inserts, updates, deletes, and updates of keys; some are rolled back."""
        commit, before, statements = self.chance.random() < 0.85, set(self.ids), []
        for _ in range(self.chance.choice((1, 1, 3, 40))):
            key, kind = self.chance.randrange(25), self.chance.random()
            if key not in self.ids:
                statements.append(
                    f"INSERT INTO {self.name} ({', '.join(self.columns)}) VALUES ({key}, {self.values()})"
                )
                self.ids.add(key)
            elif kind < 0.25:
                statements.append(f"DELETE FROM {self.name} WHERE id = {key}")
                self.ids.discard(key)
            elif kind < 0.35 and (free := set(range(25)) - self.ids):
                new = self.chance.choice(sorted(free))
                statements.append(f"UPDATE {self.name} SET id = {new} WHERE id = {key}")
                self.ids = (self.ids - {key}) | {new}
            else:
                column = self.chance.choice(self.columns[1:])
                statements.append(f"UPDATE {self.name} SET {column} = {self.value(column)} WHERE id = {key}")
        self.transaction(statements, commit=commit)
        self.ids = self.ids if commit else before

    def values(self) -> str:
        return ", ".join(self.value(c) for c in self.columns[1:])

    def value(self, column: str) -> str:
        if column == "v":
            return self.chance.choice(("NULL", "''", "'ü'", f"'{self.chance.randrange(10**8)}'"))
        return str(self.chance.choice(("NULL", 0, -1, 32767, self.chance.randrange(10**9) if self.wide else 7)))

    def add_column(self) -> None:
        if len(self.columns) < 6:
            name = f"x{uuid.uuid4().hex[:4]}"
            self.run(f"ALTER TABLE {self.name} ADD COLUMN {name} INT")
            self.columns.append(name)
            self.wide_columns()

    def wide_columns(self) -> None:
        """Values of added columns may be large; `n` only after it was widened."""

    def rename_column(self) -> None:
        """A new column of the target: a change of each row fills it."""
        if len(self.columns) > 3:
            old, new = self.columns[-1], f"r{uuid.uuid4().hex[:4]}"
            self.run(f"ALTER TABLE {self.name} RENAME COLUMN {old} TO {new}")
            self.columns[-1] = new
            self.run(f"UPDATE {self.name} SET n = CASE WHEN n = 5 THEN 6 ELSE 5 END")

    def drop_column(self) -> None:
        if len(self.columns) > 3:
            self.run(f"ALTER TABLE {self.name} DROP COLUMN {self.columns.pop()}")


class PostgresSource(Source):
    kind = "postgres"

    def __init__(self, server: Any, chance: random.Random) -> None:
        super().__init__(server, chance)
        self.name = self.slot = f"st_{uuid.uuid4().hex[:8]}"
        self.run(f"CREATE TABLE {self.name} (id INT PRIMARY KEY, v VARCHAR(10), n SMALLINT)", f"ALTER TABLE {self.name} REPLICA IDENTITY FULL")  # fmt: skip

    def widen(self) -> None:
        self.run(f"ALTER TABLE {self.name} ALTER n TYPE BIGINT, ALTER v TYPE VARCHAR(20)")
        self.wide = True

    def call(self, options: str) -> str:
        conf = self.server.conf | {"table-name": self.name, "slot.name": self.slot}
        text = ",".join(f"{k}={v}" for k, v in conf.items())
        return f"CALL sys.postgres_sync_table(`table` => 't', postgres_conf => '{text}', interval => '30 ms', table_conf => '{options}')"

    def close(self) -> None:
        self.run(f"DROP TABLE {self.name}", f"DROP PUBLICATION IF EXISTS {self.name}_tables")
        deadline = time.monotonic() + _PATIENCE_S
        while True:  # a server notices only after a while that its client was killed
            with suppress(Exception):
                self.run(f"SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = '{self.slot}' AND active")  # fmt: skip
                self.run(f"SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = '{self.slot}'")  # fmt: skip
                return
            assert time.monotonic() < deadline


class MariaDbSource(Source):
    kind = "mariadb"

    def __init__(self, server: Any, chance: random.Random) -> None:
        super().__init__(server, chance)
        self.database = f"st_{uuid.uuid4().hex[:8]}"
        self.name = f"{self.database}.t"
        self.run(f"CREATE DATABASE {self.database}", f"CREATE TABLE {self.name} (id INT PRIMARY KEY, v VARCHAR(10) CHARACTER SET utf8mb4, n SMALLINT)")  # fmt: skip

    def widen(self) -> None:
        self.run(f"ALTER TABLE {self.name} MODIFY n BIGINT, MODIFY v VARCHAR(20) CHARACTER SET utf8mb4")
        self.wide = True

    def call(self, options: str) -> str:
        conf = self.server.conf | {"database-name": self.database, "table-name": "t"}
        text = ",".join(f"{k}={v}" for k, v in conf.items())
        return f"CALL sys.mysql_sync_table(`table` => 't', mysql_conf => '{text}', interval => '30 ms', table_conf => '{options}')"

    def close(self) -> None:
        self.run(f"DROP DATABASE {self.database}")


class DatabaseStory:
    """A source and its sync into the table `t`."""

    def __init__(self, where: Path, seed: int, source: Callable[..., Source], server: Any, *, processes: bool) -> None:
        self.chance = random.Random(seed)
        self.log: list[str] = []
        self.excuses: set[str] = set()
        self.options = self.chance.choice(TABLES)
        self.source: Any = source(server, self.chance)
        self.where = where / f"story-{seed}"
        self.where.mkdir()
        self.wb = paimon_nb.connect(str(self.where / "w"))
        self.sync: Here | Elsewhere = Elsewhere(self) if processes else Here(self)
        self.extra = 0
        self.source.change()
        self.sync.start()

    @property
    def table(self) -> Table:
        return self.wb.table("t")

    # -- the source

    def change(self) -> None:
        self.source.change()

    def add_column_of_source(self) -> None:
        self.source.add_column()

    def drop_column_of_source(self) -> None:
        self.source.drop_column()

    def widen_column_of_source(self) -> None:
        self.source.widen()

    def rename_column_of_source(self) -> None:
        self.source.rename_column()

    def restart_server(self) -> None:
        """A sync waits for it; one that is just starting may stop."""
        self.excuses.add("server restarted")
        self.source.server.stop()
        self.source.server.start()

    def kill_server(self) -> None:
        """With signal 9, while changes are on their way. What it had committed is there when it starts again."""
        self.excuses.add("server killed")
        self.source.change()
        self.source.server.kill()
        self.source.server.start()

    # -- the job

    def restart(self) -> None:
        self.sync.stop()
        self.sync.start()

    def stop(self) -> None:
        self.sync.stop()

    def kill(self) -> None:
        self.sync.kill()

    def kill_between_commits(self) -> None:
        """With changes on their way."""
        self.sync.start()
        self.source.change()
        self.sync.kill()

    def read(self) -> None:
        self.sync.start()
        self.sync.until(self.is_equal)

    # -- the target

    def has_table(self) -> bool:
        return self.wb.session.exists(("t",))

    def compact(self) -> None:
        if self.has_table():
            with suppress(CommitConflict):  # the sync compacted first
                self.table.compact(full=self.chance.random() < 0.5)

    def expire(self) -> None:
        if self.has_table():
            expire_snapshots(self.table.store, ExpireLimits(1, 1, 0, 50))

    def others_commit(self) -> None:
        """Another writer commits often, and the snapshots of the sync expire."""
        if self.has_table():
            for _ in range(3):
                self.table.append(self.table.to_arrow().slice(0, 0))
                self.compact()
            self.expire()

    def column_of_the_user(self) -> None:
        if self.has_table() and self.extra < 2:
            self.wb.session.catalog.alter_table(self.table.name, [AddColumn((f"u{self.extra}",), "INT", None)])
            self.extra += 1

    def rollback(self) -> None:
        if self.has_table():
            ids = self.table.store.snapshots.ids()
            if len(ids) > 1:
                rollback_to_snapshot(self.table.store, self.chance.choice(ids[:-1]))
                self.excuses.add("rolled back")

    def recreate(self) -> None:
        if self.has_table():
            self.wb.run("DROP TABLE t")
            self.excuses.add("dropped")

    def rollback_to_tag(self) -> None:
        if self.has_table() and (newest := self.table.store.snapshots.latest_id()) is not None:
            self.table.tags.create(f"tag{len(self.log)}", newest)
            self.source.change()
            rollback_to_tag(self.table.store, f"tag{len(self.log)}")
            self.excuses.add("rolled back")

    def rename_and_back(self) -> None:
        """The target has another name for a while. A sync that commits then may stop."""
        if self.has_table():
            self.excuses.add("renamed")
            self.wb.run("ALTER TABLE t RENAME TO away")
            try:
                self.source.change()
            finally:
                self.wb.run("ALTER TABLE away RENAME TO t")

    # -- the story

    def run(self, steps: Mapping[str, int]) -> str:
        for name in self.chance.choices(list(steps), list(steps.values()), k=self.chance.randrange(4, 16)):
            self.log.append(name)
            self.goes_on(getattr(self, name))
        self.log.append("end")
        return "equal" if self.goes_on(self.read) else "stopped"

    def goes_on(self, step: Callable[[], None]) -> bool:
        """Run a step. A sync that stops says why and how to go on; after what its hint says the target equals the source."""
        error = error_of(step)
        if error is None:
            return True
        assert error.hint, (*self.scene, error)
        assert self.excuses, (*self.scene, error)
        self.excuses.clear()
        self.sync.kill()
        again = error_of(self.read)
        if isinstance(again, SourceLost):
            assert "rop the t" in (again.hint or ""), (*self.scene, again)
            self.wb.run("DROP TABLE IF EXISTS t")
            again = error_of(self.read)
        assert again is None, (*self.scene, again)
        return False

    @property
    def scene(self) -> tuple[Any, ...]:
        return self.source.kind, type(self.sync).__name__, self.options, self.log

    def is_equal(self) -> bool:
        return self.differences() is None

    def differences(self) -> Any:
        """What is missing and too much; None if the target equals the source."""
        if not self.has_table():
            return "no table"
        found, wanted = Counter[Any](), self.source.rows()
        for row in self.table.to_arrow().to_pylist():
            found[_plain({c: row.get(c) for c in self.source.columns})] += 1
        return None if found == wanted else (f"missing {wanted - found}", f"too many {found - wanted}")


class Here:
    """The sync as a job of this process. A kill loses what was not committed."""

    def __init__(self, story: DatabaseStory) -> None:
        self.story = story
        self.job: Any = None

    def start(self) -> None:
        if self.job is None or not self.job.isActive:
            self.stop()
            (row,) = self.story.wb.run(self.story.source.call(self.story.options)).arrow.to_pylist()
            self.job = self.story.wb.session.jobs.find(row["job"])

    def stop(self) -> None:
        job, self.job = self.job, None
        if job is not None:
            job.stop()
            if job.error is not None:
                raise job.error

    def kill(self) -> None:
        if self.job is not None:
            for name in ("commit", "open"):
                setattr(self.job.running, name, ends_the_process)
            self.job.stop()
            self.job = None

    def until(self, condition: Callable[[], bool]) -> None:
        try:
            assert self.job.wait_for(condition, _PATIENCE_S), (*self.story.scene, self.story.differences())
        except PaimonError:
            self.job = None
            raise


class Elsewhere:
    """The sync in `paimon-nb run`, in a process of its own."""

    def __init__(self, story: DatabaseStory) -> None:
        self.story = story
        self._process = RunProcess(story.where, story.where / "w", _PATIENCE_S)

    def start(self) -> None:
        self._process.start(self.story.source.call(self.story.options))

    def stop(self) -> None:
        self._process.end(signal.SIGTERM)

    def kill(self) -> None:
        self._process.end(signal.SIGKILL)

    def until(self, condition: Callable[[], bool]) -> None:
        try:
            self._process.until(condition, lambda: (*self.story.scene, self.story.differences()))
        except PaimonError as error:
            raise (SourceLost if "rop the t" in error.message else PaimonError)(
                error.message, hint=error.hint
            ) from None


def _plain(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(sorted((n, str(v)) for n, v in row.items() if v is not None))


STEPS = {
    "change": 30, "add_column_of_source": 3, "drop_column_of_source": 1, "widen_column_of_source": 2, "restart": 5, "stop": 2, "kill": 4,
    "kill_between_commits": 4, "read": 10, "compact": 5, "expire": 3, "others_commit": 2, "column_of_the_user": 2, "rollback": 2, "recreate": 1,
    "rename_column_of_source": 2, "restart_server": 1, "rollback_to_tag": 1, "rename_and_back": 1,
}  # fmt: skip


def story(
    where: Path,
    seed: int,
    source: Callable[..., Source],
    server: Any,
    *,
    processes: bool,
    steps: Mapping[str, int] = STEPS,
) -> str:
    told = DatabaseStory(where, seed, source, server, processes=processes)
    try:
        return told.run(steps)
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
    finally:
        told.sync.kill()
        told.wb.session.jobs.stop_all()
        told.source.close()


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 200))
def test_stories_of_postgres(tmp_path, postgres, seed):
    story(tmp_path, seed, PostgresSource, postgres, processes=seed % 4 == 0)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 200))
def test_stories_of_mariadb(tmp_path, mariadb, seed):
    story(tmp_path, seed, MariaDbSource, mariadb, processes=seed % 4 == 0)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", seeds(0, 40))
def test_stories_of_servers_that_restart(tmp_path, postgres, mariadb, seed):
    """PostgreSQL is killed, too. MariaDB of these tests does not wait for the disk: after a kill its table and its log may differ."""
    source, server, more = (PostgresSource, postgres, {"kill_server": 4}) if seed % 2 else (MariaDbSource, mariadb, {})
    steps = STEPS | {"restart_server": 4} | more
    story(tmp_path, seed, source, server, processes=seed % 4 < 2, steps=steps)
