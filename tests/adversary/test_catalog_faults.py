"""Every kind of statement in a JDBC, REST or S3 catalog while one call of its store, database or server fails."""

from __future__ import annotations

import logging
import uuid
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from catalog_faults import CallFaults, JdbcPlace, RestPlace, S3Place, state_of
from test_statement_faults import CASES, KEYED, Case, forget, wrong_outcomes

from paimon_nb.base.errors import PaimonError, StoreError
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.api import StoredView
from paimon_nb.format.types import DataField, parse_type

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

IN_SEVERAL_REQUESTS = {
    "delete tags": "one request for each tag",
    "call delete_tag of two": "one request for each tag",
    "call expire_tags": "one request for each tag",
    "create or replace": "the old table is renamed and deleted: if that fails, it remains under another name",
    "create or replace, other partitions": "the same",
    "replace view": "the old view is dropped: if the server ends then, it is not there",
    "call purge_files": "the server takes one snapshot after the other",
}
"""Statements that are not atomic in a REST catalog, and why."""
VIEW = "CREATE TABLE t (id INT, p INT) WITH ('bucket' = '-1'); CREATE VIEW v AS SELECT id FROM t"
OF_CATALOGS = [
    Case("create view", VIEW.partition("; ")[0], "CREATE VIEW v AS SELECT id FROM t"),
    Case("replace view", VIEW, "CREATE OR REPLACE VIEW v AS SELECT p FROM t"),
    Case("drop view", VIEW, "DROP VIEW v"),
    Case("call alter_view_dialect", VIEW, "CALL sys.alter_view_dialect('v', 'add', 'flink', 'SELECT p FROM t')"),
    Case("create function", "", "CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1"),
    Case("drop function", "CREATE FUNCTION f(x INT) RETURNS INT RETURN x + 1", "DROP FUNCTION f"),
]
"""Statements that a catalog of files has not. Spark analyses them."""
A = (DataField(0, "a", parse_type("INT")),)
ALTER_DATABASE = Case("alter database", "", "ALTER DATABASE default SET DBPROPERTIES ('k' = 'v')")
SLICE = ("create table", "rename table", "drop table", "insert", "create or replace")


@pytest.fixture(autouse=True)
def quiet() -> Iterable[None]:
    logging.disable(logging.WARNING)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "rows.csv"
    path.write_text("id,v\n1,x\n7,y\n")
    return path


def run(case: Case, place: Any, faults: CallFaults, file: Path) -> BaseException | None:
    """Run the statement; returns its error."""
    forget()
    wb = place.open()
    with faults.active():
        try:
            wb.run(case.text.replace("{file}", str(file)))
        except (PaimonError, OSError) as error:
            return error
        finally:
            forget()
    return None


def broken_at(
    case: Case, place: Any, file: Path, points: Callable[[CallFaults], Iterable[tuple[int, str]]]
) -> list[str]:
    """The calls at which a failure leaves something else than the state before or, without an error, the one after."""
    for text in filter(None, case.before.split("; ")):
        place.open().run(text)
    before = state_of(place)
    counted, trial = CallFaults(), place.copy(1)
    error = run(case, trial, counted, file)
    if error is not None:
        pytest.skip(f"not in this catalog: {error}")
    after = state_of(trial)
    wrong = []
    for number, (n, way) in enumerate(points(counted), 2):
        trial = place.copy(number)
        error = run(case, trial, CallFaults(n, way), file)
        where = f"{way} call {n} of {counted.calls}, {counted.log[n - 1]}"
        try:
            wrong += wrong_outcomes(case, where, error, before, after, lambda t=trial: state_of(t))
        finally:
            trial.close()
    return wrong


def ways(counted: CallFaults, call: int) -> tuple[str, ...]:
    """A reply of a REST server that is lost leaves the outcome of a change unknown: the error has the fact `sent`."""
    return ("before",) if counted.log[call - 1].startswith(("POST", "DELETE")) else ("before", "after")


