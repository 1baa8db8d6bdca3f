"""A crowd of processes that do everything to a few tables at once, some of them killed or stopped; and what must hold at the end."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import random
import signal
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from writer_processes import process_context

import paimon_nb
from paimon_nb.base.errors import PaimonError, TableNotFound
from paimon_nb.fs.api import MOVE_LEASE_S
from paimon_nb.table.read.store import TableStore
from paimon_nb.table.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from paimon_nb.workbench import Workbench

KEPT = ("k0", "k1", "k2", "k3")
"""Names of tables from which no statement takes rows away."""
CUT = ("c0", "c1", "c2")
"""Names of tables that are also truncated, overwritten and rolled back."""
ERRORS_OF_DROPPED = ("is missing",)
_GONE = 1 << 62


@dataclass(frozen=True)
class Place:
    """A warehouse that processes share."""

    warehouse: str
    options: Mapping[str, str]

    def open(self) -> Workbench:
        return paimon_nb.connect(self.warehouse, options=self.options)


def digest(store: TableStore) -> str:
    """What identifies a table, under whatever name."""
    return hashlib.sha256(store.first_schema).hexdigest()[:16]


# -- one process


@dataclass
class Worker:
    place: Place
    number: int
    log: Any
    dice: random.Random
    seq: int = 0
    doing: str = ""
    """What the turn does: a word or a statement without its names."""
    wb: Workbench = field(init=False)

    def note(self, kind: str, **facts: Any) -> None:
        self.log.write(json.dumps({"kind": kind, "at": time.monotonic_ns(), **facts}) + "\n")
        self.log.flush()

    def turn(self) -> None:
        name = self.dice.choice(KEPT + CUT)
        names = KEPT if name in KEPT else CUT
        if self.dice.random() < 0.35:
            act: Callable[[str], None] = self.dice.choice([self.append, self.append, self.upsert, self.merge])
            self.doing = act.__name__
            act(name)
            return
        self.statement(name, names)

    def rows(self) -> tuple[list[int], pa.Table]:
        self.seq += 1
        ids = [self.number * 10_000_000 + self.seq * 2 + i for i in range(2)]
        return ids, pa.table({"id": pa.array(ids, pa.int64()), "v": ["x"] * 2})

    def commit(self, name: str, act: Callable[[Table, pa.Table], object], keyed: bool | None) -> None:
        table = self.wb.table(f"default.{name}")
        if keyed is not None and bool(table.primary_keys) != keyed:
            return
        ids, rows = self.rows()
        who = digest(table.store)
        self.note("begin", table=who, ids=ids, name=name)
        act(table, rows)
        self.note("acknowledged", table=who, ids=ids, name=name)

    def append(self, name: str) -> None:
        self.commit(name, lambda table, rows: table.append(rows), None)

    def upsert(self, name: str) -> None:
        self.commit(name, lambda table, rows: table.upsert(rows), True)

    def merge(self, name: str) -> None:
        self.commit(name, lambda t, rows: t.merge(rows, on="id").when_not_matched_insert().execute(), None)

    def statement(self, name: str, names: tuple[str, ...]) -> None:
        tag, branch, other = (self.dice.choice(x) for x in (("a", "b"), ("p", "q"), names))
        keyed = ", PRIMARY KEY (id) NOT ENFORCED" if self.dice.random() < 0.5 else ""
        bucket = "1" if keyed else "-1"
        options = f"'bucket' = '{bucket}', 'snapshot.num-retained.min' = '2', 'snapshot.num-retained.max' = '6'"
        create = f"CREATE TABLE {name} (id BIGINT, v STRING{keyed}) WITH ({options})"
        snapshot = self.dice.randint(1, 12)
        choices = [
            (8, create), (3, f"ALTER TABLE {name} RENAME TO {other}"), (2, f"DROP TABLE {name}"), (2, f"UNDROP TABLE {name}"),
            (3, f"CALL sys.compact('{name}')"), (3, f"CALL sys.expire_snapshots(`table` => '{name}', retain_max => 2, retain_min => 1)"),
            (1, f"CALL sys.remove_orphan_files('{name}')"), (2, f"CALL sys.create_tag('{name}', '{tag}')"),
            (1, f"CALL sys.create_tag('{name}', '{tag}', {snapshot})"), (1, f"CALL sys.replace_tag('{name}', '{tag}', {snapshot})"),
            (2, f"CALL sys.delete_tag('{name}', '{tag}')"), (1, f"CALL sys.create_branch('{name}', '{branch}', '{tag}')"),
            (1, f"CALL sys.delete_branch('{name}', '{branch}')"),
            (1, f"CALL sys.clone(`database` => 'default', `table` => '{name}', target_database => 'default', target_table => '{other}')"),
            (1, f"ALTER TABLE {name} ADD COLUMN w{snapshot} INT"),
        ]  # fmt: skip
        cuts: list[tuple[str, Callable[[Table], object]]] = [
            ("truncate", Table.truncate), ("rollback", lambda t: t.rollback_to(snapshot)), ("rollback to a tag", lambda t: t.rollback_to(tag=tag)),
            ("fast-forward", lambda t: t.branches.fast_forward(branch)), ("overwrite", lambda t: t.overwrite(self.rows()[1])),
        ]  # fmt: skip
        if name in CUT and self.dice.random() < 0.15:
            # A statement would find its table by name, after a rename perhaps another one than is noted here.
            table = self.wb.table(f"default.{name}")
            self.note("cut", table=digest(table.store))
            self.doing, cut = self.dice.choice(cuts)
            cut(table)
            return
        statement = self.dice.choices([s for _, s in choices], [w for w, _ in choices])[0]
        self.doing = statement.partition("(")[0].replace(f" {name}", "").replace(f" {other}", "").strip()
        self.wb.run(statement)

    def work(self, stop: Path) -> None:
        self.wb = self.place.open()
        self.note("ready")
        while not stop.exists():
            try:
                self.turn()
                self.note("done", doing=self.doing)
            except PaimonError as error:
                self.note(
                    "refused",
                    error=type(error).__name__,
                    doing=self.doing,
                    text=str(error)[:300],
                    trace=traceback.format_exc()[-6000:],
                )
            except Exception:
                self.note("foreign", text=traceback.format_exc()[-3000:])


def work(place: Place, number: int, log: str, seed: int, stop: Path) -> None:
    import logging

    os.nice(10)  # eight busy processes would starve the tests beside them
    with Path(log).open("a") as file, Path(log + ".warnings").open("a") as warnings:
        logging.basicConfig(stream=warnings, level=logging.WARNING, force=True)
        with contextlib.redirect_stderr(warnings):
            Worker(place, number, file, random.Random(f"{seed}/{number}")).work(stop)


# -- the crowd


def race(place: Place, folder: Path, seconds: float, seed: int, processes: int = 8) -> list[dict[str, Any]]:
    """Let the crowd run. Returns what the processes noted."""
    dice, context, stop = random.Random(seed), process_context(), folder / "stop"
    wb = place.open()
    for number, name in enumerate(KEPT[:3] + CUT[:2]):
        keyed = ", PRIMARY KEY (id) NOT ENFORCED" if number % 2 else ""
        wb.run(f"CREATE TABLE {name} (id BIGINT, v STRING{keyed}) WITH ('bucket' = '{1 if keyed else -1}')")
    started: list[Any] = []

    def start() -> Any:
        number = len(started)
        process = context.Process(target=work, args=(place, number, f"{folder}/log{number}", seed, stop))
        process.start()
        started.append(process)
        return process

    crowd = [start() for _ in range(processes)]
    for number in range(processes):
        # The first statement takes seconds of imports.
        while not (log := folder / f"log{number}").exists() or len(log.read_text().splitlines()) < 3:
            time.sleep(0.05)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        time.sleep(dice.uniform(0.3, 1.0))
        one = dice.randrange(len(crowd))
        if dice.random() < 0.4:
            os.kill(crowd[one].pid, signal.SIGKILL)
            crowd[one].join()
            crowd[one] = start()
        else:
            stopped = crowd[one].pid
            with contextlib.suppress(ProcessLookupError):
                os.kill(stopped, signal.SIGSTOP)
                time.sleep(dice.uniform(0.1, 1.5))
                os.kill(stopped, signal.SIGCONT)
    stop.touch()
    for process in crowd:
        process.join(timeout=120)
        assert process.exitcode is not None, "a process hangs"
    notes = []
    for log in folder.glob("log*[0-9]"):
        for line in log.read_text().splitlines():
            with contextlib.suppress(ValueError):  # the last line of a process that was killed
                notes.append(json.loads(line))
    return sorted(notes, key=lambda n: n["at"])


# -- what must hold


def check(place: Place, notes: list[dict[str, Any]]) -> dict[str, Any]:
    """Check everything. Returns counts."""
    problems = [f"foreign error: {n['text']}" for n in notes if n["kind"] == "foreign"]
    wb = place.open()
    _wait_for_moves(place, wb)
    tables = wb.tables()
    found: dict[str, set[int]] = {}
    for name in tables:
        try:
            table = wb.table(f"default.{name}")
            found.setdefault(digest(table.store), set()).update(_ids(table))
            problems += _problems_of(wb, name)
        except PaimonError as error:
            problems.append(f"table {name} cannot be read: {type(error).__name__} {error}")
    catalog = wb.session.catalog
    folders = {s.name for s in catalog.fs.list(f"{catalog.warehouse}/default.db") if s.is_dir}
    problems += [
        f"{n} has no owner: {_files(catalog.fs, f'{catalog.warehouse}/default.db/{n}')}" for n in folders - set(tables)
    ]
    for dropped in catalog.fs.list(f"{catalog.warehouse}/.trash/default.db"):
        try:
            table = Table(TableStore.open(catalog.fs, dropped.path))
            found.setdefault(digest(table.store), set()).update(_ids(table))
        except TableNotFound:
            continue  # files that were left
        except PaimonError as error:
            problems.append(f"dropped table {dropped.name} cannot be read: {type(error).__name__} {error}")
    acknowledged, lost = _lost_rows(notes, found)
    problems += lost
    kinds: dict[str, int] = {}
    for n in notes:
        kinds[n["kind"]] = kinds.get(n["kind"], 0) + 1
    refused: dict[str, int] = {}
    for n in notes:
        if n["kind"] == "refused":
            # Of a file that is missing, it matters who misses it.
            what = f"{n['error']}: {n['doing']}" if n["error"] == "MissingFile" else n["error"]
            refused[what] = refused.get(what, 0) + 1
    return {
        "notes": kinds,
        "refused": refused,
        "acknowledged rows": acknowledged,
        "tables": len(tables),
        "problems": problems,
    }


def _wait_for_moves(place: Place, wb: Workbench) -> None:
    """Until the moves of killed processes are completed or taken back, which begins when their records are old enough."""
    catalog = wb.session.catalog
    until = time.monotonic() + 10 * MOVE_LEASE_S
    while time.monotonic() < until:
        if place.options.get("metastore") == "jdbc":
            # A process may be killed between the files of a table and its entry, which docs/decisions/0012 states.
            wb.run("CALL sys.repair('default')")
        wb.tables()
        folders = [f for d in ("default.db", ".trash/default.db") for f in catalog.fs.list(f"{catalog.warehouse}/{d}")]
        moves = [catalog.fs.settle_move(f.path) for f in folders if f.is_dir]
        records = catalog.fs.list(f"{catalog.warehouse}/.moves")
        if not records and all(move is None or move.outcome in ("finished", "taken back") for move in moves):
            return
        time.sleep(1)


def _ids(table: Table) -> list[int]:
    """The keys of all rows, also of those that wait for their bucket: a clone of a table with keys postpones it."""
    table.compact()
    return list(table.to_arrow(["id"]).column(0).to_pylist())


def _problems_of(wb: Workbench, name: str) -> list[str]:
    """Tags and branches that cannot be read or deleted; an append that fails."""
    problems = []
    table = wb.table(f"default.{name}")
    for branch in [*table.store.branches.names()]:
        try:
            wb.table(f"default.{name}$branch_{branch}").to_arrow()
        except PaimonError as error:
            problems.append(f"branch {branch} of {name} cannot be read: {error}")
    for tag in table.store.tags.names():
        try:
            table.copy({"scan.tag-name": tag}).to_arrow()
        except PaimonError as error:
            problems.append(f"tag {tag} of {name} cannot be read: {error}")
        try:
            wb.run(f"CALL sys.delete_tag('{name}', '{tag}')")
        except PaimonError as error:
            problems.append(f"tag {tag} of {name} cannot be deleted: {error}")
    before = len(_ids(table))
    table.append(pa.table({"id": pa.array([_GONE], pa.int64()), "v": ["end"]}))
    if len(_ids(table)) != before + 1:
        problems.append(f"a row that was appended to {name} is not there")
    return problems


def _lost_rows(notes: list[dict[str, Any]], found: dict[str, set[int]]) -> tuple[int, list[str]]:
    cut = {n["table"] for n in notes if n["kind"] == "cut"}
    acknowledged, lost = 0, []
    for n in notes:
        if n["kind"] != "acknowledged":
            continue
        acknowledged += len(n["ids"])
        missing = set(n["ids"]) - found.get(n["table"], set())
        if missing and n["table"] not in cut:
            where = "its table is nowhere" if n["table"] not in found else f"not in table {n['table']}"
            lost.append(f"rows {sorted(missing)} of {n['name']} were acknowledged and are lost: {where}")
    return acknowledged, lost


def _files(fs: Any, path: str) -> list[str]:
    out = []
    for s in fs.list(path):
        out += _files(fs, s.path) if s.is_dir else [s.path]
    return out[:6]
