"""RENAME, DROP and UNDROP on an object store copy objects: their process is killed, or stands still, at each request in turn."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pytest
from memory_s3 import Killed, MemoryS3, Process, Processes
from test_races import CREATE, check_sound, ids_of, rows
from test_statement_faults import forget

from paimon_nb.base.errors import PaimonError, TableIsMoving, TableNotFound
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.fs.api import MOVE_LEASE_S
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable

    from paimon_nb.workbench import Workbench

RENAME, DROP, UNDROP = "ALTER TABLE x RENAME TO y", "DROP TABLE x", "UNDROP TABLE x"
BEFORE = {RENAME: [], DROP: [], UNDROP: [DROP]}
"""Statements that move a table, and what comes before them."""
CREATE_Y = CREATE.replace("TABLE x", "TABLE y")
AFTERWARDS = ["SHOW TABLES", RENAME, DROP, UNDROP, CREATE, CREATE_Y, "ALTER TABLE y RENAME TO x"]
KINDS = ["filesystem", pytest.param("jdbc", marks=pytest.mark.nightly)]
STEPS = [9, pytest.param(1, marks=pytest.mark.nightly)]
"""Every how many requests a process stops."""


class Scene:
    """A table of two rows on an object store, which processes share."""

    def __init__(self, kind: str, tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
        self.processes, self.store = Processes(monkeypatch), MemoryS3()
        self.kind, self.folder = kind, tmp_path
        self.number = self.copies = 0

    def prepare(self, statement: str) -> None:
        wb, _ = self.start()
        wb.run(CREATE)
        wb.table("x").append(rows(0))
        wb.run("ALTER TABLE x SET ('k' = 'v')")
        wb.table("x").append(rows(1))
        self.table = digest(wb.table("x").store)
        for one in BEFORE[statement]:
            wb.run(one)

    def again(self) -> Scene:
        """The same scene in another store."""
        made = object.__new__(Scene)
        made.__dict__.update(self.__dict__)
        self.copies += 1
        made.store, made.number = self.store.copy(), self.copies
        forget()  # what this process knows of the other one, which has the same path
        if self.kind == "jdbc":
            made.database.write_bytes(self.database.read_bytes())
        return made

    @property
    def database(self) -> Any:
        return self.folder / f"{self.number}.db"

    def start(self) -> tuple[Workbench, Process]:
        jdbc = {"metastore": "jdbc", "uri": f"jdbc:sqlite:{self.database}"} if self.kind == "jdbc" else {}
        return self.processes.start(self.store, **jdbc)

    def found(self) -> dict[str, list[int]]:
        """The rows of all tables and of those in the trash, by what identifies a table."""
        wb, _ = self.start()
        tables = [wb.table(name) for name in wb.tables()]
        catalog = wb.session.catalog
        for dropped in catalog.fs.list(f"{catalog.warehouse}/.trash/default.db"):
            with suppress(TableNotFound):
                tables.append(Table(TableStore.open(catalog.fs, dropped.path)))
        found: dict[str, list[int]] = {}
        for table in tables:
            assert digest(table.store) not in found, "a table is at two places"
            found[digest(table.store)] = sorted(table.to_arrow().column("id").to_pylist())
        return found

    def problems(self, rows_of: dict[str, list[list[int]]]) -> str:
        """Empty if the rows of each table are one of those that are named, and all tables and folders are sound."""
        try:
            if self.kind == "jdbc":
                self.start()[0].run("CALL sys.repair('default')")
            found = self.found()
            for table, allowed in rows_of.items():
                assert found.get(table) in allowed, (found.get(table), [k for k in self.store.objects if "schema" in k])
            check_sound(self.start()[0])
        except (AssertionError, PaimonError) as error:
            return f"{type(error).__name__}: {error}".splitlines()[0]
        return ""


def digest(store: TableStore) -> str:
    return store.identity


def requests_of(scene: Scene, statement: str) -> list[str]:
    """The requests of a statement."""
    wb, process = scene.again().start()
    process.calls.clear()
    wb.run(statement)
    return process.calls


def every(step: int, requests: list[str]) -> list[tuple[int, str]]:
    """Every n-th request, with its number."""
    return list(enumerate(requests, 1))[step - 1 :: step]


def run_until(scene: Scene, statement: str, stop: Callable[[Process], None], number: int) -> bool:
    """Run a statement in a process that stops at its n-th request. Returns whether it has succeeded."""

    def at(n: int, _request: str) -> None:
        if n == number:
            stop(process)

    wb, process = scene.start()
    process.calls.clear()
    process.at = at
    begin = Database.transaction

    def transaction(database: Database) -> Any:
        if process.is_dead:
            raise Killed
        return begin(database)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", transaction)
        try:
            wb.run(statement)
        except (Killed, PaimonError):
            return False
    return True


def look(scene: Scene) -> None:
    """Readers see the whole table, or an error that says what happens."""
    wb, _ = scene.start()
    for name in wb.tables():
        with suppress(TableIsMoving, TableNotFound):
            assert ids_of(wb, name) == [0, 1]


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("statement", BEFORE)
def test_a_process_is_killed_during_a_move(statement, kind, step, tmp_path, monkeypatch):
    """Before the decision the source is the table, afterwards the target; the next statement completes or undoes the move."""
    scene = Scene(kind, tmp_path, monkeypatch)
    scene.prepare(statement)
    wrong = {}
    for number, request in every(step, requests_of(scene, statement)):
        trial = scene.again()
        run_until(trial, statement, Process.kill, number)
        look(trial)
        trial.store.wait(MOVE_LEASE_S + 1)
        with suppress(PaimonError):
            trial.start()[0].run(AFTERWARDS[number % len(AFTERWARDS)])
        wrong[f"{number} {request}"] = trial.problems({scene.table: [[0, 1]]})
    assert {where: problem for where, problem in wrong.items() if problem} == {}


@pytest.mark.nightly
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("afterwards", AFTERWARDS)
@pytest.mark.parametrize("statement", BEFORE)
def test_a_process_is_killed_before_any_statement(statement, afterwards, kind, tmp_path, monkeypatch):
    scene = Scene(kind, tmp_path, monkeypatch)
    scene.prepare(statement)
    wrong = {}
    for number, request in every(1, requests_of(scene, statement)):
        trial = scene.again()
        run_until(trial, statement, Process.kill, number)
        with suppress(PaimonError):
            trial.start()[0].run(afterwards)
        trial.store.wait(MOVE_LEASE_S + 1)
        with suppress(PaimonError):
            trial.start()[0].run(afterwards)
        wrong[f"{number} {request}"] = trial.problems({scene.table: [[0, 1]]})
    assert {where: problem for where, problem in wrong.items() if problem} == {}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("statement", [RENAME, DROP])
def test_a_writer_commits_while_a_move_is_killed(statement, step, tmp_path, monkeypatch):
    """At each request of the move: what the writer was told is in the table is there, wherever the table is."""
    scene = Scene("filesystem", tmp_path, monkeypatch)
    scene.prepare(statement)
    wrong = {}
    for number, request in every(step, requests_of(scene, statement)):
        for kills in (True, False):
            trial = scene.again()
            table = trial.start()[0].table("x")
            acknowledged: list[int] = []

            def commit(process: Process, table: Any = table, kills: bool = kills, told: Any = acknowledged) -> None:
                with suppress(PaimonError):
                    table.append(rows(2))
                    told.append(2)
                if kills:
                    process.kill()

            run_until(trial, statement, commit, number)
            trial.store.wait(MOVE_LEASE_S + 1)
            # A writer that is told that the table was replaced may find its row there.
            allowed = [[0, 1, 2]] if acknowledged else [[0, 1], [0, 1, 2]]
            wrong[f"{number} {request}, kills: {kills}"] = trial.problems({scene.table: allowed})
    assert {where: problem for where, problem in wrong.items() if problem} == {}


@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("between", ["SHOW TABLES", "other tables", "renamed again"])
@pytest.mark.parametrize("statement", [RENAME, DROP])
def test_a_process_stands_still_during_a_move(statement, between, step, tmp_path, monkeypatch):
    """Another process takes its move back, or completes it, and uses the names. Then the first one goes on."""
    scene = Scene("filesystem", tmp_path, monkeypatch)
    scene.prepare(statement)
    wrong = {}
    for number, request in every(step, requests_of(scene, statement)):
        if between == "renamed again" and request.startswith("DELETE w/default.db/x/") and "schema-0" not in request:
            continue  # the limit that docs/decisions/0012 states: a deletion that arrives after the table has come back
        trial = scene.again()
        others: list[str] = []

        def meanwhile(_process: Process, trial: Scene = trial, others: list[str] = others) -> None:
            trial.store.wait(MOVE_LEASE_S + 1)
            wb, _ = trial.start()
            if between == "renamed again":
                for name in wb.tables():
                    with suppress(PaimonError):
                        wb.run(f"ALTER TABLE {name} RENAME TO z")
                with suppress(PaimonError):
                    wb.run("UNDROP TABLE x")
                with suppress(PaimonError):
                    wb.run("ALTER TABLE z RENAME TO x")
            elif between == "other tables":
                wb.tables()
                for create, name in ((CREATE, "x"), (CREATE_Y, "y")):
                    with suppress(PaimonError):
                        wb.run(create)
                        wb.table(name).append(rows(7))
                        others.append(digest(wb.table(name).store))
            else:
                wb.tables()

        run_until(trial, statement, meanwhile, number)
        trial.store.wait(MOVE_LEASE_S + 1)
        wrong[f"{number} {request}"] = trial.problems({scene.table: [[0, 1]], **{table: [[7]] for table in others}})
    assert {where: problem for where, problem in wrong.items() if problem} == {}


def test_files_at_the_target_stay(tmp_path, monkeypatch):
    """A move is refused, or killed, where the target has files: none of them is deleted."""
    scene = Scene("filesystem", tmp_path, monkeypatch)
    scene.prepare(RENAME)
    fs = scene.start()[0].session.catalog.fs
    folder = "s3://lake/w/default.db"
    fs.write(f"{folder}/y/other.csv", b"1")
    for number in range(1, 40):
        trial = scene.again()
        wb, process = trial.start()
        process.at = lambda n, _, process=process, number=number: process.kill() if n == number else None
        with suppress(Killed, FileExistsError):
            process.calls.clear()
            wb.session.catalog.fs.move(f"{folder}/x", f"{folder}/y")
        trial.store.wait(MOVE_LEASE_S + 1)
        now, _ = trial.start()
        assert ids_of(now, "x") == [0, 1]
        now.session.catalog.fs.settle_move(f"{folder}/y")
        assert [s.name for s in now.session.catalog.fs.list(f"{folder}/y")] == ["other.csv"]


def test_the_sign_of_life_is_of_the_clock_of_the_store(tmp_path, monkeypatch):
    """A move of another process is neither taken back nor completed while its record is young; readers get an error."""
    scene = Scene("filesystem", tmp_path, monkeypatch)
    scene.prepare(RENAME)
    seen: list[str] = []

    def look_beside(_process: Process) -> None:
        trial.store.wait(MOVE_LEASE_S - 1)
        wb, _ = trial.start()
        assert wb.tables() == ["x"]
        for statement in ("SELECT * FROM x", RENAME, DROP, CREATE_Y, "ALTER TABLE x RENAME TO z"):
            with pytest.raises(TableIsMoving, match="another process") as error:
                wb.run(statement)
            seen.append(error.value.hint)

    trial = scene.again()
    other, process = scene.again().start()
    process.calls.clear()
    other.run(RENAME)
    first_copy = next(n for n, call in enumerate(process.calls, 1) if call.startswith("PUT w/default.db/y/bucket"))
    assert run_until(trial, RENAME, look_beside, first_copy)
    assert len(seen) == 5
    assert trial.problems({scene.table: [[0, 1]]}) == ""
    assert trial.start()[0].tables() == ["y"]


def test_a_record_that_somebody_else_wrote_moves_nothing(tmp_path, monkeypatch):
    """Both directories must name the same move: a file in one table cannot delete or replace another one."""
    scene = Scene("filesystem", tmp_path, monkeypatch)
    scene.prepare(RENAME)
    wb, _ = scene.start()
    wb.run(CREATE_Y)
    wb.table("y").append(rows(5))
    before = dict(scene.store.objects)
    fs = wb.session.catalog.fs
    for state in ("copying", "done", "taken back", "arriving", "cleaning", "other"):
        for other in ("../y", "../../../../elsewhere", "s3://other/y"):
            record = (
                f'{{"move": "m", "owner": "o", "state": "{state}", "other": "{other}", "renewed": 1, "markers": {{}}}}'
            )
            fs.overwrite("s3://lake/w/default.db/z/.moving", record.encode())
            scene.store.wait(MOVE_LEASE_S + 1)
            assert scene.start()[0].tables() == ["x", "y"]
    now = {key: value for key, value in scene.store.objects.items() if "/z/" not in key}
    assert now == before
