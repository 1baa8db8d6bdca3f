"""Local files. Publishing is `link(2)`, which fails atomically if the name exists."""

from __future__ import annotations

import copy
import errno
import os
import uuid
from contextlib import contextmanager, nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING, Any, Self

from paimon_nb.base.errors import CommitError, MissingFile, NotWritable
from paimon_nb.fs.api import FileIO, FileStatus, OutputFile, is_immutable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from concurrent.futures import ThreadPoolExecutor

    from paimon_nb.fs.api import DirectoryPin

_AT_ONCE = 16
"""Number of files synced in parallel: a journal writes them in one step."""
_SOON_BYTES = 1 << 20
"""From this size on a file is synced when it is finished, while others are still written."""
_OPEN_TRIES = 5
"""While other processes delete the directory, because it is empty."""
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
    """Plain paths. Changes in a pinned directory go through its descriptor, which follows it when it is renamed."""

    pin: DirectoryPin | None = None

    def pinned(self, pin: DirectoryPin) -> Self:
        view = copy.copy(self)
        view.pin = pin
        return view

    def check_pinned(self) -> None:
        if self.pin is not None:
            with self._opened_pin():
                pass

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
        name = os.path.basename(path)
        temporary = f".{name}.{uuid.uuid4()}.tmp"
        with _translated_os_errors(path), self._opened_directory(path) as (root, folder):
            try:
                _write_file(temporary, data, folder, durable=False)
                # Only the link below makes it visible: one sync covers both.
                self._sync_named(named, root, temporary, folder)
                try:
                    os.link(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
                except FileExistsError:
                    return False
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
            os.fsync(folder)
        return True

    def _sync_named(self, named: Iterable[str], root: int | None, temporary: str, folder: int) -> None:
        """Make files and the temporary one durable. Those in a pinned directory must exist, if writers made them (unique names)."""

        def sync_file(path: str) -> None:
            below = self._path_below_pin(path) if root is not None and is_immutable(path) else None
            if below is None:
                self.sync([path])
                return
            try:
                _fsync(below, root)
            except FileNotFoundError:
                raise CommitError(
                    f"{path} is missing: it was deleted before the commit that needs it; nothing was committed",
                    hint="write the rows again; a rollback deletes the files of newer commits, and remove_orphan_files "
                    "with a recent 'older_than' those of running writers",
                    path=path,
                ) from None

        waiting = list(named)
        if len(waiting) > 1:
            list(_thread_pool(os.getpid()).map(sync_file, waiting))
        else:
            for path in waiting:
                sync_file(path)
        _fsync(temporary, folder)

    def overwrite(self, path: str, data: bytes, *, durable: bool = True) -> None:
        name = os.path.basename(path)
        temporary = f".{name}.{uuid.uuid4()}.tmp"
        with _translated_os_errors(path), self._opened_directory(path) as (_, folder):
            try:
                _write_file(temporary, data, folder, durable=durable)
                os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary, dir_fd=folder)
                raise
            if durable:
                os.fsync(folder)

    # -- the pinned directory

    def _path_below_pin(self, path: str) -> str | None:
        return None if self.pin is None else self.pin.path_below(path)

    @contextmanager
    def _opened_pin(self) -> Iterator[int]:
        """A descriptor of the pinned directory. Raises TableReplaced if another one, or none, is at its path."""
        pin = self.pin
        assert pin is not None
        try:
            root = os.open(pin.root, os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            raise pin.replaced(None) from None
        try:
            now = _read_or_none(pin.marker, root)
            if now != pin.content:
                raise pin.replaced(now)
            yield root
        finally:
            os.close(root)

    @contextmanager
    def _opened_directory(self, path: str) -> Iterator[tuple[int | None, int]]:
        """Descriptors of the pinned directory, if a file at `path` is guarded, and of the file's own, which is created."""
        directory = os.path.dirname(path)
        below = self._path_below_pin(directory)
        if below is None or self.pin is None or not self.pin.guards(path):
            folder = self._made_and_opened(directory)
            try:
                yield None, folder
            finally:
                os.close(folder)
            return
        with self._opened_pin() as root:
            folder = _open_below(root, below)
            try:
                yield root, folder
            finally:
                os.close(folder)

    def _made_and_opened(self, path: str) -> int:
        for _ in range(_OPEN_TRIES):
            self.make_dirs(path)
            with suppress(FileNotFoundError):  # another process deleted it, because it was empty
                return os.open(path, os.O_RDONLY | os.O_DIRECTORY)
        raise MissingFile(path)

    def create(self, path: str) -> OutputFile:
        directory = os.path.dirname(path)
        with _translated_os_errors(path):
            try:
                return _LocalOutput(path)
            except (FileNotFoundError, NotADirectoryError):
                below = self._path_below_pin(directory)
                if below is None:
                    self.make_dirs(directory)
                else:
                    with self._opened_pin() as root:
                        os.close(_open_below(root, below))
            return _LocalOutput(path)

    def write(self, path: str, data: bytes) -> None:
        out = self.create(path)
        try:
            out.write(data)
        except BaseException:
            out.abort()
            raise
        out.close()

    def write_each(self, files: Mapping[str, bytes]) -> None:
        for path, data in files.items():
            self.write(path, data)

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
        below = None if is_immutable(path) else self._path_below_pin(path)
        try:
            with _translated_os_errors(path):
                if below is None:
                    os.unlink(path)
                else:
                    with self._opened_pin() as root:
                        os.unlink(below, dir_fd=root)
        except MissingFile:
            return False
        return True

    def delete_if_unchanged(self, path: str, data: bytes) -> bool:
        import fcntl

        try:
            folder = os.open(os.path.dirname(path), os.O_RDONLY | os.O_DIRECTORY)
        except (FileNotFoundError, NotADirectoryError):
            return False
        try:
            fcntl.flock(folder, fcntl.LOCK_EX)  # until it is closed, also by the end of the process
            return super().delete_if_unchanged(path, data)
        finally:
            os.close(folder)

    def delete_tree(self, path: str) -> None:
        below = self._path_below_pin(path)
        with suppress(MissingFile), _translated_os_errors(path):
            if not below:
                _delete_tree(path)
            else:
                with self._opened_pin() as root:
                    _delete_tree(below, root)

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
        below = self._path_below_pin(source)
        with _translated_os_errors(source), self._opened_pin() if below else nullcontext() as root:
            if os.path.lexists(target):
                raise FileExistsError(target)
            try:
                os.rename(below or source, target, src_dir_fd=root)
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


def _write_file(path: str, data: bytes, folder: int, *, durable: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666, dir_fd=folder)
    with open(handle, "wb") as file:
        file.write(data)
        if durable:
            file.flush()
            os.fsync(file.fileno())


def _read_or_none(path: str, folder: int) -> bytes | None:
    try:
        handle = os.open(path, os.O_RDONLY, dir_fd=folder)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    with open(handle, "rb") as file:
        return file.read()


def _open_below(root: int, path: str) -> int:
    """A descriptor of a directory below that of `root`, which is created if it is missing; `root` itself is not."""
    if not path:
        return os.dup(root)
    for _ in range(_OPEN_TRIES):
        with suppress(FileNotFoundError):
            return os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=root)
        made = ""
        for segment in path.split("/"):
            made = f"{made}/{segment}" if made else segment
            with suppress(FileExistsError):
                os.mkdir(made, dir_fd=root)
    return os.open(path, os.O_RDONLY | os.O_DIRECTORY, dir_fd=root)


def _delete_tree(path: str, folder: int | None = None) -> None:
    """`shutil.rmtree`, again while other processes add files."""
    import shutil

    for last in (False, False, False, True):
        try:
            shutil.rmtree(path, dir_fd=folder)
            return
        except FileNotFoundError:
            if last or not _exists(path, folder):
                return
        except OSError as error:
            if last or error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
                raise


def _exists(path: str, folder: int | None) -> bool:
    try:
        os.lstat(path, dir_fd=folder)
    except FileNotFoundError:
        return False
    return True


def _fsync(path: str, folder: int | None = None) -> None:
    """Make a file durable; or a directory: a new name is durable only after its directory is synced."""
    handle = os.open(path, os.O_RDONLY, dir_fd=folder)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
