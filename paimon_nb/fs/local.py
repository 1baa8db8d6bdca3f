"""Files of the operating system. Publishing is `link(2)`: it fails if the name is taken, whoever looks at it when."""

from __future__ import annotations

import errno
import os
import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from paimon_nb.base.errors import MissingFile, NotWritable
from paimon_nb.fs.api import FileIO, FileStatus, OutputFile

_REFUSALS = {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENAMETOOLONG}


@contextmanager
def _plain_errors(path: str) -> Iterator[None]:
    """OS errors as ours; `FileExistsError` stays, callers decide by it."""
    try:
        yield
    except FileExistsError:
        raise
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise MissingFile(path) from None
    except OSError as error:
        if error.errno in _REFUSALS:
            raise NotWritable(
                f"{path}: {os.strerror(error.errno or 0)}", hint="check permissions and free space", path=path
            ) from None
        raise


def without_scheme(path: str) -> str:
    """`file:/a`, `file:///a` and `/a` as `/a`: LocalFileIO takes plain paths."""
    return path.removeprefix("file://").removeprefix("file:")


class LocalFileIO(FileIO):
    """Plain paths."""

    def read(self, path: str) -> bytes:
        with _plain_errors(path), open(path, "rb") as file:
            return file.read()

    def open(self, path: str) -> Any:
        import pyarrow as pa

        with _plain_errors(path):
            return pa.OSFile(path, "rb")

    def put_if_absent(self, path: str, data: bytes) -> bool:
        directory, name = os.path.split(path)
        self.make_dirs(directory)
        temporary = os.path.join(directory, f".{name}.{uuid.uuid4()}.tmp")
        with _plain_errors(path):
            try:
                _write_durably(temporary, data)
                try:
                    os.link(temporary, path)
                except FileExistsError:
                    return False
            finally:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
            _sync_directory(directory)
        return True

    def overwrite(self, path: str, data: bytes) -> None:
        directory, name = os.path.split(path)
        self.make_dirs(directory)
        temporary = os.path.join(directory, f".{name}.{uuid.uuid4()}.tmp")
        with _plain_errors(path):
            try:
                _write_durably(temporary, data)
                os.replace(temporary, path)
            except BaseException:
                with suppress(FileNotFoundError):
                    os.unlink(temporary)
                raise
            _sync_directory(directory)

    def create(self, path: str) -> OutputFile:
        self.make_dirs(os.path.dirname(path))
        with _plain_errors(path):
            return _LocalOutput(path)

    def list(self, path: str) -> list[FileStatus]:
        try:
            entries = sorted(os.scandir(path), key=lambda e: e.name)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except PermissionError:
            raise NotWritable(f"{path}: permission denied", hint="check permissions", path=path) from None
        out = []
        for entry in entries:
            with suppress(FileNotFoundError):  # deleted while we look: as if it had never been listed
                is_dir, stat = entry.is_dir(), entry.stat()
                size = 0 if is_dir else stat.st_size
                out.append(FileStatus(os.path.join(path, entry.name), size, stat.st_mtime_ns // 1_000_000, is_dir))
        return out

    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    def size(self, path: str) -> int:
        with _plain_errors(path):
            return os.stat(path).st_size

    def delete(self, path: str) -> bool:
        try:
            with _plain_errors(path):
                os.unlink(path)
        except MissingFile:
            return False
        return True

    def delete_tree(self, path: str) -> None:
        with suppress(MissingFile), _plain_errors(path):
            shutil.rmtree(path)

    def delete_empty_dir(self, path: str) -> bool:
        try:
            os.rmdir(path)
        except OSError:
            return False
        return True

    def make_dirs(self, path: str) -> None:
        try:
            with _plain_errors(path):
                os.makedirs(path, exist_ok=True)
        except (FileExistsError, MissingFile):
            raise NotWritable(
                f"{path}: a file stands where a directory is needed", hint="choose another place"
            ) from None

    def move(self, source: str, target: str) -> None:
        with _plain_errors(source):
            if os.path.lexists(target):
                raise FileExistsError(target)
            try:
                os.rename(source, target)
            except OSError as error:
                if error.errno in (errno.ENOTEMPTY, errno.EEXIST):  # a directory that came since we looked
                    raise FileExistsError(target) from None
                raise

    def local_path(self, path: str) -> str | None:
        return path


class _LocalOutput(OutputFile):
    def __init__(self, path: str) -> None:
        self._path = path
        self._file = open(path, "xb", buffering=1 << 18)  # noqa: SIM115  closed by close() or abort()

    def write(self, data: Any) -> int:
        with _plain_errors(self._path):
            return self._file.write(data)

    def tell(self) -> int:
        return self._file.tell()

    def close(self) -> None:
        if self._file.closed:
            return
        with _plain_errors(self._path):
            self._file.flush()
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


def _write_durably(path: str, data: bytes) -> None:
    with open(path, "xb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def _sync_directory(path: str) -> None:
    """A new name is only durable once its directory is."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
