"""A warehouse of which the n-th file call fails while a statement runs, and what can be seen of the warehouse."""

from __future__ import annotations

import copy
import shutil
from typing import TYPE_CHECKING, Any

from paimon_nb.catalog.filesystem import FilesystemCatalog
from paimon_nb.fs import FileIO, FileStatus, MemoryFileIO, OutputFile
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.session.core.session import Session
from paimon_nb.workbench import Workbench

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

READS = ("read", "open", "list", "exists", "size")
WAYS = ("before", "after", "from then on")
"""The call fails without an effect; it has its effect and fails; it and all later calls fail."""


class Faulty(FileIO):
    """Files of which one call, or every call from one on, fails with an OSError. In Spark's tasks no call fails."""

    def __init__(self, inner: FileIO, fails_at: int | None = None, way: str = "before") -> None:
        self.inner, self.fails_at, self.way = inner, fails_at, way
        self.calls = 0
        self.log: list[str] = []
        self.changes: list[int] = []
        """Numbers of the calls that change files."""

    def __reduce__(self) -> Any:
        return copy.copy, (self.inner,)

    def step(self, kind: str, path: str, work: Callable[[], Any]) -> Any:
        self.calls += 1
        self.log.append(f"{kind} {path}")
        if kind not in READS:
            self.changes.append(self.calls)
        if self.fails_at is None or self.calls < self.fails_at or (self.calls > self.fails_at and self.way != WAYS[2]):
            return work()
        if self.way == "after":
            work()
        raise OSError(5, "Input/output error", path)

    def read(self, path: str) -> bytes:
        return self.step("read", path, lambda: self.inner.read(path))

    def open(self, path: str) -> Any:
        return self.step("open", path, lambda: self.inner.open(path))

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.step("put_if_absent", path, lambda: self.inner.put_if_absent(path, data))

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self.step("overwrite", path, lambda: self.inner.overwrite(path, data, durable=durable))

    def sync(self, paths: Iterable[str]) -> None:
        for path in paths:
            self.step("sync", path, lambda: None)

    def create(self, path: str) -> OutputFile:
        return self.step("create", path, lambda: _Output(self, path))

    def list(self, path: str) -> list[FileStatus]:
        return self.step("list", path, lambda: self.inner.list(path))

    def exists(self, path: str) -> bool:
        return self.step("exists", path, lambda: self.inner.exists(path))

    def size(self, path: str) -> int:
        return self.step("size", path, lambda: self.inner.size(path))

    def delete(self, path: str) -> bool:
        return self.step("delete", path, lambda: self.inner.delete(path))

    def delete_tree(self, path: str) -> None:
        self.step("delete_tree", path, lambda: self.inner.delete_tree(path))

    def delete_empty_dir(self, path: str) -> bool:
        return self.step("delete_empty_dir", path, lambda: self.inner.delete_empty_dir(path))

    def make_dirs(self, path: str) -> None:
        self.step("make_dirs", path, lambda: self.inner.make_dirs(path))

    def move(self, source: str, target: str) -> None:
        self.step("move", source, lambda: self.inner.move(source, target))

    def local_path(self, path: str) -> str | None:
        return self.inner.local_path(path)


class _Output(OutputFile):
    """A file that exists when it is closed."""

    def __init__(self, fs: Faulty, path: str) -> None:
        self.fs, self.path, self.data = fs, path, bytearray()

    def write(self, data: Any) -> int:
        self.data += bytes(data)
        return len(bytes(data))

    def tell(self) -> int:
        return len(self.data)

    def close(self) -> None:
        if self.path:
            path, self.path = self.path, ""
            self.fs.step("close", path, lambda: self.fs.inner.write(path, bytes(self.data)))

    def abort(self) -> None:
        self.path = ""


class InMemory:
    """A warehouse in memory."""

    root = "memory:/w"

    def __init__(self, files: MemoryFileIO | None = None) -> None:
        self.files = files or MemoryFileIO()

    def copy(self) -> InMemory:
        out = MemoryFileIO()
        out._files, out._dirs = dict(self.files._files), set(self.files._dirs)
        return InMemory(out)


class OnDisk:
    """A warehouse on local disk, whose files Spark can read."""

    def __init__(self, directory: Path, number: int = 0) -> None:
        self.directory, self.number = directory, number
        self.root = str(directory / "w")
        self.files = LocalFileIO()
        self.kept = directory / f"kept-{number}"

    def copy(self) -> OnDisk:
        """The same path with the files of the first copy: plans name paths."""
        if self.kept.exists():
            shutil.rmtree(self.root, ignore_errors=True)
            shutil.copytree(self.kept, self.root)
        else:
            shutil.copytree(self.root, self.kept)
        return self


def workbench(fs: FileIO, root: str, spark: Any = None) -> Workbench:
    return Workbench(Session(FilesystemCatalog("paimon", root, {}, fs), spark, {}))


def state_of(files: FileIO, root: str) -> dict[str, Any]:
    """Databases, tables, their schemas, snapshots, tags, branches, consumers, properties and rows."""
    catalog = workbench(files, root).session.catalog
    return {
        database: {name: state_of_table(catalog, database, name) for name in catalog.tables(database)}
        for database in catalog.databases()
    }


def state_of_table(catalog: Any, database: str, name: str) -> dict[str, Any]:
    from paimon_nb.base.identifier import Identifier

    table = catalog.table(Identifier(database, name))
    store = table.store
    state: dict[str, Any] = {
        "schemas": [(s.id, s.fields, s.options, s.comment) for s in store.schemas.all()],
        "rows": sorted(map(str, table.to_arrow().to_pylist())),
    }
    if store.is_format_table:
        return state
    branches = {b: catalog.table(Identifier(database, name, branch=b)) for b in store.branches.names()}
    return state | {
        "snapshots": store.snapshots.ids(),
        "tags": {t: store.tags.get(t).snapshot.id for t in store.tags.names()},
        "branches": {
            b: (t.store.snapshots.ids(), sorted(map(str, t.to_arrow().to_pylist()))) for b, t in branches.items()
        },
        "consumers": {c: store.consumers.next_snapshot(c) for c in store.consumers.ids()},
    }
