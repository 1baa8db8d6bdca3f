"""RENAME, DROP and UNDROP in a catalog with a metastore: the process is killed between the change of the entry and that of the directory."""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from adversary_kit import Place
from catalog_faults import CHANGES, READS, JdbcPlace
from memory_s3 import Killed
from sampling import sampled
from test_races import CREATE, check_sound, folders_of, ids_of, rows
from test_statement_faults import forget

from paimon_nb.base.errors import AlreadyExists, PaimonError, TableIsMoving, TableNotFound
from paimon_nb.catalog.hive.client import HiveMetastoreClient
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.fs.api import MOVE_LEASE_S
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from paimon_nb.workbench import Workbench

RENAME, DROP, UNDROP = "ALTER TABLE x RENAME TO y", "DROP TABLE x", "UNDROP TABLE x"
BEFORE = {RENAME: [], DROP: [], UNDROP: [DROP]}
AFTERWARDS = ["SELECT * FROM y", RENAME, DROP, UNDROP, CREATE, CREATE.replace("TABLE x", "TABLE y"), "DROP TABLE y"]


class Kill:
    """Counts the calls that change files or the database. None of them has an effect from the n-th on."""

    def __init__(self, at: int | None = None, act: Callable[[], None] | None = None) -> None:
        self.at, self.act, self.log = at, act, list[str]()
        self._inside = threading.local()

    @property
    def calls(self) -> int:
        return len(self.log)

    def next_call(self, what: str) -> None:
        self.log.append(what)
        if self.at is not None and self.calls >= self.at:
            if self.act is None:
                raise Killed
            if self.calls == self.at:
                self.act()

    def _counted(self, kind: str, call: Callable[..., Any], changes: bool) -> Callable[..., Any]:
        def counting(fs: LocalFileIO, *arguments: Any, **options: Any) -> Any:
            if getattr(self._inside, "call", False):
                return call(fs, *arguments, **options)
            self._inside.call = True
            try:
                if changes:
                    self.next_call(kind)
                elif self.at is not None and self.act is None and self.calls >= self.at:
                    raise Killed
                return call(fs, *arguments, **options)
            finally:
                self._inside.call = False

        return counting

    @contextmanager
    def active(self) -> Iterator[None]:
        begin = Database.transaction

        def transaction(database: Database) -> Any:
            self.next_call("transaction")
            return begin(database)

        with pytest.MonkeyPatch.context() as patch:
            for kind in READS + CHANGES:
                patch.setattr(LocalFileIO, kind, self._counted(kind, getattr(LocalFileIO, kind), kind in CHANGES))
            patch.setattr(Database, "transaction", transaction)
            patch.setattr(HiveMetastoreClient, "execute", self._counted("execute", HiveMetastoreClient.execute, True))
            yield


class HivePlace:
    """An empty catalog in a Hive metastore, tables on local disk. There is one at a time."""

    def __init__(self, home: Path, request: pytest.FixtureRequest) -> None:
        self.home = home
        self._place = Place.of("hive", home, request)

    def open(self) -> Workbench:
        return self._place.open()


@pytest.fixture
def place(tmp_path: Path) -> JdbcPlace:
    return JdbcPlace(tmp_path)


def prepare(place: JdbcPlace | HivePlace, statement: str) -> str:
    """A table `x` with two rows; returns what identifies it."""
    wb = place.open()
    wb.run(CREATE)
    wb.table("x").append(rows(0))
    wb.run("ALTER TABLE x SET ('k' = 'v')")
    wb.table("x").append(rows(1))
    identity = wb.table("x").store.identity
    for one in BEFORE[statement]:
        wb.run(one)
    return identity


def calls_of(place: JdbcPlace, statement: str) -> list[str]:
    """The changes that a statement makes."""
    trial, counted = place.copy(1000), Kill()
    wb = trial.open()
    with counted.active():
        wb.run(statement)
    trial.close()
    return counted.log


def run_and_die(place: JdbcPlace | HivePlace, statement: str, at: int) -> bool:
    """Run a statement that is killed at its n-th change. Returns False if it has ended before."""
    wb, killed = place.open(), True
    with Kill(at).active(), suppress(Killed):
        wb.run(statement)
        killed = False
    forget()
    return killed


def records(place: JdbcPlace | HivePlace) -> list[Path]:
    return list((place.home / "w/.moves").glob("*"))


def make_old(place: JdbcPlace | HivePlace) -> None:
    """As if the process had been killed half a minute ago."""
    for record in records(place):
        then = time.time() - MOVE_LEASE_S - 1
        os.utime(record, (then, then))


def places_of(place: JdbcPlace | HivePlace) -> dict[str, list[int]]:
    """The rows of all tables and of those in the trash, by what identifies a table."""
    forget()
    wb = place.open()
    tables = [wb.table(name) for name in wb.tables()]
    catalog = wb.session.catalog
    for dropped in catalog.fs.list(f"{catalog.warehouse}/.trash/default.db"):
        with suppress(TableNotFound):
            tables.append(Table(TableStore.open(catalog.fs, dropped.path)))
    found: dict[str, list[int]] = {}
    for table in tables:
        assert table.store.identity not in found, "a table is at two places"
        found[table.store.identity] = sorted(table.to_arrow().column("id").to_pylist())
    assert folders_of(wb) <= set(wb.tables()), "a directory has no owner"
    return found


