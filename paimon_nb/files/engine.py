"""The embedded DuckDB that reads text files: bounded memory, one connection for each read, nothing left behind."""

from __future__ import annotations

import os
import tempfile
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pyarrow as pa

_INTERRUPT_S = 0.1
_MEMORY_SHARE, _MEMORY_MAX = 4, 4 << 30
"""The engine uses a quarter of the machine's memory, at most 4 GB; then it writes to a temporary folder."""


class Engine:
    """A connection to a DuckDB in memory. Created by `reading_engine`."""

    def __init__(self, connection: Any, pool: ThreadPoolExecutor) -> None:
        self._connection, self._pool = connection, pool

    def table(self, sql: str, **frames: pa.Table) -> pa.Table:
        """The rows of a query as Arrow; it may read `frames` by their names. Raises duckdb.Error."""
        self._register(frames)
        table: pa.Table = self._run(lambda: self._connection.sql(sql).to_arrow_table())
        return table

    def rows(self, sql: str, **frames: pa.Table) -> list[tuple[Any, ...]]:
        """The rows of a query as Python values; it may read `frames` by their names. Raises duckdb.Error."""
        self._register(frames)
        rows: list[tuple[Any, ...]] = self._run(lambda: self._connection.sql(sql).fetchall())
        return rows

    def _register(self, frames: Mapping[str, pa.Table]) -> None:
        for name, frame in frames.items():
            self._connection.register(name, frame)

    def _run(self, work: Any) -> Any:
        # In a thread, so that an interrupt of the notebook's cell reaches this one and ends the query.
        running = self._pool.submit(work)
        try:
            return running.result()
        except BaseException:
            running.cancel()
            while not running.done():
                self._connection.interrupt()
                wait([running], timeout=_INTERRUPT_S)
            raise


@contextmanager
def reading_engine() -> Iterator[Engine]:
    """A DuckDB in memory for the block. Times with zones are instants, texts of times are those of UTC."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="paimon-nb-files-", ignore_cleanup_errors=True) as folder:
        connection = duckdb.connect(":memory:", config=settings(folder))
        pool = ThreadPoolExecutor(1, thread_name_prefix="paimon-nb-files")
        try:
            connection.execute("SET enable_progress_bar = false; SET TimeZone = 'UTC'")
            # The first joins long lists, which changes the order; the second casts while it reads, where TRY_CAST is an error.
            connection.execute("SET disabled_optimizers = 'in_clause,type_pushdown'")
            yield Engine(connection, pool)
        finally:
            pool.shutdown()
            connection.close()


def settings(folder: str) -> dict[str, Any]:
    """Of a DuckDB in memory: its bounds, a folder for what does not fit, nothing downloaded or loaded by itself."""
    return {
        "threads": os.cpu_count() or 1,
        "memory_limit": f"{min(_total_memory() // _MEMORY_SHARE, _MEMORY_MAX) >> 20}MiB",
        "temp_directory": folder,
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
        "ieee_floating_point_ops": True,
    }


def _total_memory() -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (ValueError, OSError, AttributeError):  # pragma: no cover  no sysconf on Windows
        return 4 << 30


def sql_text(value: str) -> str:
    """A text as a literal of DuckDB."""
    return "'" + value.replace("'", "''") + "'"


def sql_name(name: str) -> str:
    """A name as a quoted identifier of DuckDB."""
    return '"' + name.replace('"', '""') + '"'


def sql_value(value: object) -> str:
    """A bool, number, text, list or mapping as a literal of DuckDB."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    if isinstance(value, str):
        return sql_text(value)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{sql_text(str(k))}: {sql_value(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(sql_value, value)) + "]"
    raise TypeError(f"{type(value).__name__} has no literal")


def call(function: str, paths: Sequence[str], arguments: Mapping[str, object]) -> str:
    """The SQL text of a table function of DuckDB over files, whose paths have no characters of patterns."""
    files = sql_value(list(paths)) if len(paths) != 1 else sql_text(paths[0])
    own = {} if function == "sniff_csv" else {"hive_partitioning": False}  # partitions are columns of ours
    return f"{function}({', '.join([files, *(f'{k} = {sql_value(v)}' for k, v in {**own, **arguments}.items())])})"
