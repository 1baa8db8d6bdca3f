"""What the home card shows: the connection, the tables of the current database, recent commits, jobs. Reads metadata only."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.catalog.state_tables import visible_tables
from paimon_nb.notebook.overview import ago_text, table_kind_labels
from paimon_nb.table.tables.inspect.formatting import count_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.workbench import Workbench

MAX_TABLES = 50
"""Tables whose metadata is read; the others are counted."""
MAX_COMMITS = 8
_LOOKED_BACK = 4
"""Snapshots of each table that may be among the recent ones."""


@dataclass(frozen=True, slots=True)
class HomeTable:
    """A table of the current database."""

    name: str
    kind: str
    rows: int | None
    """Physical rows of the latest snapshot; None: no snapshot."""
    commit: str
    """When the latest snapshot was committed."""
    error: str = ""


@dataclass(frozen=True, slots=True)
class HomeCommit:
    """A recent commit."""

    time_ms: int
    table: str
    snapshot: int
    kind: str
    rows: int


@dataclass(frozen=True, slots=True)
class Home:
    """The content of the card."""

    warehouse: str
    current: str
    spark: str
    tables: tuple[HomeTable, ...]
    more_tables: int
    commits: tuple[HomeCommit, ...]
    jobs: int

    def __str__(self) -> str:
        lines = [
            f"warehouse  {_relative_path(self.warehouse)}",
            f"current    {self.current}",
            f"Spark      {self.spark}",
        ]
        if self.tables:
            more = f" and {self.more_tables} more" if self.more_tables else ""
            lines.append(f"tables     {', '.join(t.name for t in self.tables)}{more}")
        if self.jobs:
            lines.append(f"jobs       {self.jobs} running")
        return "\n".join(lines)


def _relative_path(warehouse: str) -> str:
    """A warehouse below the current folder as a relative path; any other address as it is."""
    path, here = Path(warehouse.removeprefix("file:")), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else warehouse


def home_of(wb: Workbench) -> Home:
    """The card of a workbench now."""
    session, now = wb.session, int(time.time() * 1000)
    names = sorted(visible_tables(session.catalog, session.current_database))
    tables: list[HomeTable] = []
    commits: list[HomeCommit] = []
    for name in names[:MAX_TABLES]:
        try:
            store = session.table((session.current_database, name)).store
            latest = None if store.is_format_table else store.latest()
            tables.append(_home_table(name, store, latest, now))
            commits += [] if latest is None else _recent_commits(name, store, latest)
        except (PaimonError, OSError) as error:  # a damaged table is shown with its error
            message = error.message if isinstance(error, PaimonError) else str(error)
            tables.append(HomeTable(name, "", None, "", message))
    commits.sort(key=lambda c: (-c.time_ms, c.table, -c.snapshot))
    running = sum(job.status == "RUNNING" for job in session.jobs.all.values())
    return Home(
        str(session.catalog.warehouse), f"{session.current_catalog}.{session.current_database}",
        "running" if session.spark_started else "starts with the first query that needs it",
        tuple(tables), max(0, len(names) - MAX_TABLES), tuple(commits[:MAX_COMMITS]), running,
    )  # fmt: skip


def _home_table(name: str, store: TableStore, latest: Snapshot | None, now: int) -> HomeTable:
    kind = " · ".join(table_kind_labels(store))
    if latest is None:
        return HomeTable(name, kind, None, "")
    return HomeTable(name, kind, latest.total_record_count, ago_text(now - latest.time_ms))


def _recent_commits(name: str, store: TableStore, latest: Snapshot) -> Iterator[HomeCommit]:
    for number in range(latest.id, max(0, latest.id - _LOOKED_BACK), -1):
        try:
            found = latest if number == latest.id else store.snapshots.get(number)
        except PaimonError:
            return  # expired
        rows = found.delta_record_count or 0
        yield HomeCommit(found.time_ms, name, found.id, found.commit_kind.lower(), rows)


def view_of(home: Home) -> dict[str, Any]:
    """The card as plain data for the page."""
    now = int(time.time() * 1000)
    return {
        "facts": [["warehouse", home.warehouse], ["current", home.current], ["Spark", home.spark]],
        "tables": [
            {"name": t.name, "kind": t.kind, "rows": "" if t.rows is None else f"{t.rows:,}", "commit": t.commit, "error": t.error}
            for t in home.tables
        ],
        "more": f"{count_text(home.more_tables, 'more table')}: %paimon tables lists all" if home.more_tables else "",
        "commits": [
            {"when": ago_text(now - c.time_ms), "table": c.table, "snapshot": c.snapshot, "kind": c.kind, "rows": "–" if c.kind == "compact" else f"{c.rows:+,}"}
            for c in home.commits
        ],
        "jobs": f"{count_text(home.jobs, 'job')} running" if home.jobs else "",
    }  # fmt: skip
