"""Files of a table that its catalog server gives credentials for. Source: Paimon `RESTTokenFileIO.java`."""

from __future__ import annotations

import copy
import threading
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base import clock
from paimon_nb.catalog.rest.authorizer import renew_at
from paimon_nb.fs import DirectoryPin, FileIO, FileStatus, FoundMove, OutputFile, open_fs

if TYPE_CHECKING:
    import builtins
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.rest.api import RestApi, StorageToken


class TokenFileIO(FileIO):
    """A table's files, opened with the credentials that the server gives for it; renewed before they expire.

    Args:
        api: the server.
        name: the table.
        path: its directory; the scheme selects the file system.
        options: the catalog's options, below those of the token.
    """

    def __init__(self, api: RestApi, name: Identifier, path: str, options: Mapping[str, str]) -> None:
        self._api, self._name, self._path, self._options = api, name, path, dict(options)
        self._lock = threading.Lock()
        self._token: StorageToken | None = None
        self._renew_ms = 0
        self._opened: FileIO | None = None
        self.pin: DirectoryPin | None = None
        self.is_object_store = self._fs_with_token.is_object_store

    def pinned(self, pin: DirectoryPin) -> Self:
        view = copy.copy(self)
        view.pin = pin
        view._opened = self._fs_with_token.pinned(pin)
        return view

    def check_pinned(self) -> None:
        self._fs_with_token.check_pinned()

    def check_after_put(self) -> None:
        self._fs_with_token.check_after_put()

    def _open(self, token: StorageToken) -> FileIO:
        opened = open_fs(self._path, {**self._options, **token.options})
        return opened if self.pin is None else opened.pinned(self.pin)

    @property
    def _fs_with_token(self) -> FileIO:
        """The file system with a token that is valid now."""
        with self._lock:
            if self._opened is None or clock.now_ms() >= self._renew_ms:
                now = clock.now_ms()
                token = self._api.storage_token(self._name)
                self._renew_ms = renew_at(token.expires_ms, now)
                if self._opened is None or self._token is None or token.options != self._token.options:
                    self._opened = self._open(token)
                self._token = token
            return self._opened

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TokenFileIO) and self._identity_key == other._identity_key

    def __hash__(self) -> int:
        return hash(self._identity_key)

    @property
    def _identity_key(self) -> tuple[str, str]:
        return self._api.transport.uri, self._path

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_lock", "_opened")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=threading.Lock(), _opened=None)
        if self._token is not None and clock.now_ms() < self._renew_ms:
            self._opened = self._open(self._token)

    def read(self, path: str) -> bytes:
        return self._fs_with_token.read(path)

    def read_each(self, paths: Sequence[str]) -> builtins.list[bytes | None]:
        return self._fs_with_token.read_each(paths)

    def prefetch(self, files: Iterable[tuple[str, int]]) -> None:
        self._fs_with_token.prefetch(files)

    def keep_in_memory(self, files: Mapping[str, bytes]) -> None:
        self._fs_with_token.keep_in_memory(files)

    def writing_in_background(self) -> AbstractContextManager[None]:
        return self._fs_with_token.writing_in_background()

    def finish_background_writes(self) -> None:
        self._fs_with_token.finish_background_writes()

    def open(self, path: str) -> Any:
        return self._fs_with_token.open(path)

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self._fs_with_token.put_if_absent(path, data)

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        return self._fs_with_token.sync_and_put_if_absent(named, path, data)

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        self._fs_with_token.overwrite(path, data, durable=durable)

    def create(self, path: str) -> OutputFile:
        return self._fs_with_token.create(path)

    def list(self, path: str) -> list[FileStatus]:
        return self._fs_with_token.list(path)

    def exists(self, path: str) -> bool:
        return self._fs_with_token.exists(path)

    def size(self, path: str) -> int:
        return self._fs_with_token.size(path)

    def delete(self, path: str) -> bool:
        return self._fs_with_token.delete(path)

    def delete_each(self, paths: Iterable[str]) -> None:
        self._fs_with_token.delete_each(paths)

    def write_each(self, files: Mapping[str, bytes]) -> None:
        self._fs_with_token.write_each(files)

    def delete_tree(self, path: str) -> None:
        self._fs_with_token.delete_tree(path)

    def delete_empty_dir(self, path: str) -> bool:
        return self._fs_with_token.delete_empty_dir(path)

    def make_dirs(self, path: str) -> None:
        self._fs_with_token.make_dirs(path)

    def move(self, source: str, target: str) -> None:
        self._fs_with_token.move(source, target)

    def settle_move(self, path: str) -> FoundMove | None:
        return self._fs_with_token.settle_move(path)

    def sync(self, paths: Iterable[str]) -> None:
        self._fs_with_token.sync(paths)

    def local_path(self, path: str) -> str | None:
        return self._fs_with_token.local_path(path)
