"""The pipelines of a catalog as a graph: sources, tables, materialized tables, jobs and sinks, with what each is behind. Reads metadata only."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.catalog.state_tables import state_tables_of
from paimon_nb.incremental.positions import last_refresh
from paimon_nb.session.materialized.column_lineage import LineageReader
from paimon_nb.session.materialized.prepared_query import prepare
from paimon_nb.session.materialized.refresh import materialized_definition, plan_for
from paimon_nb.session.materialized.refresher import Name, Refresher, all_materialized, in_order, name_of, resolve
from paimon_nb.sql import parse
from paimon_nb.statements import Insert, Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.format.snapshot import Snapshot
    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.session.materialized.prepared_query import PreparedQuery
    from paimon_nb.table.read.store import TableStore
    from paimon_nb.table.tables.table import Table

TABLE, MATERIALIZED, JOB, SOURCE, SINK = "table", "materialized table", "job", "source", "sink"


@dataclass(frozen=True, slots=True)
class Lag:
    """How far a materialized table is behind one of its inputs."""

    table: str
    at: int | None
    """The snapshot whose rows the table has; 0: it had none; None: not known, the next refresh computes everything."""
    newest: int
    """The newest snapshot that changed rows; 0: there is none."""

    @property
    def behind(self) -> int:
        """Snapshots that are not in the table."""
        return self.newest if self.at is None else max(0, self.newest - self.at)

    def __str__(self) -> str:
        if self.at is None:
            return f"{self.table}: not known"
        return f"{self.table}: up to date" if not self.behind else f"{self.table}: snapshot {self.at} of {self.newest}"


@dataclass(frozen=True, slots=True)
class ColumnOrigin:
    """A column of a materialized table."""

    name: str
    origins: tuple[str, ...]
    """Input columns, `table.column`."""
    text: str
    """Its expression; '' if it is only selected."""


@dataclass(frozen=True, slots=True)
class PipelineNode:
    """A part of the graph."""

    id: str
    kind: str
    """TABLE, MATERIALIZED, JOB, SOURCE or SINK."""
    title: str
    facts: tuple[tuple[str, str], ...] = ()
    """Name and value of what is known, in order."""
    state: str = ""
    """'ok', 'behind', 'failed' or 'suspended'; '' for what has none."""
    lags: tuple[Lag, ...] = ()
    columns: tuple[ColumnOrigin, ...] = ()
    query: str = ""
    """The definition, or the statement of a job."""
    plan: str = ""
    """How a refresh computes it, as EXPLAIN shows it."""


@dataclass(frozen=True, slots=True)
class Pipeline:
    """The graph of one catalog."""

    nodes: tuple[PipelineNode, ...]
    """Each after those that it reads."""
    edges: tuple[tuple[str, str], ...]
    """From a node to one that reads it, by id."""


@dataclass(slots=True)
class _Graph:
    session: Session
    nodes: dict[str, PipelineNode] = field(default_factory=dict)
    edges: dict[tuple[str, str], None] = field(default_factory=dict)

    def table(self, name: Name) -> str:
        """The node of a plain table; made if it is new."""
        node = _id(name)
        if node not in self.nodes:
            self.nodes[node] = _table_node(node, resolve(self.session, name))
        return node

    def materialized(self, target: ResolvedTable) -> None:
        node, definition = _id(name_of(target)), None
        try:
            table = target.catalog.table(target.name)
            definition = materialized_definition(table)
            prepared = prepare(self.session, definition, target)
            for one in prepared.inputs:
                self.edges[(self.table((one.catalog, one.name.database, one.name.table)), node)] = None
            made = _materialized_node(node, self.session, target, table, definition, prepared)
        except PaimonError as error:  # an input is gone, or the query cannot be read
            facts = [("error", error.one_line)]
            if definition is not None and definition.last_error is not None:
                facts.append(("last error", definition.last_error))
            query = "" if definition is None else definition.query
            made = PipelineNode(node, MATERIALIZED, target.name.text, tuple(facts), "failed", query=query)
        self.nodes.pop(node, None)  # it may have been read before, as a table
        self.nodes[node] = made

    def job(self, job: StreamJob) -> None:
        node = f"job {job.id}"
        facts = [("status", job.status.lower()), ("rows", f"{job.rows:,}")]
        try:
            progress = job.progress()
        except PaimonError:
            progress = ()
        facts += [("reads", f"{p.table}: {p}") for p in progress]
        if job.error is not None:
            facts.append(("error", job.error.one_line))
        behind = any(p.behind for p in progress)
        state = "failed" if job.status == "FAILED" else "behind" if behind else "ok" if job.isActive else ""
        reads, writes = _tables_of_job(self.session, job)
        for one in reads:
            self.edges[(self._named(one, SOURCE), node)] = None
        self.nodes[node] = PipelineNode(node, JOB, job.name, tuple(facts), state, query=redact_text(job.statement))
        for one in writes:
            self.edges[(node, self._named(one, SINK))] = None

    def _named(self, parts: tuple[str, ...], kind: str) -> str:
        """The node of a table that a job names: of the catalog, or of a connector."""
        if len(parts) == 1 and parts[0] in self.session.temporary:
            node = f"{kind} {parts[0]}"
            options = self.session.temporary[parts[0]].definition.options
            facts = (("connector", options.get("connector", "")),)
            self.nodes.setdefault(node, PipelineNode(node, kind, parts[0], facts))
            return node
        found = self.session.find(parts)
        return self.table((found.catalog.name, found.name.database, found.name.table))


def pipeline_of(session: Session) -> Pipeline:
    """The graph of the current catalog's materialized tables, with their inputs, and of the session's jobs."""
    graph = _Graph(session)
    for target in in_order(session, all_materialized(session)):
        graph.materialized(target)
    for job in list(session.jobs.all.values()):
        graph.job(job)
    order = {node: i for i, node in enumerate(_sorted(list(graph.nodes), list(graph.edges)))}
    return Pipeline(tuple(sorted(graph.nodes.values(), key=lambda n: order[n.id])), tuple(graph.edges))


def lags_of(session: Session, table: Table, prepared: PreparedQuery) -> tuple[Lag, ...]:
    """How far a materialized table is behind each input that has snapshots."""
    last = last_refresh(table, table.latest_snapshot())
    positions = () if last is None or last.positions is None else last.positions.inputs
    at = {p.table: (p.snapshot or 0, p.manifest) for p in positions}
    found = []
    for one in prepared.inputs:
        store = session.catalog_named(one.catalog).table(one.name).store
        if one.pinned or store.is_format_table:
            continue
        latest = store.snapshots.latest()
        known = at.get(one.name.text)
        snapshot = None if known is None or not _is_in(store, known[0], known[1]) else known[0]
        newest = 0 if latest is None else _newest_with_rows(store, latest, snapshot or 0)
        found.append(Lag(one.name.text, snapshot, newest))
    return tuple(found)


def _is_in(store: TableStore, snapshot: int, manifest: str | None) -> bool:
    """Whether a snapshot is still part of a table's history, or has expired; not after a rollback."""
    if not snapshot:
        return True
    latest = store.snapshots.latest()
    if latest is None or latest.id < snapshot:
        return False
    try:
        return store.snapshots.get(snapshot).delta_manifest_list == manifest
    except PaimonError:
        return True


