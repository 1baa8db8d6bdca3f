# ruff: noqa: N802  the names are Spark's
"""`Trigger.AvailableNow` with limits of a micro-batch: the query runs again until all that was there at its start is processed.
Also after a crash: Spark ends such a query when the micro-batch that it repeats has no rows, whatever there is behind it.

Spark asks a Python source once for the end of what this trigger reads. A source with limits answers with the end of the
next micro-batch, and its offset says how much more there was.
"""

from __future__ import annotations

import ast
import threading
from typing import TYPE_CHECKING, Any

from paimon_nb.fs import open_fs, without_scheme
from paimon_nb.spark.streaming.source import AVAILABLE
from paimon_nb.spark.streaming.start import start_query

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pyspark.sql.streaming.query import StreamingQuery


def start_available_now(start: Callable[[], StreamingQuery], checkpoint: str | None) -> Any:
    """Start a query with this trigger whose sources have limits, or that repeats a micro-batch. Returns an object with the methods of `StreamingQuery`.

    Args:
        start: starts one run of the query.
        checkpoint: the checkpoint location; None: a temporary one, whose only run reads everything.
    """
    repeats = checkpoint is not None and has_batch_to_repeat(checkpoint)
    return AvailableNowQuery(start, start_query(start), repeats=repeats)


class AvailableNowQuery:
    """Several runs of one query, one after the other. Each run is one micro-batch within the limits."""

    def __init__(self, start: Callable[[], StreamingQuery], first: StreamingQuery, *, repeats: bool) -> None:
        """`repeats`: the first run repeats a micro-batch, and so may read no other."""
        self._start, self._current, self._repeats = start, first, repeats
        self._progress: list[Any] = []
        """Of the earlier runs."""
        self._lock, self._stopped, self._ended = threading.Lock(), False, threading.Event()
        threading.Thread(target=self._run_until_current, name="paimon-available-now", daemon=True).start()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current, name)

    @property
    def isActive(self) -> bool:
        return not self._ended.is_set()

    @property
    def recentProgress(self) -> list[Any]:
        return [*self._progress, *self._current.recentProgress]

    @property
    def lastProgress(self) -> Any:
        progress = self.recentProgress
        return progress[-1] if progress else None

    def awaitTermination(self, timeout: float | None = None) -> bool | None:
        """As Spark's: with a timeout in seconds, returns whether the query ended. Raises the query's error."""
        ended = self._ended.wait(timeout)
        if ended:
            self._current.awaitTermination()
        return None if timeout is None else ended

    def processAllAvailable(self) -> None:
        self.awaitTermination()

    def exception(self) -> Any:
        return self._current.exception()

    def stop(self) -> None:
        with self._lock:
            self._stopped = True
            self._current.stop()
        self._ended.wait()

    def _run_until_current(self) -> None:
        try:
            ends: dict[int, int] | None = None
            while True:
                try:
                    self._current.awaitTermination()
                except Exception:
                    return  # `exception` has it
                positions = _positions(self._current)
                if ends is None and not self._repeats:
                    ends = {i: max(at["next"], at.get(AVAILABLE, 0)) for i, at in positions.items()}
                behind = self._repeats or any(at["next"] < (ends or {}).get(i, 0) for i, at in positions.items())
                self._repeats = False
                with self._lock:
                    if self._stopped or not behind:
                        return
                    self._progress += self._current.recentProgress
                    self._current = start_query(self._start)
        finally:
            self._ended.set()


def _positions(query: StreamingQuery) -> dict[int, Mapping[str, Any]]:
    """The positions of our sources after a run, by the source's number in the query. {}: the run had nothing to read."""
    progress = query.recentProgress
    found: dict[int, Mapping[str, Any]] = {}
    for number, source in enumerate(progress[-1]["sources"] if progress else ()):
        offset = _offset_of_progress(source["endOffset"])
        if isinstance(offset, dict) and isinstance(offset.get("next"), int):
            found[number] = offset
    return found


def _offset_of_progress(text: Any) -> Any:
    """An offset in a progress report. PySpark makes it the text of a Python value; another source's may be anything."""
    try:
        return ast.literal_eval(str(text))
    except (ValueError, SyntaxError):
        return None


def has_batch_to_repeat(checkpoint: str) -> bool:
    """Whether the last micro-batch was begun and not finished."""
    fs = open_fs(checkpoint, {})

    def newest(folder: str) -> int:
        names = (f.name for f in fs.list(f"{without_scheme(checkpoint)}/{folder}"))
        return max((int(n) for n in names if n.isdecimal()), default=-1)

    return newest("offsets") > newest("commits")
