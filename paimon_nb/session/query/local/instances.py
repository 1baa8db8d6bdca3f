"""Instances of the embedded DuckDB: in memory, bounded, with a folder for what does not fit.

To start one takes longer than most queries: threads, settings, functions. So one that ended its work is kept for the next.
"""

from __future__ import annotations

import atexit
import ctypes
import os
import shutil
import tempfile
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.files.engine import settings

if TYPE_CHECKING:
    from collections.abc import Iterator

_MAX_IDLE = 2
_MORE_SETTINGS: dict[str, Any] = {
    "default_collation": "",
    "enable_external_file_cache": False,  # its pages would stay in the kernel between queries
}


@dataclass(slots=True)
class _Instance:
    database: Any
    folder: str

    def close(self) -> None:
        self.database.close()
        shutil.rmtree(self.folder, ignore_errors=True)


class Connection:
    """A connection that is alone in its instance. What is registered, made or set in it ends with it.

    Attributes:
        duckdb: the `duckdb.DuckDBPyConnection`.
    """

    def __init__(self, duckdb: Any) -> None:
        self.duckdb = duckdb
        self.is_reusable = True
        """Whether the instance is as it was when the connection ends: functions stay in it."""


_idle: list[_Instance] = []
_lock = threading.Lock()


def _leave_to_parent() -> None:
    """In a forked process: the threads of these instances are not here, so they are neither used nor closed, even at its end."""
    global _lock
    _lock = threading.Lock()
    for instance in _idle:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(instance.database))
    _idle.clear()


@atexit.register
def _close_idle() -> None:
    while _idle:
        _idle.pop().close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_to_parent)


@contextmanager
def connection(disabled_optimizers: tuple[str, ...]) -> Iterator[Connection]:
    """A connection for the block. After an error its instance is not used again."""
    instance = _taken() or _started()
    used = Connection(instance.database.cursor())
    is_idle = False
    try:
        used.duckdb.execute(f"SET disabled_optimizers = '{','.join(disabled_optimizers)}'")
        used.duckdb.execute("SET enable_progress_bar = false")  # it would be printed into the cell
        yield used
        used.duckdb.close()
        is_idle = used.is_reusable and _put_back(instance)
    finally:
        if not is_idle:
            used.duckdb.close()
            instance.close()


def _taken() -> _Instance | None:
    with _lock:
        return _idle.pop() if _idle else None


def _put_back(instance: _Instance) -> bool:
    with _lock:
        if len(_idle) >= _MAX_IDLE:
            return False
        _idle.append(instance)
        return True


def _started() -> _Instance:
    import duckdb

    folder = tempfile.mkdtemp(prefix="paimon-nb-engine-")
    return _Instance(duckdb.connect(":memory:", config={**settings(folder), **_MORE_SETTINGS}), folder)
