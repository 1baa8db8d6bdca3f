"""A table is renamed while another session removes or adds snapshots, tags or branches of it: all of the statement, or nothing."""

from __future__ import annotations

import functools
import tempfile
from typing import TYPE_CHECKING, Any

import pytest
from adversary_kit import CALLS_OF_MAINTENANCE, Place, before_call

from paimon_nb.base.errors import PaimonError, StoreError, TableNotFound, TableReplaced
from paimon_nb.fs import LocalFileIO
from paimon_nb.table.read.live_files import LIVE_FILES

if TYPE_CHECKING:
    from pathlib import Path

    from paimon_nb.fs import FileIO
    from paimon_nb.workbench import Workbench

STATEMENTS = {
    "rollback": "CALL sys.rollback('t', '2')",
    "rollback to a tag": "CALL sys.rollback('t', 'early')",
    "expire_snapshots": "CALL sys.expire_snapshots(`table` => 't', retain_max => 1, retain_min => 1)",
    "fast_forward": "CALL sys.fast_forward('t', 'side')",
    "create_branch": "CALL sys.create_branch('t', 'new', 'early')",
    "delete_branch": "CALL sys.delete_branch('t', 'side')",
    "create_tag": "CALL sys.create_tag('t', 'new', 3)",
    "replace_tag": "CALL sys.replace_tag('t', 'early', 4)",
    "rename_tag": "CALL sys.rename_tag('t', 'early', 'late')",
    "delete_tag": "CALL sys.delete_tag('t', 'early')",
    "rename_branch": "CALL sys.rename_branch('t', 'side', 'other')",
    "expire_tags": "CALL sys.expire_tags('t', '2999-01-01 00:00:00')",
    "purge_files": "CALL sys.purge_files('t')",
}
MOVES = {
    "renamed": "ALTER TABLE t RENAME TO u",
    "dropped": "DROP TABLE t",
    "replaced": "DROP TABLE t; CREATE TABLE t (id INT)",
}


NEW: dict[str, Any] = {"snapshots": {}, "tags": {}, "branches": {}}


def made(place: Place) -> Workbench:
    """A table with five snapshots, two tags and a branch that has a snapshot of its own."""
    wb = place.open()
    wb.run("CREATE TABLE t (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
    for n in (1, 2, 3, 4, 5):
        wb.run(f"INSERT OVERWRITE t VALUES ({n})")
        if n == 2:
            wb.run("CALL sys.create_tag('t', 'early'); CALL sys.create_branch('t', 'side', 'early')")
            wb.run("INSERT INTO `t$branch_side` VALUES (7)")
        if n == 5:
            wb.run("CALL sys.create_tag('t', 'last')")
    return wb


def state_of(wb: Workbench, name: str) -> dict[str, Any]:
    """All that can be read."""
    table = wb.table(name)
    ids, tags, branches = table.store.snapshots.ids(), table.store.tags.names(), table.store.branches.names()
    return {
        "snapshots": {i: rows(wb, name, {"scan.snapshot-id": str(i)}) for i in ids},
        "tags": {t: rows(wb, name, {"scan.tag-name": t}) for t in tags},
        "branches": {b: rows(wb, f"{name}$branch_{b}", {}) for b in branches},
    }


def rows(wb: Workbench, name: str, options: dict[str, str]) -> list[int]:
    return sorted(wb.table(name).copy(options).to_arrow().column("id").to_pylist())


def files_below(fs: FileIO, path: str) -> list[str]:
    return [name for f in fs.list(path) for name in (files_below(fs, f.path) if f.is_dir else [f.path])]


def find(wb: Workbench, move: str) -> str:
    """The present name of the table; after it was dropped, once it is back."""
    if move == "replaced":
        wb.run("DROP TABLE t PURGE")
    if move != "renamed":
        wb.run("UNDROP TABLE t")
    return "u" if move == "renamed" else "t"


@functools.cache
def expected(statement: str | None) -> dict[str, Any]:
    """The state of a table on which nobody else works, before or after a statement."""
    with tempfile.TemporaryDirectory() as root:
        wb = made(place := Place("filesystem", {"warehouse": root}))
        if statement is not None:
            wb.run(STATEMENTS[statement])
        return state_of(place.open(), "t")


def check_at(statement: str, move: str, place: Place, call: int) -> bool:
    """A statement that fails has changed nothing. Returns whether there was such a call."""
    before, after = expected(None), expected(statement)
    wb, other = made(place), place.open()
    catalog = other.session.catalog
    fs = type(catalog.fs.inner)
    allowed = [after]
    with before_call(call, lambda: other.run(MOVES[move]), CALLS_OF_MAINTENANCE, fs) as is_there:
        try:
            wb.run(STATEMENTS[statement])
        except (TableReplaced, TableNotFound):
            allowed = [before]
        except PaimonError:
            assert move == "replaced"  # before it was opened: of the new table
            allowed = [before]
    LIVE_FILES.invalidate_cache()
    now = place.open()
    if not is_there():
        return False
    if statement == "expire_tags":
        allowed.append(before)  # it may have found no tags
    if move == "replaced" and state_of(now, "t") == NEW:
        allowed.append(before)  # it did nothing to the new table
    elif move == "replaced":
        allowed = [before]
    name = find(now, move)
    assert state_of(now, name) in allowed, (statement, move, call)
    assert now.tables() == [name]
    folders = [f.name for f in catalog.fs.list(f"{catalog.warehouse}/default.db") if f.is_dir]
    assert folders == [name], (
        statement,
        move,
        call,
        [files_below(catalog.fs, f"{catalog.warehouse}/default.db/{f}") for f in folders if f != name],
    )
    return True


def on_disk(tmp_path: Path, call: int) -> Place:
    return Place("filesystem", {"warehouse": str(tmp_path / str(call))})


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_table_is_renamed_at_some_calls(tmp_path: Path, statement: str) -> None:
    for call in (2, 13, 38, 48):
        check_at(statement, "renamed", on_disk(tmp_path, call), call)


@pytest.mark.nightly
@pytest.mark.parametrize("move", MOVES)
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_table_moves_at_every_call(tmp_path: Path, statement: str, move: str) -> None:
    call = 1
    while check_at(statement, move, on_disk(tmp_path, call), call):
        call += 1
    assert call > 3


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["memory", "sqlite", "s3"])
@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_table_of_another_catalog_is_renamed_at_many_calls(tmp_path, request, statement: str, kind: str) -> None:
    call, step = 1, 3 if kind == "s3" else 1
    while check_at(statement, "renamed", Place.of(kind, tmp_path / f"{tmp_path.name}-{call}", request), call):
        call += step
    assert call > 3


def test_a_last_look_that_fails_undoes_the_statement(tmp_path, monkeypatch):
    """Nobody knows then where the table is, as after a lost reply of a store."""
    place = on_disk(tmp_path, 0)
    wb = made(place)
    before = state_of(place.open(), "t")

    def fails(_: object) -> None:
        raise StoreError("no reply", path="schema-0")

    with monkeypatch.context() as patch:
        patch.setattr(LocalFileIO, "check_pinned", fails)
        with pytest.raises(StoreError, match="no reply"):
            wb.table("t").rollback_to(2)
    assert state_of(place.open(), "t") == before
