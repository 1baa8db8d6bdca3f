"""A table is renamed, dropped or replaced while a writer commits: no acknowledged row is lost, no other table is damaged."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest

import paimon_nb
from paimon_nb.base.errors import PaimonError, TableReplaced
from paimon_nb.fs import LocalFileIO, MemoryFileIO

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from paimon_nb.workbench import Workbench

CREATE = "CREATE TABLE x (id INT) WITH ('bucket' = '-1')"
MEANWHILE = {
    "rename": ["ALTER TABLE x RENAME TO y"],
    "rename and create": ["ALTER TABLE x RENAME TO y", CREATE],
    "drop": ["DROP TABLE x"],
    "drop and create": ["DROP TABLE x", CREATE],
    "drop, create and rename back": ["ALTER TABLE x RENAME TO y", CREATE, "DROP TABLE x", "ALTER TABLE y RENAME TO x"],
    "drop and undrop": ["DROP TABLE x", "UNDROP TABLE x"],
}
KINDS = ["filesystem", "memory", "sqlite"]


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32())})


def opened(kind: str, folder: Path) -> Workbench:
    if kind == "memory":
        return paimon_nb.connect(f"memory:/{folder.name}")
    if kind == "filesystem":
        return paimon_nb.connect(str(folder / "w"))
    return paimon_nb.connect(str(folder / "w"), options={"metastore": "jdbc", "uri": f"jdbc:sqlite:{folder}/c.db"})


def ids_of(wb: Workbench, name: str) -> list[int]:
    """The rows of a table; [] if there is none of this name."""
    if name not in wb.tables():
        return []
    return sorted(wb.table(f"default.{name}").to_arrow().column("id").to_pylist())


def check_sound(wb: Workbench) -> None:
    """Each table can be read and written, and each folder is that of a table."""
    for name in wb.tables():
        before = ids_of(wb, name)
        wb.table(f"default.{name}").append(rows(99))
        assert ids_of(wb, name) == sorted([*before, 99])
    catalog = wb.session.catalog
    folders = {s.name for s in catalog.fs.list(f"{catalog.warehouse}/default.db")}
    assert folders == set(wb.tables())


def once(act: Callable[[], Any]) -> Callable[[], None]:
    done: list[int] = []

    def run() -> None:
        if not done:
            done.append(1)
            act()

    return run


@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("at", ["manifest/", "snapshot/snapshot-2"])
def test_a_table_that_moves_before_the_publish(kind, meanwhile, at, tmp_path, monkeypatch):
    """The commit fails with TableReplaced and leaves nothing, or its row is in the table that was opened."""
    writer, other = opened(kind, tmp_path), opened(kind, tmp_path)
    writer.run(CREATE)
    table = writer.table("x")
    table.append(rows(0))
    act = once(lambda: [other.run(statement) for statement in MEANWHILE[meanwhile]])
    backend = MemoryFileIO if kind == "memory" else LocalFileIO
    for name in ("put_if_absent", "write"):
        monkeypatch.setattr(backend, name, _after(act, at, getattr(backend, name)))
    if kind != "memory":
        monkeypatch.setattr(backend, "sync_and_put_if_absent", _after(act, at, backend.sync_and_put_if_absent))

    acknowledged = []
    try:
        table.append(rows(1))
        acknowledged = [1]
    except TableReplaced:
        pass

    monkeypatch.undo()
    now = opened(kind, tmp_path)
    kept = "x" if meanwhile in ("drop, create and rename back", "drop and undrop") else "y"
    if "drop" not in meanwhile or kept == "x":
        assert ids_of(now, kept) == [0, *acknowledged]
    if kept == "y":
        assert ids_of(now, "x") == []
    check_sound(now)


def _after(act: Callable[[], None], at: str, write: Callable[..., Any]) -> Callable[..., Any]:
    """`write`, after the other process has acted, if one of the arguments is a path with `at`."""

    def acting(self: Any, *arguments: Any, **named: Any) -> Any:
        if any(isinstance(a, str) and at in a for a in arguments):
            act()
        return write(self, *arguments, **named)

    return acting


STATEMENTS = [
    "INSERT INTO x VALUES (1)", "CALL sys.create_tag('x', 'a')", "CALL sys.create_branch('x', 'b')", "ALTER TABLE x SET ('k' = 'v')",
    "TRUNCATE TABLE x", "CALL sys.expire_snapshots(`table` => 'x', retain_max => 1, retain_min => 1)", "CALL sys.rollback('x', '1')",
    "CALL sys.delete_tag('x', 't')", "CALL sys.delete_branch('x', 'old')", "CALL sys.reset_consumer('x', 'c', 1)",
]  # fmt: skip


@pytest.mark.parametrize("statement", STATEMENTS)
def test_a_statement_on_a_replaced_table_changes_no_other_one(tmp_path, statement, monkeypatch):
    """Before each of its changes in turn, another table takes the name: of that one every file stays as it is."""
    number, changes = 0, 1
    while number < changes:
        changes = _with_replacement_before(number, statement, tmp_path / str(number), monkeypatch)
        number += 1
    assert changes > 0


def _with_replacement_before(number: int, statement: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> int:
    """Run the statement; returns the number of its changes. Before one of them, the table is replaced."""
    wb, other = opened("filesystem", folder), opened("filesystem", folder)
    root = folder / "w/default.db/x"
    _make_history(wb)
    seen, kept = [0], {}

    def change() -> None:
        seen[0] += 1
        if seen[0] == number + 1:
            seen[0] = 1 << 20  # those of the replacement do not count
            other.run("ALTER TABLE x RENAME TO y")
            _make_history(other)
            kept.update(_files(root))
            seen[0] = number + 1

    for name in ("sync_and_put_if_absent", "overwrite", "delete", "delete_tree", "create"):
        monkeypatch.setattr(LocalFileIO, name, _after(change, "/x/", getattr(LocalFileIO, name)))
    with suppress(PaimonError):
        wb.run(statement)
    monkeypatch.undo()
    if kept:
        assert kept.items() <= _files(root).items()
        assert ids_of(opened("filesystem", folder), "x") == [0, 1, 2]
    return min(seen[0], 30)


def _make_history(wb: Workbench) -> None:
    wb.run("CREATE TABLE x (id INT) WITH ('bucket' = '-1', 'write-only' = 'true')")
    for n in range(3):
        wb.table("x").append(rows(n))
    wb.run("CALL sys.create_tag('x', 't', 2)")
    wb.run("CALL sys.create_branch('x', 'old', 't')")


def _files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}