def _newest_with_rows(store: TableStore, latest: Snapshot, at: int) -> int:
    """The newest snapshot above `at` that changed rows; `at` if all later ones only compact."""
    found = latest
    while found.commit_kind in ("COMPACT", "ANALYZE") and found.id > max(at, 1):
        try:
            found = store.snapshots.get(found.id - 1)
        except PaimonError:  # expired
            break
    return max(at, found.id)


def _id(name: Name) -> str:
    return ".".join(map(quote, name))


def _table_node(node: str, found: ResolvedTable) -> PipelineNode:
    try:
        table = found.catalog.table(found.name)
    except PaimonError as error:
        return PipelineNode(node, TABLE, found.name.text, (("error", error.one_line),), "failed")
    return PipelineNode(node, TABLE, found.name.text, _facts_of_table(table))


def _facts_of_table(table: Table) -> tuple[tuple[str, str], ...]:
    facts = [("primary key", ", ".join(table.primary_keys))] if table.primary_keys else []
    if table.store.is_format_table:
        return (*facts, ("kind", "format table"))
    latest = table.store.snapshots.latest()
    if latest is None:
        return (*facts, ("rows", "0"))
    if latest.total_record_count is not None:
        facts.append(("physical rows", f"{latest.total_record_count:,}"))
    return (*facts, ("snapshot", str(latest.id)), ("last commit", utc_text(latest.time_ms)))


