"""Tables in HDFS through the NameNode's protocol, without a JVM, so that Spark's Python tasks can use it, too.

A commit is a rename without overwrite, which the NameNode decides atomically.
"""

from __future__ import annotations

import os
import posixpath
import socket
import uuid
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from paimon_nb.base.errors import EnvironmentError_, MissingFile, StoreError, TableReplaced
from paimon_nb.base.override import override
from paimon_nb.fs.api import DirectoryPin, FileIO, FileStatus, OutputFile, is_immutable
from paimon_nb.options import TableOptions
from paimon_nb.options import catalog as opt

if TYPE_CHECKING:
    from collections.abc import Mapping

_CONNECT_S = 20
_PIECE = 4 << 20
"""Buffer size: small writes are combined."""
_TEMPORARY_SUFFIX = ".paimon-nb"
"""Suffix of files that are not published yet."""


class HdfsFileIO(FileIO):
    """Paths `hdfs://host:port/...`, or `hdfs://name/...` of a nameservice in hdfs-site.xml. Picklable."""

    def __init__(self, settings: Mapping[str, str], conf_dir: str | None = None) -> None:
        self._settings, self._conf_dir = tuple(sorted(settings.items())), conf_dir
        self.pin: DirectoryPin | None = None

    @classmethod
    def of(cls, options: Mapping[str, str]) -> HdfsFileIO:
        """From a catalog's options: Hadoop's own `dfs.*` and `fs.*` (with `hadoop.` in front or not), and
        `hadoop-conf-dir`.
        """
        plain = {k.removeprefix("hadoop."): v for k, v in options.items()}
        settings = {k: v for k, v in plain.items() if k.startswith(("dfs.", "fs.")) and not k.startswith("fs.s3")}
        return cls(settings, TableOptions(options).get(opt.HADOOP_CONF_DIR) or None)

    def pinned(self, pin: DirectoryPin) -> HdfsFileIO:
        view = HdfsFileIO(dict(self._settings), self._conf_dir)
        view.pin = pin
        return view

    def __eq__(self, other: object) -> bool:
        return isinstance(other, HdfsFileIO) and (self._settings, self._conf_dir) == (other._settings, other._conf_dir)

    def __hash__(self) -> int:
        return hash((self._settings, self._conf_dir))

    def check_pinned(self) -> None:
        pin = self.pin
        if pin is None:
            return
        try:
            now = self.read(f"{pin.root}/{pin.marker}")
        except MissingFile:
            raise pin.replaced(None) from None
        if now != pin.content:
            raise pin.replaced(now)

    def _guards(self, path: str) -> bool:
        return self.pin is not None and self.pin.guards(path)

    # -- reading

    def read(self, path: str) -> bytes:
        with self.open(path) as file:
            return bytes(file.read())

    def open(self, path: str) -> Any:
        client, inside = self._client_and_path(path)
        try:
            return client.read(inside)
        except FileNotFoundError:
            raise MissingFile(path) from None
        except Exception as error:
            raise _store_error("read", path, error) from None

    def list(self, path: str) -> list[FileStatus]:
        client, hdfs_path = self._client_and_path(path)
        try:
            statuses = [self._file_status(path, s) for s in client.list_status(hdfs_path)]
        except FileNotFoundError:
            return []
        except Exception as error:
            raise _store_error("list", path, error) from None
        return sorted((s for s in statuses if not s.name.endswith(_TEMPORARY_SUFFIX)), key=lambda s: s.name)

    def exists(self, path: str) -> bool:
        return self._status_or_none(path) is not None

    def size(self, path: str) -> int:
        info = self._status_or_none(path)
        if info is None or info.isdir:
            raise MissingFile(path)
        return int(info.length)

    # -- writing

    def put_if_absent(self, path: str, data: bytes) -> bool:
        if self.exists(path):
            return False
        hidden = self._write_hidden_file(path, data)
        client, inside = self._client_and_path(path)
        if self._guards(path):
            # The hidden file is in the directory whose marker is looked at, and the rename fails without it: a directory that is
            # renamed takes it along.
            try:
                self.check_pinned()
            except TableReplaced:
                with suppress(Exception):
                    client.delete(hidden, False)
                raise
        try:
            client.rename(hidden, inside, False)
            return True
        except Exception as error:
            with suppress(Exception):
                if not client.delete(hidden, False) and self._has_content(path, data):
                    return True  # ours was moved, and the reply was lost
            if self.exists(path):
                return False
            raise _store_error("publish", path, error) from None

    def _has_content(self, path: str, data: bytes) -> bool:
        return self.exists(path) and self.read(path) == data

    def _write_hidden_file(self, path: str, data: bytes) -> str:
        """Path inside the service of a hidden file with this content, next to `path`."""
        client, inside = self._client_and_path(path)
        folder, name = posixpath.split(inside)
        hidden = posixpath.join(folder, f".{name}.{uuid.uuid4().hex}{_TEMPORARY_SUFFIX}")
        self._make_parents(path)
        try:
            with client.create(hidden, _write_options(overwrite=False, create_parent=not self._guards(path))) as out:
                out.write(data)
                out.hsync()
        except Exception as error:
            raise _store_error("write", path, error) from None
        return hidden

    @override
    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        hidden = self._write_hidden_file(path, data)
        client, inside = self._client_and_path(path)
        try:
            if self._guards(path):
                self.check_pinned()
            client.rename(hidden, inside, True)
        except TableReplaced:
            with suppress(Exception):
                client.delete(hidden, False)
            raise
        except Exception as error:
            with suppress(Exception):
                client.delete(hidden, False)
            raise _store_error("replace", path, error) from None

    def create(self, path: str) -> OutputFile:
        client, inside = self._client_and_path(path)
        self._make_parents(path)
        try:
            options = _write_options(overwrite=False, create_parent=not self._guards(path))
            return _HdfsOutput(client, inside, client.create(inside, options))
        except FileExistsError:
            raise
        except Exception as error:
            if self.exists(path):
                raise FileExistsError(path) from None
            raise _store_error("create", path, error) from None

    def _make_parents(self, path: str) -> None:
        """Make the directories between the pinned one and a file one by one: the pinned one itself is never made."""
        if self.pin is None or not self._guards(path):
            return
        folder = posixpath.dirname(path)
        if self.exists(folder):
            return
        below = self.pin.path_below(folder) or ""
        made = self.pin.root
        if not self.exists(made):
            raise self.pin.replaced(None)
        for segment in filter(None, below.split("/")):
            made = f"{made}/{segment}"
            client, inside = self._client_and_path(made)
            try:
                client.mkdirs(inside, 0o755, False)
            except Exception as error:
                if not self.exists(made):
                    self.check_pinned()
                    raise _store_error("make", made, error) from None

    def delete(self, path: str) -> bool:
        client, inside = self._client_and_path(path)
        if self._guards(path) and not is_immutable(path):
            self.check_pinned()
        info = self._status_or_none(path)
        return info is not None and not info.isdir and bool(client.delete(inside, False))

    def delete_tree(self, path: str) -> None:
        client, inside = self._client_and_path(path)
        if self._guards(path) and self.pin is not None and path != self.pin.root:
            self.check_pinned()
        with suppress(FileNotFoundError):
            client.delete(inside, True)

    def delete_empty_dir(self, path: str) -> bool:
        client, inside = self._client_and_path(path)
        try:
            return not list(client.list_status(inside)) and bool(client.delete(inside, False))
        except FileNotFoundError:
            return False
        except Exception:  # another client created a file in the meantime
            return False

    def make_dirs(self, path: str) -> None:
        client, inside = self._client_and_path(path)
        try:
            client.mkdirs(inside, 0o755, True)
        except Exception as error:
            raise _store_error("make", path, error) from None

    def move(self, source: str, target: str) -> None:
        client, inside = self._client_and_path(source)
        try:
            client.rename(inside, self._client_and_path(target)[1], False)
        except Exception as error:
            if not self.exists(source):
                raise MissingFile(source) from None
            if self.exists(target):
                raise FileExistsError(target) from None
            raise _store_error("move", source, error) from None

    # -- the service

    def _client_and_path(self, path: str) -> tuple[Any, str]:
        # Not parsed as a URL: '?' and '#' are part of a name.
        service, _, inside = path.partition("://")[2].partition("/")
        return _hdfs_client(f"hdfs://{service}", self._settings, self._conf_dir, os.getpid()), f"/{inside}"

    def _status_or_none(self, path: str) -> Any | None:
        client, inside = self._client_and_path(path)
        try:
            return client.get_file_info(inside)
        except FileNotFoundError:
            return None
        except Exception as error:
            raise _store_error("look at", path, error) from None

    @staticmethod
    def _file_status(folder: str, s: Any) -> FileStatus:
        name = posixpath.basename(s.path)
        return FileStatus(
            posixpath.join(folder, name), 0 if s.isdir else int(s.length), int(s.modification_time), bool(s.isdir)
        )


