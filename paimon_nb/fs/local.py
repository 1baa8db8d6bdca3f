"""Local files. Publishing is `link(2)`, which fails atomically if the name exists."""

from __future__ import annotations

import errno
import os
import uuid
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import MissingFile, NotWritable
from paimon_nb.fs.api import FileIO, FileStatus, OutputFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import ThreadPoolExecutor

_AT_ONCE = 16
"""Number of files synced in parallel: a journal writes them in one step."""
_SOON_BYTES = 1 << 20
"""From this size on a file is synced when it is finished, while others are still written."""
_REFUSALS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG}


@contextmanager
def _translated_os_errors(path: str) -> Iterator[None]:
    """Converts OS errors; `FileExistsError` stays, callers handle it."""
    try:
        yield
    except OSError as error:
        raise _translated_error(error, path) from None


def _translated_error(error: OSError, path: str) -> Exception:
    if isinstance(error, FileExistsError):
        return error
    if isinstance(error, FileNotFoundError | NotADirectoryError | IsADirectoryError):
        return MissingFile(path)
    if error.errno in _REFUSALS:
        reason = os.strerror(error.errno or 0)
        return NotWritable(f"{path}: {reason}", hint="check permissions and free space", path=path)
    return error


def without_scheme(path: str) -> str:
    """`file:/a`, `file:///a` and `/a` as `/a`: LocalFileIO takes plain paths."""
    return path.removeprefix("file://").removeprefix("file:")


class LocalFileIO(FileIO):
    """Plain paths."""

    def read(self, path: str) -> bytes:
        with _translated_os_errors(path), open(path, "rb") as file:
            return file.read()

    def read_each(self, paths: Sequence[str]) -> list[bytes | None]:
        found: list[bytes | None] = []
        for path in paths:
            try:
                with open(path, "rb") as file:
                    found.append(file.read())
            except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
                found.append(None)
            except OSError as error:
                raise _translated_error(error, path) from None
        return found

    def open(self, path: str) -> Any:
        import pyarrow as pa

        with _translated_os_errors(path):
            return pa.OSFile(path, "rb")

    def put_if_absent(self, path: str, data: bytes) -> bool:
        return self.sync_and_put_if_absent((), path, data)

    def sync_and_put_if_absent(self, named: Iterable[str], path: str, data: bytes) -> bool:
        directory, name = os.path.split(path)
        self.make_dirs(directory)
        temporary = os.path.join(directory, f".{name}.{uuid.uuid4()}.tmp")
        with _translated_os_errors(path):
            try:
                _write_file(temporary, data, durable=False)
                # Only the link below makes it visible: one sync covers both.
                self.sync([*named, temporary])
                try:
                    os.link(temporary, path)
                except FileExistsError:
                    return False
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
            _fsync(directory)
        return True

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        directory, name = os.path.split(path)
        self.make_dirs(directory)
        temporary = os.path.join(directory, f".{name}.{uuid.uuid4()}.tmp")
        with _translated_os_errors(path):
            try:
                _write_file(temporary, data, durable=durable)
                os.replace(temporary, path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
            if durable:
                _fsync(directory)

    def create(self, path: str) -> OutputFile:
        self.make_dirs(os.path.dirname(path))
        with _translated_os_errors(path):
            return _LocalOutput(path)

    def write_each(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            self.write(path, data)

    def write(self, path: str, data: bytes) -> None:
        out = self.create(path)
        try:
            out.write(data)
        except BaseException:
            out.abort()
            raise
        out.close()

    def list(self, path: str) -> list[FileStatus]:
        try:
            entries = sorted(os.scandir(path), key=lambda e: e.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except PermissionError:
            raise NotWritable(f"{path}: permission denied", hint="check permissions", path=path) from None
        out = []
        for entry in entries:
            with suppress(FileNotFoundError):  # deleted during the listing: treated as never listed
                is_dir, stat = entry.is_dir(), entry.stat()
                size = 0 if is_dir else stat.st_size
                out.append(FileStatus(os.path.join(path, entry.name), size, stat.st_mtime_ns // 1_000_000, is_dir))
        return out

    def names(self, path: str) -> Sequence[str]:
        try:
            with os.scandir(path) as entries:
                return [e.name for e in entries if not e.is_dir()]
        except (FileNotFoundError, NotADirectoryError):
            return []
        except PermissionError:
            raise NotWritable(f"{path}: permission denied", hint="check permissions", path=path) from None

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def size(self, path: str) -> int:
        with _translated_os_errors(path):
            return os.stat(path).st_size

    def delete(self, path: str) -> bool:
        try:
            with _translated_os_errors(path):
                os.unlink(path)
        except MissingFile:
            return False
        return True

    def delete_tree(self, path: str) -> None:
        import shutil

        with suppress(MissingFile), _translated_os_errors(path):
            shutil.rmtree(path)

    def delete_empty_dir(self, path: str) -> bool:
        try:
            os.rmdir(path)
        except OSError:
            return False
        return True

    def make_dirs(self, path: str) -> None:
        try:
            with _translated_os_errors(path):
                os.makedirs(path, exist_ok=True)
        except (FileExistsError, MissingFile):
            raise NotWritable(
                f"{path}: a file exists where a directory is needed", hint="choose another location"
            ) from None

    def move(self, source: str, target: str) -> None:
        with _translated_os_errors(source):
            if os.path.lexists(target):
                raise FileExistsError(target)
            try:
                os.rename(source, target)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # a directory that was created during the check
                    raise FileExistsError(target) from None
                raise

    def sync(self, paths: Iterable[str]) -> None:
        def sync_file(path: str) -> None:
            with suppress(MissingFile), _translated_os_errors(path):
                _fsync(path)

        waiting = list(paths)
        if len(waiting) == 1:
            sync_file(waiting[0])
        else:
            list(_thread_pool(os.getpid()).map(sync_file, waiting))

    def local_path(self, path: str) -> str | None:
        return path


class _LocalOutput(OutputFile):
    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, "xb", buffering=1 << 18)  # noqa: SIM115  closed by close() or abort()

    def write(self, data: Any) -> int:
        try:
            return self._file.write(data)
        except OSError as error:
            raise _translated_error(error, self._path) from None

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if self._file.closed:
            return
        with _translated_os_errors(self._path):
            self._file.flush()
            if self._file.tell() >= _SOON_BYTES:
                os.fsync(self._file.fileno())
            self._file.close()

    def abort(self) -> None:
        with suppress(OSError):
            self._file.close()
        with suppress(FileNotFoundError):
            os.unlink(self._path)

    @property
    def closed(self) -> bool:
        return self._file.closed


@cache
def _thread_pool(_process_id: int) -> ThreadPoolExecutor:
    """Thread pool of one process: a fork has none of its parent's threads."""
    from concurrent.futures import ThreadPoolExecutor

    return ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="paimon-sync")


def _write_file(path: str, data: bytes, *, durable: bool) -> None:
    with open(path, "xb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _fsync(path: str) -> None:
    """Make a file durable; or a directory: a new name is durable only after its directory is synced."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
