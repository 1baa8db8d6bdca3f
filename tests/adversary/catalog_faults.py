"""Catalogs of which the n-th call fails: a call of their file store, of their database, or a request to their server."""

from __future__ import annotations

import copy
import shutil
import threading
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest
from rest_server import Fault, RestServer
from statement_faults import state_of_table

import paimon_nb
from paimon_nb.base.errors import StoreError, UnsupportedOperation
from paimon_nb.base.identifier import Identifier
from paimon_nb.catalog.jdbc.database import Database
from paimon_nb.fs.local import LocalFileIO
from paimon_nb.fs.object_store import S3FileIO

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from paimon_nb.workbench import Workbench

READS = ("read", "read_each", "open", "list", "names", "exists", "size")
CHANGES = (
    "put_if_absent", "sync_and_put_if_absent", "overwrite", "create", "write", "write_each", "delete", "delete_each", "delete_tree",
    "delete_empty_dir", "delete_if_unchanged", "make_dirs", "move",
)  # fmt: skip


class CallFaults:
    """Counts calls, and lets one of them fail: before it has an effect, or after."""

    def __init__(self, fails_at: int | None = None, way: str = "before") -> None:
        self.fails_at, self.way = fails_at, way
        self.log: list[str] = []
        self.changes: list[int] = []
        """Numbers of the calls that may change something."""
        self._inside = threading.local()
        self._lock = threading.Lock()

    @property
    def calls(self) -> int:
        return len(self.log)

    def next_call(self, what: str, changes: bool) -> bool:
        """Count a call; returns whether it fails."""
        with self._lock:
            self.log.append(what)
            if changes:
                self.changes.append(len(self.log))
            return len(self.log) == self.fails_at

    def _counted(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def counting(fs: Any, *arguments: Any, **options: Any) -> Any:
            # Other calls may be made inside one, and the loopback server has files of its own.
            if getattr(self._inside, "call", False) or "process_request" in threading.current_thread().name:
                return call(fs, *arguments, **options)
            self._inside.call = True
            try:
                fails = self.next_call(
                    f"{kind} {arguments[0] if isinstance(arguments[0], str) else ''}", kind in CHANGES
                )
                if not fails:
                    return call(fs, *arguments, **options)
                if self.way == "after" and kind != "create":
                    call(fs, *arguments, **options)
                raise OSError(5, "Input/output error", str(arguments[0]))
            finally:
                self._inside.call = False

        return counting

    def _transaction(self, begin: Callable[[Database], Any]) -> Callable[[Database], Any]:
        @contextmanager
        def transaction(database: Database) -> Iterator[Any]:
            fails = self.next_call("transaction", changes=True)
            if fails and self.way == "before":
                raise StoreError("the database does not answer", hint="try again")
            with begin(database) as connection:
                yield connection
            if fails:
                raise StoreError("the database's reply is lost", hint="try again")

        return transaction

    def _take_fault(self, take: Callable[..., Fault | None]) -> Callable[..., Fault | None]:
        def taking(server: RestServer, method: str, path: str) -> Fault | None:
            if not self.next_call(f"{method} {path}", method != "GET"):
                return take(server, method, path)
            if self.way == "after":
                return Fault(method, path, "lose reply")
            server.fault(method, path, "status", status=500, times=1 << 30)
            return take(server, method, path)

        return taking

    @contextmanager
    def active(self) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for owner in (LocalFileIO, S3FileIO):
                for kind in READS + CHANGES:
                    patch.setattr(owner, kind, self._counted(kind, getattr(owner, kind)))
            patch.setattr(Database, "transaction", self._transaction(Database.transaction))
            patch.setattr(RestServer, "take_fault", self._take_fault(RestServer.take_fault))
            yield


class JdbcPlace:
    """A catalog in a SQLite file, tables on local disk."""

    def __init__(self, folder: Path, number: int = 0) -> None:
        self.folder, self.number = folder, number
        self.home = folder / str(number)
        self.home.mkdir(parents=True, exist_ok=True)

    def copy(self, number: int) -> JdbcPlace:
        shutil.copytree(self.home, self.folder / str(number))
        return JdbcPlace(self.folder, number)

    def open(self) -> Workbench:
        return paimon_nb.connect(
            str(self.home / "w"), options={"metastore": "jdbc", "uri": f"jdbc:sqlite:{self.home}/c.db"}
        )

    def close(self) -> None:
        shutil.rmtree(self.home)


class RestPlace:
    """A catalog behind a loopback server, tables on local disk."""

    def __init__(self, folder: Path, number: int = 0) -> None:
        self.folder, self.number = folder, number
        self.home = folder / str(number)
        self.server = RestServer(self.home)
        self.server.__enter__()

    def copy(self, number: int) -> RestPlace:
        shutil.copytree(self.home, self.folder / str(number))
        made = RestPlace(self.folder, number)
        for kept in ("_ids", "properties", "views", "functions"):
            setattr(made.server, kept, copy.deepcopy(getattr(self.server, kept)))
        return made

    def open(self) -> Workbench:
        options = self.server.options()
        return paimon_nb.connect(options.pop("warehouse"), options=options)

    def close(self) -> None:
        self.server.__exit__()
        shutil.rmtree(self.home)


class S3Place:
    """A catalog on an object store."""

    def __init__(self, options: dict[str, str], root: str) -> None:
        self.options, self.root = options, root

    def copy(self, number: int) -> S3Place:
        from paimon_nb.fs import open_fs

        made = S3Place(self.options, f"{self.root}-{number}")
        client = open_fs(self.root, self.options)._client
        bucket, prefix = self.root.removeprefix("s3://").split("/", 1)
        for page in client.get_paginator("list_objects_v2").paginate(Bucket=bucket, Prefix=f"{prefix}/"):
            for item in page.get("Contents", ()):
                target = f"{prefix}-{number}/{item['Key'].removeprefix(prefix + '/')}"
                client.copy_object(Bucket=bucket, Key=target, CopySource={"Bucket": bucket, "Key": item["Key"]})
        return made

    def open(self) -> Workbench:
        return paimon_nb.connect(self.root, options=self.options)

    def close(self) -> None:
        pass


def state_of(place: Any) -> dict[str, Any]:
    """Databases, tables, views and functions of the catalog, as a new session sees them."""
    catalog = place.open().session.catalog
    found: dict[str, Any] = {}
    for database in catalog.databases():
        state: dict[str, Any] = {name: state_of_table(catalog, database, name) for name in catalog.tables(database)}
        if catalog.stores_views:
            names = [Identifier(database, name) for name in catalog.views(database)]
            state |= {f"view {name.table}": {"text": repr(catalog.view(name))} for name in names}
        state |= {f"function {name}": {} for name in catalog.functions(database)}
        with suppress(UnsupportedOperation):
            properties = catalog.database_properties(database)
            state["properties"] = {k: v for k, v in properties.items() if k != "location"}
        found[database] = state
    return found