def some(counted: CallFaults) -> list[tuple[int, str]]:
    step = max(1, len(counted.changes) // 6)
    return [(n, ways(counted, n)[i % 2 - 1]) for i, n in enumerate(counted.changes[::step])]


def changing(counted: CallFaults) -> list[tuple[int, str]]:
    return [(n, way) for n in counted.changes for way in ways(counted, n)]


def place_of(kind: str, case: Case, folder: Path, request: pytest.FixtureRequest) -> Any:
    if kind == "s3":
        return S3Place(request.getfixturevalue("s3"), f"s3://lake/{uuid.uuid4().hex}")
    if kind == "rest" and (reason := IN_SEVERAL_REQUESTS.get(case.name)) is not None:
        pytest.skip(reason)
    return (JdbcPlace if kind == "jdbc" else RestPlace)(folder / "catalogs")


@pytest.mark.parametrize("kind", ["jdbc", "rest"])
@pytest.mark.parametrize("case", [*(c for c in CASES if c.name in SLICE), ALTER_DATABASE], ids=lambda case: case.name)
def test_a_statement_at_some_failing_calls(kind, case, file, tmp_path, request):
    assert broken_at(case, place_of(kind, case, tmp_path, request), file, some) == []


@pytest.mark.parametrize("way", ["before", "after"])
@pytest.mark.parametrize("act", ["create", "replace", "alter", "drop"])
def test_a_view_of_a_database_whose_reply_is_lost(act, way, tmp_path):
    """The change is in the database and the call succeeds, or the call fails and the view is as before."""
    name, old, new = Identifier("default", "v"), StoredView("SELECT 1 AS a", A), StoredView("SELECT 2 AS a", A)
    catalog = JdbcPlace(tmp_path).open().session.catalog
    if act != "create":
        catalog.create_view(name, old)
    before = catalog.view(name)
    acts = {
        "create": (lambda: catalog.create_view(name, new), new),
        "replace": (lambda: catalog.replace_view(name, new), new),
        "alter": (lambda: catalog.alter_view_dialect(name, "add", "d", "SELECT 3"), replace(old, dialects={"d": "SELECT 3"})),
        "drop": (lambda: catalog.drop_view(name), None),
    }  # fmt: skip
    call, after = acts[act]
    change = {"create": 5, "replace": 1, "alter": 2, "drop": 1}[act]

    with CallFaults(change, way).active(), nullcontext() if way == "after" else pytest.raises(StoreError):
        call()

    assert catalog.view(name) == (after if way == "after" else before)


@pytest.mark.parametrize("way", ["before", "after"])
def test_the_changelog_of_rows_whose_compaction_failed_comes_with_the_next_one(way, file, tmp_path):
    """The rows and their compaction are two commits of a REST catalog. If the second one fails, the write has succeeded."""
    place = RestPlace(tmp_path)
    try:
        wb = place.open()
        wb.run(f"{KEYED[:-1]}, 'changelog-producer' = 'lookup')")
        insert = Case("insert", "", "INSERT INTO t VALUES (1, 'a')")
        counted, trial = CallFaults(), place.copy(1)
        assert run(insert, trial, counted, file) is None
        trial.close()
        commits = [n for n, call in enumerate(counted.log, 1) if call.startswith("POST") and call.endswith("/commit")]

        assert run(insert, place, CallFaults(commits[1], way), file) is None

        later = place.copy(2)
        wb = later.open()
        assert wb.table("t").to_arrow().to_pylist() == [{"id": 1, "v": "a"}]
        wb.run("INSERT INTO t VALUES (2, 'b')")
        table = wb.table("t")
        between = {
            "incremental-between": f"0,{table.store.snapshots.latest_id()}",
            "incremental-between-scan-mode": "changelog",
        }
        changes = table.system("audit_log", options=between).to_pylist()
        assert sorted((row["rowkind"], row["v"]) for row in changes) == [("+I", "a"), ("+I", "b")]
        later.close()
    finally:
        place.close()


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["jdbc", "rest", "s3"])
@pytest.mark.parametrize("case", [*CASES, ALTER_DATABASE], ids=lambda case: case.name)
def test_a_statement_at_every_failing_change(kind, case, file, tmp_path, request):
    assert broken_at(case, place_of(kind, case, tmp_path, request), file, changing) == []


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("kind", "case"),
    [(k, c) for k in ("jdbc", "rest") for c in OF_CATALOGS if k == "rest" or "function" not in c.name],
    ids=lambda case: getattr(case, "name", case),
)
@pytest.mark.usefixtures("spark")
def test_a_view_or_a_function_at_every_failing_change(kind, case, file, tmp_path, request):
    assert broken_at(case, place_of(kind, case, tmp_path, request), file, changing) == []
