"""A table is renamed, dropped or replaced while a writer commits: no acknowledged row is lost, no other table is damaged."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pytest
from adversary_kit import Place
from rest_server import RestServer
from sampling import sampled

import paimon_nb
from paimon_nb.base.errors import PaimonError, TableNotFound, TableReplaced
from paimon_nb.catalog.rest.api import RestApi
from paimon_nb.fs import LocalFileIO, MemoryFileIO
from paimon_nb.fs.hdfs import HdfsFileIO
from paimon_nb.fs.object_store import S3FileIO

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
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
MOMENTS = ["before manifest/", "before snapshot/snapshot-2", "after snapshot/snapshot-2"]
KINDS = ["filesystem", "memory", "sqlite", "s3"]


def rows(*ids: int) -> pa.Table:
    return pa.table({"id": pa.array(ids, pa.int32())})


def opened(kind: str, folder: Path, s3: Mapping[str, str] | None = None) -> Workbench:
    if s3 is not None:
        return paimon_nb.connect(f"s3://lake/{hashlib.sha256(str(folder).encode()).hexdigest()}", options=s3)
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
    assert folders_of(wb) == set(wb.tables())


def folders_of(wb: Workbench) -> set[str]:
    """Names of the directories of the database `default`, which a Hive metastore may have elsewhere."""
    catalog = wb.session.catalog
    metastore = getattr(catalog, "metastore", None)
    path = f"{catalog.warehouse}/default.db" if metastore is None else metastore.database_path("default")
    fs = catalog.fs if metastore is None else catalog._fs_for_paths(path)
    return {s.name for s in fs.list(path)}


def once(act: Callable[[], Any]) -> Callable[[], None]:
    done: list[int] = []

    def run() -> None:
        if not done:
            done.append(1)
            act()

    return run


def cases() -> list[Any]:
    """Place, statements and moment; most of those that are not on a local disk are in the nightly run."""
    often = {"s3": ("rename",)}
    return [
        pytest.param(
            kind,
            meanwhile,
            at,
            marks=pytest.mark.nightly
            if kind != "filesystem"
            and (meanwhile not in often.get(kind, ("rename", "drop and create")) or "manifest" in at)
            else (),
        )
        for kind in KINDS
        for meanwhile in MEANWHILE
        for at in MOMENTS
    ]


@pytest.mark.parametrize(("kind", "meanwhile", "at"), cases())
def test_a_table_that_moves_while_a_writer_publishes(kind, meanwhile, at, tmp_path, monkeypatch, request):
    """The commit fails with TableReplaced and leaves nothing, or its row is in the table that was opened."""
    s3 = request.getfixturevalue("s3") if kind == "s3" else None
    backend = {"memory": MemoryFileIO, "s3": S3FileIO}.get(kind, LocalFileIO)
    commit_meanwhile(lambda: opened(kind, tmp_path, s3), backend, meanwhile, at, monkeypatch)


@pytest.mark.nightly
@pytest.mark.parametrize("at", MOMENTS)
@pytest.mark.parametrize("meanwhile", MEANWHILE)
@pytest.mark.parametrize(("kind", "backend"), [("hive", LocalFileIO), ("hdfs", HdfsFileIO)])
def test_a_table_of_a_server_that_moves_while_a_writer_publishes(
    kind, backend, meanwhile, at, tmp_path, monkeypatch, request
):
    place = Place.of(kind, tmp_path, request)
    commit_meanwhile(place.open, backend, meanwhile, at, monkeypatch)


def commit_meanwhile(
    open_: Callable[[], Workbench],
    backend: type,
    meanwhile: str,
    at: str,
    monkeypatch: pytest.MonkeyPatch,
    run: Callable[[str], object] | None = None,
) -> None:
    """A commit while the statements run at a moment of it, and what must be true afterwards. `run`: as another engine."""
    writer = open_()
    run = run or open_().run
    writer.run(CREATE)
    table = writer.table("x")
    table.append(rows(0))
    act = once(lambda: [run(statement) for statement in MEANWHILE[meanwhile]])
    for name in ("put_if_absent", "write", *([] if backend is MemoryFileIO else ["sync_and_put_if_absent"])):
        monkeypatch.setattr(backend, name, _acting(act, at, getattr(backend, name)))

    acknowledged = []
    try:
        table.append(rows(1))
        acknowledged = [1]
    except TableReplaced:
        pass

    monkeypatch.undo()
    now = open_()
    kept = "x" if meanwhile in ("drop, create and rename back", "drop and undrop") else "y"
    if "drop" not in meanwhile or kept == "x":
        # A rename on an object store may take rows along whose writer is told that the table was replaced.
        may_be_there = [1] if backend is S3FileIO and at.startswith("after") else []
        assert ids_of(now, kept) in ([0, *acknowledged], [0, *may_be_there])
    if kept == "y":
        assert ids_of(now, "x") == []
    check_sound(now)


REST_MEANWHILE = [m for m in MEANWHILE if m != "drop and undrop"]
"""The server decides what becomes of dropped tables."""


@pytest.mark.parametrize("meanwhile", sampled(REST_MEANWHILE, 3))
@pytest.mark.parametrize("at", ["before write manifest/", "before commit", "after commit"])
def test_a_table_of_a_rest_catalog_that_moves_while_a_writer_publishes(meanwhile, at, tmp_path, monkeypatch):
    """The server compares the uuid of the table: a commit is in the table that was opened, or fails and changes no other one."""
    with RestServer(tmp_path / "w") as server:

        def open_session() -> Workbench:
            options = server.options()
            return paimon_nb.connect(options.pop("warehouse"), options=options)

        writer, other = open_session(), open_session()
        writer.run(CREATE)
        table = writer.table("x")
        table.append(rows(0))
        act = once(lambda: [other.run(statement) for statement in MEANWHILE[meanwhile]])
        if at.endswith("commit"):
            monkeypatch.setattr(RestApi, "commit", _acting_at(act, at.split()[0], RestApi.commit))
        else:
            monkeypatch.setattr(LocalFileIO, "write", _acting(act, "before manifest/", LocalFileIO.write))

        acknowledged = []
        with suppress(TableReplaced, TableNotFound):
            table.append(rows(1))
            acknowledged = [1]

        monkeypatch.undo()
        now = open_session()
        kept = "x" if meanwhile == "drop, create and rename back" else "y"
        if "drop" not in meanwhile or kept == "x":
            assert ids_of(now, kept) in ([0, *acknowledged], [0, 1] if at == "after commit" else [0])
        if kept == "y":
            assert ids_of(now, "x") == []
        for name in now.tables():
            before = ids_of(now, name)
            now.table(f"default.{name}").append(rows(99))
            assert ids_of(open_session(), name) == sorted([*before, 99])


def _acting_at(act: Callable[[], None], when: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """`call`; the other process acts before or after it."""

    def acting(*arguments: Any, **named: Any) -> Any:
        if when == "before":
            act()
        result = call(*arguments, **named)
        if when == "after":
            act()
        return result

    return acting


def _acting(act: Callable[[], None], at: str, call: Callable[..., Any]) -> Callable[..., Any]:
    """`call`; the other process acts before or after it, if one of the arguments is a path with the text."""
    when, text = at.split()

    def acting(self: Any, *arguments: Any, **named: Any) -> Any:
        is_it = any(isinstance(a, str) and text in a for a in arguments)
        if is_it and when == "before":
            act()
        result = call(self, *arguments, **named)
        if is_it and when == "after":
            act()
        return result

    return acting


@pytest.mark.parametrize("kind", ["filesystem", "sqlite", pytest.param("s3", marks=pytest.mark.nightly)])
def test_a_new_table_where_files_were_left(kind, tmp_path, request, caplog):
    """A writer of another engine, or one that was killed, left a snapshot in the folder of a table that is gone."""
    s3 = request.getfixturevalue("s3") if kind == "s3" else None
    wb = opened(kind, tmp_path, s3)
    wb.run(CREATE)
    table = wb.table("x")
    table.append(rows(1))
    fs = wb.session.catalog.fs
    left = {p: fs.read(p) for p in (f"{table.path}/snapshot/snapshot-1", f"{table.path}/snapshot/LATEST")}
    wb.run("ALTER TABLE x RENAME TO y")
    for path, data in left.items():
        fs.put_if_absent(path, data)

    wb.run(CREATE)

    assert (ids_of(wb, "x"), ids_of(wb, "y")) == ([], [1])
    assert "files of a former table" in caplog.text
    check_sound(opened(kind, tmp_path, s3))
    wb.run("DROP TABLE x")
    wb.run("UNDROP TABLE x")
    assert ids_of(wb, "x") == [99]


def test_a_snapshot_of_a_writer_that_was_killed_before_it_looked_again(tmp_path, s3):
    """On an object store it is in the prefix of a newer table: readers do not see it, and the next commit replaces it."""
    wb = opened("s3", tmp_path, s3)
    wb.run(CREATE)
    table = wb.table("x")
    table.append(rows(1))
    snapshot = table.store.fs.read(f"{table.path}/snapshot/snapshot-1")
    wb.run("ALTER TABLE x RENAME TO y")
    wb.run(CREATE)
    new = opened("s3", tmp_path, s3).table("x")
    new.append(rows(5))
    assert table.store.fs.sync_and_put_if_absent(
        [], f"{table.path}/snapshot/snapshot-2", snapshot.replace(b'"id" : 1', b'"id" : 2')
    )

    assert new.to_arrow().column("id").to_pylist() == [5]
    new.append(rows(6))
    assert ids_of(opened("s3", tmp_path, s3), "x") == [5, 6]


STATEMENTS = [
    "INSERT INTO x VALUES (1)", "CALL sys.create_tag('x', 'a')", "CALL sys.create_branch('x', 'b')", "ALTER TABLE x SET ('k' = 'v')",
    "TRUNCATE TABLE x", "CALL sys.expire_snapshots(`table` => 'x', retain_max => 1, retain_min => 1)", "CALL sys.rollback('x', '1')",
    "CALL sys.delete_tag('x', 't')", "CALL sys.delete_branch('x', 'old')", "CALL sys.reset_consumer('x', 'c', 1)",
]  # fmt: skip


@pytest.mark.parametrize("statement", sampled(STATEMENTS, 3))
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
        monkeypatch.setattr(LocalFileIO, name, _acting(change, "before /x/", getattr(LocalFileIO, name)))
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