@pytest.mark.parametrize("statement", sampled(BEFORE, 3))
def test_a_process_is_killed_at_any_change(place, statement):
    """The next statement that meets the table completes what was half done; no one needs `CALL sys.repair`."""
    identity = prepare(place, statement)
    wrong = {}
    for number in range(1, len(calls_of(place, statement)) + 1):
        trial = place.copy(number)
        run_and_die(trial, statement, number)
        wb = trial.open()
        for name in wb.tables():  # whole, or an error that says what happens
            with suppress(TableIsMoving):
                assert ids_of(wb, name) == [0, 1]
        make_old(trial)
        for text in (statement, "SELECT * FROM y"):  # it is done already, or can be done now
            with suppress(AlreadyExists, TableNotFound):
                trial.open().run(text)
        try:
            assert places_of(trial) == {identity: [0, 1]}
            trial.open().run("CALL sys.repair('default')")
            assert records(trial) == []
            check_sound(trial.open())
        except (AssertionError, PaimonError) as error:
            wrong[number] = f"{type(error).__name__}: {error}".splitlines()[0]
        trial.close()
    assert wrong == {}


@pytest.mark.nightly
@pytest.mark.parametrize("statement", BEFORE)
def test_a_process_of_a_hive_catalog_is_killed_at_any_change(statement, tmp_path, request):
    wrong, number, is_killed = {}, 0, True
    while is_killed:
        number += 1
        trial = HivePlace(tmp_path / str(number), request)
        identity = prepare(trial, statement)
        is_killed = run_and_die(trial, statement, number)
        make_old(trial)
        for text in (statement, "SELECT * FROM y"):
            with suppress(AlreadyExists, TableNotFound):
                trial.open().run(text)
        try:
            assert places_of(trial) == {identity: [0, 1]}
            trial.open().run("CALL sys.repair('default')")
            assert records(trial) == []
            check_sound(trial.open())
        except (AssertionError, PaimonError) as error:
            wrong[number] = f"{type(error).__name__}: {error}".splitlines()[0]
    assert number > 5
    assert wrong == {}


@pytest.mark.nightly
@pytest.mark.parametrize("afterwards", AFTERWARDS)
@pytest.mark.parametrize("statement", BEFORE)
def test_a_process_is_killed_before_any_statement(place, statement, afterwards):
    identity = prepare(place, statement)
    wrong = {}
    for number in range(1, len(calls_of(place, statement)) + 1):
        trial = place.copy(number)
        run_and_die(trial, statement, number)
        for _ in range(2):
            with suppress(PaimonError):
                trial.open().run(afterwards)
            make_old(trial)
        trial.open().run("CALL sys.repair('default')")
        try:
            found = places_of(trial)
            assert found[identity] == [0, 1]
            assert len(found) <= 2
            assert records(trial) == []
            check_sound(trial.open())
        except (AssertionError, PaimonError) as error:
            wrong[number] = f"{type(error).__name__}: {error}".splitlines()[0]
        trial.close()
    assert wrong == {}


@pytest.mark.parametrize("between", sampled(["SELECT * FROM y", "renamed again", "another table"], 3))
def test_a_process_stands_still_at_any_change(place, between):
    """Another process completes its RENAME and goes on with the table. Then the first one continues."""
    identity = prepare(place, RENAME)
    wrong = {}
    for number, call in enumerate(calls_of(place, RENAME), 1):
        if between == "another table" and call == "move":
            continue  # the limit that docs/decisions/0012 states: a directory is renamed whatever is there
        trial = place.copy(number)

        def meanwhile(trial: JdbcPlace = trial) -> None:
            make_old(trial)
            other = trial.open()
            for statement in {
                "renamed again": ("SELECT * FROM y", "ALTER TABLE y RENAME TO z"),
                "another table": ("SELECT * FROM y", "ALTER TABLE y RENAME TO z", CREATE),
            }.get(between, (between,)):
                with suppress(PaimonError):
                    other.run(statement)

        wb = trial.open()
        with Kill(number, meanwhile).active(), suppress(PaimonError):
            wb.run(RENAME)
        try:
            assert places_of(trial)[identity] == [0, 1]
            check_sound(trial.open())
        except (AssertionError, PaimonError) as error:
            wrong[number] = f"{type(error).__name__}: {error}".splitlines()[0]
        trial.close()
    assert wrong == {}


def test_a_record_that_somebody_else_wrote_moves_nothing(place):
    """Directories must be those of the names, and the table must be the one that the record describes."""
    prepare(place, RENAME)
    wb = place.open()
    wb.run(CREATE.replace("TABLE x", "TABLE z"))
    wb.table("z").append(rows(5))
    first_schema = (place.home / "w/default.db/z/schema/schema-0").read_text()
    (place.home / "w/.moves").mkdir(exist_ok=True)
    for number, (target, new, schema) in enumerate(
        [
            ("default.db/other", ["default", "x"], first_schema),
            ("default.db/x", ["default", "x"], "{}"),
            ("../out", None, first_schema),
        ]
    ):
        record = {"source": "default.db/z", "target": target, "old": ["default", "gone"], "new": new, "purge": True}
        (place.home / f"w/.moves/{number}").write_text(json.dumps({**record, "first_schema": schema}))
    (place.home / "w/.moves/text").write_text("[]")
    make_old(place)

    place.open().run("CALL sys.repair('default')")

    assert (ids_of(place.open(), "x"), ids_of(place.open(), "z")) == ([0, 1], [5])
    assert not (place.home / "out").exists()
