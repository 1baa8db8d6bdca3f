"""A table's change feed as a job of the session, read in this process without Spark."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from paimon_nb.base.errors import BadOptionValue, PaimonError
from paimon_nb.options.table import CHANGELOG_PRODUCER
from paimon_nb.session.core.jobs import Jobs, Progress, StreamJob
from paimon_nb.session.streaming.planner import start_options_of
from paimon_nb.session.streaming.progress import newest_of
from paimon_nb.session.streaming.sinks import OP

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pyarrow as pa

    from paimon_nb.table.read.stream import TableStream
    from paimon_nb.table.tables.table import Table

LARGE_BYTES = 64 << 20
"""For larger tables the feed starts with new changes instead of the current state."""
_LOOK_S = 0.1


def _note_on_kinds(table: Table) -> str:
    """What a table without a changelog does not say about its changes."""
    if not table.primary_keys or table.store.options.get(CHANGELOG_PRODUCER) != "none":
        return ""
    return "This table writes no changelog: a changed row comes as +I with its new values, like a new row, and without the old ones."


class TableFeed:
    """`%paimon live t`: like a streaming SELECT * of the table, row kinds included.

    Args:
        options: as for `Table.stream`. Without a start position, the feed begins with the current state unless it is large.

    Raises: UnsupportedOperation, BadOptionValue: see `Table.stream`.
    """

    fixed: str | None = None

    def __init__(self, table: Table, jobs: Jobs, options: Mapping[str, str] | None = None) -> None:
        self.table, self.tables = table, (table,)
        self.note = ""
        self._kind_note = _note_on_kinds(table)
        self.changelog_statement = (
            f"ALTER TABLE {table.name.quoted()} SET ('changelog-producer' = 'lookup')" if self._kind_note else ""
        )
        """What makes the table write old and new values; '' if it does."""
        self._rows = 0
        self._stopped = threading.Event()
        self._error: BaseException | None = None
        self._stream = self._open_stream(dict(options or {}))
        self.job = jobs.add(StreamJob(f"live {table.name}", self, lambda: self._rows, lambda _: self.progress()))

    def _open_stream(self, options: dict[str, str]) -> TableStream:
        if not any(k.startswith("scan.") or k == "consumer-id" for k in options):
            size = sum(self.table.files().column("file_size_in_bytes").to_pylist())
            if size > LARGE_BYTES:
                options["scan.mode"] = "latest"
                self.note = f"The table is large ({size / 1e6:,.0f} MB), so only new changes are shown."
        self.note = " ".join(filter(None, (self.note, self._kind_note)))
        return self.table.stream(options)

    def start(self) -> TableFeed:
        return self

    def take(self, timeout_s: float) -> list[pa.Table]:
        """Changes since the last call, waiting up to `timeout_s` for some; row kinds in the first column."""
        deadline, out = time.monotonic() + timeout_s, []
        try:
            while self.isActive:
                batch = self._stream.poll()
                if batch is not None:
                    self._rows += batch.rows.num_rows
                    out.append(batch.rows.rename_columns([OP, *batch.rows.column_names[1:]]))
                elif out or time.monotonic() >= deadline:
                    self.table.store.check_identity()  # a dropped table never gets new changes
                    break
                else:
                    self._stopped.wait(_LOOK_S)
        except PaimonError as error:
            self._error = error
        return out

    def seek(self, snapshot: int | None) -> None:
        """Restart with the changes of a snapshot, or (None) from the current state. Raises BadOptionValue."""
        if snapshot is not None and snapshot < 1:
            raise BadOptionValue(
                f"{snapshot} is not a snapshot id", hint="snapshot ids start at 1", option="scan.snapshot-id"
            )
        self.note, self._rows = "", 0
        self._stream = self._open_stream(start_options_of(snapshot))
        self._stopped.clear()
        self._error = None
        self.job.restarted(self)

    def progress(self) -> tuple[Progress, ...]:
        newest, position = newest_of(self.table), self._stream.position
        at = 0 if position is None else position.next - 1
        return (Progress(str(self.table.name), min(at, newest), newest),)

    # -- the interface of a job

    @property
    def isActive(self) -> bool:  # noqa: N802  Spark's name
        return not (self._stopped.is_set() or self._error is not None or self._stream.ended)

    def stop(self) -> None:
        self._stopped.set()

    def awaitTermination(self, timeout: int | None = None) -> bool:  # noqa: N802
        return self._stopped.wait(timeout)

    def exception(self) -> BaseException | None:
        return self._error