def utc_text(time_ms: int) -> str:
    """`2026-01-31 08:00:00 UTC`."""
    import datetime as dt

    return f"{dt.datetime.fromtimestamp(time_ms / 1000, dt.UTC):%Y-%m-%d %H:%M:%S} UTC"


def _materialized_node(
    node: str,
    session: Session,
    target: ResolvedTable,
    table: Table,
    definition: Definition,
    prepared: PreparedQuery,
) -> PipelineNode:
    lags, last = lags_of(session, table, prepared), last_refresh(table, table.latest_snapshot())
    is_in_session = isinstance(session.refresher, Refresher) and name_of(target) in session.refresher.tables
    by = definition.handler or ("this session" if is_in_session else "no process that is known here")
    facts = [
        (
            "freshness",
            f"{definition.freshness.amount} {definition.freshness.unit.lower()}{'s' * (definition.freshness.amount != 1)}",
        ),
        ("mode", definition.mode.lower()),
        ("status", "suspended" if definition.is_suspended else "active"),
        ("refreshed by", by),
        ("last refresh", "none" if last is None else utc_text(last.snapshot.time_ms)),
        *(("input", str(lag)) for lag in lags),
        *_facts_of_table(table),
        *_facts_of_state(target),
    ]
    if definition.last_error is not None:
        facts.insert(0, ("last error", definition.last_error))
    behind = any(lag.behind or lag.at is None for lag in lags)
    state = (
        "failed" if definition.last_error is not None
        else "suspended" if definition.is_suspended
        else "behind" if behind else "ok"
    )  # fmt: skip
    return PipelineNode(
        node,
        MATERIALIZED,
        target.name.text,
        tuple(facts),
        state,
        lags,
        lineage_of(prepared),
        definition.query,
        plan_for(prepared, table.schema.names).explain(),
    )


def lineage_of(prepared: PreparedQuery) -> tuple[ColumnOrigin, ...]:
    """Which input columns make each column of a definition's query; () if its structure is not known."""
    tree = prepared.query.tree
    if tree is None:
        return ()
    session, tables = prepared.session, prepared.query.tables

    def columns_of(number: int) -> Sequence[str]:
        try:
            return session.table(tables[number].parts).schema.names
        except PaimonError:
            return ()

    def text_of(number: int, column: str) -> str:
        found = session.find(tables[number].parts).name
        own = found.table if found.database == session.current_database else found.text
        return f"{own}.{column}"

    reader = LineageReader(prepared.text, columns_of)
    return tuple(
        ColumnOrigin(c.name, tuple(text_of(*o) for o in c.origins), " ".join(c.text.split()))
        for c in reader.query(tree)
    )


def _facts_of_state(target: ResolvedTable) -> list[tuple[str, str]]:
    """The state tables and how many rows they have."""
    found = []
    for name in state_tables_of(target.catalog, target.name):
        latest = target.catalog.table(name).store.snapshots.latest()
        found.append(
            ("state", f"{name.text}: {0 if latest is None else latest.total_record_count or 0:,} physical rows")
        )
    return found


def _tables_of_job(session: Session, job: StreamJob) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
    """Tables that a job's statement reads and writes."""
    try:
        statements = parse(job.statement)
    except (PaimonError, ValueError):  # CALL of a synchronization, or a text with hidden secrets
        statements = []
    reads: list[tuple[str, ...]] = []
    writes: list[tuple[str, ...]] = []
    for one in statements:
        query = one.query if isinstance(one, Insert) else one
        if isinstance(query, Query):
            reads += [
                r.parts for r in query.tables if r.function is None and not r.file and _is_known(session, r.parts)
            ]
        if isinstance(one, Insert) and one.target is not None and _is_known(session, one.target.parts):
            writes.append(one.target.parts)
    return reads, writes


def _is_known(session: Session, parts: tuple[str, ...]) -> bool:
    return (len(parts) == 1 and parts[0] in session.temporary) or session.exists(parts)


def _sorted(nodes: Sequence[str], edges: Sequence[tuple[str, str]]) -> list[str]:
    """Each node after those that it reads; a circle is broken at its first node."""
    out: dict[str, None] = {}

    def visit(node: str, open_nodes: frozenset[str]) -> None:
        if node in out or node in open_nodes:
            return
        for source, target in edges:
            if target == node:
                visit(source, open_nodes | {node})
        out[node] = None

    for node in nodes:
        visit(node, frozenset())
    return list(out)
