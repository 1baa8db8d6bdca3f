"""The session as procedures see it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from paimon_nb.session.core.jobs import Running, StreamJob
from paimon_nb.session.core.result import Result
from paimon_nb.session.core.session import Session
from paimon_nb.statements import Merge, Statement

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import SparkSession

    from paimon_nb.base.identifier import Identifier
    from paimon_nb.catalog.api import Catalog
    from paimon_nb.table.tables.table import Table


RunStatement = Callable[[Session, Statement, str, Mapping[str, Any]], Result]
"""`executor.run_statement`."""


class ProcedureContext:
    """Resolves names in the catalog of the CALL, else the current catalog. Collects notes and commits."""

    def __init__(self, session: Session, run_statement: RunStatement, catalog: str | None = None) -> None:
        """`run_statement`: the executor's function. `catalog`: the catalog that the CALL names."""
        self.session, self._run_statement = session, run_statement
        self.catalog: Catalog = session.catalog_named(catalog) if catalog else session.catalog
        self.notes: list[str] = []
        self.snapshots: list[tuple[str, int]] = []
        self.job: StreamJob | None = None
        """The job that the procedure started."""

    @property
    def current_database(self) -> str:
        return self.session.current_database

    @property
    def is_streaming(self) -> bool:
        """Whether the session is in Flink's streaming mode."""
        from paimon_nb.session.streaming.planner import is_streaming

        return is_streaming(self.session)

    @property
    def starts_endless_jobs(self) -> bool:
        """Whether a compaction continues after the CALL: in streaming mode with 'table.dml-sync' = 'false'."""
        return self.is_streaming and str(self.session.settings.get("table.dml-sync", "true")).lower() == "false"

    @property
    def dialect(self) -> str:
        """'flink' if the session has Flink's semantics, else 'spark'."""
        return self.session.dialect

    @property
    def spark(self) -> SparkSession | None:
        """The session's Spark if it is running."""
        return self.session.spark if self.session.spark_started else None

    def table(self, text: str, options: dict[str, str] | None = None) -> Table:
        """The table of an argument such as 'db.t', 't' or 't$branch_b'."""
        from paimon_nb.session.query.conditions import with_session_sql

        return with_session_sql(self.session, self.session.table(self._name_parts(text), options))

    def resolve(self, text: str) -> tuple[Catalog, Identifier]:
        """Catalog and identifier of a table name; the table need not exist."""
        found = self.session.find(self._name_parts(text))
        return found.catalog, found.name

    def _name_parts(self, text: str) -> tuple[str, ...]:
        parts = tuple(p.strip("`") for p in text.strip().split("."))
        if len(parts) < 3:
            prefix = (self.catalog.name, self.current_database) if len(parts) == 1 else (self.catalog.name,)
            parts = (*prefix, *parts)
        return parts

    def add_job(self, name: str, running: Running, rows: Callable[[], int]) -> str:
        """Register a running job for SHOW JOBS. Returns the job's id."""
        last_commit_ms = getattr(running, "last_commit_ms", lambda: None)  # a sync knows it
        self.job = self.session.jobs.add(StreamJob(name, running, rows, last_commit_ms=last_commit_ms))
        return self.job.id

    @contextmanager
    def own_views(self) -> Iterator[None]:
        """Temporary views and tables that are created inside the block end with it."""
        session = self.session
        views, temporary = dict(session.views), dict(session.temporary)
        try:
            yield
        finally:
            session.views, session.temporary = views, temporary

    def sql(self, text: str, *, takes_any_match: bool = False) -> object:
        """Run SQL in this session; returns the last statement's DataFrame. Collects its notes and commits.

        Args:
            takes_any_match: see `Merge`.
        """
        from paimon_nb.session.streaming.planner import is_streaming
        from paimon_nb.session.streaming.stream_session import runtime_mode
        from paimon_nb.sql import parse

        result = None
        for statement in parse(text):
            if takes_any_match and isinstance(statement, Merge):
                statement = replace(statement, takes_any_match=True)
            # A procedure works on the current data, not on a stream.
            with runtime_mode(self.session, "batch") if is_streaming(self.session) else nullcontext():
                result = self._run_statement(self.session, statement, text, {})
            self.notes += result.notes
            self.snapshots += result.snapshots
        return result.frame if result is not None else None
