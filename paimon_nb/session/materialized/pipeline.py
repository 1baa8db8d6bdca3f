"""The pipelines of a catalog as a graph: sources, tables, materialized tables, jobs and sinks, with what each is behind. Reads metadata only."""

from __future__ import annotations

from dataclasses import field
from typing import TYPE_CHECKING

from paimon_nb.base.errors import PaimonError
from paimon_nb.base.identifier import quote
from paimon_nb.base.lazy_dataclass import dataclass
from paimon_nb.base.redact import redact_text
from paimon_nb.session.materialized.column_lineage import LineageReader
from paimon_nb.session.materialized.positions import content_of, key_of, newest_change
from paimon_nb.session.materialized.refresh import materialized_definition
from paimon_nb.session.materialized.refresher import Name, Refresher, all_materialized, in_order, name_of, resolve
from paimon_nb.session.materialized.result_rows import prepare
from paimon_nb.sql import parse
from paimon_nb.statements import Insert, Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from paimon_nb.session.core.jobs import StreamJob
    from paimon_nb.session.core.session import ResolvedTable, Session
    from paimon_nb.session.materialized.definition import Definition
    from paimon_nb.session.materialized.result_rows import PreparedQuery
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
        node = _id(name_of(target))
        try:
            table = target.catalog.table(target.name)
            definition = materialized_definition(table)
            prepared = prepare(self.session, definition, target)
        except PaimonError as error:
            self.nodes[node] = PipelineNode(
                node, MATERIALIZED, target.name.text, (("error", error.one_line),), "failed"
            )
            return
        reads = [(one.catalog, one.name.database, one.name.table) for one in prepared.inputs]
        for name in reads:
            self.edges[(self.table(name), node)] = None
        self.nodes.pop(node, None)  # it may have been read before, as a table
        self.nodes[node] = _materialized_node(node, self.session, target, table, definition, prepared)

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


def lags_of(session: Session, target: ResolvedTable, table: Table, prepared: PreparedQuery) -> tuple[Lag, ...]:
    """How far a materialized table is behind each input that has snapshots."""
    content = content_of(table.store)
    found = []
    for one in prepared.inputs:
        store = session.catalog_named(one.catalog).table(one.name).store
        if one.pinned or store.is_format_table:
            continue
        newest = newest_change(store)
        position = (
            None if content is None else content.positions.get(key_of(one.name, one.catalog, target.catalog.name))
        )
        at: int | None = None if position is None else position[0]
        if at and newest is not None and at == newest.id and position is not None and position[1] != newest.time_ms:
            at = None  # another table of this name, or rolled back
        if at is not None and newest is not None and at > newest.id:
            at = None
        found.append(Lag(one.name.text, at, 0 if newest is None else newest.id))
    return tuple(found)


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
    lags, content = lags_of(session, target, table, prepared), content_of(table.store)
    is_ours = isinstance(session.refresher, Refresher) and name_of(target) in session.refresher.tables
    by = definition.handler or ("this session" if is_ours else "no process that is known here")
    facts = [
        (
            "freshness",
            f"{definition.freshness.amount} {definition.freshness.unit.lower()}{'s' * (definition.freshness.amount != 1)}",
        ),
        ("mode", definition.mode.lower()),
        ("status", "suspended" if definition.is_suspended else "active"),
        ("refreshed by", by),
        ("last refresh", "none" if content is None else utc_text(content.snapshot.time_ms)),
        *(("input", str(lag)) for lag in lags),
        *_facts_of_table(table),
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
        node, MATERIALIZED, target.name.text, tuple(facts), state, lags, lineage_of(prepared), definition.query
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