class _HdfsOutput(OutputFile):
    """Streams the bytes; visible when closed."""

    def __init__(self, client: Any, path: str, writer: Any) -> None:
        self._hdfs_client, self._path, self._writer = client, path, writer
        self._held, self._position, self._done = bytearray(), 0, False

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        self._held += view
        self._position += view.nbytes
        if len(self._held) >= _PIECE:
            self._send_buffer()
        return view.nbytes

    def _send_buffer(self) -> None:
        if self._held:
            self._writer.write(bytes(self._held))
            self._held.clear()

    def tell(self) -> int:
        return self._position

    def close(self) -> None:
        if not self._done:
            self._send_buffer()
            self._writer.hsync()
            self._writer.close()
            self._done = True

    def abort(self) -> None:
        if not self._done:
            self._done = True
            with suppress(Exception):
                self._writer.close()
        with suppress(Exception):
            self._hdfs_client.delete(self._path, False)

    @property
    def closed(self) -> bool:
        return self._done


def _write_options(*, overwrite: bool, create_parent: bool = True) -> Any:
    from hdfs_native import WriteOptions

    return WriteOptions(overwrite=overwrite, create_parent=create_parent)


@cache
def _hdfs_client(url: str, settings: tuple[tuple[str, str], ...], conf_dir: str | None, _process_id: int) -> Any:
    """Keyed by process: the client's threads do not survive a fork, as in Spark's workers."""
    try:
        from hdfs_native import Client
    except ImportError:
        raise EnvironmentError_(
            "tables in HDFS need the Python package hdfs-native",
            hint="pip install 'paimon-nb[hdfs]'",
            package="hdfs-native",
        ) from None
    host, port = urlsplit(url).hostname, urlsplit(url).port
    try:
        if host and port:  # the library would retry unreachable hosts for minutes
            socket.create_connection((host, port), _CONNECT_S).close()
        return Client(url, dict(settings), conf_dir)
    except Exception as error:
        raise _store_error("reach", url, error) from None


def _store_error(operation: str, path: str, error: Exception) -> StoreError:
    text = (str(error).strip() or type(error).__name__).splitlines()[0][:300]
    return StoreError(
        f"HDFS could not {operation} {path}: {text}", hint="check the address, and that HDFS is running", path=path
    )
